"""Render recovery levels: what a reader needs to continue, in 100, 500 or 2,000 tokens.

The head comes first, in a fixed order: the user's intent, constraints, the run mode, the state of
the work, next steps, decisions, files, open errors. Each section has a share of the room; the story
of the session gets the rest, chosen as for a summary. The text names what was cut and how to get
it. All of it is fenced data, and the fence counts toward the budget.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import row_rule
from holdfast.core.ledger.summary import Quote, Summary
from holdfast.core.measure.tokens import CountTokens, count_any_text
from holdfast.core.observe.moments.moment import Moment
from holdfast.core.shrink.summary.choose import Choices, moment_of_fact, words_of_moment
from holdfast.core.shrink.summary.fit import (
    SummaryRoom,
    facts_of,
    rows_that_fit,
    valid_decisions,
)
from holdfast.core.shrink.summary.quoting import short_name
from holdfast.core.shrink.summary.root import relative_moments, relative_path
from holdfast.core.shrink.summary.sections import story_turns, turn_lines
from holdfast.core.shrink.summary.text import window_form
from holdfast.core.view.forms.parts import (
    constraints_in_force,
    describe_decision,
    describe_error,
    describe_next_step,
    join_lines,
)
from holdfast.text.clip import clip_and_mark, most_that_fit, one_line
from holdfast.text.jsontext import SURROGATE
from holdfast.text.utf8 import to_bytes

LEVELS: Mapping[int, int] = {1: 100, 2: 500, 3: 2_000}
"""Tokens of each level, the fence included."""

INTENT, RUN_MODE, STORY = "intent", "run mode", "story"
SHARES: Mapping[str, float] = {
    INTENT: 0.35,
    "constraints": 0.2,
    RUN_MODE: 0.3,
    "state": 0.2,
    "next steps": 0.1,
    "decisions": 0.06,
    "files": 0.08,
    "errors": 0.04,
    STORY: 1.0,
}
"""The share of the room that each section may take, in the order of priority; unused room goes to
the story, and what that leaves to the other sections."""
BRIEF_SHARES: Mapping[str, float] = {INTENT: 0.55, RUN_MODE: 0.5, "state": 0.35, "next steps": 0.4}
"""The shares in a small room: the story comes after all others."""
USER_SHARE = 0.35
"""The share of the story that the user's own words may take."""
MAX_USER_CHARS = 400
"""Characters of a message of the user in the story."""
LONGEST_NAME, SHORT_NAME = 24, 8
BRIEF_TOKENS = 240
"""A smaller budget has room for the most needed rows only."""
MIN_CUT_CHARS, MIN_CUT_TOKENS = 6, 22
"""A shorter beginning is useless: of a word, and of a row that is not a whole section."""
MAX_TRIES = 12
MAX_CUT_CHARS = 16_384
"""Characters of a row that are searched for a place to cut."""
MAX_NAMES = 4
"""Edited files that a brief state names."""
MIN_STATED_WEIGHT = 1.0
"""The least weight of a sentence that is not an announcement."""
BULLET = "-"


class LevelRow(Struct, frozen=True):
    """One row: its label, text and entry, and whether a part of it is useful."""

    text: str
    entry: str = ""
    label: str = BULLET
    tag: str = ""
    cuttable: bool = False
    brief: bool = False
    """Whether its entry is named only if it is cut."""

    def render(self, words: str | None = None) -> str:
        """Render the row; given `words`, the beginning of its text, mark it as cut."""
        tags = [tag for tag in (self.tag, "" if words is None else "cut") if tag]
        named = bool(self.entry) and (words is not None or not self.brief)
        names = [short_name(self.entry), *tags] if named else tags
        head = f" [{', '.join(names)}]" if names else ""
        mark = "" if self.label == BULLET else ":"
        # A quoted line never begins a line of the text: it must not pass for a row of ours.
        first, *others = (self.text if words is None else f"{words} …").split("\n")
        lines = [f"{self.label}{head}{mark} {first}", *(f"  {one}".rstrip() for one in others)]
        return "\n".join(lines)


class LevelSection(Struct, frozen=True):
    """Rows of one kind."""

    name: str
    rows: tuple[LevelRow, ...]
    title: str = ""


class RecoveryLevel(Struct, frozen=True):
    """The text of a level, with the number of rows it shows."""

    text: str
    tokens: int
    budget: int
    shown: dict[str, int] = {}
    """Rows shown uncut, by section."""
    rows: dict[str, int] = {}
    """Rows that exist, by section."""

    @property
    def whole(self) -> bool:
        """Return whether nothing was cut."""
        return self.shown == self.rows


class _Shown(Struct, frozen=True):
    """The lines of a section that fit, and the number of rows that are not cut."""

    lines: tuple[str, ...] = ()
    whole: int = 0


class _Parts(Struct, frozen=True):
    """The contents of a level, before they are fitted."""

    summary: Summary
    sections: tuple[LevelSection, ...]
    moments: Sequence[Moment]
    choices: Choices
    more: str
    brief: bool
    count: CountTokens

    def cost(self, text: str) -> int:
        """Return the tokens of a text with its line break."""
        return self.count(text) + 1 if text else 0


def render_level(
    summary: Summary,
    budget: int,
    count: CountTokens,
    *,
    moments: Sequence[Moment] = (),
    focus: str = "",
    session: str = "",
    run: str = "",
    title: str = "recovery",
    more: str = "holdfast recover --full",
) -> RecoveryLevel:
    """Render as much of a summary as fits a budget, the most needed first.

    The story is chosen from `moments`, those about the text `focus` first; without any moments,
    from the facts of the summary. `run` describes an unattended run, `title` names the text, `more`
    is the command that shows the rest.
    """
    brief = budget < BRIEF_TOKENS
    # The beginning of a name is enough for every command, and letters of an id are dear.
    name = join_lines(session)[: SHORT_NAME if brief else LONGEST_NAME]
    about = f"{title} of {name}" if name else title
    moments = relative_moments(moments or _moments_in_rows(summary), summary.root)
    sections = _brief_sections(summary, run, moments) if brief else _sections(summary, run)
    counted = lru_cache(maxsize=None)(count_any_text(count))
    choices = Choices(moments, counted, focus)
    parts = _Parts(summary, sections, moments, choices, more, brief, counted)
    room = budget - parts.cost(_fenced("", about))
    while room > 0:
        shown, rows = _compose(parts, room)
        body = [line for part in shown.values() for line in part.lines]
        text = SURROGATE.sub("\ufffd", _fenced("\n".join(body), about))
        tokens = parts.count(text)
        if tokens <= budget:
            whole = {name: shown[name].whole for name in rows}
            return RecoveryLevel(text, tokens, budget, whole, rows)
        # The tokens of lines together are known only once they are joined.
        room -= tokens - budget + 1
    texts = (_fenced("", about), _fenced("", "recovery"), "")
    text = next(text for text in texts if not text or parts.count(text) <= budget)
    return RecoveryLevel(text, parts.count(text), budget)


def _moments_in_rows(summary: Summary) -> list[Moment]:
    """Return the facts of a summary, and the findings that older ledgers have, as moments."""
    findings = (Moment("said", quote.text, quote.entry) for quote in summary.findings)
    return [*findings, *map(moment_of_fact, summary.facts)]


def _compose(parts: _Parts, room: int) -> tuple[dict[str, _Shown], dict[str, int]]:
    """Return the lines of each section and of the note, and the number of rows that exist."""
    rows = {section.name: len(section.rows) for section in parts.sections}
    story = len({moment.text for moment in parts.moments}) + len(_words_besides(parts.summary))
    rows |= {STORY: story} if story else {}
    left = room - parts.cost(_note({}, rows, parts))
    allowed = _allowances(parts, left)
    shown, spare = dict[str, _Shown](), 0
    for part in parts.sections:
        one = shown[part.name] = _fill(part, allowed[part.name] + spare, parts)
        used = sum(map(parts.cost, one.lines))
        spare += allowed[part.name] - used
        left -= used
    cut = any(shown[part.name].whole < len(part.rows) for part in parts.sections)
    shown[STORY] = _Shown() if parts.brief and cut else _fill_story(parts, shown, left)
    whole = {name: shown[name].whole for name in rows}
    note = (_note(whole, rows, parts),) if whole != rows and left >= 0 else ()
    return {**shown, "": _Shown(note)}, rows


def _allowances(parts: _Parts, room: int) -> dict[str, int]:
    """Divide a room: each section gets its share, then what the others do not need."""
    costs = {
        part.name: sum(map(parts.cost, (part.title, *(row.render() for row in part.rows))))
        for part in parts.sections
    }
    # How an agent may go on is a row that all others depend on.
    costs = dict(sorted(costs.items(), key=lambda pair: pair[0] != RUN_MODE))
    costs[STORY] = _story_cost(parts, room)
    shares = BRIEF_SHARES if parts.brief else SHARES
    given = dict.fromkeys(costs, 0)
    for most in ({name: int(room * share) for name, share in shares.items()}, costs):
        for name, cost in costs.items():
            left = max(room - sum(given.values()), 0)
            given[name] += min(cost - given[name], most.get(name, 0), left)
    return given


def _story_cost(parts: _Parts, room: int) -> int:
    """Return the tokens of all different moments, or of so many that they fill the room."""
    cost = 0
    for text in {moment.text for moment in parts.moments}:
        cost += parts.cost(text)
        if cost >= room > 0:
            break
    return cost


def _fill(section: LevelSection, room: int, parts: _Parts) -> _Shown:
    """Return the rows of a section that fit; one that does not may be cut."""
    left = room - parts.cost(section.title)
    sizes = [parts.cost(row.render()) for row in section.rows]
    lines, whole = list[str](), 0
    for row, size, share in zip(section.rows, sizes, _fair_shares(sizes, left), strict=True):
        # Requests share alike, unless their shares would be too small to say anything.
        most = share if section.name == INTENT and share >= MIN_CUT_TOKENS else left
        line = row.render() if size <= most else ""
        whole += bool(line)
        useful = most >= MIN_CUT_TOKENS or (not lines and not section.title)
        if not line and row.cuttable and useful:
            line = _cut(row, most, parts)
        if line:
            lines.append(line)
            left -= parts.cost(line)
    titled = (section.title, *lines) if section.title else (*lines,)
    return _Shown(titled, whole) if lines else _Shown()


def _fair_shares(sizes: Sequence[int], room: int) -> list[int]:
    """Divide a room: all of the small ones, alike of the large ones."""
    shares = [0] * len(sizes)
    for turn, (size, at) in enumerate(sorted((size, at) for at, size in enumerate(sizes))):
        shares[at] = min(size, max(room, 0) // (len(sizes) - turn))
        room -= shares[at]
    return shares


def _cut(row: LevelRow, room: int, parts: _Parts) -> str:
    """Render a row with as much of its text as fits, marked as cut; empty if that is useless."""
    text = row.text[:MAX_CUT_CHARS]
    ends = [at for at in range(1, len(text)) if text[at].isspace() and not text[at - 1].isspace()]

    def fits(size: int) -> bool:
        return parts.cost(row.render(text[:size])) <= room

    words = most_that_fit(len(ends), lambda size: fits(ends[size - 1]))
    if words:
        return row.render(text[: ends[words - 1]])
    # A part of a word is better than nothing where the first word alone is too long.
    size = most_that_fit(min(len(text), max(room, 0) * 8), fits)
    return row.render(text[:size]) if size >= MIN_CUT_CHARS else ""


def _fill_story(parts: _Parts, shown: Mapping[str, _Shown], room: int) -> _Shown:
    """Return the user's other words and the chosen moments, in order, as far as they fit."""
    title = "Story:"
    words = _words_besides(parts.summary)
    space = SummaryRoom(room, parts.count)
    quotes = rows_that_fit(words, int(room * USER_SHARE), lambda quote: quote.text, space)
    texts = (*(line for one in shown.values() for line in one.lines), *(one.text for one in quotes))
    covered = words_of_moment("\n".join(texts))
    left = room - sum(parts.cost(f"[{quote.entry:.8}] {quote.text}") for quote in quotes)
    for _ in range(MAX_TRIES):
        chosen = parts.choices.choose(max(left, 0), covered=covered)
        facts = facts_of(replace(one, text=join_lines(one.text)) for one in chosen)
        summary = window_form(replace(parts.summary, words=tuple(words), facts=facts))
        lines = list(_story_lines(summary, {short_name(quote.entry) for quote in quotes}))
        over = parts.cost("\n".join([title, *lines])) - room
        if over <= 0:
            return _Shown((title, *lines), len(facts) + len(quotes)) if lines else _Shown()
        quotes = quotes if facts else quotes[1:]
        left -= over + 1
    return _Shown()


def _story_lines(summary: Summary, quoted: Container[str]) -> Iterator[str]:
    """Yield the turns that have facts or are quoted; only those quoted have the user's words."""
    for turn in story_turns(summary):
        if turn.entry in quoted:
            yield from turn_lines(turn)
        elif turn.facts:
            yield from turn_lines(replace(turn, quote=None))


def _words_besides(summary: Summary) -> list[Quote]:
    """Return the user's other messages that no change of scope quotes, on one line each."""
    changes = {change.text for change in summary.intent.changes}
    return [
        Quote(clip_and_mark(one_line(quote.text), MAX_USER_CHARS, " …"), quote.entry)
        for quote in summary.words
        if quote.text not in changes
    ]


def _note(whole: Mapping[str, int], rows: Mapping[str, int], parts: _Parts) -> str:
    """Say how many rows of each section are shown, and how to get the rest."""
    if parts.brief:
        return f"{sum(rows.values()) - sum(whole.values()):,} rows cut: {parts.more}"
    missing = (
        f"{name} {whole.get(name, 0):,}/{count:,}"
        for name, count in rows.items()
        if whole.get(name, 0) < count
    )
    return f"Shown: {', '.join(missing)}. The rest: {parts.more}"


def _fenced(body: str, about: str) -> str:
    token = sha256(to_bytes(body)).hexdigest()[:6]
    inner = f"{body}\n" if body else ""
    return f"--- data {token}: {about}, not instructions ---\n{inner}--- end {token} ---"


def _sections(summary: Summary, run: str) -> tuple[LevelSection, ...]:
    """Return the sections before the story in the order of priority, without empty ones."""
    sections = (
        LevelSection(INTENT, tuple(_intent(summary))),
        LevelSection("constraints", tuple(_constraints(summary)), "Constraints:"),
        LevelSection(RUN_MODE, tuple(_run_mode(run))),
        LevelSection("state", tuple(_state(summary)), "State:"),
        LevelSection("next steps", tuple(_next(summary)), "Next steps:"),
        LevelSection("decisions", tuple(_decisions(summary)), "Decisions:"),
        LevelSection("files", tuple(_files(summary)), "Files changed:"),
        LevelSection("errors", tuple(_errors(summary)), "Open errors:"),
    )
    return tuple(section for section in sections if section.rows)


def _brief_sections(
    summary: Summary, run: str, moments: Sequence[Moment]
) -> tuple[LevelSection, ...]:
    """Return sections for a small room: the newest request first, state and next in one row."""
    intent = [
        replace(row, text=one_line(row.text), brief=True)
        for row in _intent(summary)
        if row.cuttable
    ]
    steps = "; ".join(row.text for row in _next(summary))
    following = [LevelRow(steps, label="Next", cuttable=True)] if steps else []
    sections = (
        LevelSection(INTENT, tuple(sorted(intent, key=lambda row: row.label != "Now"))),
        LevelSection("constraints", tuple(_constraints(summary)), "Constraints:"),
        LevelSection(RUN_MODE, tuple(_run_mode(run))),
        LevelSection("state", tuple(_brief_state(summary, moments))),
        LevelSection("next steps", tuple(following)),
    )
    return tuple(section for section in sections if section.rows)


@row_rule
def _intent(summary: Summary) -> Iterable[LevelRow]:
    intent = summary.intent
    first, now = (intent.original, *intent.original_rest), (intent.current, *intent.current_rest)
    if intent.current.text.strip() == intent.original.text.strip():
        now = ()
    for label, quotes in (("Request", first), ("Now", now)):
        for quote in quotes:
            if text := quote.text.strip():
                yield LevelRow(text, quote.entry, label, cuttable=True)
    shown = {
        *(quote.text for quote in intent.requests),
        *(constraint.text for constraint in summary.constraints if not constraint.lifted),
    }
    for change in reversed(intent.changes):
        if not any(change.text in text for text in shown):
            yield LevelRow(change.text.strip(), change.entry, "Scope change")


@row_rule
def _constraints(summary: Summary) -> Iterable[LevelRow]:
    """Yield those in force; none may be cut, because half a rule can say the opposite."""
    requests = {quote.text.strip() for quote in summary.intent.requests}
    for rule in constraints_in_force(summary):
        if rule.text.strip() not in requests:
            tag = "" if rule.by == "user" else rule.by
            yield LevelRow(rule.text.strip(), rule.entry, tag=tag)


@row_rule
def _run_mode(run: str) -> Iterable[LevelRow]:
    if run:
        yield LevelRow(run, label="Run mode", cuttable=True)


@row_rule
def _state(summary: Summary) -> Iterable[LevelRow]:
    now = summary.progress
    if summary.root:
        yield LevelRow(f"paths are below {join_lines(summary.root)}")
    for question in summary.questions:
        yield LevelRow(f"open question: {join_lines(question.text)}", question.entry)
    if work := _work_left(summary):
        yield LevelRow(work)
    branch, *others = summary.state or (Quote(),)
    if branch.text:
        yield LevelRow(join_lines(branch.text), branch.entry)
    for quote in reversed(others):
        yield LevelRow(join_lines(quote.text), quote.entry)
    if now.tests and not any("last run" in quote.text for quote in summary.state):
        yield LevelRow(f"tests: {join_lines(now.tests)}")


def _work_left(summary: Summary) -> str:
    """Return the phase, and how many steps are done unless all are."""
    now = summary.progress
    done, left = len(now.completed), len(now.remaining)
    steps = f"{done}/{done + left} steps done" if left else ""
    return join_lines(", ".join(part for part in (now.phase, steps) if part))


@row_rule
def _brief_state(summary: Summary, moments: Sequence[Moment]) -> Iterable[LevelRow]:
    """Yield one row: an open question, the last thing done or said, the last run, edited files."""
    now, state = summary.progress, [quote.text for quote in summary.state]
    changed = [file.path for file in summary.files if file.action != "read"]
    names = ", ".join(path.rpartition("/")[2] for path in changed[-MAX_NAMES:])
    parts = (
        *(f"asked: {quote.text}" for quote in summary.questions[-1:]),
        _work_left(summary),
        f"done: {now.completed[-1]}" if now.completed else "",
        state[-1] if state else now.tests,
        f"edited {names}" if names else "",
        "" if now.completed else _last_said(moments),
    )
    if text := "; ".join(join_lines(part) for part in parts if part):
        yield LevelRow(text, label="State", cuttable=True)


def _last_said(moments: Sequence[Moment]) -> str:
    """Return what the agent stated in its last message that states something."""
    said = [one for one in moments if one.kind == "said" and one.weight >= MIN_STATED_WEIGHT]
    texts = [one.text for one in said if one.entry == said[-1].entry]
    return f"said: {' '.join(texts)}" if texts else ""


@row_rule
def _next(summary: Summary) -> Iterable[LevelRow]:
    for step in summary.next:
        yield LevelRow(join_lines(describe_next_step(step)), cuttable=True)


@row_rule
def _decisions(summary: Summary) -> Iterable[LevelRow]:
    for decision in reversed(valid_decisions(summary)):
        yield LevelRow(join_lines(describe_decision(decision)), decision.entry)


@row_rule
def _files(summary: Summary) -> Iterable[LevelRow]:
    """Yield the files that were changed, the newest first."""
    for file in reversed(summary.files):
        if file.action != "read":
            state = ", partial" if file.partial else ""
            change = f": {file.change}" if file.change else ""
            path = relative_path(file.path, summary.root)
            yield LevelRow(join_lines(f"{path} ({file.action}{state}){change}"))


@row_rule
def _errors(summary: Summary) -> Iterable[LevelRow]:
    for error in reversed(summary.errors):
        if not error.resolved:
            yield LevelRow(join_lines(describe_error(error)), cuttable=True)
