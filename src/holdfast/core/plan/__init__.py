"""What should change: what the user may decide, and what follows from it."""
