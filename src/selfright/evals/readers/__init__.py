"""Readers of question sets, one module for each public format."""
