"""Hooks: what agents' own programs tell us while they work, and what we answer.

`main` is the entry point. A host module (`claude_code`) turns one program's JSON into a `Happened`
and a `Reply` back into its JSON; one module a kind of event says what is done about it, whichever
program it came from.
"""
