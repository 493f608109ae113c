"""Layer 4 of a packet: failed attempts, pivots and open questions; and decisions by age."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule
from holdfast.core.ledger.packet import Choice, FailedAttempt, Pivot
from holdfast.core.ledger.summary import Decision, Error, Quote, Summary
from holdfast.core.observe.moments.moment import Moment
from holdfast.core.observe.results.choices import overruled_decisions
from holdfast.core.observe.sentences import sentences
from holdfast.core.observe.worth import find_names
from holdfast.core.shrink.summary.fit import valid_decisions
from holdfast.core.view.packet.select import telling_words
from holdfast.text.clip import clip_words, one_line
from holdfast.text.patterns import Pattern
from holdfast.text.sentences import plain_words

LONGEST = 180
RECENT = 60
"""Messages of the user that are searched for statements about failures."""
_FAILED = Pattern(
    r"\b(?:(?:i|we) (?:first )?tried|(?:did not|didn't|does not|doesn't|won't) work"
    r"|(?:approach|attempt|idea|option) (?:failed|fails|broke|is wrong)"
    r"|(?:turned out|turns out)(?: to be)? (?:wrong|broken|not)"
    r"|was a dead end|not in requirements)\b"
)
_WHY = Pattern(r"(?i)\s{0,2}(?:,? but |,? because |;|—| - |: )")
TOLD, NAMED = 3, 5
"""Words, or letters of a name, that a rejected option needs to be understood alone."""
_ANSWERED = Pattern(r"\? (?=\S)")
"""Between what the user was asked and what was answered."""
_REJECTED = Pattern(r"(?i)\b(?:instead of|rather than|not)\s{1,2}((?:[^.;,()\n]|\.(?=\w)){3,70})")


@rule(())
def failures_of(rows: Summary, moments: Iterable[Moment]) -> tuple[FailedAttempt, ...]:
    """Return what did not work: statements that say so, then open errors, then resolved ones."""
    said = list(_said(rows, moments))
    met = [*_met(rows.errors, still=True), *_met(rows.errors, still=False)]
    found: dict[str, FailedAttempt] = {}
    for one in (*said, *met):
        found.setdefault(" ".join(one.approach.lower().split()), one)
    return tuple(found.values())


def _said(rows: Summary, moments: Iterable[Moment]) -> Iterator[FailedAttempt]:
    """Sentences of the agent, then of the user, that say that something did not work."""
    told = [Quote(one.text, one.entry) for one in moments if one.kind in ("said", "answered")]
    words = (*rows.intent.requests, *rows.words)
    asked = (
        Quote(one.text, quote.entry)
        for quote in words[-RECENT:]
        if _FAILED.search(quote.text.lower().replace("’", "'"))
        for one in sentences(quote.text)
    )
    for one in (*reversed(told), *asked):
        if len(one.text) <= LONGEST * 2 and _FAILED.search(plain_words(one.text)):
            yield _parted(one.text, one.entry)


def _parted(text: str, entry: str) -> FailedAttempt:
    words = " ".join(text.split())
    why = _WHY.search(words, 8)
    if why is None or len(words) - why.end() < 6:
        return FailedAttempt(cut_at_word(words), "", (entry,))
    return FailedAttempt(
        cut_at_word(words[: why.start()]), cut_at_word(words[why.end() :]), (entry,)
    )


def _met(errors: Iterable[Error], *, still: bool) -> list[FailedAttempt]:
    """Errors as attempts, the newest first."""
    return [
        FailedAttempt(
            cut_at_word(" ".join(one.what.split()) or "what was run"),
            cut_at_word(" ".join(one.text.split())) + ("" if still else " (got over since)"),
            (one.entry,),
        )
        for one in reversed(tuple(errors))
        if bool(one.resolved) != still
    ]


@rule(())
def pivots_of(rows: Summary) -> tuple[Pivot, ...]:
    """Return changes of direction: the user's scope changes, and decisions that overrule others."""
    changes = [
        Pivot(cut_at_word(" ".join(one.text.split())), "the user", (one.entry,))
        for one in _turns(rows)
    ]
    old = _old(rows)
    for number, one in enumerate(rows.decisions):
        if number in old:
            was = " ".join(old[number].choice.split())
            change = f"{' '.join(one.choice.split())} (was: {was})"
            changes.append(Pivot(cut_at_word(change), cut_at_word(one.reason), (one.entry,)))
    return tuple(reversed(changes))


def _turns(rows: Summary) -> list[Quote]:
    bound = {one.text for one in rows.constraints}
    return [one for one in rows.intent.changes if one.text not in bound]


@rule(())
def open_questions_of(rows: Summary) -> tuple[str, ...]:
    """Return the questions that were asked and not answered."""
    return tuple(cut_at_word(" ".join(one.text.split())) for one in reversed(rows.questions))


@rule(())
def decisions_in_force(rows: Summary) -> tuple[Choice, ...]:
    """Return the decisions in force, oldest first, each with the one it replaced."""
    places = {one: number for number, one in enumerate(rows.decisions)}
    old = _old(rows)
    return tuple(_choice(one, old.get(places[one])) for one in valid_decisions(rows))


def _old(rows: Summary) -> dict[int, Decision]:
    """By the place of a decision: the newest one that it overrules."""
    gone = overruled_decisions(rows.decisions)
    return {by: rows.decisions[number] for number, by in sorted(gone.items())}


def _choice(one: Decision, was: Decision | None) -> Choice:
    return Choice(
        _ANSWERED.sub("? → ", " ".join(one.choice.split()), count=1),
        " ".join(one.reason.split()),
        "orchestrator" if one.by == "agent" else one.by,
        (one.entry,),
        cut_at_word(" ".join(was.choice.split()), 80) if was is not None else "",
    )


def without_decided(moments: Iterable[Moment], rows: Summary) -> list[Moment]:
    """Return the moments that state no decision, neither one in force nor one that was overruled.

    Those in force have their own rows. A sentence with a name that only an overruled decision has
    is about that decision.
    """
    choices: dict[str, list[str]] = {}
    for one in rows.decisions:
        choices.setdefault(one.entry, []).append(_comparable(one.choice))
    gone = frozenset(_overruled_names(rows))
    return [
        one
        for one in moments
        if one.kind != "said"
        or not (
            any(text in _comparable(one.text) for text in choices.get(one.entry, ()))
            or (gone and not gone.isdisjoint(find_names(one.text)))
        )
    ]


def _comparable(text: str) -> str:
    return " ".join(text.replace("**", "").split())


def _overruled_names(rows: Summary) -> Iterator[str]:
    """Yield the names of overruled choices, without paths and what the newer choices keep."""
    for by, was in _old(rows).items():
        kept = find_names(_REJECTED.sub(" ", rows.decisions[by].choice))
        names = sorted(find_names(was.choice) - kept)
        yield from (name for name in names if "/" not in name and "." not in name)


@rule(())
def rejected_options(rows: Summary) -> tuple[str, ...]:
    """Return the options that decisions rejected, as things not to do."""
    found: dict[str, None] = {}
    for one in valid_decisions(rows):
        match = _REJECTED.search(one.choice)
        if match and match[0].lower().startswith(("instead", "rather")):
            words = match[1].strip()
            found |= {words: None} if _says(words) else {}
    return tuple(found)


def _says(words: str) -> bool:
    """Whether it tells by itself what not to do: `erroring` and half a name do not."""
    whole = words.count("`") % 2 == 0 and words.count("(") == words.count(")")
    return whole and (len(words.split()) >= TOLD or any(len(n) >= NAMED for n in find_names(words)))


def cut_at_word(text: str, most: int = LONGEST) -> str:
    """Cut a text to `most` characters at the end of a word."""
    return clip_words(text, most, "…")


# Strategy 2, hierarchy: the farther something lies back, the less is said of it.
#
# Recent decisions are told in full, older ones in a line, ancient ones by a word in what is not
# included. What the user decided is never less than a line.


RECENT_STEPS, OLDER = 40, 200
"""Age of decisions in steps: full detail up to the first, one line up to the second."""
LINE = 110
"""Characters of a decision on one line."""
USER = "user"


class DecisionsByAge(Struct, frozen=True):
    """Decisions to show, and one-word tags for those that are too old."""

    shown: tuple[Choice, ...] = ()
    tags: tuple[str, ...] = ()
    """A word for each decision that was left out."""


def decisions_by_age(decisions: Iterable[Choice], age: Callable[[Choice], int]) -> DecisionsByAge:
    """Return each decision in as much detail as its age allows, in their order."""
    shown: list[Choice] = []
    tags: list[str] = []
    for one in decisions:
        steps = age(one)
        if steps <= RECENT_STEPS:
            shown.append(one)
        elif steps <= OLDER or one.made_by == USER:
            shown.append(shorten_decision(one))
        else:
            tags.append(tag_word(one.choice))
    return DecisionsByAge(tuple(shown), tuple(dict.fromkeys(tag for tag in tags if tag)))


def shorten_decision(one: Choice) -> Choice:
    """Return a decision on one line, without its reason."""
    words = clip_words(one_line(one.choice), LINE, "…")
    return replace(one, choice=words, reason="", superseded="")


def tag_word(text: str) -> str:
    """Return the longest telling word of a text, which says most about its subject."""
    return max(telling_words(text), key=len, default="")


def age_by_refs(steps: Mapping[str, int], now: int) -> Callable[[Choice], int]:
    """Return a function that gives the age of a decision in steps; 0 when it is not known."""
    return lambda one: min((now - steps[ref] for ref in one.refs if ref in steps), default=0)
