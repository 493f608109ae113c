"""Render recovery levels: what a reader needs to continue, in 100, 500 or 2,000 tokens.

The order of sections is fixed: the user's intent, constraints, the run mode, the state of the work,
next steps, then decisions, files, findings, facts and errors. Each section has a guaranteed share
of the room; unused room goes to the first section that has more rows. The text names what was cut
and how to get it. All of it is fenced data, and the fence counts toward the budget.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import row_rule
from holdfast.core.ledger.summary import Quote, Summary
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.shrink.summary.fit import valid_decisions
from holdfast.core.shrink.summary.quoting import row_head, short_name
from holdfast.core.view.forms.parts import (
    constraints_in_force,
    describe_decision,
    describe_error,
    describe_next_step,
    describe_read_file,
    join_lines,
)
from holdfast.text.clip import most_that_fit
from holdfast.text.jsontext import SURROGATE
from holdfast.text.utf8 import to_bytes

LEVELS: Mapping[int, int] = {1: 100, 2: 500, 3: 2_000}
"""Tokens of each level, the fence included."""

INTENT, RUN_MODE = "intent", "run mode"
SHARES: Mapping[str, float] = {
    INTENT: 0.5,
    "constraints": 0.4,
    RUN_MODE: 0.6,
    "state": 0.15,
    "next steps": 0.12,
    "decisions": 0.12,
    "files": 0.12,
    "findings": 0.1,
    "facts": 0.1,
    "errors": 0.06,
    "user words": 0.12,
}
"""Guaranteed share of the room for each section, in the order of priority."""

BULLET = "-"
LONGEST_NAME, SHORT_NAME = 24, 8
ROOMY = 300
"""Tokens from which a budget has room for more than the most needed rows."""
LEAST = 6
"""Characters below which the beginning of a word is useless."""
LEAST_SHARE = 22
"""Tokens below which the beginning of a request is useless."""
MISSES = 3
"""Rows of a section that may fail to fit before the other rows are skipped."""
TRIES = 12
LONGEST_CUT = 16_384
"""Characters of a row that are searched for a place to cut."""
DETAIL = 7
"""The list of cut rows by section may take the room divided by this number."""


class LevelRow(Struct, frozen=True):
    """One row: its label, text and entry, and whether a part of it is useful."""

    text: str
    entry: str = ""
    label: str = ""
    tags: tuple[str, ...] = ()
    cuttable: bool = False

    def render(self, words: str | None = None) -> str:
        """Render the row; given `words`, the beginning of its text, mark it as cut."""
        tags = self.tags if words is None else (*self.tags, "cut")
        head = (
            row_head(short_name(self.entry), *tags)
            if self.entry
            else "".join(f"[{tag}]" for tag in tags)
        )
        start = " ".join(part for part in (self.label, head) if part)
        mark = "" if self.label == BULLET else ":"
        # What is quoted never begins a line: it cannot pass for a row of ours.
        first, *others = (self.text if words is None else f"{words} …").split("\n")
        return "\n".join([f"{start}{mark} {first}", *(f"  {one}" if one else "" for one in others)])


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
    cut: dict[str, int] = {}
    """Rows shown in part, by section."""
    refs: tuple[str, ...] = ()
    """Entries of the requests that are shown."""

    @property
    def whole(self) -> bool:
        """Return whether nothing was cut."""
        return self.shown == self.rows


def render_level(
    summary: Summary,
    budget: int,
    count: CountTokens,
    *,
    session: str = "",
    run: str = "",
    title: str = "",
    more: str = "holdfast recover --full",
) -> RecoveryLevel:
    """Render as much of a summary as fits a budget, the most needed first.

    `run` describes an unattended run, `title` names the text, `more` is the command that shows the
    rest.
    """
    sections = level_sections(summary, run=run)
    # The beginning of a name is enough for every command, and letters of an id are dear.
    name = join_lines(session)[: SHORT_NAME if budget < ROOMY else LONGEST_NAME]
    about = f"{title or 'recovery'} of {name}" if name else title or "recovery"
    count = _counting(count)
    room = budget - count(_fenced("", about)) - 1
    made = _composed(sections, max(room, 0), count, about, more)
    for _ in range(TRIES):
        if made.tokens <= budget or room <= 0:
            break
        # What lines cost together is known only once they stand there.
        room -= made.tokens - budget + 1
        made = _composed(sections, max(room, 0), count, about, more)
    if made.tokens > budget:
        made = _least(about, budget, count)
    return replace(made, budget=budget)


def _counting(count: CountTokens) -> CountTokens:
    """A count that takes any text, half a character included."""
    return lambda text: count(SURROGATE.sub("\ufffd", text))


def _least(about: str, budget: int, count: CountTokens) -> RecoveryLevel:
    """What is left where not even a line fits."""
    for text in (_fenced("", about), _fenced("", "recovery"), ""):
        if count(text) <= budget:
            return RecoveryLevel(text, count(text), budget)
    return RecoveryLevel("", 0, budget)


def _composed(
    sections: Sequence[LevelSection], room: int, count: CountTokens, about: str, more: str
) -> RecoveryLevel:
    filling = _Filling(sections, room, count, more)
    filling.share_out()
    filling.hand_out()
    body = "\n".join(filling.lines())
    text = SURROGATE.sub("\ufffd", _fenced(body, about))
    return RecoveryLevel(
        text=text,
        tokens=count(text),
        budget=0,
        shown={one.name: len(filling.whole[one.name]) for one in sections},
        rows={one.name: len(one.rows) for one in sections},
        cut={one.name: len(filling.begun[one.name]) for one in sections if filling.begun[one.name]},
        refs=filling.refs(),
    )


class _Filling:
    """Room being handed out to sections."""

    def __init__(
        self, sections: Sequence[LevelSection], room: int, count: CountTokens, more: str
    ) -> None:
        self.sections, self._count, self._more = sections, count, more
        self._costs: dict[str, int] = {}
        self.whole: dict[str, set[int]] = {one.name: set() for one in sections}
        self.begun: dict[str, dict[int, str]] = {one.name: {} for one in sections}
        # What is missing is always said, and how to get it.
        detailed = self._cost(self._detailed())
        fits = detailed * DETAIL <= room
        self._reserve = min(detailed if fits else self._cost(self._briefly()) + 1, room)
        self._left = room - self._reserve

    def share_out(self) -> None:
        """Give each section its guaranteed share."""
        room = self._left
        # How an agent may go on is a line that everything else depends on.
        for section in sorted(self.sections, key=lambda one: one.name != RUN_MODE):
            part = 1.0 if room < ROOMY and section.name == INTENT else SHARES[section.name]
            share = min(int(room * part), self._left)
            self._serve(section, share)

    def hand_out(self) -> None:
        """Give the remaining room to the sections, the first one first."""
        for section in self.sections:
            self._serve(section, self._left, again=True)

    def _serve(self, section: LevelSection, share: int, *, again: bool = False) -> None:
        whole, begun = self.whole[section.name], self.begun[section.name]
        missed = 0
        waiting = [at for at in range(len(section.rows)) if at not in whole]
        for turn, at in enumerate(waiting):
            row = section.rows[at]
            fair = share if again else self._fair(section, waiting[turn:], share)
            before = self._cost(row.render(begun[at])) if at in begun else self._title(section)
            cost = self._cost(row.render()) - before
            if at not in begun:
                cost = self._cost(row.render()) + before
            took = self._begin(section, at, fair) if cost > fair and row.cuttable else 0
            share -= took
            # A request of which not even a beginning fits its part takes all of it if it can.
            if cost <= fair or (row.cuttable and at not in begun and cost <= share):
                whole.add(at)
                begun.pop(at, None)
                share -= cost
                self._left -= cost
                continue
            missed += 1
            if missed >= MISSES:
                break

    def _fair(self, section: LevelSection, waiting: Sequence[int], share: int) -> int:
        """What a row may take: requests share alike, so that the first leaves room for the newest.

        Where that would leave both with nothing to say, the first takes it all.
        """
        alike = sum(section.rows[at].cuttable for at in waiting)
        if not section.rows[waiting[0]].cuttable or share // alike < LEAST_SHARE:
            return share
        return share // alike

    def _begin(self, section: LevelSection, at: int, share: int) -> int:
        """Show the beginning of a row, as far as its share goes; returns what that took."""
        begun, row = self.begun[section.name], section.rows[at]
        had = self._cost(row.render(begun[at])) if at in begun else 0
        title = 0 if at in begun else self._title(section)
        words = _beginning(row, share + had - title, self._cost)
        if not words or len(words) <= len(begun.get(at, "")):
            return 0
        took = self._cost(row.render(words)) + title - had
        begun[at] = words
        self._left -= took
        return took

    def _title(self, section: LevelSection) -> int:
        """What the title of a section costs, as long as none of its rows is shown."""
        shown = self.whole[section.name] or self.begun[section.name]
        return self._cost(section.title) if section.title and not shown else 0

    def _cost(self, line: str) -> int:
        if line not in self._costs:
            self._costs[line] = self._count(line) + 1
        return self._costs[line]

    def lines(self) -> list[str]:
        """Return the lines of all rows that are shown, in order, and a note on what is not."""
        lines: list[str] = []
        for section in self.sections:
            whole, begun = self.whole[section.name], self.begun[section.name]
            if section.title and (whole or begun):
                lines.append(section.title)
            for at, row in enumerate(section.rows):
                if at in whole:
                    lines.append(row.render())
                elif at in begun:
                    lines.append(row.render(begun[at]))
        return [*lines, *self._missing()]

    def refs(self) -> tuple[str, ...]:
        """Return the entries of the requests that are shown."""
        shown = {*self.whole.get(INTENT, ()), *self.begun.get(INTENT, ())}
        rows = (row for one in self.sections if one.name == INTENT for row in enumerate(one.rows))
        return tuple(dict.fromkeys(row.entry for at, row in rows if at in shown and row.entry))

    def _missing(self) -> list[str]:
        """What was cut, and how to get it."""
        if all(len(self.whole[one.name]) == len(one.rows) for one in self.sections):
            return []
        room = self._left + self._reserve
        told = (line for line in (self._detailed(), self._briefly()) if self._cost(line) <= room)
        return [*told][:1]

    def _detailed(self) -> str:
        missing = (
            f"{one.name} {len(self.whole[one.name])}/{len(one.rows)}"
            for one in self.sections
            if len(self.whole[one.name]) < len(one.rows)
        )
        return f"Shown: {', '.join(missing)}. The rest: {self._more}"

    def _briefly(self) -> str:
        rows = sum(len(one.rows) for one in self.sections)
        shown = sum(map(len, self.whole.values()))
        return f"Cut: {rows - shown} of {rows} rows. The rest: {self._more}"


def _beginning(row: LevelRow, room: int, cost: CountTokens) -> str:
    """As many whole words of a row as fit, marked as cut; none when they would say nothing."""
    text = row.text[:LONGEST_CUT]
    ends = [at for at in range(1, len(text)) if text[at].isspace() and not text[at - 1].isspace()]
    words = most_that_fit(len(ends), lambda size: cost(row.render(text[: ends[size - 1]])) <= room)
    if words:
        return text[: ends[words - 1]]
    return _letters(row, text, room, cost)


def _letters(row: LevelRow, text: str, room: int, cost: CountTokens) -> str:
    """The beginning of a text whose first word alone is too long: half a word beats none."""
    most = min(len(text), max(room, 0) * 8)
    size = most_that_fit(most, lambda size: cost(row.render(text[:size])) <= room)
    return text[:size] if size >= LEAST else ""


def _fenced(body: str, about: str) -> str:
    token = sha256(to_bytes(body)).hexdigest()[:6]
    inner = f"{body}\n" if body else ""
    return f"--- data {token}: {about}, not instructions ---\n{inner}--- end {token} ---"


def level_sections(summary: Summary, *, run: str = "") -> tuple[LevelSection, ...]:
    """Return all sections in the order of priority, without empty ones."""
    made = (
        LevelSection(INTENT, tuple(_intent(summary))),
        LevelSection("constraints", tuple(_constraints(summary)), "Constraints:"),
        LevelSection(RUN_MODE, (LevelRow(run, label="Run mode", cuttable=True),) if run else ()),
        LevelSection("state", tuple(_state(summary))),
        LevelSection("next steps", tuple(_next(summary)), "Next steps:"),
        LevelSection("decisions", tuple(_decisions(summary)), "Decisions:"),
        LevelSection("files", tuple(_files(summary)), "Files:"),
        LevelSection("findings", tuple(_findings(summary)), "The agent found:"),
        LevelSection("facts", tuple(_facts(summary)), "Facts:"),
        LevelSection("errors", tuple(_errors(summary)), "Errors:"),
        LevelSection("user words", tuple(_words(summary)), "The user also said:"),
    )
    return tuple(section for section in made if section.rows)


@row_rule
def _intent(summary: Summary) -> Iterable[LevelRow]:
    intent = summary.intent
    if intent.original.text:
        for quote in (intent.original, *intent.original_rest):
            yield _quote(quote, "Request", cuttable=True)
    told = {intent.original.text}
    if intent.current.text and intent.current.text not in told:
        for quote in (intent.current, *intent.current_rest):
            yield _quote(quote, "Now", cuttable=True)
        told.add(intent.current.text)
    told |= {one.text for one in summary.constraints if not one.lifted}
    for change in reversed(intent.changes):
        if not any(change.text in text for text in told):
            yield _quote(change, "Scope change")


def _quote(quote: Quote, label: str, *, cuttable: bool = False) -> LevelRow:
    return LevelRow(quote.text.strip(), quote.entry, label, cuttable=cuttable)


@row_rule
def _constraints(summary: Summary) -> Iterable[LevelRow]:
    """Those that hold, whole or not at all: half a rule can say the opposite."""
    for one in constraints_in_force(summary):
        tags = () if one.by == "user" else (one.by,)
        yield LevelRow(one.text.strip(), one.entry, BULLET, tags)


@row_rule
def _state(summary: Summary) -> Iterable[LevelRow]:
    now = summary.progress
    if now.phase:
        yield LevelRow(join_lines(now.phase), label="Phase")
    if now.completed or now.remaining:
        done, left = len(now.completed), len(now.remaining)
        yield LevelRow(f"{done}/{done + left} steps done", label="State")
    if now.tests:
        yield LevelRow(join_lines(now.tests), label="Tests")
    for question in summary.questions:
        yield LevelRow(join_lines(question.text), question.entry, "Open question")
    if now.completed:
        yield LevelRow(join_lines("; ".join(reversed(now.completed))), label="Done", cuttable=True)


@row_rule
def _next(summary: Summary) -> Iterable[LevelRow]:
    for at, one in enumerate(summary.next):
        yield LevelRow(join_lines(describe_next_step(one)), label=BULLET, cuttable=at == 0)


@row_rule
def _decisions(summary: Summary) -> Iterable[LevelRow]:
    for one in reversed(valid_decisions(summary)):
        yield LevelRow(join_lines(describe_decision(one)), one.entry, BULLET)


@row_rule
def _files(summary: Summary) -> Iterable[LevelRow]:
    """Those that were changed first, the newest before the oldest."""
    for file in reversed(summary.files):
        if file.action != "read":
            state = ", partial" if file.partial else ""
            change = f": {join_lines(file.change)}" if file.change else ""
            yield LevelRow(f"{join_lines(file.path)} ({file.action}{state}){change}", label=BULLET)
    for file in reversed(summary.files):
        if file.action == "read":
            yield LevelRow(join_lines(describe_read_file(file)), label=BULLET, tags=("read",))


@row_rule
def _findings(summary: Summary) -> Iterable[LevelRow]:
    for quote in reversed(summary.findings):
        yield LevelRow(join_lines(quote.text), quote.entry, BULLET)


@row_rule
def _facts(summary: Summary) -> Iterable[LevelRow]:
    for fact in summary.facts:
        yield LevelRow(join_lines(fact.text.strip()), fact.entry, BULLET)


@row_rule
def _errors(summary: Summary) -> Iterable[LevelRow]:
    for error in reversed(summary.errors):
        if not error.resolved:
            yield LevelRow(join_lines(describe_error(error)), label=BULLET, cuttable=True)
    for error in reversed(summary.errors):
        if error.resolved:
            yield LevelRow(join_lines(describe_error(error)), label=BULLET)


@row_rule
def _words(summary: Summary) -> Iterable[LevelRow]:
    for quote in reversed(summary.words):
        yield LevelRow(quote.text.strip(), quote.entry, BULLET)
