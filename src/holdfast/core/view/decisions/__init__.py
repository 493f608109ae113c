"""Decisions of all sessions: graph, history, rendering."""
