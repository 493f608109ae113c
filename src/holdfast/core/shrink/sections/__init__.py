"""The sections of a summary: how the rows of each are written, and read back."""
