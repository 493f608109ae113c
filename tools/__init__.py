"""Small programs that keep the repository itself in order."""
