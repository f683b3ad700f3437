"""An index in Milvus: its collections, the calls to the server, and how they are read and written."""
