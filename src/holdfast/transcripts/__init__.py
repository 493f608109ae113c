"""Find, ingest, follow and export the session files of other programs."""
