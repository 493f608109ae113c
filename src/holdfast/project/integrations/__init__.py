"""Read and update files of other tools in the project: notes, trackers, their settings."""
