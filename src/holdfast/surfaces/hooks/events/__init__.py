"""One module for each kind of hook event: `answer(event)` returns the reply."""
