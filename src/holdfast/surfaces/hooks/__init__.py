"""Hooks: the programs that agents run in report events, and we answer them.

`main` is the entry point. A module of `hosts` converts one program's JSON into a `HookEvent` and a
`HookReply` back into that program's JSON. A module of `events` answers one kind of event, for all
programs.
"""
