"""Who judges, writes and rewrites."""
