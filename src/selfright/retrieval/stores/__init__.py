"""The stores: one index on disk, or an engine elsewhere, behind the same ports."""
