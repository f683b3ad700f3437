"""The one place that chooses concrete classes; nobody else names them."""
