"""What happened in a session: entries, how they are named, and what of them is in sight."""
