"""Hostile documents, and what they must not achieve."""
