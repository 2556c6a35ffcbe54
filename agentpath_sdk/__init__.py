"""agentpath-sdk: path-level evaluation of live LLM agents."""
