"""The search index: cut entries into passages, parse queries into terms, rank passages."""
