"""Read the reported size of each request, and compute the tokens that are not in its entries.

A transcript has neither the system prompt nor the tools, and sometimes not everything that was
sent: the report for a request has its real size. The difference to its entries is its frame.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Compacted, Derived, Entry, EntryId, Used, role_of
from holdfast.core.measure.bill import RequestFrame


class Report(Struct, frozen=True):
    """The size of one request as its provider reported it."""

    request: EntryId
    """The first entry of the answer."""
    tokens: int
    raw: int = 0
    """Raw tokens of the entries that were in the window then."""
    dropped: int = 0
    """Raw tokens of earlier entries that the agent's own program had dropped by then."""


class ReportedTotals(Struct, frozen=True):
    """Totals over all reports of a session, including requests that were undone since."""

    requests: int = 0
    peak: int = 0


def reported_totals(notes: Iterable[Entry]) -> ReportedTotals:
    """Count the reported requests and find the largest; a request reported twice counts once."""
    used = [(entry.id, entry.body) for entry in notes if isinstance(entry.body, Used)]
    sizes = {body.request or name: body.input for name, body in used if body.input}
    return ReportedTotals(len(sizes), max(sizes.values(), default=0))


def reports_of(
    path: Sequence[Entry], notes: Iterable[Entry], counts: Mapping[EntryId, int]
) -> list[Report]:
    """Return the reports on the requests of a path in order; `notes` are its derived entries."""
    notes_by_parent: dict[EntryId | None, list[Entry]] = {}
    for entry in notes:
        if isinstance(entry.body, Used | Compacted):
            notes_by_parent.setdefault(entry.parent, []).append(entry)
    reader = _ReportReader(counts)
    for entry in path:
        reader.add_entry(entry, notes_by_parent.get(entry.id, []))
    return [report for report in reader.reports.values() if report.tokens]


class _ReportReader:
    """Reads a path entry by entry; `raw` counts the tokens that the host still shows, of `all`."""

    def __init__(self, counts: Mapping[EntryId, int]) -> None:
        self.counts = counts
        self.all = self.raw = self.pending = 0
        self.request = ""
        self.in_answer = False
        self.reports: dict[EntryId, Report] = {}

    def add_entry(self, entry: Entry, notes: Sequence[Entry]) -> None:
        body = entry.body
        by_assistant = not isinstance(body, Derived) and role_of(body) == "assistant"
        if by_assistant and not self.in_answer:
            self.request = entry.id
            self.reports[entry.id] = Report(entry.id, self.pending, self.raw, self.all - self.raw)
            self.pending = 0
        self.in_answer = by_assistant
        self.all += self.counts.get(entry.id, 0)
        self.raw += self.counts.get(entry.id, 0)
        for note in notes:
            self._add_note(note.body, answered=by_assistant)

    def _add_note(self, body: object, *, answered: bool) -> None:
        if isinstance(body, Compacted):
            self.raw = sum(self.counts.get(name, 0) for name in body.keeps)
        elif isinstance(body, Used) and answered:
            report = self.reports[self.request]
            self.reports[self.request] = replace(report, tokens=max(report.tokens, body.input))
        elif isinstance(body, Used):
            self.pending = max(self.pending, body.input)  # the report is before the answer


def frame_of(report: Report, seen: int) -> RequestFrame:
    """Return the frame of a request whose entries should have `seen` tokens for its provider."""
    if report.tokens >= seen:
        return RequestFrame(report.tokens - seen)
    # The provider counted less than the entries have: not all of them were sent.
    return RequestFrame(0, report.tokens / seen)
