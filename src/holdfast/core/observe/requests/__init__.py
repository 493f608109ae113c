"""Read what the user wants: requests, constraints, overrides and pins."""
