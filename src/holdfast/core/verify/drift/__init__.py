"""The drift watch: detect that the agent has left its goal after a summary replaced its history."""
