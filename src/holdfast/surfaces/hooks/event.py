"""`HookEvent` and `HookReply`: an event of any program, and our answer, without its JSON shapes."""

from msgspec import Struct

HANDLERS = {
    "tool_result": "tool_result.answer",
    "tool_batch": "tool_batch.answer",
    "prompt": "prompt.answer",
    "before_compaction": "compaction.steer_summary",
    "compaction": "compaction.give_summary",
    "window_full": "silent_compaction.answer_and_remind",
    "silent_compaction": "silent_compaction.note_or_remind",
    "session_start": "session.start",
    "session_end": "session.end",
    "handover": "workers.hand_over",
    "worker_packet": "workers.start_with_packet",
    "worker_start": "workers.start",
    "worker_stop": "workers.stop",
    "turn_end": "turn_end.answer",
    "window": "request.answer",
    "status_line": "status_line.answer",
}
"""Kind of event to the module of `events` and the function that answers it."""


class TranscriptTooLarge(Exception):
    """The unread part of a transcript is too large to read while the program waits."""


class HookEvent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An event in an agent's program."""

    agent: str
    """The program, as `holdfast install` spells it."""
    kind: str
    session: str
    root: str
    """The project's folder."""
    transcript: str = ""
    """The program's own file of the session; empty if there is none."""
    lane: str = ""
    """The sub-agent in which it happened; empty for the main agent."""
    worker: str = ""
    """The kind of sub-agent, as the program calls it."""
    call: str = ""
    tool: str = ""
    arguments: str = ""
    """The arguments of the call, as JSON."""
    output: str = ""
    """The complete output of the tool as text, also if the program saved it to a file."""
    failed: bool = False
    is_output_fixed: bool = False
    """Whether the program ignores a replacement for the output."""
    prompt: str = ""
    """The user's message, or the task of a worker."""
    source: str = ""
    """Cause: `startup`, `resume`, `clear`, `compact`; `auto`, `manual`; why a session ended."""
    instructions: str = ""
    """The user's instructions for a compaction."""
    last_message: str = ""
    """The agent's last message."""
    is_continuation: bool = False
    """Whether the agent continues only because a hook asked it to."""
    model: str = ""
    tokens: int = 0
    """Tokens in the window, if the program reports them."""
    window: int = 0
    messages: tuple["WindowMessage", ...] = ()
    """The messages of the window, if the program asks us to compact it."""


class WindowMessage(Struct, frozen=True, omit_defaults=True):
    """One message of the window."""

    role: str
    text: str = ""


class HookReply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Our answer to an event; nothing is printed if every field is empty."""

    output: str | None = None
    """The text that replaces a tool's output for the model."""
    context: str = ""
    """Text that is added to the model's context."""
    prompt: str | None = None
    """A worker's task, with the packet that it needs."""
    instructions: str = ""
    """Instructions for the model that writes the summary."""
    block: str = ""
    """The answer to a prompt that is not passed on to the model."""
    user_message: str = ""
    """Text that only the user sees."""
    anchor: str | None = None
    """The summary that replaces the compacted messages."""
    replacements: dict[str, dict[str, str]] = {}
    """Call to its new `input` (arguments as JSON) or `output`, used from now on."""


NOTHING = HookReply()
