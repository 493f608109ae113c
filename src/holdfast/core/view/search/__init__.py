"""Rank passages for a query and cut excerpts from them."""
