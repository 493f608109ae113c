"""Ledgers that a project keeps besides ours: one file for each kind."""
