"""Selfright: a self-correcting RAG agent."""
