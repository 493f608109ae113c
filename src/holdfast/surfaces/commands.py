"""The commands, once: what each is for, and the words that mean it in a conversation.

The command line makes its commands from this table; every other surface finds here what a chat
word asks for. A command that can be asked for in words has a function from a session and the rest
of the words to text, in `acts`.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, cast

from msgspec import Struct

if TYPE_CHECKING:
    from holdfast.session.session import Session


class Command(Struct, frozen=True):
    """Something that can be asked for."""

    name: str
    about: str
    words: tuple[str, ...] = ()
    """What a person may say for it; the first is how the documents spell it."""
    takes: str = ""
    """What may follow the words; nothing may when this is empty."""
    means: tuple[tuple[str, str], ...] = ()
    """Other words for it, and what they say besides: what would follow the words."""

    def run(self, session: "Session", rest: str = "") -> str:
        """Do it to a session, and tell what came of it."""
        module = import_module("holdfast.surfaces.actions")  # late: most runs need one command
        act = cast("Callable[[Session, str], str]", getattr(module, self.name))
        return act(session, rest)


COMMANDS: tuple[Command, ...] = (
    Command("ingest", "read session files into the ledger"),
    Command("sessions", "list the sessions of this project"),
    Command(
        "status",
        "show how full a session's window is",
        ("context status", "context-status", "status of the context", "show context status"),
    ),
    Command(
        "compress",
        "make a window, or a list of messages, smaller",
        ("compress", "compress now", "compress context", "compress the context"),
    ),
    Command("undo", "take the newest compression back"),
    Command(
        "log",
        "show every compression there was",
        ("compression log", "show compression log", "show the compression log"),
    ),
    Command(
        "recover",
        "find what was said, in sight or not",
        ("recover",),
        takes="topic",
    ),
    Command(
        "intent",
        "show what was asked for, word for word",
        ("show session intent", "session intent", "show intent", "show the session intent"),
    ),
    Command("pin", "make words stay in sight whatever leaves"),
    Command("unpin", "lift what was pinned, or a constraint"),
    Command(
        "checkpoint",
        "put down where the work stands, or start afresh from there",
        ("checkpoint", "create checkpoint", "create a checkpoint", "checkpoint now"),
        means=(("checkpoint and reset", "reset"), ("/clear", "reset")),
    ),
    Command(
        "resume",
        "print what a fresh session needs to go on",
        ("resume", "show resume point", "show the resume point", "resume session"),
    ),
    Command("unattended", "let a plan run on without asking, or end that"),
    Command("probe", "ask the window about what left it"),
    Command("drift", "find where the agent left its goal after a summary"),
    Command("context", "hand workers what they need, in packets"),
    Command("rules", "show the rules in force, and why"),
    Command("preserve", "check that what has to survive is there"),
    Command("replay", "tell what compressing would have done to sessions"),
    Command("mcp", "serve agents over the Model Context Protocol"),
    Command("install", "put Holdfast into an agent that is already there"),
    Command("uninstall", "take it out of an agent again"),
    Command("doctor", "try whether what was put into an agent works"),
    Command("run", "run a quick command by its words"),
    Command("show", "page through a session, step by step"),
    Command("view", "print a window exactly as it would be sent"),
    Command("export", "give a session's bytes back"),
    Command("purge", "erase a session or a message for good"),
    Command("backup", "copy the ledger while agents go on writing"),
    Command("fsck", "check every byte of the ledger"),
    Command("config", "show what is set, and where it was set"),
    Command("completion", "print shell completion"),
)
"""Every command, in the order in which help lists them."""

QUICK: tuple[Command, ...] = tuple(command for command in COMMANDS if command.words)
"""Those that a person may ask for in words."""


class Asked(Struct, frozen=True):
    """What words ask for."""

    command: Command
    rest: str = ""


def understood(words: str) -> Asked | None:
    """What a person asks for with these words; nothing when they are no quick command.

    Case, white space and a full stop do not matter. Words that only begin like a quick command
    are none: "compress these images" asks the agent, not us. A slash matters where one belongs to
    the word: "clear" alone may answer a question.
    """
    whole = " ".join(words.split()).strip(" .!?\"'`")
    plain = whole.strip(" .!?\"'`/")
    for command in QUICK:
        for phrase, rest in command.means:
            if phrase == (whole if phrase.startswith("/") else plain).lower():
                return Asked(command, rest)
        for phrase in command.words:
            if plain.lower() == phrase:
                return Asked(command)
            if command.takes and plain.lower().startswith(phrase + " "):
                return Asked(command, plain[len(phrase) :].strip())
    return None


def spelled(command: Command) -> str:
    """How a quick command is said."""
    return f"{command.words[0]} [{command.takes}]" if command.takes else command.words[0]
