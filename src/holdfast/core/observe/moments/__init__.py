"""Read each entry of a record into moments: what happened, one line each."""
