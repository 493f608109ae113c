"""Session files written by other programs: find, read, follow, export."""
