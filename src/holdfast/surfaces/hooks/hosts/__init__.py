"""One module for each agent program: its JSON to and from hook events."""
