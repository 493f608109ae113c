"""What each reader sees: reports and listings of the same ledger."""
