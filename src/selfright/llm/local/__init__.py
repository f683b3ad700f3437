"""GGUF files as language models: each runs in a child of this process, behind llama.cpp's own server."""
