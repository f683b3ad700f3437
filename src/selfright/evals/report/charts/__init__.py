"""The report's plots, each with what it shows in words and its figures as a table."""
