"""The encoder and the network that reads pairs, with their files."""
