"""JUDGE: a trajectory and a gold path become a score with reasons."""
