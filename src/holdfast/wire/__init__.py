"""Message formats, read into bodies and written back. No policy, no files.

Two kinds. A *message wire* (anthropic, openai_chat, openai_responses) is what a provider takes.
A *transcript wire* (claude_code, codex, gemini, opencode, lines) is what an agent writes to disk,
one line at a time; what it holds is sent in a message wire. `wire.py` has a protocol for each.
"""
