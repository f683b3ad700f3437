"""From files to documents to passages: discovery, readers, splitting, the pipeline."""
