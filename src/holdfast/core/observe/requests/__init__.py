"""What the user wants: requests, constraints, overrides, pins."""
