"""The endpoints, one file for each thing they are about."""
