"""Who judges the answer."""
