"""A summary asked what a reader would ask, and widened where it has no answer.

A probe that fails makes room for its own section and no other, and is asked again. The best of the
rounds stands, with the scores it came to.
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from holdfast.core.ledger.entry import text_of
from holdfast.core.ledger.summary import Quote, Summary
from holdfast.core.observe.requests.intent import wanted
from holdfast.core.observe.scene import read_scene
from holdfast.core.shrink.summary.cut import Cut, after_cut
from holdfast.core.shrink.summary.facts import pick
from holdfast.core.shrink.summary.fit import Fitted, Room, fit
from holdfast.core.verify.answers import ask, failing
from holdfast.core.verify.probes import draw
from holdfast.core.verify.quality import Quality, quality

ROUNDS = 3
"""How often a summary is widened where a probe failed."""
WIDER = 1.7
PROBED = 1_200
"""Tokens of lines that a reader would ask for, had there been room for no others."""
PARTS = {"files": ("changed", "read")}
"""Sections of a summary that have more than one share of the room."""


def probed(merged: Summary, cut: Cut, room: Room) -> tuple[Fitted, Quality]:
    """The summary, widened where a probe failed, and how it did in the end.

    What is asked is settled before anything is fitted: which lines a reader would want does not
    depend on which there was room for.
    """
    tail = "\n".join(text_of(item.body) for item in after_cut(cut)[cut.lead :])
    shown = without_tail(merged, cut)
    facts = pick(room.pool, PROBED, weigh=room.weigh, count=room.count, covered=room.shown)
    seen = replace(_as_of_now(merged, cut), facts=facts)
    probes = draw(seen)
    best: Fitted | None = None
    score = Quality()
    for _ in range(ROUNDS):
        made = fit(shown, room)
        answered = ask(probes, f"{made.text}\n{tail}")
        now = quality(answered, seen=seen, candidate=merged)
        if best is None or _rank(now) > _rank(score):
            best, score = made, now
        short = failing(answered)
        if score.met or not short:
            break
        room = replace(room, wider=_wider(room, short), first=room.first | _lines(short, seen))
    assert best is not None
    return best, score


def _wider(room: Room, short: Mapping[str, object]) -> dict[str, float]:
    wider = dict(room.wider)
    for section in short:
        for part in PARTS.get(section, (section,)):
            wider[part] = wider.get(part, 1.0) * WIDER
    return wider


def _lines(short: Mapping[str, Iterable[str]], seen: Summary) -> frozenset[str]:
    """The lines of the facts that were asked for in vain."""
    names = set(short.get("facts", ()))
    return frozenset(fact.text for fact in seen.facts if fact.entry in names)


def _rank(score: Quality) -> tuple[int, float]:
    return -len(score.misses), sum(score.to_dict().values())


def _as_of_now(summary: Summary, cut: Cut) -> Summary:
    """The summary with what the user asked for last, which the tail may hold."""
    latest = _asked_in_tail(cut)
    if not latest.text:
        return summary
    return replace(summary, intent=replace(summary.intent, current=latest))


def _asked_in_tail(cut: Cut) -> Quote:
    """What the user asked for last, if that is in the tail: words of a program are no request."""
    intent = wanted(read_scene(after_cut(cut)[cut.lead :])).intent
    return intent.current if intent.current.text else intent.original


def without_tail(summary: Summary, cut: Cut) -> Summary:
    """The summary as it is shown: what the user said last is not told twice."""
    intent, said = summary.intent, summary.intent.current
    if not _asked_in_tail(cut).text:
        return summary
    older = said.text and said.entry != intent.original.entry
    words = (*summary.words, said, *intent.current_rest) if older else summary.words
    shown = replace(intent, current=Quote(), current_rest=())
    return replace(summary, intent=shown, words=words)
