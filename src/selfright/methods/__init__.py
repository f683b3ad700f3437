"""The methods of ``Selfright`` by what they are about, and how they read their text."""
