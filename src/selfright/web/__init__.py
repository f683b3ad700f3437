"""What lies outside the index: providers of pages, and passages cut from them."""
