"""The search index: passages of entries and the terms in them."""
