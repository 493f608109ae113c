"""Store ledgers: the `Store` protocol, and its implementations in memory and in SQLite."""
