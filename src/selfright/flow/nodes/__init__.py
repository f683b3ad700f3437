"""The nodes of a turn, one file for each stage; a function has the name of its node, and calls no other node."""
