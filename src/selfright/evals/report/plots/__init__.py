"""Drawing: plots as inline SVG, made of shapes and text alone."""
