"""Stage 3: read facts off the recorded entries without a model."""
