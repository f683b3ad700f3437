"""The Model Context Protocol: the service for agents."""
