"""What the provider reported for each request of a session, beside what the entries show.

A transcript holds neither the system prompt nor the tools, and sometimes not all that was sent:
the report for a request says how large it really was. What it has beyond the entries is its frame.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Compacted, Derived, Entry, EntryId, Used, role_of
from holdfast.core.measure.bill import Frame


class Report(Struct, frozen=True):
    """One request as its provider counted it."""

    request: EntryId
    """The first entry of the answer."""
    tokens: int
    raw: int = 0
    """Raw tokens of the entries that were in sight then."""
    dropped: int = 0
    """Raw tokens of earlier entries that the agent's own program had dropped by then."""


class Told(Struct, frozen=True):
    """All that providers reported of a session, whatever became of it since."""

    requests: int = 0
    peak: int = 0


def told_in(notes: Iterable[Entry]) -> Told:
    """How many requests were reported, and the largest of them; one reported twice counts once."""
    used = [(entry.id, entry.body) for entry in notes if isinstance(entry.body, Used)]
    sizes = {body.request or name: body.input for name, body in used if body.input}
    return Told(len(sizes), max(sizes.values(), default=0))


def reports_of(
    path: Sequence[Entry], notes: Iterable[Entry], counts: Mapping[EntryId, int]
) -> list[Report]:
    """The reports on the requests along a path, in order; `notes` are derived entries about it."""
    about: dict[EntryId | None, list[Entry]] = {}
    for entry in notes:
        if isinstance(entry.body, Used | Compacted):
            about.setdefault(entry.parent, []).append(entry)
    reading = _Reading(counts)
    for entry in path:
        reading.take(entry, about.get(entry.id, []))
    return [report for report in reading.reports.values() if report.tokens]


class _Reading:
    """Goes along a path, knowing what the agent's own program has in sight (`raw`) of `all`."""

    def __init__(self, counts: Mapping[EntryId, int]) -> None:
        self.counts = counts
        self.all = self.raw = self.waiting = 0
        self.request = ""
        self.speaking = False
        self.reports: dict[EntryId, Report] = {}

    def take(self, entry: Entry, notes: Sequence[Entry]) -> None:
        body = entry.body
        own = not isinstance(body, Derived) and role_of(body) == "assistant"
        if own and not self.speaking:
            self.request = entry.id
            self.reports[entry.id] = Report(entry.id, self.waiting, self.raw, self.all - self.raw)
            self.waiting = 0
        self.speaking = own
        self.all += self.counts.get(entry.id, 0)
        self.raw += self.counts.get(entry.id, 0)
        for note in notes:
            self._note(note.body, answered=own)

    def _note(self, body: object, *, answered: bool) -> None:
        if isinstance(body, Compacted):
            self.raw = sum(self.counts.get(name, 0) for name in body.keeps)
        elif isinstance(body, Used) and answered:
            known = self.reports[self.request]
            self.reports[self.request] = replace(known, tokens=max(known.tokens, body.input))
        elif isinstance(body, Used):
            self.waiting = max(self.waiting, body.input)  # it stands before the answer


def frame_of(report: Report, seen: int) -> Frame:
    """What a request held beside its entries, of which its provider should see so many tokens."""
    if report.tokens >= seen:
        return Frame(report.tokens - seen)
    # The provider counted less than the entries: not all of them were sent any more.
    return Frame(0, report.tokens / seen)
