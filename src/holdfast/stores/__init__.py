"""Where ledgers live. One protocol, several back ends, one contract suite for all of them."""
