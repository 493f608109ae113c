"""Stage 3: decide what should change in a window, from the user's policy and the session."""
