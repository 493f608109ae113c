"""The tests that prove each clause; written by `python -m tests.seeds --write`."""

PROVEN: dict[str, tuple[str, ...]] = {}
