"""Questions of a worker, answered from what was decided and said; or "not known"."""
