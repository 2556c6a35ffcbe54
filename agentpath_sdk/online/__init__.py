"""LIVE: from ended spans to score records."""
