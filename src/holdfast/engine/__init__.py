"""One session at work: the effects around the core."""
