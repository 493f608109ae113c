"""The decisions of all sessions of a project: graph, history and rendering."""
