"""Files of the world outside: reading what agents left on disk."""
