"""Render recovery levels: what a reader needs to continue, in 100, 500 or 2,000 tokens.

A level has the rows of a summary that is fitted into its room, in a fixed order: the user's intent,
constraints, the run mode, the state of the work, next steps, decisions, files, open errors, and the
story of the session. The smallest one has only the most needed rows, each in its share. The text
names what was cut and how to get it. All of it is fenced data, and the fence counts toward the
budget.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import row_rule
from holdfast.core.ledger.summary import Quote, Summary
from holdfast.core.measure.tokens import CountTokens, count_any_text
from holdfast.core.observe.moments.moment import Moment
from holdfast.core.shrink.summary.choose import Choices, moment_of_fact
from holdfast.core.shrink.summary.fit import SummaryRoom, fit_summary, valid_decisions
from holdfast.core.shrink.summary.quoting import short_name
from holdfast.core.shrink.summary.root import relative_moments, relative_path
from holdfast.core.shrink.summary.sections import write_story
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
SMALL_SHARES: Mapping[str, float] = {INTENT: 0.55, RUN_MODE: 0.5, "state": 0.35, "next steps": 0.4}
"""The share of a small room that each section may take; unused room goes to the others."""
RUN_SHARE = 0.3
"""The share of a larger room that the run mode may take."""
MAX_USER_CHARS = 400
"""Characters of a message of the user in the story."""
LONGEST_NAME, SHORT_NAME = 24, 8
BRIEF_TOKENS = 240
"""A smaller budget has room for the most needed rows only."""
MIN_CUT_CHARS, MIN_CUT_TOKENS = 6, 22
"""A shorter beginning is useless: of a word, and of a row that is not a whole section."""
MAX_TRIES = 4
SLACK = 50
"""The divisor of a budget that gives the tokens that may be left unused."""
MAX_CUT_CHARS = 16_384
"""Characters of a row that are searched for a place to cut."""
MAX_NAMES = 4
"""Edited files that a small level names."""
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


class _Page(Struct, frozen=True):
    """The frame of a level: its fence, and the note on what was cut."""

    about: str
    more: str
    budget: int
    rows: dict[str, int]
    count: CountTokens

    def level(self, lines: Iterable[str], shown: dict[str, int]) -> RecoveryLevel:
        """Return a level of some lines and of the note, with its fence."""
        note = (self.note(shown),) if shown != self.rows else ()
        text = SURROGATE.sub("\ufffd", _fenced("\n".join((*lines, *note)), self.about))
        return RecoveryLevel(text, self.count(text), self.budget, shown, self.rows)

    def note(self, shown: Mapping[str, int]) -> str:
        """Say how many rows are not shown, and how to get them."""
        return f"{sum(self.rows.values()) - sum(shown.values()):,} rows cut: {self.more}"

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
    moments = relative_moments(moments or map(moment_of_fact, summary.facts), summary.root)
    small = _small_sections(summary, run, moments)
    sections = small if brief else _sections(summary, run)
    rows = {section.name: len(section.rows) for section in sections}
    # Words without text only mark the place of a message, and names without lines are no rows.
    said = sum(bool(quote.text) for quote in summary.words)
    story = len({moment.text for moment in moments if moment.kind != "named"}) + said
    rows |= {STORY: story} if story else {}
    page = _Page(about, more, budget, rows, lru_cache(maxsize=None)(count_any_text(count)))
    level = (
        None if brief else _fitted_level(summary, run, Choices(moments, page.count, focus), page)
    )
    return level or _small_level(small, page)


def _fitted_level(
    summary: Summary, run: str, choices: Choices, page: _Page
) -> RecoveryLevel | None:
    """Render the rows of a summary that is fitted into the room; None if that does not fit."""
    known = {_without_entry(row) for section in _sections(summary, run) for row in section.rows}
    most_for_run = int(page.budget * RUN_SHARE)
    best: RecoveryLevel | None = None
    room = page.budget
    for _ in range(MAX_TRIES):
        fitted = fit_summary(summary, SummaryRoom(room, page.count, choices, firm=True)).summary
        lines, shown = list[str](), dict.fromkeys(page.rows, 0)
        # The level shows how many steps are done, and not which ones.
        now = fitted.progress
        counted = replace(summary.progress, phase=now.phase, tests=now.tests)
        for section in _sections(replace(fitted, progress=counted), run):
            most = most_for_run if section.name == RUN_MODE else MAX_CUT_CHARS
            lines += [section.title] if section.title else []
            lines += [_whole_or_cut(row, most, page) for row in section.rows]
            shown[section.name] = sum(_without_entry(row) in known for row in section.rows)
        if story := _story_lines(fitted):
            lines += ["Story:", *story]
            told = len(fitted.facts) + sum(bool(quote.text) for quote in fitted.words)
            # A list of names is a line of the story, but none of its rows.
            shown[STORY] = min(told, page.rows.get(STORY, 0))
        level = page.level(lines, shown)
        over = level.tokens - page.budget
        if over <= 0 and (best is None or _rank(level) > _rank(best)):
            best = level
        if over <= 0 and (level.whole or -over * SLACK <= page.budget):
            break
        # The frame of a summary and of a level differ: what one has too much is given to the other.
        room -= over + 1
        if room <= 0:
            break
    return best


def _rank(level: RecoveryLevel) -> tuple[int, int]:
    """Return how much a level shows: rows, then tokens."""
    return sum(level.shown.values()), level.tokens


def _without_entry(row: LevelRow) -> LevelRow:
    """Return a row without its entry, which a small room has no place for."""
    return replace(row, entry="")


def _whole_or_cut(row: LevelRow, room: int, page: _Page) -> str:
    line = row.render()
    return line if page.cost(line) <= room else _cut(row, room, page)


def _story_lines(fitted: Summary) -> list[str]:
    """Return the turns of the story, each message and each fact on one line."""
    words = (
        replace(quote, text=clip_and_mark(one_line(quote.text), MAX_USER_CHARS, " …"))
        for quote in fitted.words
    )
    facts = (replace(fact, text=join_lines(fact.text)) for fact in fitted.facts)
    return write_story(window_form(replace(fitted, words=tuple(words), facts=tuple(facts))))


def _small_level(sections: Sequence[LevelSection], page: _Page) -> RecoveryLevel:
    """Render the most needed rows, each section in its share."""
    room = page.budget - page.cost(_fenced("", page.about))
    while room > 0:
        left = room - page.cost(page.note({}))
        shares = _allowances(sections, left, page)
        lines, shown, spare = list[str](), dict.fromkeys(page.rows, 0), 0
        for section in sections:
            filled, shown[section.name] = _fill(section, shares[section.name] + spare, page)
            spare += shares[section.name] - sum(map(page.cost, filled))
            lines += filled
        level = page.level(lines if left >= 0 else (), shown)
        if level.tokens <= page.budget:
            return level
        # The tokens of lines together are known only once they are joined.
        room -= level.tokens - page.budget + 1
    texts = (_fenced("", page.about), _fenced("", "recovery"), "")
    text = next(text for text in texts if not text or page.count(text) <= page.budget)
    return RecoveryLevel(text, page.count(text), page.budget)


def _allowances(sections: Sequence[LevelSection], room: int, page: _Page) -> dict[str, int]:
    """Divide a room: each section gets its share, then what the others do not need."""
    costs = {
        part.name: sum(map(page.cost, (part.title, *(row.render() for row in part.rows))))
        for part in sections
    }
    # How an agent may go on is a row that all others depend on.
    costs = dict(sorted(costs.items(), key=lambda pair: pair[0] != RUN_MODE))
    given = dict.fromkeys(costs, 0)
    for most in ({name: int(room * share) for name, share in SMALL_SHARES.items()}, costs):
        for name, cost in costs.items():
            left = max(room - sum(given.values()), 0)
            given[name] += min(cost - given[name], most.get(name, 0), left)
    return given


def _fill(section: LevelSection, room: int, page: _Page) -> tuple[list[str], int]:
    """Return the rows of a section that fit, and how many are whole; others may be cut."""
    left = room - page.cost(section.title)
    sizes = [page.cost(row.render()) for row in section.rows]
    lines, whole = list[str](), 0
    for row, size, share in zip(section.rows, sizes, _fair_shares(sizes, left), strict=True):
        # Requests share alike, unless their shares would be too small to say anything.
        most = share if section.name == INTENT and share >= MIN_CUT_TOKENS else left
        line = row.render() if size <= most else ""
        whole += bool(line)
        useful = most >= MIN_CUT_TOKENS or (not lines and not section.title)
        if not line and row.cuttable and useful:
            line = _cut(row, most, page)
        if line:
            lines.append(line)
            left -= page.cost(line)
    return ([section.title, *lines] if section.title and lines else lines), whole


def _fair_shares(sizes: Sequence[int], room: int) -> list[int]:
    """Divide a room: all of the small ones, alike of the large ones."""
    shares = [0] * len(sizes)
    for turn, (size, at) in enumerate(sorted((size, at) for at, size in enumerate(sizes))):
        shares[at] = min(size, max(room, 0) // (len(sizes) - turn))
        room -= shares[at]
    return shares


def _cut(row: LevelRow, room: int, page: _Page) -> str:
    """Render a row with as much of its text as fits, marked as cut; empty if that is useless."""
    text = row.text[:MAX_CUT_CHARS]
    ends = [at for at in range(1, len(text)) if text[at].isspace() and not text[at - 1].isspace()]

    def fits(size: int) -> bool:
        return page.cost(row.render(text[:size])) <= room

    words = most_that_fit(len(ends), lambda size: fits(ends[size - 1]))
    if words:
        return row.render(text[: ends[words - 1]])
    # A part of a word is better than nothing where the first word alone is too long.
    size = most_that_fit(min(len(text), max(room, 0) * 8), fits)
    return row.render(text[:size]) if size >= MIN_CUT_CHARS else ""


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


def _small_sections(
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
        LevelSection("state", tuple(_small_state(summary, moments))),
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
def _small_state(summary: Summary, moments: Sequence[Moment]) -> Iterable[LevelRow]:
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
