"""What a web page holds but does not show, as far as the page itself says so."""
