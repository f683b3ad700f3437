"""An index in PostgreSQL: its tables, connections, and how they are read and written."""
