"""The tier 3 summary: rows, merging, fitting, text."""
