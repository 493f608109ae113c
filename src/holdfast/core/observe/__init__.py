"""Stage 3, what the record shows: facts read off it, without a model."""
