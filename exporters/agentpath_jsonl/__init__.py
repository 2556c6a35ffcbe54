"""JSON Lines exporters."""
