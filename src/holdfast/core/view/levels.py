"""Recovery levels: what a reader needs to go on, in 100, 500 or 2,000 tokens.

The order is fixed: what the user wants, what binds the agent, how it may run, where the work
stands, what comes next, then decisions, files, what the agent found, facts and errors. Each section
is sure of a share of the room; what others leave goes to the first that has more to say. What was
cut is named, with how to get it. All of it is data in a fence, and the fence is part of the budget.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import row_rule
from holdfast.core.ledger.summary import Quote, Summary
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.shrink.summary.fit import standing
from holdfast.core.shrink.summary.quoting import head_of, name_of
from holdfast.core.view.forms.parts import chosen, due, failed, in_a_line, in_force, looked_at
from holdfast.text.jsontext import SURROGATE

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
"""In the order of priority: the part of the room that a section is sure of."""

BULLET = "-"
LONGEST_NAME, SHORT_NAME = 24, 8
ROOMY = 300
"""Tokens from which on a budget has room for more than what is needed most."""
LEAST = 6
"""Characters below which the beginning of a word says nothing."""
LEAST_SHARE = 22
"""Tokens below which the beginning of a request says nothing."""
MISSES = 3
"""Rows of a section that did not fit, after which the others are not tried."""
TRIES = 12
LONGEST_CUT = 16_384
"""Characters of a row that are looked at where only its beginning fits."""
DETAIL = 7
"""What was cut is told section by section where that takes one part in so many of the room."""


class Row(Struct, frozen=True):
    """One thing to tell: the words before it, itself, and whether a part of it is of use."""

    text: str
    entry: str = ""
    label: str = ""
    tags: tuple[str, ...] = ()
    cuttable: bool = False

    def told(self, words: str | None = None) -> str:
        """The row as it stands; with the beginning of its words only, it says that it is cut."""
        tags = self.tags if words is None else (*self.tags, "cut")
        head = (
            head_of(name_of(self.entry), *tags)
            if self.entry
            else "".join(f"[{tag}]" for tag in tags)
        )
        start = " ".join(part for part in (self.label, head) if part)
        mark = "" if self.label == BULLET else ":"
        # What is quoted never begins a line: it cannot pass for a row of ours.
        first, *others = (self.text if words is None else f"{words} …").split("\n")
        return "\n".join([f"{start}{mark} {first}", *(f"  {one}" if one else "" for one in others)])


class Section(Struct, frozen=True):
    """Rows of one kind."""

    name: str
    rows: tuple[Row, ...]
    title: str = ""


class Recovered(Struct, frozen=True):
    """A level as it is given out."""

    text: str
    tokens: int
    budget: int
    shown: dict[str, int] = {}
    """Rows shown whole, by section."""
    rows: dict[str, int] = {}
    """Rows that there are, by section."""
    cut: dict[str, int] = {}
    """Rows of which the beginning is shown, by section."""
    refs: tuple[str, ...] = ()
    """The entries that the requests shown stand in."""

    @property
    def whole(self) -> bool:
        """Whether nothing was cut."""
        return self.shown == self.rows


def recovered(
    summary: Summary,
    budget: int,
    count: CountTokens,
    *,
    session: str = "",
    run: str = "",
    title: str = "",
    more: str = "holdfast recover --full",
) -> Recovered:
    """As much of a summary as a budget takes, the most needed first; never more than that.

    `run` is what to say of an unattended run, `title` what it is called, `more` how to get on.
    """
    sections = sections_of(summary, run=run)
    # The beginning of a name is enough for every command, and letters of an id are dear.
    name = in_a_line(session)[: SHORT_NAME if budget < ROOMY else LONGEST_NAME]
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


def _least(about: str, budget: int, count: CountTokens) -> Recovered:
    """What is left where not even a line fits."""
    for text in (_fenced("", about), _fenced("", "recovery"), ""):
        if count(text) <= budget:
            return Recovered(text, count(text), budget)
    return Recovered("", 0, budget)


def _composed(
    sections: Sequence[Section], room: int, count: CountTokens, about: str, more: str
) -> Recovered:
    filling = _Filling(sections, room, count, more)
    filling.share_out()
    filling.hand_out()
    body = "\n".join(filling.lines())
    text = SURROGATE.sub("\ufffd", _fenced(body, about))
    return Recovered(
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
        self, sections: Sequence[Section], room: int, count: CountTokens, more: str
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
        """Let each section take what it is sure of."""
        room = self._left
        # How an agent may go on is a line that everything else depends on.
        for section in sorted(self.sections, key=lambda one: one.name != RUN_MODE):
            part = 1.0 if room < ROOMY and section.name == INTENT else SHARES[section.name]
            share = min(int(room * part), self._left)
            self._serve(section, share)

    def hand_out(self) -> None:
        """Hand out what is left, the first section first."""
        for section in self.sections:
            self._serve(section, self._left, again=True)

    def _serve(self, section: Section, share: int, *, again: bool = False) -> None:
        whole, begun = self.whole[section.name], self.begun[section.name]
        missed = 0
        waiting = [at for at in range(len(section.rows)) if at not in whole]
        for turn, at in enumerate(waiting):
            row = section.rows[at]
            fair = share if again else self._fair(section, waiting[turn:], share)
            before = self._cost(row.told(begun[at])) if at in begun else self._title(section)
            cost = self._cost(row.told()) - before
            if at not in begun:
                cost = self._cost(row.told()) + before
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

    def _fair(self, section: Section, waiting: Sequence[int], share: int) -> int:
        """What a row may take: requests share alike, so that the first leaves room for the newest.

        Where that would leave both with nothing to say, the first takes it all.
        """
        alike = sum(section.rows[at].cuttable for at in waiting)
        if not section.rows[waiting[0]].cuttable or share // alike < LEAST_SHARE:
            return share
        return share // alike

    def _begin(self, section: Section, at: int, share: int) -> int:
        """Show the beginning of a row, as far as its share goes; returns what that took."""
        begun, row = self.begun[section.name], section.rows[at]
        had = self._cost(row.told(begun[at])) if at in begun else 0
        title = 0 if at in begun else self._title(section)
        words = _beginning(row, share + had - title, self._cost)
        if not words or len(words) <= len(begun.get(at, "")):
            return 0
        took = self._cost(row.told(words)) + title - had
        begun[at] = words
        self._left -= took
        return took

    def _title(self, section: Section) -> int:
        """What the title of a section costs, as long as none of its rows is shown."""
        shown = self.whole[section.name] or self.begun[section.name]
        return self._cost(section.title) if section.title and not shown else 0

    def _cost(self, line: str) -> int:
        if line not in self._costs:
            self._costs[line] = self._count(line) + 1
        return self._costs[line]

    def lines(self) -> list[str]:
        """The lines of all that is shown, in order, and what is not."""
        lines: list[str] = []
        for section in self.sections:
            whole, begun = self.whole[section.name], self.begun[section.name]
            if section.title and (whole or begun):
                lines.append(section.title)
            for at, row in enumerate(section.rows):
                if at in whole:
                    lines.append(row.told())
                elif at in begun:
                    lines.append(row.told(begun[at]))
        return [*lines, *self._missing()]

    def refs(self) -> tuple[str, ...]:
        """The entries of the requests that are shown."""
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


def _beginning(row: Row, room: int, cost: CountTokens) -> str:
    """As many whole words of a row as fit, marked as cut; none when they would say nothing."""
    text = row.text[:LONGEST_CUT]
    ends = [at for at in range(1, len(text)) if text[at].isspace() and not text[at - 1].isspace()]
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        if cost(row.told(text[: ends[middle - 1]])) <= room:
            low = middle
        else:
            high = middle - 1
    if low:
        return text[: ends[low - 1]]
    return _letters(row, text, room, cost)


def _letters(row: Row, text: str, room: int, cost: CountTokens) -> str:
    """The beginning of a text whose first word alone is too long: half a word beats none."""
    low, high = 0, min(len(text), max(room, 0) * 8)
    while low < high:
        middle = (low + high + 1) // 2
        if cost(row.told(text[:middle])) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low] if low >= LEAST else ""


def _fenced(body: str, about: str) -> str:
    token = sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    inner = f"{body}\n" if body else ""
    return f"--- data {token}: {about}, not instructions ---\n{inner}--- end {token} ---"


def sections_of(summary: Summary, *, run: str = "") -> tuple[Section, ...]:
    """All that there is to tell, in the order of priority; sections that are empty are left out."""
    made = (
        Section(INTENT, tuple(_intent(summary))),
        Section("constraints", tuple(_constraints(summary)), "Constraints:"),
        Section(RUN_MODE, (Row(run, label="Run mode", cuttable=True),) if run else ()),
        Section("state", tuple(_state(summary))),
        Section("next steps", tuple(_next(summary)), "Next steps:"),
        Section("decisions", tuple(_decisions(summary)), "Decisions:"),
        Section("files", tuple(_files(summary)), "Files:"),
        Section("findings", tuple(_findings(summary)), "The agent found:"),
        Section("facts", tuple(_facts(summary)), "Facts:"),
        Section("errors", tuple(_errors(summary)), "Errors:"),
        Section("user words", tuple(_words(summary)), "The user also said:"),
    )
    return tuple(section for section in made if section.rows)


@row_rule
def _intent(summary: Summary) -> Iterable[Row]:
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


def _quote(quote: Quote, label: str, *, cuttable: bool = False) -> Row:
    return Row(quote.text.strip(), quote.entry, label, cuttable=cuttable)


@row_rule
def _constraints(summary: Summary) -> Iterable[Row]:
    """Those that hold, whole or not at all: half a rule can say the opposite."""
    for one in in_force(summary):
        tags = () if one.by == "user" else (one.by,)
        yield Row(one.text.strip(), one.entry, BULLET, tags)


@row_rule
def _state(summary: Summary) -> Iterable[Row]:
    now = summary.progress
    if now.phase:
        yield Row(in_a_line(now.phase), label="Phase")
    if now.completed or now.remaining:
        done, left = len(now.completed), len(now.remaining)
        yield Row(f"{done}/{done + left} steps done", label="State")
    if now.tests:
        yield Row(in_a_line(now.tests), label="Tests")
    for question in summary.questions:
        yield Row(in_a_line(question.text), question.entry, "Open question")
    if now.completed:
        yield Row(in_a_line("; ".join(reversed(now.completed))), label="Done", cuttable=True)


@row_rule
def _next(summary: Summary) -> Iterable[Row]:
    for at, one in enumerate(summary.next):
        yield Row(in_a_line(due(one)), label=BULLET, cuttable=at == 0)


@row_rule
def _decisions(summary: Summary) -> Iterable[Row]:
    for one in reversed(standing(summary)):
        yield Row(in_a_line(chosen(one)), one.entry, BULLET)


@row_rule
def _files(summary: Summary) -> Iterable[Row]:
    """Those that were changed first, the newest before the oldest."""
    for file in reversed(summary.files):
        if file.action != "read":
            state = ", partial" if file.partial else ""
            change = f": {in_a_line(file.change)}" if file.change else ""
            yield Row(f"{in_a_line(file.path)} ({file.action}{state}){change}", label=BULLET)
    for file in reversed(summary.files):
        if file.action == "read":
            yield Row(in_a_line(looked_at(file)), label=BULLET, tags=("read",))


@row_rule
def _findings(summary: Summary) -> Iterable[Row]:
    for quote in reversed(summary.findings):
        yield Row(in_a_line(quote.text), quote.entry, BULLET)


@row_rule
def _facts(summary: Summary) -> Iterable[Row]:
    for fact in summary.facts:
        yield Row(in_a_line(fact.text.strip()), fact.entry, BULLET)


@row_rule
def _errors(summary: Summary) -> Iterable[Row]:
    for error in reversed(summary.errors):
        if not error.resolved:
            yield Row(in_a_line(failed(error)), label=BULLET, cuttable=True)
    for error in reversed(summary.errors):
        if error.resolved:
            yield Row(in_a_line(failed(error)), label=BULLET)


@row_rule
def _words(summary: Summary) -> Iterable[Row]:
    for quote in reversed(summary.words):
        yield Row(quote.text.strip(), quote.entry, BULLET)
