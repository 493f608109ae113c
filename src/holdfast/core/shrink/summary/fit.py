"""Fit a summary into a number of tokens: the user's words first, then the work, then facts.

Rows that do not fit are left out of the text only; the ledger has them. Requests, corrections and
constraints are shown whole if they fit, else cut to their share, with a reference. Every other
section has a share of the room; facts get all that is unused.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import EntryId
from holdfast.core.ledger.summary import (
    Constraint,
    Decision,
    Error,
    Fact,
    File,
    Intent,
    Progress,
    Quote,
    Ref,
    Summary,
)
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.files.trail import MADE_AND_DELETED, RESTORED
from holdfast.core.observe.moments.cured import PASSES_AFTER
from holdfast.core.observe.moments.moment import BELOW_HEADING, Moment
from holdfast.core.observe.moments.state import COMMIT, LAST_RUN, state_by_need
from holdfast.core.observe.requests.constraints import users_first
from holdfast.core.observe.results.choices import not_overruled
from holdfast.core.shrink.clip_pastes import ONE_LINE, cut_intent, fit_request, map_requests
from holdfast.core.shrink.summary.choose import Choices, moment_of_fact, words_in, words_of_moment
from holdfast.core.shrink.summary.names import choose_names
from holdfast.core.shrink.summary.quoting import short_name
from holdfast.core.shrink.summary.root import relative_path
from holdfast.core.shrink.summary.text import Frame, write_summary
from holdfast.text.jsontext import SURROGATE
from holdfast.text.patterns import Pattern

Row = TypeVar("Row")

SECTION_SHARES: Mapping[str, float] = {
    "state": 0.15,
    "next": 0.06,
    "progress": 0.04,
    "questions": 0.03,
    "errors": 0.04,
    "changed": 0.12,
    "named": 0.05,
    "all named": 0.25,
    "decisions": 0.07,
    "words": 0.2,
    "read": 0.02,
    "refs": 0.01,
}
"""The share of the room that each section may take: together so much that the story gets a third
of a small room. Rows are added in this order."""

REQUEST_SHARE = 0.4
"""The share of the room that the first and the current request may take."""
MIN_REQUEST_TOKENS = 400
"""In a room with a smaller share for requests, they are cut only if they do not fit."""
ROW_TOKENS, NAME_TOKENS = 10, 3
"""Tokens of a row besides its text: its entry, bullets, bars."""
MAX_TRIES = 6
SPARE_TOKENS = 8
"""Tokens that are added to the estimate of what lines cost."""
NAMES_SHARE = 0.3
"""The share of a large room for names that were read and not used yet."""
SLACK = 50
"""The divisor of the room that gives the tokens that may be left unused."""
SHORT_WORDS_CHARS, NEWEST_WORDS = 160, 3
BRIEF_ANSWER_CHARS = 60
"""A shorter message of the user may be understood only with the question before it."""
SHORT_SECTIONS = frozenset(("progress", "decisions", "errors", "read"))
ROOMY = 4_000
"""In fewer tokens, sections leave out what the story has too or a reader can do without: files that
were only read or of which only the size of the change is known, resolved errors, what was completed
without a plan."""
BRIEF_ROOM = 1_200
"""A summary in fewer tokens has a shorter head."""
MIN_REPEATED_WORDS = 6
"""Fewer words are no message that was sent again."""
SEEN_SHARE = 0.9
"""A row is left out if this share of its words is in the part of the window that remains."""
MAX_REF_CHARS = 60
MORE_RULES = " more rules and corrections of the user: `holdfast intent`"
MAX_RESOLVED = 2


Order: TypeAlias = Callable[[Sequence[Row]], Iterable[int]]
"""Returns the indexes of rows, those that a reader needs most first."""


def newest_first(rows: Sequence[object]) -> Iterable[int]:
    """Return the indexes of rows, the last one first."""
    return range(len(rows) - 1, -1, -1)


def words_by_need(words: Sequence[Quote]) -> Iterable[int]:
    """Return the indexes of the user's words: the newest few, the short ones, then the others.

    Many short messages correct the agent, and take no more room than a long one.
    """
    last = len(words) - NEWEST_WORDS
    newest = newest_first(words)
    return sorted(newest, key=lambda at: at < last and len(words[at].text) > SHORT_WORDS_CHARS)


def oldest_first(rows: Sequence[object]) -> Iterable[int]:
    """Return the indexes of rows in their order."""
    return range(len(rows))


class SummaryRoom(Struct, frozen=True):
    """The room for a summary, and the inputs for fitting it."""

    tokens: int
    count: CountTokens
    choices: Choices | None = None
    """Moments that may be chosen as facts; without any, the facts of the summary."""
    remaining: frozenset[EntryId] = frozenset()
    """Entries in the part of the window that remains: none of their moments is chosen."""
    shown: frozenset[str] = frozenset()
    """Words in the part of the window that remains."""
    rest: str = ""
    """The words of the system and the user in that part."""
    wider: Mapping[str, float] = {}
    """Factors for the shares of sections that a probe found too small."""
    first: frozenset[str] = frozenset()
    """Lines that a probe needs; they are taken before others."""
    session: str = ""
    frame: Frame = "plain"
    firm: bool = False
    """Whether the room is a hard limit: then requests and constraints too are cut."""

    @property
    def short_sections(self) -> frozenset[str]:
        """The sections that leave out what the story has too, unless a probe missed it there."""
        is_small = self.tokens < ROOMY and self.frame != "whole"
        return SHORT_SECTIONS - self.wider.keys() if is_small else frozenset()


class FittedSummary(Struct, frozen=True):
    """A summary with its chosen facts, and its text."""

    summary: Summary
    text: str
    tokens: int


def fit_summary(summary: Summary, room: SummaryRoom) -> FittedSummary:
    """Choose the facts and rows that fit, and write the text within the room if possible."""
    summary = _without_rules_in(room.rest, summary)
    if room.frame == "plain" and room.tokens < BRIEF_ROOM:
        room = replace(room, frame="brief")
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
    choices = choices_in(room, summary)
    covered, left = _words(shown, room), room.tokens - fitted.tokens
    best, before = fitted, tuple[Moment, ...]()
    must = room.first | _questions_before(choices.moments, shown)
    in_state = _runs_in_state(choices.moments, shown.state, summary.state)
    for _ in range(MAX_TRIES):
        for_names = int(left * NAMES_SHARE) if room.tokens >= ROOMY else 0
        chosen = choices.choose(
            left - for_names, covered=covered, must=must, shown=room.remaining, without=in_state
        )
        if chosen == before:
            break
        before = chosen
        facts = facts_of(
            (*_under_headings(chosen), *_names_beside(chosen, covered, for_names, choices, room))
        )
        words = _with_places(shown.words, summary, facts)
        made = _measured(replace(shown, words=words, facts=facts), room)
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
    kept = rows_that_fit(rules, left, lambda row: row.text, room, oldest_first)
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
            *rows_that_fit(_whole(summary), part["refs"], lambda row: row.what, room, oldest_first),
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
    bare = _bare(_without_rules_in(room.rest, summary), room)
    return _measured(bare, room, frame="brief").tokens


def _without_rules_in(text: str, summary: Summary) -> Summary:
    """Leave out the constraints that the rest of the window has word for word.

    Those of a system prompt are there in every request.
    """
    kept = tuple(row for row in summary.constraints if row.lifted or row.text not in text)
    return replace(summary, constraints=kept) if len(kept) < len(summary.constraints) else summary


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
    if room.tokens < ROOMY:
        bare = _without_repeats(bare)
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
        state=(),
        facts=(),
        errors=(),
        progress=replace(summary.progress, completed=(), remaining=(), tests="", phase=""),
        next=(),
        questions=(),
        refs=_whole(summary),
    )


def choices_in(room: SummaryRoom, summary: Summary) -> Choices:
    """Return what facts are chosen from: the moments of the room, else the facts of the summary."""
    return room.choices or Choices(map(moment_of_fact, summary.facts), room.count)


def facts_of(moments: Iterable[Moment]) -> tuple[Fact, ...]:
    """Return moments as the facts of a summary."""
    return tuple(
        Fact(moment.text, moment.entry, moment.kind, at, moment.weight, moment.turn)
        for at, moment in enumerate(moments, 1)
    )


def _under_headings(chosen: Iterable[Moment]) -> Iterator[Moment]:
    """Yield moments with the heading that they are under, where it is another than before."""
    entry, shown = "", ""
    for moment in chosen:
        known, shown = shown if moment.entry == entry else "", moment.under
        entry = moment.entry
        upper, mark, _ = moment.under.rpartition(BELOW_HEADING)
        is_below = mark and known.startswith(upper)
        heading = moment.under[len(upper) + len(mark) :] if is_below else moment.under
        is_new = heading and moment.under != known
        yield replace(moment, text=f"{heading}: {moment.text}") if is_new else moment


def _with_places(
    words: Sequence[Quote], summary: Summary, facts: Iterable[Fact]
) -> tuple[Quote, ...]:
    """Return words, and one without text for each message that is not shown but has facts."""
    shown, turns = {quote.entry for quote in words}, {fact.turn or fact.entry for fact in facts}
    kept = set(words)
    places = (
        quote if quote in kept else Quote("", quote.entry)
        for quote in summary.words
        if quote in kept or (quote.entry in turns and quote.entry not in shown)
    )
    return tuple(dict.fromkeys(places))


def _names_beside(
    chosen: Sequence[Moment],
    covered: frozenset[str],
    tokens: int,
    choices: Choices,
    room: SummaryRoom,
) -> Sequence[Moment]:
    """Return names that no chosen moment has, under the newest request of them."""
    if not tokens or not chosen:
        return ()
    seen = covered.union(*(words_of_moment(moment.text) for moment in chosen))
    names = choose_names(choices.names, tokens, seen=seen, count=room.count)
    return [replace(moment, turn=chosen[-1].turn or chosen[-1].entry) for moment in names]


def _runs_in_state(
    pool: Sequence[Moment], shown: Iterable[Quote], state: Iterable[Quote]
) -> frozenset[str]:
    """Return the commands that the state shows with their outcome: checks and commits."""
    texts = {row.text for row in shown if row.text.startswith((LAST_RUN, COMMIT))}
    entries = {row.entry for row in state if row.text in texts}
    runs = (row.text for row in pool if row.kind == "ran" and row.entry in entries)
    return frozenset(text for text in runs if PASSES_AFTER not in text)


def _questions_before(pool: Sequence[Moment], shown: Summary) -> frozenset[str]:
    """Return the questions of the agent that the user answered in a few words that are shown."""
    brief = {
        quote.entry
        for quote in (*shown.words, shown.intent.current)
        if len(quote.text) <= BRIEF_ANSWER_CHARS
    }
    asked = ((now.turn, before.text) for before, now in pairwise(pool) if before.turn != now.turn)
    return frozenset(text for turn, text in asked if turn in brief and text.endswith("?"))


def _words(summary: Summary, room: SummaryRoom) -> frozenset[str]:
    """Return the words that a reader sees without any fact."""
    return frozenset(words_in(write_summary(summary, session=""))) | room.shown


def _served(summary: Summary, base: Summary, tokens: int, room: SummaryRoom) -> Summary:
    """Each section with as many rows as its share has room for."""
    served, words = _Serving(tokens, room), _not_told(summary.words, base.intent)
    short = room.short_sections
    progress, decisions, read = summary.progress, valid_decisions(summary), _read(summary.files)
    if "progress" in short:
        progress = _planned_progress(progress)
    if "decisions" in short:
        decisions = _decisions_not_in(base, decisions)
    changed = _changed_files(served, summary, room)
    # Where nothing was changed, the files that were read are all there is to find again.
    reading = "changed" if not changed and "read" in room.wider else "read"
    state = served.rows("state", summary.state, lambda row: row.text, state_by_need)
    shown = replace(
        base,
        state=_without_entries(state) if room.tokens < ROOMY else state,
        next=served.rows("next", summary.next, lambda row: row.step, oldest_first),
        progress=replace(
            progress,
            completed=served.rows("progress", progress.completed, str),
            remaining=served.rows("progress", _not_next(summary), str, oldest_first),
            tests="" if _shows_check(state) else progress.tests,
        ),
        questions=served.rows("questions", summary.questions, lambda row: row.text),
        errors=served.rows(
            "errors",
            _errors_not_in(state, summary, resolved=0 if "errors" in short else MAX_RESOLVED),
            _error_text,
            oldest_first,
        ),
        decisions=served.rows("decisions", decisions, _decision_text),
        words=served.rows("words", words, lambda row: row.text, words_by_need),
        files=(
            *changed,
            *served.rows(reading, () if "read" in short else read, _file_text),
        ),
    )
    shown = _without_changes_in_words(shown)
    left_out = [quote for quote in words if quote not in shown.words]
    named = [ref for ref in summary.refs if ref.entry]
    refs = (*named, *(_by_reference(quote, room) for quote in left_out))
    rows = served.rows("refs", refs, lambda row: row.what)
    return replace(shown, refs=(*base.refs, *rows))


def _without_entries(rows: Iterable[Quote]) -> tuple[Quote, ...]:
    """Return rows without their entries: naming one takes as much room as half a line."""
    return tuple(Quote(row.text) for row in rows)


def _planned_progress(progress: Progress) -> Progress:
    """Return the progress of a plan; without one, the story has what was completed."""
    planned = progress.phase or progress.remaining
    return progress if planned else replace(progress, completed=())


def _decisions_not_in(shown: Summary, decisions: Iterable[Decision]) -> list[Decision]:
    """Return the decisions that the requests and constraints do not have word for word."""
    quotes = (*shown.intent.requests, *shown.intent.changes, *shown.constraints)
    said = "\n".join(quote.text for quote in quotes)
    return [decision for decision in decisions if decision.choice.rstrip("…") not in said]


def _changed_files(served: "_Serving", summary: Summary, room: SummaryRoom) -> list[File]:
    """Return the changed files with what changed in them, and the names of others.

    A short summary only names them: a table takes the room of ten names.
    """
    files = _changed(summary.files)
    by_need = files_by_need(room.choices.moments if room.choices else (), summary.root)
    is_short = room.frame == "brief"
    described = () if is_short else files
    if room.tokens < ROOMY:
        described = [file for file in described if _says_what_changed(file)]
    shown = served.rows("changed", described, _file_text, by_need)
    others = [replace(file, change="", was="") for file in files if file not in shown]
    share = "all named" if is_short else "named"
    named = served.rows(share, others, lambda file: file.path, by_need, row_tokens=NAME_TOKENS)
    by_path = {file.path: file for file in (*named, *shown)}
    return [by_path[file.path] for file in files if file.path in by_path]


# `+8 −8; in every place`: how much changed, but not what; not `run(); +8`.
_ONLY_SIZES = Pattern(r"(?:[+−]\d[\d,]{0,9}[ ;]{0,2}|in every place){1,4}$")


def _says_what_changed(file: File) -> bool:
    return bool(file.was or file.partial) or not (
        file.change == "" or _ONLY_SIZES.match(file.change)
    )


def _shows_check(state: Iterable[Quote]) -> bool:
    """Return whether the state has the result of the last tests."""
    return any(row.text.startswith(LAST_RUN) for row in state)


def _not_told(words: Sequence[Quote], intent: Intent) -> tuple[Quote, ...]:
    """The user's words that are not shown as requests; what was said twice, as said last."""
    shown = {quote.text for quote in (*intent.changes, *intent.requests)}
    later = [frozenset(words_of_moment(text)) for text in shown]
    kept: list[Quote] = []
    for quote in reversed(words):
        said = frozenset(words_of_moment(quote.text))
        if quote.text not in shown and not _repeats(said, later):
            kept.append(quote)
            later.append(said)
            shown.add(quote.text)
    return tuple(reversed(kept))


def _repeats(said: frozenset[str], later: Iterable[frozenset[str]]) -> bool:
    """Return whether a later text has nearly all of some words: a message that was sent again."""
    if len(said) < MIN_REPEATED_WORDS:
        return False
    least = max(MIN_REPEATED_WORDS, SEEN_SHARE * len(said))
    return any(len(other) >= least <= len(said & other) for other in later)


def _without_changes_in_words(summary: Summary) -> Summary:
    """Leave out changes of scope that are part of a message that is shown whole."""
    shown = "\n".join(quote.text for quote in (*summary.words, *summary.intent.requests))
    changes = tuple(change for change in summary.intent.changes if change.text not in shown)
    return replace(summary, intent=replace(summary.intent, changes=changes))


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
        self,
        section: str,
        rows: Iterable[Row],
        text: Callable[[Row], str],
        order: "Order[Row]" = newest_first,
        row_tokens: int = ROW_TOKENS,
    ) -> tuple[Row, ...]:
        """As many rows as the section has room for, in their order."""
        share = SECTION_SHARES[section] * self._room.wider.get(section, 1.0)
        left = int(self._tokens * min(share, 0.9)) - self._used.get(section, 0)
        is_missed = section in self._room.wider and self._room.tokens >= ROOMY
        unseen = [row for row in rows if is_missed or not self._is_seen(text(row))]
        kept, cost = _kept_of(unseen, left, text, self._room, order, row_tokens)
        self._used[section] = self._used.get(section, 0) + cost
        return kept

    def _is_seen(self, text: str) -> bool:
        """Return whether the part of the window that remains has nearly all words of a row."""
        words = words_of_moment(text)
        seen = sum(map(self._room.shown.__contains__, words))
        return len(words) > 1 and seen >= SEEN_SHARE * len(words)


def rows_that_fit(
    rows: Iterable[Row],
    tokens: int,
    text: Callable[[Row], str],
    room: SummaryRoom,
    order: "Order[Row]" = newest_first,
) -> tuple[Row, ...]:
    """Return as many rows as fit into `tokens`, in their order."""
    return _kept_of(list(rows), tokens, text, room, order)[0]


def _kept_of(
    rows: Sequence[Row],
    left: int,
    text: Callable[[Row], str],
    room: SummaryRoom,
    order: "Order[Row]",
    row_tokens: int = ROW_TOKENS,
) -> tuple[tuple[Row, ...], int]:
    """The rows that fit, and what they cost."""
    kept: set[int] = set()
    used = 0
    for at in order(rows):
        cost = room.count(text(rows[at])) + row_tokens
        if used + cost <= left:
            kept.add(at)
            used += cost
    return tuple(row for at, row in enumerate(rows) if at in kept), used


def _changed(files: Iterable[File]) -> list[File]:
    """Return the files in which something is changed now."""
    unchanged = (MADE_AND_DELETED, RESTORED)
    return [
        file for file in files if file.action != "read" and not file.change.startswith(unchanged)
    ]


# `copied from a.py`, `sed -i s|a|b|`: what one command did to many files; not `by /x.py; +3`.
_BY_COMMAND = Pattern(r"(?:(?:copied|moved) from |sed -i |by /)(?:(?!; [+−]\d).){0,400}$")


def files_by_need(pool: Iterable[Moment], root: str) -> "Order[File]":
    """Return an order of changed files: changed last first; those changed by a command at the end.

    The moments of the changes say when: a file has its row where it was first touched.
    """
    changes = (moment.text.split(" ", 2) for moment in pool if moment.kind == "changed")
    last = {words[1]: at for at, words in enumerate(changes) if len(words) > 1}

    def order(files: Sequence[File]) -> Iterable[int]:
        def need(at: int) -> tuple[bool, int]:
            return _is_scratch(files[at]), -last.get(relative_path(files[at].path, root), -1)

        return sorted(newest_first(files), key=need)

    return order


def _is_scratch(file: File) -> bool:
    return file.path.startswith("/tmp/") or _BY_COMMAND.match(file.change) is not None


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


def _errors_not_in(state: Sequence[Quote], summary: Summary, *, resolved: int) -> list[Error]:
    """Return the open errors, the newest first, then some resolved ones.

    An open error that the state shows as the last run of a check is not repeated.
    """
    shown = {row.entry for row in state}
    newest = [row for row in reversed(summary.errors) if row.resolved or row.entry not in shown]
    ended = [error for error in newest if error.resolved]
    return [*(error for error in newest if not error.resolved), *ended[:resolved]]


def _by_reference(quote: Quote, room: SummaryRoom) -> Ref:
    gist = " ".join(quote.text[: 4 * MAX_REF_CHARS].split())[:MAX_REF_CHARS]
    return Ref(quote.entry, f"the user: {gist}…", room.count(quote.text))
