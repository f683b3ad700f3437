"""Sentences that were written for Selfright, and what is to be read from them."""
