"""Ask a model for summary rows, and check its rows against the record."""
