"""The ledger of a session: entries, their ids, the head, and the window folded from them."""
