"""Read and write message formats: bytes to bodies and back. No policy, no files.

A *message wire* (anthropic, openai_chat, openai_responses) is a format that a provider accepts.
A *transcript wire* (claude_code, codex, gemini, opencode, lines) is a format that an agent writes
to disk, line by line; its sessions are sent in a message wire. `wire.py` has a protocol for each.
"""
