"""Context packets for workers: select content from the ledger, and render and seal it."""
