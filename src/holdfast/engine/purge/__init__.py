"""Erase sessions and messages: rewrite what quotes them, expire what is old."""
