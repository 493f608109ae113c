"""The summary of tier 3: find the cut, read rows, merge them, fit them, write and read the text."""
