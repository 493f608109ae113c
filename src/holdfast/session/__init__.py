"""The public API: open a session, resume one, compress a list of messages."""
