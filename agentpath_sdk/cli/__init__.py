"""The `agentpath` command."""
