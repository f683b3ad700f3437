"""What is remembered: of a conversation, of a user."""
