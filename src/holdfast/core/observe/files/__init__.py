"""Which files were read, written or deleted by calls and shell commands."""
