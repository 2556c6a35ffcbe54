"""WRITE: an agent's call becomes spans."""
