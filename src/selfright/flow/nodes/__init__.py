"""One node a file; the file, the function and the node share a name."""
