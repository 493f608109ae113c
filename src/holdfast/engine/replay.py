"""What Holdfast would have done to a session that is over: turn by turn, with the bill.

The session is gone through once. Before each request of the agent the same engine decides that
decides in a live session; a meter bills that request, and beside it the one that would have been
sent without compression.
"""

from collections.abc import Callable, Iterable
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.apply import after_steps
from holdfast.core.compress import at_birth, batch
from holdfast.core.ledger.append import derived
from holdfast.core.ledger.entry import (
    Compressed,
    Derived,
    Entry,
    EntryId,
    Noted,
    Source,
    ToolCalled,
    ToolReturned,
    Used,
    pack,
    role_of,
    text_of,
)
from holdfast.core.ledger.head import Head, Lane, advance
from holdfast.core.ledger.window import Item, Run, Window
from holdfast.core.ledger.window import advance as grow
from holdfast.core.measure.bill import Cost, Frame, Meter, Part
from holdfast.core.measure.frames import Report, frame_of
from holdfast.core.measure.models import Model
from holdfast.core.measure.tokens import count_body
from holdfast.core.measure.usage import measure
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.worth import is_own, telling_names
from holdfast.core.plan.due import due, ripe
from holdfast.core.plan.plan import Candidate
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.state import State
from holdfast.core.shrink.step import Means, nowhere
from holdfast.core.verify.quality import Quality
from holdfast.models.tokenizers import counter

NEAR = 12
"""Items back from a result within which its call is looked for."""
PREFIX = 20_000
"""Tokens of system prompt and tools that stand before every request."""


class Replayed(Struct, frozen=True):
    """What a session cost, with Holdfast and without."""

    session: str
    tokens: int
    """Raw tokens of the whole session."""
    ours: Cost
    none: Cost
    compressions: int
    postponed: int
    took: float = 0.0
    scores: tuple[Quality, ...] = ()
    """How each summary did on its probes."""
    used: int = 0
    """Names that stood in what left and that the agent used again."""
    seen: int = 0
    """Of these, those that were still in sight then."""
    tasks: int = 0
    """Requests of the user."""

    @property
    def ratio(self) -> float:
        """What we would have been billed, as a part of what it was without."""
        return self.ours.billed / self.none.billed if self.none.billed else 1.0


def replay(
    session: str,
    entries: Iterable[Entry],
    *,
    policy: Policy,
    model: Model,
    limit: int,
    prefix: int = PREFIX,
    window: int = 0,
    reports: Iterable[Report] = (),
    factor: float = 1.0,
    progress: Callable[[int], None] | None = None,
) -> Replayed:
    """Go through a session's own entries as if Holdfast had been there.

    `reports` are what the provider said of its requests, `factor` how many of its tokens one raw
    token is. A request that was not reported has beside its entries what the one before it had;
    where none was reported, `prefix` tokens.
    """
    sources = [entry for entry in entries if not isinstance(entry.body, Derived)]
    film = Film(policy, model, limit, prefix, window=window, reports=reports, factor=factor)
    for number, entry in enumerate(sources):
        film.take(entry)
        if progress is not None and number % 50 == 0:
            progress(number)
    return film.done(session)


class Film:
    """A replay under way."""

    def __init__(
        self,
        policy: Policy,
        model: Model,
        limit: int,
        prefix: int,
        *,
        window: int = 0,
        reports: Iterable[Report] = (),
        factor: float = 1.0,
    ) -> None:
        self.policy, self.model, self.limit, self.factor = policy, model, limit, factor
        self.reports = {report.request: report for report in reports}
        first = next(iter(self.reports.values()), None)
        self.frame = frame_of(first, round(first.raw * factor)) if first else Frame(prefix)
        self.means = Means(count=counter(model.vocabulary), address=nowhere, policy=policy)
        window = window or policy.window or model.window
        self.ours = Meter(model.cache, prefix=prefix, window=window)
        self.none = Meter(model.cache, prefix=prefix, window=window)
        self.head, self.window = Head(vocabulary=model.vocabulary), Window()
        self.counts: dict[int, int] = {}
        self.raw = self.sum = 0
        """Tokens of all entries: of the vocabulary, and as the provider would count them."""
        self.all: list[Part] = []
        self.parts: dict[EntryId, Part] = {}
        self.standing: dict[tuple[EntryId, Source | None], Part] = {}
        self.known: dict[EntryId, frozenset[str]] = {}
        self.seq = self.sent = 0
        self.said: set[str] = set()
        self.speaking = False
        self.compressions = self.postponed = 0
        self.scores: list[Quality] = []
        self.before: set[str] = set()
        """Names that stood in what left, and were not used since."""
        self.used = self.seen = 0

    def take(self, entry: Entry) -> None:
        """One more entry of the session."""
        body = entry.body
        assert not isinstance(body, Derived)
        own = role_of(body) == "assistant"
        if own and not self.speaking:
            self._request(entry.id)
        if not own and self.speaking:
            self._answered()
        self.speaking = own
        self._append(entry, body)
        if own and is_own(body):
            self.said |= self.known[entry.id]

    def _append(self, entry: Entry, body: Source) -> None:
        self.seq += 1
        tokens = count_body(body, self.means.count)
        placed = replace(
            entry, seq=self.seq, lane="", parent=self.window.end, message=self._message(entry)
        )
        self.counts[self.seq] = tokens
        self.head = advance(self.head, placed, tokens)
        self.window = grow(self.window, [placed])
        self.raw += tokens
        part = Part(entry.id, round(tokens * self.factor), telling_names(text_of(body)))
        self.known[entry.id], self.parts[entry.id] = part.names, part
        self.all.append(part)
        self.sum += part.tokens
        self.ours.arrived(part)
        if isinstance(body, ToolReturned) and not body.failed:
            self._note_written(body)

    def _message(self, entry: Entry) -> int:
        """Its message's first entry, in the numbers of this replay."""
        return self.seq - (entry.seq - entry.message if entry.message else 0)

    def _note_written(self, body: ToolReturned) -> None:
        """A write that went well was on disk then: the shell would have seen and noted it."""
        for item in reversed(self.window.items[-NEAR:]):
            call = item.entry.body
            if isinstance(call, ToolCalled) and call.call == body.call:
                if touch_of(call).verb in ("write", "edit"):
                    self._derive(Noted("persisted", {"entry": item.entry.id, "sha256": "assumed"}))
                return

    def _derive(self, body: Derived) -> None:
        self.seq += 1
        entry = derived(self.seq, body, parent=self.window.end, lane="", at="")
        self.counts.setdefault(self.seq, 0)
        self.head = advance(self.head, entry, 0)
        if isinstance(body, Compressed):
            self.window = _turned(self.window, entry, body)
        else:
            self.window = grow(self.window, [entry])

    def _request(self, answer: EntryId) -> None:
        self._decide()
        if answer in self.reports:
            self.frame = self._framed(self.reports[answer])
        self.none.request(self.all, self.frame)
        parts = [self._part(item) for item in self.window.items]
        size = self.ours.request(parts, self.frame)
        size -= self.ours.again  # fetched for the bill; no entry of this replay tells of it
        self.sent = self.seq
        self._derive(Used(size=size, input=size, model=self.model.id))

    def _framed(self, report: Report) -> Frame:
        """What a request held that no entry shows."""
        sent = self.sum - round(report.dropped * self.factor)
        return frame_of(report, max(sent, 0))

    def _answered(self) -> None:
        again = self.said & self.before
        self.used += len(again)
        self.seen += sum(self.ours.sees(name) for name in again)
        self.before -= again
        self.ours.used(self.said)
        self.said = set()

    def _decide(self) -> None:
        state = self._state()
        born = at_birth(state, self.means)
        if born is not None:
            self._apply(born)
        lane = self._lane()
        usage = measure(lane, self.model, self.limit)
        called = due(usage, lane, self.policy)
        if called.action and ripe(lane, usage):
            self._apply(batch(self._state(), self.means, called))

    def _apply(self, made: Candidate) -> None:
        if made.body is not None:
            self._note(made.body)
            self._derive(made.body)
            self.compressions += 1
        else:
            self._derive(Noted("postponed", {"raw": str(self._lane().tokens)}))
            self.postponed += 1

    def _note(self, body: Compressed) -> None:
        """What has to be known of a compression before it is made."""
        if body.summary is not None:
            self.scores.append(Quality(**body.quality))
        hidden = {name for step in body.steps for name in step.hides}
        for item in self.window.items:
            if hidden.issuperset(item.shows) and item.entry.seq <= self.sent:
                self.before |= self._part(item).names

    def _lane(self) -> Lane:
        return self.head.lane("")

    def _state(self) -> State:
        return State(
            window=self.window,
            counts=self.counts,
            lane=self._lane(),
            model=self.model,
            limit=self.limit,
            policy=self.policy,
            seq=self.seq,
            sent=self.sent,
            known=self.known,
        )

    def _part(self, item: Item) -> Part:
        if item.stand_in is None:
            return self.parts[item.entry.id]
        place = (item.entry.id, item.stand_in)
        if place not in self.standing:
            text = text_of(item.stand_in)
            key = sha256(pack(item.stand_in)).hexdigest()
            tokens = round(count_body(item.stand_in, self.means.count) * self.factor)
            self.standing[place] = Part(key, tokens, telling_names(text))
        return self.standing[place]

    def done(self, session: str) -> Replayed:
        """What it came to."""
        self._answered()
        return Replayed(
            session=session,
            tokens=self.raw,
            ours=self.ours.cost(),
            none=self.none.cost(),
            compressions=self.compressions,
            postponed=self.postponed,
            scores=tuple(self.scores),
            used=self.used,
            seen=self.seen,
            tasks=self._lane().turns,
        )


def _turned(window: Window, entry: Entry, body: Compressed) -> Window:
    """The window after a compression of it; nothing is undone here, so no fold is needed."""
    return Window(
        lane=window.lane,
        end=window.end,
        generation=window.generation + 1,
        items=Run(after_steps(window.items, body.steps)),
        ledger=window.ledger.plus([entry]),
    )
