"""The drift watch: signs that the agent left its goal once a summary stood for its past."""
