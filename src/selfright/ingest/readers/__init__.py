"""One file per format; each reads a file into documents."""
