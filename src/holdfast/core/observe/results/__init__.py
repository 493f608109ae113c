"""Read how the work went: failures, test counts, errors, decisions and progress."""
