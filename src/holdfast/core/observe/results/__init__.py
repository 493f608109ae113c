"""How the work went: failures, test runs, errors, decisions, progress."""
