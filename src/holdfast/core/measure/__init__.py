"""Measure windows: count tokens, find the model's limit, compute usage and levels."""
