"""What a host told, and what it is answered: values that know no host's own shapes."""

from msgspec import Struct

KINDS = (
    "tool_result",
    "tool_batch",
    "prompt",
    "before_compaction",
    "compaction",
    "session_start",
    "unheard",
    "handover",
    "worker_start",
    "worker_stop",
    "turn_end",
    "session_end",
    "window",
    "full",
    "worker_packet",
    "status_line",
)
"""Every kind of event; each is the name of the module that answers it."""


class TooMuch(Exception):
    """Raised where more of a transcript is unread than anybody can wait for."""


class Happened(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something happened in an agent's program."""

    agent: str
    """The program, as `holdfast install` spells it."""
    kind: str
    session: str
    root: str
    """The project's folder."""
    transcript: str = ""
    """The file that the program keeps of the session; empty where it keeps none."""
    lane: str = ""
    """The sub-agent that it happened in; empty for the main one."""
    worker: str = ""
    """What kind of sub-agent that is, in the program's words."""
    call: str = ""
    tool: str = ""
    arguments: str = ""
    """Of the call, as JSON."""
    output: str = ""
    """What the tool answered, whole, as text: also where the program itself kept it in a file."""
    failed: bool = False
    fixed: bool = False
    """Whether the program shows what it has, whatever we answer."""
    prompt: str = ""
    """What the user typed, or what a worker is to do."""
    source: str = ""
    """Why: `startup`, `resume`, `clear`, `compact`; `auto` or `manual`; how a session ended."""
    instructions: str = ""
    """What the user wants of a compaction."""
    said: str = ""
    """The agent's last words."""
    again: bool = False
    """Whether the agent only goes on because a hook made it."""
    model: str = ""
    tokens: int = 0
    """Of the window, where the program says so."""
    window: int = 0
    messages: tuple["Shown", ...] = ()
    """What is in sight, where the program asks us to compact it."""


class Shown(Struct, frozen=True, omit_defaults=True):
    """One message that is in sight."""

    role: str
    text: str = ""
    handle: str = ""
    """How the program names it, so that it can be kept as it is."""
    open: bool = False
    """Whether it calls a tool whose result is not there yet."""


class Reply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What we answer; nothing at all when every field is empty."""

    output: str | None = None
    """What the model gets to see in place of a tool's output."""
    context: str = ""
    """What the model is told besides."""
    prompt: str | None = None
    """A worker's task, with what it has to know."""
    instructions: str = ""
    """What whoever writes the summary is told."""
    block: str = ""
    """Why what was asked for does not go on to the model: it was answered here."""
    told: str = ""
    """What the user is told, and the model is not."""
    anchor: str | None = None
    """The summary that stands for what is compacted."""
    keeps: int = 0
    """Messages at the end that stay as they are behind it."""
    replaced: dict[str, dict[str, str]] = {}
    """By call: `input`, its arguments as JSON, or `output`, as they are to be told from now on."""


NOTHING = Reply()
