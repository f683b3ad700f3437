"""One node per file; file, function and node have the same name."""
