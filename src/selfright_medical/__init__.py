"""What Selfright knows of medicine; nothing outside of this folder does."""
