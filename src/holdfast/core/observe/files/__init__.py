"""Find the files that tool calls and shell commands read, wrote, moved or deleted."""
