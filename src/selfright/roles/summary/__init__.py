"""Keeps what was said before the last messages."""
