"""Span vocabularies, one small module each."""
