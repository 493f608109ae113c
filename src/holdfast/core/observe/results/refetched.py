"""Count what the agent fetched again after a compression removed it from the window.

Savings are reported net of these tokens. Reading a file that changed since, or running a command
again after a change, does not count: the agent wanted new information.
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

RECOVERY_TOOLS = ("context_recover", "context_query")
COPIES_FOLDER = ".holdfast/cache/"


class Refetches(Struct, frozen=True, omit_defaults=True):
    """Counts of what was fetched again after one compression."""

    rereads: int = 0
    repeats: int = 0
    """Commands and other calls that repeat an earlier call exactly."""
    recoveries: int = 0
    requests: int = 0
    """Agent steps with such a call."""
    tokens: int = 0
    """Raw tokens of the results."""

    @property
    def fetches(self) -> int:
        """Number of all fetches."""
        return self.rereads + self.repeats + self.recoveries

    def __add__(self, other: "Refetches") -> "Refetches":
        return Refetches(
            self.rereads + other.rereads,
            self.repeats + other.repeats,
            self.recoveries + other.recoveries,
            self.requests + other.requests,
            self.tokens + other.tokens,
        )


@rule({})
def refetches_after(
    entries: Iterable[Entry], tokens: Mapping[int, int]
) -> dict[EntryId, Refetches]:
    """Return the refetches by the entry of each compression in a lane.

    `tokens` has the token count of entries by sequence number.
    """
    scan = _LaneScan(tokens)
    for entry in entries:
        scan.add(entry)
    return scan.by_compression


class _LaneScan:
    """State of one pass over a lane: hidden entries, last results, open calls."""

    def __init__(self, tokens: Mapping[int, int]) -> None:
        self.by_compression: dict[EntryId, Refetches] = {}
        self._tokens = tokens
        self._hidden_by: dict[EntryId, EntryId] = {}
        """By hidden entry: the compression that hid it."""
        self._last_results: dict[tuple[str, ...], tuple[EntryId, int]] = {}
        """By request key: entry and number of the last result."""
        self._open_calls: dict[str, tuple[tuple[str, ...], EntryId]] = {}
        """Calls without a result: request key, and the compression that caused the call."""
        self._changed_at: dict[str, int] = {"": 0}
        self._last_compression = ""
        self._counted_steps: set[tuple[EntryId, int]] = set()

    def add(self, entry: Entry) -> None:
        """Add the next entry."""
        match entry.body:
            case Compressed() as body:
                self._last_compression = entry.id
                self.by_compression[entry.id] = Refetches()
                for name in _hidden_entries(body):
                    self._hidden_by.setdefault(name, entry.id)
            case Restored() as body:
                self.by_compression.pop(body.compressed, None)
                self._hidden_by = {
                    n: by for n, by in self._hidden_by.items() if by != body.compressed
                }
            case ToolCalled() as body:
                self._call(entry, body)
            case ToolReturned() as body:
                self._return(entry, body)
            case _:
                pass

    def _call(self, entry: Entry, body: ToolCalled) -> None:
        touch = touch_of(body)
        key = _request_key(body, touch)
        culprit, what = self._cause_of(key, body, touch)
        if culprit:
            step = (culprit, entry.message)
            first = step not in self._counted_steps
            self._counted_steps.add(step)
            self._charge(culprit, replace(what, requests=int(first)))
        self._open_calls[body.call] = (key, culprit)
        if touch.verb in ("write", "edit"):
            self._changed_at[touch.path] = self._changed_at[""] = entry.seq

    def _cause_of(
        self, key: tuple[str, ...], body: ToolCalled, touch: Touch
    ) -> tuple[str, Refetches]:
        """Return the compression that caused a call (or empty), and the kind of fetch."""
        if self._last_compression and _is_recovery(body, touch):
            return self._last_compression, Refetches(recoveries=1)
        name, seq = self._last_results.get(key, ("", 0))
        where = touch.path if touch.verb == "read" else ""
        culprit = self._hidden_by.get(name, "")
        if (
            not culprit
            or culprit not in self.by_compression
            or self._changed_at.get(where, 0) > seq
        ):
            return "", Refetches()
        return culprit, Refetches(rereads=1) if touch.verb == "read" else Refetches(repeats=1)

    def _return(self, entry: Entry, body: ToolReturned) -> None:
        key, culprit = self._open_calls.pop(body.call, ((), ""))
        if key and not body.failed:
            self._last_results[key] = (entry.id, entry.seq)
        if culprit:
            self._charge(culprit, Refetches(tokens=self._tokens.get(entry.seq, 0)))

    def _charge(self, culprit: EntryId, more: Refetches) -> None:
        if culprit in self.by_compression:
            self.by_compression[culprit] += more


def _hidden_entries(body: Compressed) -> Iterator[EntryId]:
    return (name for step in body.steps for name in step.hides)


def _request_key(body: ToolCalled, touch: Touch) -> tuple[str, ...]:
    """Return the key of a request; all reads of one file have the same key."""
    if touch.verb == "read" and touch.path:
        return ("read", touch.path)
    return (body.tool, touch.command or body.arguments)


def _is_recovery(body: ToolCalled, touch: Touch) -> bool:
    if any(body.tool.endswith(name) for name in RECOVERY_TOOLS):
        return True
    return "holdfast recover" in touch.command or COPIES_FOLDER in f"{touch.path} {touch.command}"
