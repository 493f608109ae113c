"""Holdfast inside the real clients, each against a provider of our own on loopback.

`python -m tests.agents` installs the clients; a scenario of one that is not there is skipped.
"""
