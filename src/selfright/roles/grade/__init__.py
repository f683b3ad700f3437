"""Judges a retrieval."""
