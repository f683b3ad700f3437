"""Who writes the answer."""
