"""Tells what kind of message it is."""
