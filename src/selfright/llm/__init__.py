"""Models and encoders."""
