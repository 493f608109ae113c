"""What a message is judged against: the record, what of it is in sight, and where the work stands.

Constraints and requests come from the user and the system alone, files and checks from the calls:
nothing that a tool printed can set a rule, lift one, or count as work done.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

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
from holdfast.core.ledger.summary import Constraint, Decision, Intent, Progress, Quote, Summary
from holdfast.core.ledger.window import Item
from holdfast.core.observe.files.patches import SEARCH
from holdfast.core.observe.files.touch import SEARCHES, Touch, arguments_of, plain_name, touch_of
from holdfast.core.observe.requests.intent import has_substance, wanted
from holdfast.core.observe.requests.pins import lift, pins_of
from holdfast.core.observe.requests.replies import PLANS, QUESTIONS
from holdfast.core.observe.results.choices import still_held
from holdfast.core.observe.results.decisions import decisions_of
from holdfast.core.observe.results.failures import only_looks, result_of, same_command, went_wrong
from holdfast.core.observe.results.progress import progress_of
from holdfast.core.observe.results.tests import counts_in
from holdfast.core.observe.scene import Pair, Scene, read_scene
from holdfast.core.observe.sentences import own_words, sentences
from holdfast.core.observe.worth import telling_names
from holdfast.core.verify.drift.message import words_in
from holdfast.text.jsontext import steady
from holdfast.text.paths import normal

# What has been delivered for a request: work made, checks passed, and what is still broken.
#
# It is read off the calls and how they ended, never off what a text claims.


_ASIDE = QUESTIONS | PLANS | SEARCHES
_LISTS = re.compile(r"todo|plan|task|think|skill|toolsearch|output|get_|list_|search|find_|fetch")
"""Tools that keep a list, think or look: calling one delivers nothing."""
_FAILS = re.compile(r"(?i)(?<![\d,])(?!0 )\d{1,7} (?:fail|error)|FAILED|\bfail [1-9]")
_OUTSIDE = re.compile(
    r"\b(?:git (?:commit|push|merge|rebase|tag|cherry-pick|apply|mv|rm)|gh (?:pr|issue|release)"
    r"|npm publish|docker push|mkdir|mv|cp|rm|chmod|tee|sed -i|patch|curl)\b|>{1,2} ?\w"
)
"""Commands that leave something behind."""


_CHECKS = re.compile(
    r"\b(?:tests?|pytest|jest|vitest|lint|build|check|tsc|mypy|pyright|ruff|vet|clippy|verify|cargo"
    r"|make|tox|eslint|compile|unittest|rspec|phpunit)\b"
)
"""Commands that tell whether the work holds."""


AN_ANSWER = 40
"""Words from which a text of the agent's can be an answer and not only a remark."""


class Delivered(Struct, frozen=True):
    """What a request has come to so far."""

    made: bool = False
    """Whether something was written, changed or done."""
    passed: bool = False
    """Whether a check went well after the last change."""
    failing: str = ""
    """What the newest check or command came to, when it went wrong and nothing changed since."""
    looking: bool = False
    """Whether the agent was only looking around when it was last seen."""
    answered: bool = False
    """Whether the agent has said enough since to be an answer."""


def delivered_since(scene: Scene, request: str) -> Delivered:
    """What was delivered after the entry of a request; from the beginning when it is not there."""
    start = next((at for at, item in enumerate(scene.items) if item.entry.id == request), -1)
    made = passed = looking = False
    failing = ""
    for pair in scene.pairs:
        body = result_of(scene, pair)
        if pair.call <= start or body is None:
            continue
        touch = touch_of(pair.body)
        bad = went_wrong(touch, body)
        looking = _looks(pair, touch)
        if looking:
            continue
        if touch.verb != "run" or _OUTSIDE.search(touch.command):
            made, failing = made or not bad, "" if not bad else failing
            continue
        counts = counts_in(body.output)
        failed = bad or bool(_FAILS.search(counts))
        passed = not failed and (passed or bool(counts) or bool(_CHECKS.search(touch.command)))
        failing = _line(touch, counts, body) if failed else ""
    said = [
        item.body.text
        for item in scene.items[start + 1 :]
        if isinstance(item.body, Said) and item.body.role == "assistant"
    ]
    edited = any(SEARCH in text for text in said)
    answered = any(len(text.split()) >= AN_ANSWER for text in said)
    return Delivered(made or edited, passed, failing, looking, answered)


def _looks(pair: Pair, touch: Touch) -> bool:
    """Whether a call only looks at something."""
    name = plain_name(pair.body.tool).rpartition(".")[2]
    if touch.verb in ("read", "search") or name in _ASIDE or _LISTS.search(name):
        return True
    return touch.verb == "run" and only_looks(touch.command)


def _line(touch: Touch, counts: str, body: ToolReturned) -> str:
    end = next((line for line in reversed(body.output[-2_000:].split("\n")) if line.strip()), "")
    return f"`{' '.join(touch.command.split())[:80]}`: {counts or end.strip()[:120]}"


# Calls that were made before: what each asked for, and whether its answer still holds.


class Known(Struct, frozen=True):
    """A call whose answer still holds."""

    entry: EntryId
    """The result."""
    hidden: bool
    """Whether that result is out of sight."""
    step: int


def asked_by(call: ToolCalled, touch: Touch) -> str:
    """What a call asks for, in one spelling; empty for one that changes something."""
    name = plain_name(call.tool)
    match touch.verb:
        case "read" if touch.path:
            lines = f":{touch.first}-{touch.last}" if touch.paged else ""
            return f"read {normal(touch.path)}{lines}"
        case "run" if touch.command:
            return f"run {same_command(touch.command)}"
        case "search":
            return f"{name} {steady(arguments_of(call))}"
        case _:
            return ""


def known_calls(
    scene: Scene, shown: Collection[EntryId], *, since: int | None = None
) -> tuple[dict[str, Known], int]:
    """What was asked for before and would be answered the same way now.

    A file that was written since has changed, and so has what any command would print. Also tells
    how many calls after the entry of number `since` asked for such a thing again.
    """
    found: dict[str, tuple[Known, str, int]] = {}
    written: dict[str, int] = {}
    last, again = -1, 0
    for number, pair in enumerate(scene.pairs):
        body, touch = result_of(scene, pair), touch_of(pair.body)
        if body is None or pair.result is None:
            continue
        if touch.verb in ("write", "edit"):
            written[normal(touch.path)] = last = number
            continue
        asked = asked_by(pair.body, touch)
        if asked and not went_wrong(touch, body):
            if asked in found and since is not None and scene.items[pair.call].entry.seq > since:
                again += _holds(found[asked], written, last)
            entry = scene.items[pair.result].entry.id
            known = Known(entry, entry not in shown, pair.step)
            path = normal(touch.path) if touch.verb == "read" else ""
            found[asked] = (known, path, number)
    held = {asked: one[0] for asked, one in found.items() if _holds(one, written, last)}
    return held, again


def _holds(one: tuple[Known, str, int], written: Mapping[str, int], last: int) -> bool:
    """Whether an answer still holds: the file it is about, or any file, was not written since."""
    _, path, number = one
    return (written.get(path, -1) if path else last) < number


MOST_TOLD = 2_000
"""Sentences of the user's that a question is held against, the newest first."""
LARGE = 250
"""Words a record must have before what is new to it says anything."""


class Seen(Struct, frozen=True):
    """What stands in a record up to an entry: a longer record has all of it, and more."""

    upto: EntryId = ""
    sizes: int = 0
    """What tells the texts from others of the same entries: one that is purged keeps its name."""
    names: frozenset[str] = frozenset()
    """Paths, identifiers and ids."""
    words: frozenset[str] = frozenset()


def seen_in(record: Sequence[Item], before: Seen = Seen()) -> Seen:  # noqa: B008
    """What stands in a record, found from what stood in its beginning."""
    ends = (at for at in range(len(record), 0, -1) if record[at - 1].entry.id == before.upto)
    start = next(ends, 0) if before.upto else 0
    texts = [text_of(item.body) for item in record]
    known = before if start and _sizes(texts[:start]) == before.sizes else Seen()
    fresh = texts[start:] if known.upto else texts
    if not fresh:
        return known
    return Seen(
        record[-1].entry.id,
        _sizes(texts),
        known.names.union(*map(telling_names, fresh)),
        known.words.union(*map(words_in, fresh)),
    )


def _sizes(texts: Sequence[str]) -> int:
    return hash(tuple(map(len, texts)))


class Ground(Struct, frozen=True):
    """Everything that the rules look at."""

    intent: Intent = Intent()
    constraints: tuple[Constraint, ...] = ()
    """Those in force."""
    decisions: tuple[Decision, ...] = ()
    """Those that no later one overrules."""
    told: tuple[Quote, ...] = ()
    """Sentences of the user's."""
    progress: Progress = Progress()
    names: frozenset[str] = frozenset()
    """Paths, identifiers and ids that stand anywhere in the record."""
    in_sight: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    """Words that stand anywhere in the record."""
    delivered: Delivered = Delivered()
    calls: Mapping[str, Known] = {}
    """What was called before, by what it asks for."""
    repeated: int = 0
    """Calls since the summary that asked for such a thing again."""
    since: int = 0
    """Steps of the agent after the summary, the one judged included; 0 without a summary."""
    anew: bool = False
    """Whether the user asked for something after the summary."""
    answers: bool = False
    """Whether the message follows words of the user's: then it answers them, whatever it says."""

    @property
    def weight(self) -> float:
        """How much it means that something is new to this record, from 0 to 1."""
        return min(1.0, len(self.words) / LARGE)


def ground_of(
    record: Sequence[Item],
    window: Sequence[Item],
    ledger: Iterable[Entry] = (),
    *,
    summary_at: int | None = None,
    seen: Seen | None = None,
) -> Ground:
    """Read the ground off a session: its whole path, and what of it is in sight.

    `summary_at` is the number of the entry that put a summary in the place of the past, `seen` what
    is known to stand in the record.
    """
    scene, noted = read_scene(record), list(ledger)
    want = wanted(scene)
    shown = {item.entry.id for item in window if item.stand_in is None}
    rules = lift((*want.constraints, *(pin for pin in pins_of(noted) if pin.text)), noted)
    calls, repeated = known_calls(scene, shown, since=summary_at)
    seen = seen_in(record) if seen is None else seen
    in_sight = [text_of(item.body) for item in window]
    later = [at for at, item in enumerate(record) if _is_later(item, summary_at)]
    return Ground(
        intent=want.intent,
        constraints=tuple(rule for rule in rules if not rule.lifted),
        decisions=still_held(decisions_of(scene)),
        told=_told(scene),
        progress=progress_of(scene),
        names=seen.names,
        in_sight=frozenset[str]().union(*map(telling_names, in_sight)),
        words=seen.words.union(*map(words_in, in_sight)),
        delivered=delivered_since(scene, want.intent.current.entry),
        calls=calls,
        repeated=repeated,
        since=_steps(scene, later) + 1 if summary_at is not None else 0,
        anew=any(is_task(record[at]) for at in later),
        answers=bool(record) and is_request(record[-1].body),
    )


def ground_from(summary: Summary, text: str) -> Ground:
    """The ground that a summary alone gives, with the text it is told in."""
    said = (summary.intent.original, summary.intent.current, *summary.words)
    made = any(file.action != "read" for file in summary.files)
    tests = summary.progress.tests.lower()
    return Ground(
        intent=summary.intent,
        constraints=tuple(rule for rule in summary.constraints if not rule.lifted),
        decisions=still_held(summary.decisions),
        told=tuple(Quote(one.text, quote.entry) for quote in said for one in sentences(quote.text)),
        progress=summary.progress,
        names=telling_names(text),
        in_sight=telling_names(text),
        words=words_in(text),
        delivered=Delivered(made=made, passed=bool(tests) and "fail" not in tests),
        since=1,
        # Who spoke last is nothing that a summary tells.
        answers=True,
    )


def is_task(item: Item) -> bool:
    """Whether the user asks for something here: a new task, not `go on`."""
    body = item.body
    if not isinstance(body, Said) or not is_request(body):
        return False
    return any(has_substance(words) for words in own_words(body.text))


def _is_later(item: Item, summary_at: int | None) -> bool:
    return summary_at is not None and item.entry.seq > summary_at


def _steps(scene: Scene, places: Sequence[int]) -> int:
    if not places:
        return 0
    before = scene.steps[places[0] - 1] if places[0] else 0
    return scene.steps[places[-1]] - before


def _told(scene: Scene) -> tuple[Quote, ...]:
    found: list[Quote] = []
    for item in reversed(scene.items):
        body = item.body
        if isinstance(body, Said) and is_request(body):
            told = [one.text for words in own_words(body.text) for one in sentences(words)]
            found += [Quote(text, item.entry.id) for text in told]
        if len(found) >= MOST_TOLD:
            break
    return tuple(found[:MOST_TOLD])
