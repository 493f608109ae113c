"""Message formats, read into bodies and written back. No policy, no files.

Two kinds. A *message wire* (anthropic, openai_chat, openai_responses) is what a provider takes.
A *transcript wire* (claude_code, codex, gemini, opencode, lines) is what an agent writes to disk,
one line at a time; the messages it holds are those of a message wire, or are told in one.
"""
