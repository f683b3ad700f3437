"""Stand-ins that the tests share."""
