"""Scripts that fit the weights which ship with Selfright. They need the development data; the package does not."""
