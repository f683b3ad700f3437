"""The HTTP service: endpoints, keys, limits, metrics, and MCP."""
