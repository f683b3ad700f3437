"""The nouns of Selfright, and the ports through which its packages meet. Knows no framework."""
