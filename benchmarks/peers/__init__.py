"""Hybrid retrievers, each driven in an environment and a process of its own; the command is ``benchmarks.hybrid``."""
