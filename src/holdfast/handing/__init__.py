"""Packets on a session: made, handed over, read, revised, edited and cleared.

The ledger has every revision of every packet and what became of it. The file that a worker reads
is a copy: it goes when the task is done, and is written again when it is asked for.
"""
