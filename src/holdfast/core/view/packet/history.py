"""Layer 4: what was tried and failed, where the work changed direction, and what is open."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import Said
from holdfast.core.ledger.packet import Choice, FailedAttempt, Pivot
from holdfast.core.ledger.summary import Decision, Error, Quote, Summary
from holdfast.core.observe.results.choices import overruled
from holdfast.core.observe.scene import Scene
from holdfast.core.observe.sentences import own_words, plain, sentences
from holdfast.core.observe.worth import telling_names
from holdfast.core.shrink.summary.fit import standing
from holdfast.core.view.packet.select import telling_words

LONGEST = 180
RECENT = 60
"""Texts from the end in which the agent's own words on failures are looked for."""
_FAILED = re.compile(
    r"\b(?:(?:i|we) (?:first )?tried|(?:did not|didn't|does not|doesn't|won't) work"
    r"|(?:approach|attempt|idea|option) (?:failed|fails|broke|is wrong)"
    r"|(?:turned out|turns out)(?: to be)? (?:wrong|broken|not)"
    r"|was a dead end|not in requirements)\b"
)
_WHY = re.compile(r"(?i)\s{0,2}(?:,? but |,? because |;|—| - |: )")
TOLD, NAMED = 3, 5
"""Words, or letters of a name, from which what was turned down says what that is."""
_ANSWERED = re.compile(r"\? (?=\S)")
"""Between what the user was asked and what was answered."""
_REJECTED = re.compile(
    r"(?i)\b(?:instead of|rather than|not)\s{1,2}((?:[^.;,()\n]|\.(?=\w)){3,70})"
)


@rule(())
def failures_of(rows: Summary, scene: Scene) -> tuple[FailedAttempt, ...]:
    """What did not work: what was said to, then errors that are open, then those met on the way."""
    said = list(_said(scene))
    met = [*_met(rows.errors, still=True), *_met(rows.errors, still=False)]
    found: dict[str, FailedAttempt] = {}
    for one in (*said, *met):
        found.setdefault(" ".join(one.approach.lower().split()), one)
    return tuple(found.values())


def _said(scene: Scene) -> Iterator[FailedAttempt]:
    """Sentences of the user and of the agent that tell of something that did not work."""
    told = [item for item in scene.items if isinstance(item.body, Said) and not item.body.by]
    for item in reversed(told[-RECENT:]):
        body = item.body
        assert isinstance(body, Said)
        parts = own_words(body.text) if body.role == "user" else (body.text,)
        for part in parts:
            for one in sentences(part):
                if len(one.text) <= LONGEST * 2 and _FAILED.search(plain(one.text)):
                    yield _parted(one.text, item.entry.id)


def _parted(text: str, entry: str) -> FailedAttempt:
    words = " ".join(text.split())
    why = _WHY.search(words, 8)
    if why is None or len(words) - why.end() < 6:
        return FailedAttempt(cut(words), "", (entry,))
    return FailedAttempt(cut(words[: why.start()]), cut(words[why.end() :]), (entry,))


def _met(errors: Iterable[Error], *, still: bool) -> list[FailedAttempt]:
    """Errors as attempts, the newest first."""
    return [
        FailedAttempt(
            cut(" ".join(one.what.split()) or "what was run"),
            cut(" ".join(one.text.split())) + ("" if still else " (got over since)"),
            (one.entry,),
        )
        for one in reversed(tuple(errors))
        if bool(one.resolved) != still
    ]


@rule(())
def pivots_of(rows: Summary) -> tuple[Pivot, ...]:
    """Where the work changed direction: what the user changed, and decisions that overrule."""
    changes = [
        Pivot(cut(" ".join(one.text.split())), "the user", (one.entry,)) for one in _turns(rows)
    ]
    old = _old(rows)
    for number, one in enumerate(rows.decisions):
        if number in old:
            was = " ".join(old[number].choice.split())
            change = f"{' '.join(one.choice.split())} (was: {was})"
            changes.append(Pivot(cut(change), cut(one.reason), (one.entry,)))
    return tuple(reversed(changes))


def _turns(rows: Summary) -> list[Quote]:
    bound = {one.text for one in rows.constraints}
    return [one for one in rows.intent.changes if one.text not in bound]


@rule(())
def questions_of(rows: Summary) -> tuple[str, ...]:
    """What was asked and not answered."""
    return tuple(cut(" ".join(one.text.split())) for one in reversed(rows.questions))


@rule(())
def choices_of(rows: Summary) -> tuple[Choice, ...]:
    """The decisions that still hold, oldest first, each with what it took the place of."""
    places = {one: number for number, one in enumerate(rows.decisions)}
    old = _old(rows)
    return tuple(_choice(one, old.get(places[one])) for one in standing(rows))


def _old(rows: Summary) -> dict[int, Decision]:
    """By the place of a decision: the newest one that it overrules."""
    gone = overruled(rows.decisions)
    return {by: rows.decisions[number] for number, by in sorted(gone.items())}


def _choice(one: Decision, was: Decision | None) -> Choice:
    return Choice(
        _ANSWERED.sub("? → ", " ".join(one.choice.split()), count=1),
        " ".join(one.reason.split()),
        "orchestrator" if one.by == "agent" else one.by,
        (one.entry,),
        cut(" ".join(was.choice.split()), 80) if was is not None else "",
    )


@rule(())
def avoided_in(rows: Summary) -> tuple[str, ...]:
    """What decisions turned down, as things not to do."""
    found: dict[str, None] = {}
    for one in standing(rows):
        match = _REJECTED.search(one.choice)
        if match and match[0].lower().startswith(("instead", "rather")):
            words = match[1].strip()
            found |= {words: None} if _says(words) else {}
    return tuple(found)


def _says(words: str) -> bool:
    """Whether it tells by itself what not to do: `erroring` and half a name do not."""
    whole = words.count("`") % 2 == 0 and words.count("(") == words.count(")")
    return whole and (
        len(words.split()) >= TOLD or any(len(n) >= NAMED for n in telling_names(words))
    )


def cut(text: str, most: int = LONGEST) -> str:
    """A text within a length, ended at a word."""
    if len(text) <= most:
        return text
    return f"{text[:most].rpartition(' ')[0] or text[:most]}…"


# Strategy 2, hierarchy: the farther something lies back, the less is said of it.
#
# Recent decisions are told in full, older ones in a line, ancient ones by a word in what is not
# included. What the user decided is never less than a line.


RECENT_STEPS, OLDER = 40, 200
"""Steps of the agent since a decision: told in full up to the first, in a line up to the second."""
LINE = 110
"""Characters of a decision in a line."""
USER = "user"


class Told(Struct, frozen=True):
    """What is said of decisions, and of those of which nothing more is said than a word."""

    shown: tuple[Choice, ...] = ()
    tags: tuple[str, ...] = ()
    """A word for each that was left out."""


def by_distance(
    decisions: Iterable[Choice],
    age: Callable[[Choice], int],
    *,
    recent: int = RECENT_STEPS,
    older: int = OLDER,
) -> Told:
    """Each decision as fully as its distance allows, in their order."""
    shown: list[Choice] = []
    tags: list[str] = []
    for one in decisions:
        steps = age(one)
        if steps <= recent:
            shown.append(one)
        elif steps <= older or one.made_by == USER:
            shown.append(in_brief(one))
        else:
            tags.append(tag_of(one.choice))
    return Told(tuple(shown), tuple(dict.fromkeys(tag for tag in tags if tag)))


def in_brief(one: Choice) -> Choice:
    """A decision in a line, without its reason."""
    words = " ".join(one.choice.split())
    if len(words) > LINE:
        words = f"{words[:LINE].rpartition(' ')[0] or words[:LINE]}…"
    return replace(one, choice=words, reason="", superseded="")


def tag_of(text: str) -> str:
    """The one word that says most of what a text is about: its longest."""
    return max(telling_words(text), key=len, default="")


def ages(steps: Mapping[str, int], now: int) -> Callable[[Choice], int]:
    """How many steps ago a decision was made, by the entries it names; 0 when nobody knows."""
    return lambda one: min((now - steps[ref] for ref in one.refs if ref in steps), default=0)
