"""READ: spans, anyone's, become a trajectory."""
