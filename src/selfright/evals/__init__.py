"""Measuring: retrieval on judged queries, answers on question sets, presets against one another; all written down."""
