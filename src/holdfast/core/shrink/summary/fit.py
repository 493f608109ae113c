"""A summary in the room there is: what the user said first, then the work, and facts with the rest.

Nothing is cut out of the summary itself: what does not fit is only not shown, and the ledger has
it. Requests, corrections and constraints are shown whole while they fit, and then as far as their
share goes, with a reference. Every other section has its share of the room; what one leaves unused
goes to the facts.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.summary import (
    Constraint,
    Decision,
    Error,
    Fact,
    File,
    Intent,
    Quote,
    Ref,
    Summary,
)
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.results.choices import still_held
from holdfast.core.observe.worth import telling_names
from holdfast.core.shrink.clip_pastes import ONE_LINE, cut_intent, over_requests, within
from holdfast.core.shrink.summary.facts import AGENT, WIDTH, Line, Weigh, line, pick
from holdfast.core.shrink.summary.quoting import name_of
from holdfast.core.shrink.summary.text import Frame, write
from holdfast.text.jsontext import SURROGATE

Row = TypeVar("Row")

SHARES: Mapping[str, float] = {
    "next": 0.10,
    "progress": 0.10,
    "questions": 0.05,
    "errors": 0.10,
    "changed": 0.25,
    "decisions": 0.15,
    "findings": 0.10,
    "words": 0.25,
    "read": 0.15,
    "refs": 0.03,
}
"""Parts of the room that a section may take, in the order in which they are served."""

ROW = 10
"""Tokens that a row takes besides its words: its entry, bullets, bars."""
TRIES = 6
SPARE = 8
"""Tokens by which a guess at what lines cost errs on the safe side."""
SLACK = 50
"""A part of the room as small as one in so many is left unused."""
SPOKEN = 10.0
"""What a name is worth, about, when the agent has just written it."""
LEAST = 100
"""Tokens below which the findings are not begun: lines of names say more there."""
REF_WORDS = 60


class Room(Struct, frozen=True):
    """What a summary is fitted with."""

    tokens: int
    count: CountTokens
    weigh: Weigh
    pool: Sequence[Line] = ()
    """Lines that could be facts, besides those that the summary has."""
    shown: frozenset[str] = frozenset()
    """Names that stand in the part of the window that stays."""
    wider: Mapping[str, float] = {}
    """By how much the share of a section grows, where a probe found it too small."""
    first: frozenset[str] = frozenset()
    """Lines that come before others, where a probe asked for them."""
    session: str = ""
    frame: Frame = "plain"
    firm: bool = False
    """Whether the room has to do: then requests and constraints too are cut to their share."""


class Fitted(Struct, frozen=True):
    """A summary as it will be kept, and the text that shows it."""

    summary: Summary
    text: str
    tokens: int


def fit(summary: Summary, room: Room) -> Fitted:
    """The summary with the facts that fit, and its text within the room if that is possible."""
    bare = _measured(_bare(summary, room), room)
    if bare.tokens > room.tokens:
        brief = _measured(bare.summary, room, frame="brief")
        if brief.tokens <= room.tokens or not room.firm:
            return brief
        brief = _bound(summary, room)
        bare = _measured(brief.summary, room)
        if bare.tokens > room.tokens:
            return brief
    fitted = _with_sections(summary, bare, room)
    shown = fitted.summary
    kept = (*summary.facts, *_unshown(summary, shown))
    pool = [*(line(fact, room.count) for fact in kept), *room.pool]
    covered, left = _names(shown, room), room.tokens - fitted.tokens
    best = fitted
    for _ in range(TRIES):
        facts = pick(
            pool, left, weigh=room.weigh, count=room.count, covered=covered, first=room.first
        )
        made = _measured(replace(shown, facts=facts), room)
        over = made.tokens - room.tokens
        if over > 0:
            left -= over + SPARE
            continue
        if made.tokens > best.tokens:
            best = made
        else:
            break
        # What lines cost together is known only once they stand there: the rest is handed out too.
        if -over * SLACK <= room.tokens:
            break
        left -= over + SPARE
    return best


def _unshown(summary: Summary, shown: Summary) -> Iterator[Fact]:
    """Findings without room of their own as facts: a name that stood there alone is not lost."""
    told = set(shown.findings)
    for quote in summary.findings:
        if quote not in told and len(quote.text) <= WIDTH and (names := telling_names(quote.text)):
            yield Fact(quote.text, quote.entry, AGENT, worth=SPOKEN * len(names))


def _with_sections(summary: Summary, bare: Fitted, room: Room) -> Fitted:
    """What is never left out with the other sections, whose shares come to more than the room."""
    tokens = room.tokens - bare.tokens
    for _ in range(TRIES):
        fitted = _measured(_served(summary, bare.summary, tokens, room), room)
        over = fitted.tokens - room.tokens
        if over <= 0:
            return fitted
        tokens -= over + SPARE
    return bare


BOUND: Mapping[str, float] = {"refs": 0.1, "requests": 0.6, "constraints": 0.15, "changes": 0.05}
"""Parts of the room that what is bound word for word may take, where not all of it fits."""
LEAST_BOUND = 200
"""Tokens below which there is nothing to share out."""
LEAST_QUOTED = 60
"""Tokens of a request that are quoted whatever the room is."""


def _bound(summary: Summary, room: Room) -> Fitted:
    """What is bound word for word, as far as its share goes; the rest is left to its reference."""
    least = _measured(_least_said(summary, room), room, frame="brief")
    left = room.tokens - _measured(_nothing_said(summary), room, frame="brief").tokens
    while left >= LEAST_BOUND:
        made = _measured(_bounded(summary, left, room), room, frame="brief")
        if made.tokens <= room.tokens:
            return made
        left -= max(made.tokens - room.tokens, left // TRIES)
    return least


def _least_said(summary: Summary, room: Room) -> Summary:
    """The requests in as few tokens as still say something: that much stands in any summary."""
    intent = over_requests(
        replace(summary.intent, changes=(), original_rest=(), current_rest=()),
        lambda quote: _in_room(quote, LEAST_QUOTED, room),
    )
    rules = sum(not row.lifted for row in summary.constraints)
    left = _left_out(summary, rules + len(summary.intent.changes))
    return replace(_nothing_said(summary), intent=intent, refs=left)


def _nothing_said(summary: Summary) -> Summary:
    return replace(_only_said(summary), intent=Intent(), constraints=(), refs=())


def _bounded(summary: Summary, tokens: int, room: Room) -> Summary:
    """Requests, constraints and corrections, each in its share of so many tokens."""
    part = {name: int(tokens * share) for name, share in BOUND.items()}
    intent, rules = summary.intent, [row for row in summary.constraints if not row.lifted]
    short = _requests_in(intent, part["requests"], room)
    changes = that_fit(intent.changes, part["changes"], lambda row: row.text, room)
    shown = that_fit(rules, part["constraints"], lambda row: row.text, room)
    return replace(
        _nothing_said(summary),
        intent=replace(short, changes=changes),
        constraints=shown,
        refs=(
            *that_fit(_whole(summary), part["refs"], lambda row: row.what, room, newest=False),
            *_left_out(summary, len(rules) - len(shown) + len(intent.changes) - len(changes)),
        ),
    )


def _left_out(summary: Summary, count: int) -> tuple[Ref, ...]:
    """Where the rules and corrections are that there was no room for."""
    what = f"{count} more rules and corrections of the user: `holdfast intent`"
    entry = summary.intent.original.entry
    return (Ref(entry, what),) if count > 0 and entry else ()


def _requests_in(intent: Intent, tokens: int, room: Room) -> Intent:
    """The requests in so many tokens: all of the short ones, alike of the long ones."""
    quotes = dict.fromkeys(intent.requests)
    sizes = sorted((room.count(quote.text) + ROW, at) for at, quote in enumerate(quotes))
    given: dict[Quote, int] = {}
    for turn, (size, at) in enumerate(sizes):
        given[list(quotes)[at]] = share = min(size, tokens // (len(sizes) - turn))
        tokens -= share
    firsts = (intent.original, intent.current)

    def short(quote: Quote) -> Quote:
        share = given.get(quote, 0)
        if share < LEAST_QUOTED <= room.count(quote.text) and quote not in firsts:
            return Quote()
        return _in_room(quote, max(share, LEAST_QUOTED), room)

    return over_requests(intent, short)


def _in_room(quote: Quote, tokens: int, room: Room) -> Quote:
    """Words of the user in so many tokens."""
    text = within(quote.text, quote.entry, max(tokens - ROW, 0), room.count)
    return Quote(text, quote.entry) if quote.text else quote


def floor(summary: Summary, room: Room) -> int:
    """Tokens of the smallest text that still says all that has to be said."""
    return _measured(_bare(summary, room), room, frame="brief").tokens


def _measured(summary: Summary, room: Room, *, frame: Frame | None = None) -> Fitted:
    written = write(summary, session=room.session, frame=frame or room.frame)
    text = SURROGATE.sub("\ufffd", written)
    return Fitted(summary, text, room.count(text))


def _bare(summary: Summary, room: Room) -> Summary:
    """Only what is never left out; said once, and pastes in a line, where room is short."""
    bare = _only_said(summary)
    if room.count(write(bare, session=room.session)) * 2 <= room.tokens:
        return bare
    intent = cut_intent(bare.intent, ONE_LINE)
    requests = "\n".join(quote.text for quote in intent.requests)
    return replace(
        bare,
        intent=replace(
            intent, changes=tuple(one for one in intent.changes if one.text not in requests)
        ),
        constraints=tuple(
            row for row in bare.constraints if not row.lifted and row.text not in requests
        ),
    )


def _only_said(summary: Summary) -> Summary:
    return replace(
        summary,
        words=(),
        files=(),
        decisions=(),
        findings=(),
        facts=(),
        errors=(),
        progress=replace(summary.progress, completed=(), remaining=(), tests="", phase=""),
        next=(),
        questions=(),
        refs=_whole(summary),
    )


def _names(summary: Summary, room: Room) -> frozenset[str]:
    """Names that a reader will see without any fact."""
    return telling_names(write(summary, session="")) | room.shown


def _served(summary: Summary, base: Summary, tokens: int, room: Room) -> Summary:
    """Each section with as many rows as its share has room for."""
    served, words = _Serving(tokens, room), _not_told(summary.words, base.intent)
    findings = summary.findings if tokens * SHARES["findings"] >= LEAST else ()
    changed = served.rows("changed", _changed(summary.files), _file_text, newest=True)
    shown = replace(
        base,
        next=served.rows("next", summary.next, lambda row: row.step, newest=False),
        progress=replace(
            summary.progress,
            completed=served.rows("progress", summary.progress.completed, str, newest=True),
            remaining=served.rows("progress", summary.progress.remaining, str, newest=False),
        ),
        questions=served.rows("questions", summary.questions, lambda row: row.text, newest=True),
        errors=served.rows("errors", _by_need(summary.errors), _error_text, newest=False),
        decisions=served.rows("decisions", standing(summary), _decision_text, newest=True),
        findings=served.rows("findings", findings, lambda row: row.text, newest=True),
        words=served.rows("words", words, lambda row: row.text, newest=True),
        files=(
            *changed,
            *served.rows("read", _read(summary.files), _file_text, newest=True),
        ),
    )
    left_out = [quote for quote in words if quote not in shown.words]
    named = [ref for ref in summary.refs if ref.entry]
    refs = (*named, *(_by_reference(quote, room) for quote in left_out))
    rows = served.rows("refs", refs, lambda row: row.what, newest=True)
    return replace(shown, refs=(*_whole(summary), *rows))


def _not_told(words: Sequence[Quote], intent: Intent) -> tuple[Quote, ...]:
    """The user's words that are not among the changes shown; what was said twice, as said last."""
    told = {quote.text for quote in intent.changes}
    kept: dict[str, Quote] = {}
    for quote in reversed(words):
        if quote.text not in told:
            kept.setdefault(quote.text, quote)
    return tuple(reversed(kept.values()))


def _whole(summary: Summary) -> tuple[Ref, ...]:
    """Where everything can be read; it is told in any case."""
    return tuple(ref for ref in summary.refs if not ref.entry)


def standing(summary: Summary) -> list[Decision]:
    """The decisions that still hold: not overruled by a newer one, nor taken back by the user."""
    lifted = [row for row in summary.constraints if row.lifted]
    return [
        decision
        for decision in still_held(summary.decisions)
        if not any(_is_same(decision, row) for row in lifted)
    ]


def _is_same(decision: Decision, row: Constraint) -> bool:
    told = decision.choice in row.text or row.text in decision.choice
    return told and name_of(decision.entry) == name_of(row.entry)


class _Serving:
    """Hands out room, section by section."""

    def __init__(self, tokens: int, room: Room) -> None:
        self._tokens, self._room = tokens, room
        self._used: dict[str, int] = {}

    def rows(
        self, section: str, rows: Iterable[Row], text: Callable[[Row], str], *, newest: bool
    ) -> tuple[Row, ...]:
        """As many rows as the section has room for, in their order."""
        share = SHARES[section] * self._room.wider.get(section, 1.0)
        left = int(self._tokens * min(share, 0.9)) - self._used.get(section, 0)
        kept, cost = _kept_of(list(rows), left, text, self._room, newest=newest)
        self._used[section] = self._used.get(section, 0) + cost
        return kept


def that_fit(
    rows: Iterable[Row],
    tokens: int,
    text: Callable[[Row], str],
    room: Room,
    *,
    newest: bool = True,
) -> tuple[Row, ...]:
    """As many rows as so many tokens take, in their order."""
    return _kept_of(list(rows), tokens, text, room, newest=newest)[0]


def _kept_of(
    rows: Sequence[Row], left: int, text: Callable[[Row], str], room: Room, *, newest: bool
) -> tuple[tuple[Row, ...], int]:
    """The rows that fit, and what they cost."""
    kept: set[int] = set()
    used = 0
    for at in range(len(rows) - 1, -1, -1) if newest else range(len(rows)):
        cost = room.count(text(rows[at])) + ROW
        if used + cost <= left:
            kept.add(at)
            used += cost
    return tuple(row for at, row in enumerate(rows) if at in kept), used


def _changed(files: Iterable[File]) -> list[File]:
    return [file for file in files if file.action != "read"]


def _read(files: Iterable[File]) -> list[File]:
    """Files that were only read; why several were is said of the first."""
    told: set[str] = set()
    rows: list[File] = []
    for file in files:
        if file.action == "read":
            rows.append(replace(file, why="") if file.why in told else file)
            told.add(file.why)
    return rows


def _file_text(file: File) -> str:
    return f"{file.path} {file.change}{file.why}"


def _error_text(error: Error) -> str:
    return f"{error.what} {error.text}"


def _decision_text(decision: Decision) -> str:
    return f"{decision.choice} {decision.reason}"


def _by_need(errors: Sequence[Error]) -> list[Error]:
    """Open ones first, then the newest."""
    return [
        *(error for error in reversed(errors) if not error.resolved),
        *(error for error in reversed(errors) if error.resolved),
    ]


def _by_reference(quote: Quote, room: Room) -> Ref:
    gist = " ".join(quote.text[: 4 * REF_WORDS].split())[:REF_WORDS]
    return Ref(quote.entry, f"the user: {gist}…", room.count(quote.text))
