"""Fit a summary into a number of tokens: the user's words first, then the work, then facts.

Rows that do not fit are left out of the text only; the ledger has them. Requests, corrections and
constraints are shown whole if they fit, else cut to their share, with a reference. Every other
section has a share of the room; facts get all that is unused.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
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
from holdfast.core.observe.moments.moment import Moment
from holdfast.core.observe.requests.constraints import users_first
from holdfast.core.observe.results.choices import not_overruled
from holdfast.core.shrink.clip_pastes import ONE_LINE, cut_intent, fit_request, map_requests
from holdfast.core.shrink.summary.choose import choose, moment_of_fact, words_of_moment
from holdfast.core.shrink.summary.quoting import short_name
from holdfast.core.shrink.summary.text import Frame, write_summary
from holdfast.text.jsontext import SURROGATE

Row = TypeVar("Row")

SECTION_SHARES: Mapping[str, float] = {
    "state": 0.12,
    "next": 0.10,
    "progress": 0.08,
    "questions": 0.05,
    "errors": 0.05,
    "changed": 0.20,
    "decisions": 0.08,
    "words": 0.25,
    "read": 0.04,
    "refs": 0.02,
}
"""The share of the room that each section may take, in the order in which rows are added."""

REQUEST_SHARE = 0.4
"""The share of the room that the first and the current request may take."""
MIN_REQUEST_TOKENS = 400
"""In a room with a smaller share for requests, they are cut only if they do not fit."""
ROW_TOKENS = 10
"""Tokens of a row besides its text: its entry, bullets, bars."""
MAX_TRIES = 6
SPARE_TOKENS = 8
"""Tokens that are added to the estimate of what lines cost."""
SLACK = 50
"""The divisor of the room that gives the tokens that may be left unused."""
SEEN_SHARE = 0.9
"""A row is left out if this share of its words is in the part of the window that remains."""
MAX_REF_CHARS = 60
MORE_RULES = " more rules and corrections of the user: `holdfast intent`"
MAX_RESOLVED = 2


class SummaryRoom(Struct, frozen=True):
    """The room for a summary, and the inputs for fitting it."""

    tokens: int
    count: CountTokens
    pool: Sequence[Moment] = ()
    """Moments that may be chosen as facts, besides the facts of the summary."""
    shown: frozenset[str] = frozenset()
    """Words in the part of the window that remains."""
    wider: Mapping[str, float] = {}
    """Factors for the shares of sections that a probe found too small."""
    first: frozenset[str] = frozenset()
    """Lines that a probe needs; they are taken before others."""
    session: str = ""
    frame: Frame = "plain"
    firm: bool = False
    """Whether the room is a hard limit: then requests and constraints too are cut."""


class FittedSummary(Struct, frozen=True):
    """A summary with its chosen facts, and its text."""

    summary: Summary
    text: str
    tokens: int


def fit_summary(summary: Summary, room: SummaryRoom) -> FittedSummary:
    """Choose the facts and rows that fit, and write the text within the room if possible."""
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
    pool = with_earlier_facts(summary, room.pool)
    covered, left = _words(shown, room), room.tokens - fitted.tokens
    best, before = fitted, tuple[Moment, ...]()
    for _ in range(MAX_TRIES):
        chosen = choose(pool, left, count=room.count, covered=covered, must=room.first)
        if chosen == before:
            break
        before = chosen
        made = _measured(replace(shown, facts=facts_of(chosen)), room)
        over = made.tokens - room.tokens
        if over > 0:
            left -= over + SPARE_TOKENS
            continue
        best = max(best, made, key=lambda fitted: fitted.tokens)
        # What lines cost together is known only once they stand there: the rest is handed out too.
        if -over * SLACK <= room.tokens:
            break
        left -= over + SPARE_TOKENS
    return best


def _with_sections(summary: Summary, bare: FittedSummary, room: SummaryRoom) -> FittedSummary:
    """What is never left out with the other sections, whose shares come to more than the room."""
    tokens = room.tokens - bare.tokens
    for _ in range(MAX_TRIES):
        fitted = _measured(_served(summary, bare.summary, tokens, room), room)
        over = fitted.tokens - room.tokens
        if over <= 0:
            return fitted
        tokens -= over + SPARE_TOKENS
    return bare


BOUND_SHARES: Mapping[str, float] = {
    "refs": 0.1,
    "requests": 0.6,
    "constraints": 0.15,
    "changes": 0.05,
}
"""The shares of the room for rows that are quoted verbatim, if not all of them fit."""
MIN_BOUND_TOKENS = 200
"""A smaller room is not divided into shares."""
MIN_QUOTED_TOKENS = 60
"""So many tokens of a request are quoted in any room."""


def _bound(summary: Summary, room: SummaryRoom) -> FittedSummary:
    """What is bound word for word, as far as its share goes; the rest is left to its reference."""
    least = _measured(_least_said(summary, room), room, frame="brief")
    left = room.tokens - _measured(_nothing_said(summary), room, frame="brief").tokens
    while left >= MIN_BOUND_TOKENS:
        made = _measured(_bounded(summary, left, room), room, frame="brief")
        if made.tokens <= room.tokens:
            return made
        left -= max(made.tokens - room.tokens, left // MAX_TRIES)
    more = _measured(_with_some_rules(least, summary, room), room, frame="brief")
    return more if more.tokens <= room.tokens else least


def _with_some_rules(least: FittedSummary, summary: Summary, room: SummaryRoom) -> Summary:
    """Return the shortest summary with the rules and corrections for which it leaves room."""
    known, left = least.summary, room.tokens - least.tokens
    requests = "\n".join(quote.text for quote in known.intent.requests)
    rules = [row for row in summary.constraints if not row.lifted and row.text not in requests]
    kept = rows_that_fit(rules, left, lambda row: row.text, room, newest=False)
    left -= sum(room.count(row.text) + ROW_TOKENS for row in kept)
    said = "\n".join([requests, *(row.text for row in kept)])
    unsaid = [quote for quote in summary.intent.changes if quote.text not in said]
    changes = rows_that_fit(unsaid, left, lambda row: row.text, room)
    missing = len(rules) - len(kept) + len(unsaid) - len(changes)
    return replace(
        known,
        intent=replace(known.intent, changes=changes),
        constraints=kept,
        refs=_left_out(summary, missing),
    )


def _least_said(summary: Summary, room: SummaryRoom) -> Summary:
    """The requests in as few tokens as still say something: that much stands in any summary."""
    intent = map_requests(
        replace(summary.intent, changes=(), original_rest=(), current_rest=()),
        lambda quote: _in_room(quote, MIN_QUOTED_TOKENS, room),
    )
    rules = sum(not row.lifted for row in summary.constraints)
    left = _left_out(summary, rules + len(summary.intent.changes))
    return replace(_nothing_said(summary), intent=intent, refs=left)


def _nothing_said(summary: Summary) -> Summary:
    return replace(_only_said(summary), intent=Intent(), constraints=(), refs=())


def _bounded(summary: Summary, tokens: int, room: SummaryRoom) -> Summary:
    """Requests, constraints and corrections, each in its share of so many tokens."""
    part = {name: int(tokens * share) for name, share in BOUND_SHARES.items()}
    intent = summary.intent
    in_force = [row for row in summary.constraints if not row.lifted]
    short = _requests_in(intent, part["requests"], room)
    changes = rows_that_fit(intent.changes, part["changes"], lambda row: row.text, room)
    # The user's constraints take the room first, from the newest on.
    rules = sorted(in_force, key=lambda row: row.by == "user")
    shown = rows_that_fit(rules, part["constraints"], lambda row: row.text, room)
    return replace(
        _nothing_said(summary),
        intent=replace(short, changes=changes),
        constraints=users_first(shown),
        refs=(
            *rows_that_fit(_whole(summary), part["refs"], lambda row: row.what, room, newest=False),
            *_left_out(summary, len(rules) - len(shown) + len(intent.changes) - len(changes)),
        ),
    )


def _left_out(summary: Summary, count: int) -> tuple[Ref, ...]:
    """Where the rules and corrections are that there was no room for."""
    if count == 0:
        # A summary that was read from its text does not have those that it left out.
        return tuple(ref for ref in summary.refs if ref.what.endswith(MORE_RULES))[:1]
    what = f"{count}{MORE_RULES}"
    entry = summary.intent.original.entry
    return (Ref(entry, what),) if count > 0 and entry else ()


def _requests_in(intent: Intent, tokens: int, room: SummaryRoom) -> Intent:
    """The requests in so many tokens: all of the short ones, alike of the long ones."""
    quotes = dict.fromkeys(intent.requests)
    sizes = sorted((room.count(quote.text) + ROW_TOKENS, at) for at, quote in enumerate(quotes))
    given: dict[Quote, int] = {}
    for turn, (size, at) in enumerate(sizes):
        given[list(quotes)[at]] = share = min(size, tokens // (len(sizes) - turn))
        tokens -= share
    firsts = (intent.original, intent.current)

    def short(quote: Quote) -> Quote:
        share = given.get(quote, 0)
        if share < MIN_QUOTED_TOKENS <= room.count(quote.text) and quote not in firsts:
            return Quote()
        return _in_room(quote, max(share, MIN_QUOTED_TOKENS), room)

    return map_requests(intent, short)


def _in_room(quote: Quote, tokens: int, room: SummaryRoom) -> Quote:
    """Words of the user in so many tokens."""
    text = fit_request(quote.text, quote.entry, max(tokens - ROW_TOKENS, 0), room.count)
    return Quote(text, quote.entry) if quote.text else quote


def min_tokens(summary: Summary, room: SummaryRoom) -> int:
    """Return the tokens of the smallest text with all rows that may not be left out."""
    return _measured(_bare(summary, room), room, frame="brief").tokens


def _measured(summary: Summary, room: SummaryRoom, *, frame: Frame | None = None) -> FittedSummary:
    written = write_summary(summary, session=room.session, frame=frame or room.frame)
    text = SURROGATE.sub("\ufffd", written)
    return FittedSummary(summary, text, room.count(text))


def _bare(summary: Summary, room: SummaryRoom) -> Summary:
    """Only what is never left out; said once, and pastes in a line, where room is short."""
    bare = _only_said(summary)
    most = int(room.tokens * REQUEST_SHARE)
    requests = dict.fromkeys(bare.intent.requests)
    if most > MIN_REQUEST_TOKENS and sum(room.count(quote.text) for quote in requests) > most:
        bare = _without_repeats(replace(bare, intent=_requests_in(bare.intent, most, room)))
    if room.count(write_summary(bare, session=room.session)) * 2 <= room.tokens:
        return bare
    return _without_repeats(replace(bare, intent=cut_intent(bare.intent, ONE_LINE)))


def _without_repeats(summary: Summary) -> Summary:
    """Leave out changes of scope and constraints that the requests have word for word."""
    intent = summary.intent
    requests = "\n".join(quote.text for quote in intent.requests)
    changes = tuple(one for one in intent.changes if one.text not in requests)
    return replace(
        summary,
        intent=replace(intent, changes=changes),
        constraints=tuple(
            row for row in summary.constraints if not row.lifted and row.text not in requests
        ),
    )


def _only_said(summary: Summary) -> Summary:
    return replace(
        summary,
        words=(),
        files=(),
        decisions=(),
        findings=(),
        state=(),
        facts=(),
        errors=(),
        progress=replace(summary.progress, completed=(), remaining=(), tests="", phase=""),
        next=(),
        questions=(),
        refs=_whole(summary),
    )


def with_earlier_facts(summary: Summary, moments: Sequence[Moment]) -> list[Moment]:
    """Return the facts of a summary that are not among some moments, and these moments."""
    read = {moment.text for moment in moments}
    return [*(moment_of_fact(fact) for fact in summary.facts if fact.text not in read), *moments]


def facts_of(moments: Iterable[Moment]) -> tuple[Fact, ...]:
    """Return moments as the facts of a summary."""
    return tuple(
        Fact(moment.text, moment.entry, moment.kind, at, moment.weight, moment.turn)
        for at, moment in enumerate(moments, 1)
    )


def _words(summary: Summary, room: SummaryRoom) -> frozenset[str]:
    """Return the words that a reader sees without any fact."""
    return frozenset(words_of_moment(write_summary(summary, session=""))) | room.shown


def _served(summary: Summary, base: Summary, tokens: int, room: SummaryRoom) -> Summary:
    """Each section with as many rows as its share has room for."""
    served, words = _Serving(tokens, room), _not_told(summary.words, base.intent)
    changed = served.rows("changed", _changed(summary.files), _file_text, newest=True)
    shown = replace(
        base,
        state=served.rows("state", summary.state, lambda row: row.text, newest=True),
        next=served.rows("next", summary.next, lambda row: row.step, newest=False),
        progress=replace(
            summary.progress,
            completed=served.rows("progress", summary.progress.completed, str, newest=True),
            remaining=served.rows("progress", _not_next(summary), str, newest=False),
        ),
        questions=served.rows("questions", summary.questions, lambda row: row.text, newest=True),
        errors=served.rows("errors", _by_need(summary.errors), _error_text, newest=False),
        decisions=served.rows("decisions", valid_decisions(summary), _decision_text, newest=True),
        words=served.rows("words", words, lambda row: row.text, newest=True),
        files=(*changed, *served.rows("read", _read(summary.files), _file_text, newest=True)),
    )
    left_out = [quote for quote in words if quote not in shown.words]
    named = [ref for ref in summary.refs if ref.entry]
    refs = (*named, *(_by_reference(quote, room) for quote in left_out))
    rows = served.rows("refs", refs, lambda row: row.what, newest=True)
    return replace(shown, refs=(*base.refs, *rows))


def _not_told(words: Sequence[Quote], intent: Intent) -> tuple[Quote, ...]:
    """The user's words that are not among the changes shown; what was said twice, as said last."""
    told = {quote.text for quote in (*intent.changes, *intent.requests)}
    kept: dict[str, Quote] = {}
    for quote in reversed(words):
        if quote.text not in told:
            kept.setdefault(quote.text, quote)
    return tuple(reversed(kept.values()))


def _whole(summary: Summary) -> tuple[Ref, ...]:
    """Where everything can be read; it is told in any case."""
    return tuple(ref for ref in summary.refs if not ref.entry)


def valid_decisions(summary: Summary) -> list[Decision]:
    """Return the decisions that no newer one replaced and the user did not take back."""
    lifted = [row for row in summary.constraints if row.lifted]
    return [
        decision
        for decision in not_overruled(summary.decisions)
        if not any(_is_same(decision, row) for row in lifted)
    ]


def _is_same(decision: Decision, row: Constraint) -> bool:
    told = decision.choice in row.text or row.text in decision.choice
    return told and short_name(decision.entry) == short_name(row.entry)


def _not_next(summary: Summary) -> tuple[str, ...]:
    """Return the remaining parts of the work that are not among the next steps."""
    steps = {row.step for row in summary.next}
    return tuple(part for part in summary.progress.remaining if part not in steps)


class _Serving:
    """Hands out room, section by section."""

    def __init__(self, tokens: int, room: SummaryRoom) -> None:
        self._tokens, self._room = tokens, room
        self._used: dict[str, int] = {}

    def rows(
        self, section: str, rows: Iterable[Row], text: Callable[[Row], str], *, newest: bool
    ) -> tuple[Row, ...]:
        """As many rows as the section has room for, in their order."""
        share = SECTION_SHARES[section] * self._room.wider.get(section, 1.0)
        left = int(self._tokens * min(share, 0.9)) - self._used.get(section, 0)
        unseen = [row for row in rows if not self._is_seen(text(row))]
        kept, cost = _kept_of(unseen, left, text, self._room, newest=newest)
        self._used[section] = self._used.get(section, 0) + cost
        return kept

    def _is_seen(self, text: str) -> bool:
        """Return whether the part of the window that remains has nearly all words of a row."""
        words = words_of_moment(text)
        seen = sum(word in self._room.shown for word in words)
        return len(words) > 1 and seen >= SEEN_SHARE * len(words)


def rows_that_fit(
    rows: Iterable[Row],
    tokens: int,
    text: Callable[[Row], str],
    room: SummaryRoom,
    *,
    newest: bool = True,
) -> tuple[Row, ...]:
    """Return as many rows as fit into `tokens`, in their order."""
    return _kept_of(list(rows), tokens, text, room, newest=newest)[0]


def _kept_of(
    rows: Sequence[Row], left: int, text: Callable[[Row], str], room: SummaryRoom, *, newest: bool
) -> tuple[tuple[Row, ...], int]:
    """The rows that fit, and what they cost."""
    kept: set[int] = set()
    used = 0
    for at in range(len(rows) - 1, -1, -1) if newest else range(len(rows)):
        cost = room.count(text(rows[at])) + ROW_TOKENS
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
    """Return the errors that are not resolved, the newest first, then the last resolved ones."""
    newest = list(reversed(errors))
    resolved = [error for error in newest if error.resolved]
    return [*(error for error in newest if not error.resolved), *resolved[:MAX_RESOLVED]]


def _by_reference(quote: Quote, room: SummaryRoom) -> Ref:
    gist = " ".join(quote.text[: 4 * MAX_REF_CHARS].split())[:MAX_REF_CHARS]
    return Ref(quote.entry, f"the user: {gist}…", room.count(quote.text))
