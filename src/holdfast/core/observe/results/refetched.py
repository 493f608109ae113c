"""What a compression caused: what the agent fetched again because it had left the window.

A saving counts only net of that. A file that changed since, or a command after something was
changed, is no fetch: the agent wanted to see something new.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import (
    Compressed,
    Entry,
    EntryId,
    Restored,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.observe.files.touch import Touch, touch_of

RECOVERING = ("context_recover", "context_query")
COPIES = ".holdfast/cache/"


class Caused(Struct, frozen=True, omit_defaults=True):
    """What was fetched again after one compression."""

    rereads: int = 0
    repeats: int = 0
    """Commands and other calls that were made before, word for word."""
    recoveries: int = 0
    requests: int = 0
    """Steps of the agent that held such a call."""
    tokens: int = 0
    """Raw tokens of what came back."""

    @property
    def fetches(self) -> int:
        """All of them."""
        return self.rereads + self.repeats + self.recoveries

    def __add__(self, other: "Caused") -> "Caused":
        return Caused(
            self.rereads + other.rereads,
            self.repeats + other.repeats,
            self.recoveries + other.recoveries,
            self.requests + other.requests,
            self.tokens + other.tokens,
        )


@rule({})
def effects_of(entries: Iterable[Entry], tokens: Mapping[int, int]) -> dict[EntryId, Caused]:
    """What each compression of a lane caused, by its entry; `tokens` counts entries by number."""
    watch = _Watch(tokens)
    for entry in entries:
        watch.see(entry)
    return watch.found


class _Watch:
    """Goes through a lane once and remembers what has left, and what was last seen of what."""

    def __init__(self, tokens: Mapping[int, int]) -> None:
        self.found: dict[EntryId, Caused] = {}
        self._tokens = tokens
        self._left: dict[EntryId, EntryId] = {}
        """What left, and with which compression."""
        self._shown: dict[tuple[str, ...], tuple[EntryId, int]] = {}
        """The last result of each call, by what was asked, and its number."""
        self._asked: dict[str, tuple[tuple[str, ...], EntryId]] = {}
        """Calls that wait for their result, and what is to blame for them, if anything."""
        self._changed: dict[str, int] = {"": 0}
        self._last = ""
        self._counted: set[tuple[EntryId, int]] = set()

    def see(self, entry: Entry) -> None:
        """Take one more entry into account."""
        match entry.body:
            case Compressed() as body:
                self._last = entry.id
                self.found[entry.id] = Caused()
                for name in _names(body):
                    self._left.setdefault(name, entry.id)
            case Restored() as body:
                self.found.pop(body.compressed, None)
                self._left = {n: by for n, by in self._left.items() if by != body.compressed}
            case ToolCalled() as body:
                self._call(entry, body)
            case ToolReturned() as body:
                self._return(entry, body)
            case _:
                pass

    def _call(self, entry: Entry, body: ToolCalled) -> None:
        touch = touch_of(body)
        key = _key(body, touch)
        culprit, what = self._culprit(key, body, touch)
        if culprit:
            step = (culprit, entry.message)
            first = step not in self._counted
            self._counted.add(step)
            self._blame(culprit, replace(what, requests=int(first)))
        self._asked[body.call] = (key, culprit)
        if touch.verb in ("write", "edit"):
            self._changed[touch.path] = self._changed[""] = entry.seq

    def _culprit(self, key: tuple[str, ...], body: ToolCalled, touch: Touch) -> tuple[str, Caused]:
        """The compression that made a call necessary, and what kind of fetch it is."""
        if self._last and _recovers(body, touch):
            return self._last, Caused(recoveries=1)
        name, seq = self._shown.get(key, ("", 0))
        where = touch.path if touch.verb == "read" else ""
        culprit = self._left.get(name, "")
        if not culprit or culprit not in self.found or self._changed.get(where, 0) > seq:
            return "", Caused()
        return culprit, Caused(rereads=1) if touch.verb == "read" else Caused(repeats=1)

    def _return(self, entry: Entry, body: ToolReturned) -> None:
        key, culprit = self._asked.pop(body.call, ((), ""))
        if key and not body.failed:
            self._shown[key] = (entry.id, entry.seq)
        if culprit:
            self._blame(culprit, Caused(tokens=self._tokens.get(entry.seq, 0)))

    def _blame(self, culprit: EntryId, more: Caused) -> None:
        if culprit in self.found:
            self.found[culprit] += more


def _names(body: Compressed) -> Iterator[EntryId]:
    return (name for step in body.steps for name in step.hides)


def _key(body: ToolCalled, touch: Touch) -> tuple[str, ...]:
    """What a call asks for: a file read again in other lines is asked for again."""
    if touch.verb == "read" and touch.path:
        return ("read", touch.path)
    return (body.tool, touch.command or body.arguments)


def _recovers(body: ToolCalled, touch: Touch) -> bool:
    if any(body.tool.endswith(name) for name in RECOVERING):
        return True
    return "holdfast recover" in touch.command or COPIES in f"{touch.path} {touch.command}"
