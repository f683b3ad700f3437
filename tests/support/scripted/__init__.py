"""A scripted stand-in for a language model behind OpenAI's HTTP interface: rules, latency, streaming, faults."""
