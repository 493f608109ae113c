"""Functions on strings: they know no session, no entry and no file."""
