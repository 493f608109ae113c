"""The table of commands: name, help line, and the chat phrases that run a quick command.

The command line builds its commands from this table; hooks and servers use it to recognise a quick
command in a prompt. Each quick command has a function of its name in `actions`, which takes a
session and the rest of the phrase and returns text.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, cast

from msgspec import Struct

if TYPE_CHECKING:
    from holdfast.session.session import Session


class Command(Struct, frozen=True):
    """A command of the command line; a quick command if it has phrases."""

    name: str
    about: str
    phrases: tuple[str, ...] = ()
    """Chat phrases that run it; the documents use the first."""
    argument: str = ""
    """Name of the text that may follow a phrase; empty if none may."""
    phrases_with_argument: tuple[tuple[str, str], ...] = ()
    """Further phrases, each with the text that it implies after the phrase."""

    def run(self, session: "Session", rest: str = "") -> str:
        """Run the quick command on a session and return the text to show."""
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
        "shrink a session's window, or the messages of a file",
        ("compress", "compress now", "compress context", "compress the context"),
    ),
    Command("undo", "undo the newest compression"),
    Command(
        "log",
        "list the compressions of a session",
        ("compression log", "show compression log", "show the compression log"),
    ),
    Command(
        "recover",
        "search everything that was said, also what left the window",
        ("recover",),
        argument="topic",
    ),
    Command(
        "intent",
        "show the user's requests and constraints word for word",
        ("show session intent", "session intent", "show intent", "show the session intent"),
    ),
    Command("pin", "keep a text word for word in every summary"),
    Command("unpin", "remove a pin or a constraint"),
    Command(
        "checkpoint",
        "save the state of the work; optionally continue in a new session",
        ("checkpoint", "create checkpoint", "create a checkpoint", "checkpoint now"),
        phrases_with_argument=(("checkpoint and reset", "reset"), ("/clear", "reset")),
    ),
    Command(
        "resume",
        "print what a new session needs to continue an old one",
        ("resume", "show resume point", "show the resume point", "resume session"),
    ),
    Command("unattended", "allow an agent to continue a plan without asking"),
    Command("probe", "test whether the window still answers questions about hidden content"),
    Command("drift", "find where the agent drifted from its goal after a summary"),
    Command("context", "create and manage context packets for workers"),
    Command("rules", "show the compression rules in force and where each value is set"),
    Command("preserve", "check that the sections that must survive compression exist"),
    Command("replay", "simulate compression on recorded sessions and report the cost"),
    Command("mcp", "run a Model Context Protocol server"),
    Command("install", "add Holdfast to an installed agent"),
    Command("uninstall", "remove Holdfast from an agent"),
    Command("doctor", "test the hooks and tools that were added to an agent"),
    Command("run", "run a quick command by its chat phrase"),
    Command("show", "list the entries of a session, or print one entry or the summary"),
    Command("view", "print the messages that would be sent to the model"),
    Command("export", "write a session's original bytes"),
    Command("purge", "erase sessions or messages permanently"),
    Command("backup", "copy the ledger, also while agents write to it"),
    Command("fsck", "check the ledger for damage"),
    Command("config", "show the settings and where each is set"),
    Command("completion", "print a shell completion script"),
)
"""Every command, in the order in which help lists them."""

QUICK: tuple[Command, ...] = tuple(command for command in COMMANDS if command.phrases)
"""The commands that a chat phrase can run."""


class ParsedCommand(Struct, frozen=True):
    """A quick command that a text names, and the text after its phrase."""

    command: Command
    rest: str = ""


def parse_quick_command(text: str) -> ParsedCommand | None:
    """Return the quick command that a text names, or None if it names none.

    Case, white space and a full stop are ignored. A text that only begins with a phrase is not a
    quick command: "compress these images" is meant for the agent. The slash of "/clear" is
    required: "clear" alone may answer a question.
    """
    whole = " ".join(text.split()).strip(" .!?\"'`")
    plain = whole.strip(" .!?\"'`/")
    for command in QUICK:
        for phrase, rest in command.phrases_with_argument:
            if phrase == (whole if phrase.startswith("/") else plain).lower():
                return ParsedCommand(command, rest)
        for phrase in command.phrases:
            if plain.lower() == phrase:
                return ParsedCommand(command)
            if command.argument and plain.lower().startswith(phrase + " "):
                return ParsedCommand(command, plain[len(phrase) :].strip())
    return None


def usage_of(command: Command) -> str:
    """Return the first phrase of a quick command with its argument, for a list of commands."""
    return f"{command.phrases[0]} [{command.argument}]" if command.argument else command.phrases[0]
