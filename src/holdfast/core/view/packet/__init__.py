"""The ledger as a worker needs it: what goes into a packet, and how a packet is written."""
