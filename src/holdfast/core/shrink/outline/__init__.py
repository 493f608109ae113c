"""Says what the text of a tool result is, and shows what a reader needs to go on without it."""
