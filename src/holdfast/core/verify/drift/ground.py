"""What a message is judged against: the record, what of it is in sight, and where the work stands.

Constraints and requests come from the user and the system alone, files and checks from the calls:
nothing that a tool printed can set a rule, lift one, or count as work done.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import Entry, EntryId, Said, is_request, text_of
from holdfast.core.ledger.summary import Constraint, Decision, Intent, Progress, Quote, Summary
from holdfast.core.ledger.window import Item
from holdfast.core.observe.calls import Scene, read_scene
from holdfast.core.observe.choices import still_held
from holdfast.core.observe.decisions import decisions_of
from holdfast.core.observe.intent import has_substance, wanted
from holdfast.core.observe.pins import lift, pins_of
from holdfast.core.observe.progress import progress_of
from holdfast.core.observe.sentences import own_words, sentences
from holdfast.core.observe.worth import telling
from holdfast.core.verify.drift.delivery import Delivered, delivered_since
from holdfast.core.verify.drift.known import Known, known_calls
from holdfast.core.verify.drift.move import words_in

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
        known.names.union(*map(telling, fresh)),
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
        in_sight=frozenset[str]().union(*map(telling, in_sight)),
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
        names=telling(text),
        in_sight=telling(text),
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
