"""Who turns a question into what is searched for."""
