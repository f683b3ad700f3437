"""``Selfright``, what users hold, and its methods by subject."""
