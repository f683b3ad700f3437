"""A study as one page: what helped in words, tables, plots, and the questions that correction rescued and broke."""
