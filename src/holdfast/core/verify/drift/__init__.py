"""The drift watch: signs that the agent left its goal after a summary took the place of its past."""
