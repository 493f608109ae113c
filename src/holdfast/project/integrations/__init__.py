"""Files of other frameworks in the project: notes, trackers, their settings."""
