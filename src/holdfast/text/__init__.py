"""Functions on strings without any knowledge of sessions, entries or files."""
