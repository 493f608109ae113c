"""Views of the ledger for readers: reports, listings, forms, levels, packets and search."""
