"""Speed and quality, measured; never run by the tests."""
