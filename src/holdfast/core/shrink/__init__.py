"""Change it: a step of a plan becomes what readers see instead."""
