"""The nouns of Selfright, and the ports through which its rooms meet. Knows no framework."""
