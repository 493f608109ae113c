"""Collect the evidence that a message of the agent is judged against: record, window, work done.

Constraints and requests come only from the user and the system, files and checks only from calls.
Output of a tool can never set a rule, lift_unpinned one, or count as work done.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import lru_cache

from msgspec import Struct

from holdfast.core.ledger.entry import (
    Entry,
    EntryId,
    Said,
    ToolCalled,
    ToolReturned,
    is_request,
    text_of,
)
from holdfast.core.ledger.summary import Constraint, Decision, Intent, Quote, Summary
from holdfast.core.ledger.window import Item
from holdfast.core.observe.files.patches import SEARCH_MARK
from holdfast.core.observe.files.touch import (
    SEARCH_TOOLS,
    Touch,
    arguments_of,
    bare_tool_name,
    touch_of,
)
from holdfast.core.observe.moments.story import Story
from holdfast.core.observe.requests.intent import has_substance
from holdfast.core.observe.requests.pins import lift_unpinned, pinned_constraints
from holdfast.core.observe.requests.replies import PLAN_TOOLS, QUESTION_TOOLS
from holdfast.core.observe.results.choices import not_overruled
from holdfast.core.observe.results.failures import (
    call_failed,
    is_read_only,
    normalize_command,
    whole_result_of,
)
from holdfast.core.observe.results.tests import counts_in
from holdfast.core.observe.scene import Pair, Scene, read_scene
from holdfast.core.observe.sentences import own_words, sentences
from holdfast.core.observe.worth import find_names
from holdfast.core.shrink.summary.story import guiding_rows_to_end, read_on
from holdfast.core.verify.drift.message import word_parts_in
from holdfast.text.jsontext import stable_text
from holdfast.text.paths import normalize_path
from holdfast.text.patterns import Pattern

# What was delivered for a request: changes, passed checks, and failures.
#
# This is read from the calls and their results, never from claims in a text.


_HELPER_TOOLS = QUESTION_TOOLS | PLAN_TOOLS | SEARCH_TOOLS
_HELPER_TOOL_NAME = Pattern(
    r"todo|plan|task|think|skill|toolsearch|output|get_|list_|search|find_|fetch"
)
"""Names of tools that keep a list, think or look; a call of one delivers nothing. Matches
`todo_write`; not `apply_patch`."""
# A count of failures: "3 errors", "fail 2"; not "0 errors".
_FAILS = Pattern(r"(?i)(?<![\d,])(?!0 )\d{1,7} (?:fail|error)|FAILED|\bfail [1-9]")
_CHANGES_SOMETHING = Pattern(
    r"\b(?:git (?:commit|push|merge|rebase|tag|cherry-pick|apply|mv|rm)|gh (?:pr|issue|release)"
    r"|npm publish|docker push|mkdir|mv|cp|rm|chmod|tee|sed -i|patch|curl)\b|>{1,2} ?\w"
)
"""Commands that change something. Matches `git commit -m x` and `echo a > b`; not `git log`."""
_CHECKS = Pattern(
    r"\b(?:tests?|pytest|jest|vitest|lint|build|check|tsc|mypy|pyright|ruff|vet|clippy|verify|cargo"
    r"|make|tox|eslint|compile|unittest|rspec|phpunit)\b"
)
"""Commands that check the work. Matches `npm run test`; not `ls`."""
MIN_ANSWER_WORDS = 40
"""Words from which a text of the agent counts as an answer and not only as a remark."""


class Delivered(Struct, frozen=True):
    """What was delivered for a request so far."""

    made: bool = False
    """Whether something was written, changed or done."""
    passed: bool = False
    """Whether a check went well after the last change."""
    failing: str = ""
    """The newest check or command with its result, if it failed and nothing changed since."""
    looking: bool = False
    """Whether the agent's last call only looked at something."""
    answered: bool = False
    """Whether the agent has since said enough for an answer."""


class Outcome(Struct, frozen=True):
    """What a call did, and whether it failed."""

    body: ToolReturned
    touch: Touch
    failed: bool


def outcome_of(pair: Pair, body: ToolReturned) -> Outcome:
    """Read a call and its whole result."""
    touch = touch_of(pair.body)
    return Outcome(body, touch, call_failed(touch, body))


def outcomes_of(scene: Scene) -> list[Outcome | None]:
    """Return the outcome of each call of a scene; None for one without a result."""
    bodies = ((pair, whole_result_of(scene, pair)) for pair in scene.pairs)
    return [outcome_of(pair, body) if body is not None else None for pair, body in bodies]


def delivered_since(
    scene: Scene, request: str, outcomes: Sequence[Outcome | None] | None = None
) -> Delivered:
    """Return what was delivered after the entry of a request; from the start if it is missing."""
    start = next((at for at, item in enumerate(scene.items) if item.entry.id == request), -1)
    made = passed = looking = False
    failing = ""
    outcomes = outcomes_of(scene) if outcomes is None else outcomes
    for pair, outcome in zip(scene.pairs, outcomes, strict=False):
        if pair.call <= start or outcome is None:
            continue
        body, touch, bad = outcome.body, outcome.touch, outcome.failed
        looking = _is_looking(pair, touch)
        if looking:
            continue
        if touch.verb != "run" or _CHANGES_SOMETHING.search(touch.command):
            made, failing = made or not bad, "" if not bad else failing
            continue
        counts = counts_in(body.output)
        failed = bad or bool(_FAILS.search(counts))
        passed = not failed and (passed or bool(counts) or bool(_CHECKS.search(touch.command)))
        failing = _failure_line(touch, counts, body) if failed else ""
    texts = [
        item.body.text
        for item in scene.items[start + 1 :]
        if isinstance(item.body, Said) and item.body.role == "assistant"
    ]
    edited = any(SEARCH_MARK in text for text in texts)
    answered = any(len(text.split()) >= MIN_ANSWER_WORDS for text in texts)
    return Delivered(made or edited, passed, failing, looking, answered)


def _is_looking(pair: Pair, touch: Touch) -> bool:
    """Whether a call only looks at something."""
    name = bare_tool_name(pair.body.tool).rpartition(".")[2]
    if touch.verb in ("read", "search") or name in _HELPER_TOOLS or _HELPER_TOOL_NAME.search(name):
        return True
    return touch.verb == "run" and is_read_only(touch.command)


def _failure_line(touch: Touch, counts: str, body: ToolReturned) -> str:
    end = next((line for line in reversed(body.output[-2_000:].split("\n")) if line.strip()), "")
    return f"`{' '.join(touch.command.split())[:80]}`: {counts or end.strip()[:120]}"


# Earlier calls: what each asked for, and whether its result is still valid.


class KnownCall(Struct, frozen=True):
    """An earlier call whose result is still valid."""

    entry: EntryId
    """The entry of the result."""
    hidden: bool
    """Whether that result is not in the window."""
    step: int


def call_key(call: ToolCalled, touch: Touch) -> str:
    """Return a normalized key of what a call asks for; empty for a call that changes something."""
    name = bare_tool_name(call.tool)
    match touch.verb:
        case "read" if touch.path:
            lines = f":{touch.first}-{touch.last}" if touch.paged else ""
            return f"read {normalize_path(touch.path)}{lines}"
        case "run" if touch.command:
            return f"run {normalize_command(touch.command)}"
        case "search":
            return f"{name} {stable_text(arguments_of(call))}"
        case _:
            return ""


def known_calls(
    scene: Scene,
    shown: Collection[EntryId],
    *,
    since: int | None = None,
    outcomes: Sequence[Outcome | None] | None = None,
) -> tuple[dict[str, KnownCall], int]:
    """Return the earlier calls whose result would be the same now, by their key.

    A write makes reads of that file and results of all commands invalid. Also return how many calls
    after the entry with number `since` repeated a valid call.
    """
    answers: dict[str, tuple[KnownCall, str, int]] = {}
    written: dict[str, int] = {}
    last_write, again = -1, 0
    outcomes = outcomes_of(scene) if outcomes is None else outcomes
    for number, (pair, outcome) in enumerate(zip(scene.pairs, outcomes, strict=True)):
        if outcome is None or pair.result is None:
            continue
        touch = outcome.touch
        if touch.verb in ("write", "edit"):
            written[normalize_path(touch.path)] = last_write = number
            continue
        key = call_key(pair.body, touch)
        if key and not outcome.failed:
            if key in answers and since is not None and scene.items[pair.call].entry.seq > since:
                again += _still_holds(answers[key], written, last_write)
            entry = scene.items[pair.result].entry.id
            known = KnownCall(entry, entry not in shown, pair.step)
            path = normalize_path(touch.path) if touch.verb == "read" else ""
            answers[key] = (known, path, number)
    valid = {
        key: answer[0]
        for key, answer in answers.items()
        if _still_holds(answer, written, last_write)
    }
    return valid, again


def _still_holds(
    answer: tuple[KnownCall, str, int], written: Mapping[str, int], last_write: int
) -> bool:
    """Whether a result is still valid: its file (for a command, any file) was not written since."""
    _, path, number = answer
    return (written.get(path, -1) if path else last_write) < number


MAX_RECENT_ENTRIES = 1_000
"""Entries at the end of the record whose calls, results and names are evidence: what is older, an
agent that lost it cannot know either."""
MAX_USER_SENTENCES = 500
"""Sentences of the user that a question is compared with, the newest first."""
LARGE_RECORD_WORDS = 250
"""Words from which a record is large enough for a new word to mean something."""


class _Words(Struct, frozen=True):
    """The names and words of one entry."""

    entry: Entry
    names: frozenset[str]
    words: frozenset[str]


class RecordReader:
    """Reads the newest entries of a record that grows: each entry once."""

    def __init__(self) -> None:
        self._read: dict[EntryId, _Words] = {}
        self._names: Counter[str] = Counter()
        self._words: Counter[str] = Counter()
        self._in_window: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
        self._outcomes: dict[EntryId, tuple[ToolCalled, Outcome]] = {}
        """By the entry of a result: its call, and what came of it."""

    @property
    def names(self) -> Set[str]:
        """Paths, identifiers and ids in what was read last."""
        return self._names.keys()

    @property
    def words(self) -> Set[str]:
        """Words in what was read last."""
        return self._words.keys()

    def advance(self, record: Iterable[Item]) -> None:
        """Read the entries that the last record did not have, and forget those that are gone.

        An erased text keeps the id of its entry.
        """
        known, self._read = self._read, {}
        for item in record:
            entry = item.entry
            read = known.pop(entry.id, None)
            if read is not None and read.entry is not entry and read.entry != entry:
                known[entry.id], read = read, None
            if read is None:
                text = text_of(item.body)
                read = _Words(entry, find_names(text), word_parts_in(text))
                self._names.update(read.names)
                self._words.update(read.words)
            self._read[entry.id] = read
        for gone in known.values():
            _remove(self._names, gone.names)
            _remove(self._words, gone.words)

    def names_and_words(self, window: Sequence[Item]) -> tuple[frozenset[str], frozenset[str]]:
        """Return the names and the words in a window; reads only what the last one did not show."""
        known, self._in_window = self._in_window, {}
        found = [self._names_and_words(item, known) for item in window]
        return (
            frozenset[str]().union(*(names for names, _ in found)),
            frozenset[str]().union(*(words for _, words in found)),
        )

    def _names_and_words(
        self, item: Item, known: Mapping[str, tuple[frozenset[str], frozenset[str]]]
    ) -> tuple[frozenset[str], frozenset[str]]:
        read = self._read.get(item.entry.id) if item.stand_in is None else None
        if read is not None and read.entry == item.entry:
            return read.names, read.words
        text = text_of(item.body)
        found = known.get(text) or (find_names(text), word_parts_in(text))
        self._in_window[text] = found
        return found

    def outcomes(self, scene: Scene) -> list[Outcome | None]:
        """Return the outcome of each call; reads only those that the last scene did not have."""
        known, self._outcomes = self._outcomes, {}
        return [self._outcome(scene, pair, known) for pair in scene.pairs]

    def _outcome(
        self, scene: Scene, pair: Pair, known: Mapping[EntryId, tuple[ToolCalled, Outcome]]
    ) -> Outcome | None:
        body = whole_result_of(scene, pair)
        if body is None or pair.result is None:
            return None
        name = scene.items[pair.result].entry.id
        read = known.get(name)
        if read is None or read[0] != pair.body or read[1].body != body:
            read = pair.body, outcome_of(pair, body)
        self._outcomes[name] = read
        return read[1]


def _remove(counts: Counter[str], gone: Iterable[str]) -> None:
    counts.subtract(gone)
    for name in gone:
        if counts[name] <= 0:
            del counts[name]


class Evidence(Struct, frozen=True):
    """Everything that the drift rules compare a message with."""

    intent: Intent = Intent()
    constraints: tuple[Constraint, ...] = ()
    """The constraints that are not lifted."""
    decisions: tuple[Decision, ...] = ()
    """The decisions that no later one overrules."""
    user_sentences: tuple[Quote, ...] = ()
    """Sentences of the user."""
    remaining: tuple[str, ...] = ()
    """The open items of the agent's plan."""
    names: Set[str] = frozenset()
    """Paths, identifiers and ids in the record."""
    names_in_window: frozenset[str] = frozenset()
    words: Set[str] = frozenset()
    """Words in the record."""
    delivered: Delivered = Delivered()
    known_calls: Mapping[str, KnownCall] = {}
    """Earlier calls whose result is still valid, by their key."""
    repeated_calls: int = 0
    """Calls since the summary that repeated such a call."""
    steps_since: int = 0
    """Steps of the agent after the summary, including the judged one; 0 without a summary."""
    has_new_task: bool = False
    """Whether the user asked for something after the summary."""
    follows_user: bool = False
    """Whether the message directly follows words of the user, and so is an answer to them."""

    @property
    def novelty_weight(self) -> float:
        """The weight of something being new to this record, from 0 to 1; less in a short record."""
        return min(1.0, len(self.words) / LARGE_RECORD_WORDS)


def evidence_of(
    record: Sequence[Item],
    window: Sequence[Item],
    ledger: Iterable[Entry] = (),
    *,
    summary_at: int | None = None,
    reader: RecordReader | None = None,
    rows: Summary | None = None,
) -> Evidence:
    """Collect the evidence from a session: its record, the rows of it, and its window.

    With `rows`, the record may be the newest entries only. `summary_at` is the number of the entry
    with the newest summary. A `reader` has read a part of the record already.
    """
    entries, reader = list(ledger), reader or RecordReader()
    if rows is None:
        rows = guiding_rows_to_end(read_on(Story(), record))
    record = record[-MAX_RECENT_ENTRIES:]
    reader.advance(record)
    scene, intent = read_scene(record), rows.intent
    shown = {item.entry.id for item in window if item.stand_in is None}
    rules = lift_unpinned(
        (*rows.constraints, *(pin for pin in pinned_constraints(entries) if pin.text)), entries
    )
    outcomes = reader.outcomes(scene)
    calls, repeated = known_calls(scene, shown, since=summary_at, outcomes=outcomes)
    names_in_window, words_in_window = reader.names_and_words(window)
    after = len(record) if summary_at is None else bisect_right(record, summary_at, key=_seq_of)
    later = range(after, len(record))
    return Evidence(
        intent=intent,
        constraints=tuple(rule for rule in rules if not rule.lifted),
        decisions=not_overruled(rows.decisions),
        user_sentences=_user_sentences((intent.original, *rows.words, intent.current)),
        remaining=rows.progress.remaining,
        names=frozenset(reader.names),
        names_in_window=names_in_window,
        words=reader.words | words_in_window,
        delivered=delivered_since(scene, intent.current.entry, outcomes),
        known_calls=calls,
        repeated_calls=repeated,
        steps_since=_count_steps(scene, later) + 1 if summary_at is not None else 0,
        has_new_task=any(is_task(record[at]) for at in later),
        follows_user=bool(record) and is_request(record[-1].body),
    )


def evidence_from_summary(summary: Summary, text: str) -> Evidence:
    """Collect the evidence from a summary and its text alone."""
    quotes = (summary.intent.original, summary.intent.current, *summary.words)
    made = any(file.action != "read" for file in summary.files)
    tests = summary.progress.tests.lower()
    return Evidence(
        intent=summary.intent,
        constraints=tuple(rule for rule in summary.constraints if not rule.lifted),
        decisions=not_overruled(summary.decisions),
        user_sentences=tuple(
            Quote(sentence.text, quote.entry)
            for quote in quotes
            for sentence in sentences(quote.text)
        ),
        remaining=summary.progress.remaining,
        names=find_names(text),
        names_in_window=find_names(text),
        words=word_parts_in(text),
        delivered=Delivered(made=made, passed=bool(tests) and "fail" not in tests),
        steps_since=1,
        # A summary does not say who spoke last.
        follows_user=True,
    )


def is_task(item: Item) -> bool:
    """Whether an item is a request of the user with a new task, not only `go on`."""
    body = item.body
    if not isinstance(body, Said) or not is_request(body):
        return False
    return any(has_substance(words) for words in own_words(body.text))


def _seq_of(item: Item) -> int:
    return item.entry.seq


def _count_steps(scene: Scene, places: Sequence[int]) -> int:
    if not places:
        return 0
    before = scene.steps[places[0] - 1] if places[0] else 0
    return scene.steps[places[-1]] - before


def _user_sentences(quotes: Sequence[Quote]) -> tuple[Quote, ...]:
    """Return the sentences of the user, those of the newest message first."""
    found: list[Quote] = []
    for quote in dict.fromkeys(reversed(quotes)):
        found += [Quote(text, quote.entry) for text in _sentences(quote.text)]
        if len(found) >= MAX_USER_SENTENCES:
            break
    return tuple(found[:MAX_USER_SENTENCES])


@lru_cache(maxsize=2_048)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(sentence.text for words in own_words(text) for sentence in sentences(words))
