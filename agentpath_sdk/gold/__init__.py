"""KNOW: gold paths and path rules."""
