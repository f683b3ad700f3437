"""What is kept of turns: traces, recordings that can be replayed, and spans for OpenTelemetry."""
