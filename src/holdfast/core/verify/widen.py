"""Fit a summary, probe it, and give more room to the sections that fail a probe.

A failed probe widens only its own section; then the summary is fitted and probed again. The best
round is returned with its scores.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from msgspec.structs import replace

from holdfast.core.ledger.entry import text_of
from holdfast.core.ledger.summary import Quote, Summary
from holdfast.core.observe.requests.intent import read_intent
from holdfast.core.observe.scene import read_scene
from holdfast.core.shrink.summary.cut import Cut, items_after_cut
from holdfast.core.shrink.summary.fit import (
    FittedSummary,
    SummaryRoom,
    choices_in,
    facts_of,
    fit_summary,
)
from holdfast.core.verify.answers import answer_probes, failing_sections
from holdfast.core.verify.probes import make_probes
from holdfast.core.verify.quality import Quality, score_quality

MAX_ROUNDS = 3
"""How many times a summary is fitted and probed at most."""
WIDEN_FACTOR = 1.3
MAX_COUNTED = 4_096
"""Texts whose tokens are remembered from one round to the next."""
PROBED_FACT_TOKENS = 1_200
"""Tokens of facts that probes are made for."""
ROOM_PARTS = {"files": ("changed", "named", "all named", "read")}
"""For each section with several shares of the room, the names of these shares."""


def fit_with_probes(merged: Summary, cut: Cut, room: SummaryRoom) -> tuple[FittedSummary, Quality]:
    """Return the fitted summary, widened where probes failed, and its scores.

    The probes are made before anything is fitted, so they do not depend on what there was room for.
    """
    tail = "\n".join(text_of(item.body) for item in items_after_cut(cut)[cut.lead :])
    shown = without_tail(merged, cut)
    choices = choices_in(room, shown)
    # Each round counts mostly the same rows.
    count = lru_cache(maxsize=MAX_COUNTED)(room.count)
    room = replace(room, choices=choices, count=count)
    chosen = choices.choose(PROBED_FACT_TOKENS, covered=room.shown, shown=room.remaining)
    facts = facts_of(chosen)
    source = replace(_with_latest_request(merged, cut), facts=facts)
    probes = make_probes(source)
    best: FittedSummary | None = None
    score = Quality()
    for _ in range(MAX_ROUNDS):
        fitted = fit_summary(shown, room)
        results = answer_probes(probes, f"{fitted.text}\n{tail}")
        current = score_quality(results, source=source, candidate=merged)
        if best is None or _rank(current) > _rank(score):
            best, score = fitted, current
        failing = failing_sections(results)
        if score.meets_targets or not failing:
            break
        room = replace(
            room, wider=_widened(room, failing), first=room.first | _lines(failing, source)
        )
    assert best is not None
    return best, score


def _widened(room: SummaryRoom, failing: Mapping[str, object]) -> dict[str, float]:
    wider = dict(room.wider)
    for section in failing:
        for part in ROOM_PARTS.get(section, (section,)):
            wider[part] = wider.get(part, 1.0) * WIDEN_FACTOR
    return wider


def _lines(failing: Mapping[str, Iterable[str]], source: Summary) -> frozenset[str]:
    """Return the texts of the facts whose probes failed."""
    names = set(failing.get("facts", ()))
    return frozenset(fact.text for fact in source.facts if fact.entry in names)


def _rank(score: Quality) -> tuple[int, float]:
    return -len(score.misses), sum(score.to_dict().values())


def _with_latest_request(summary: Summary, cut: Cut) -> Summary:
    """Return the summary with the user's latest request, which may be in the tail."""
    latest = _request_in_tail(cut)
    if not latest.text:
        return summary
    return replace(summary, intent=replace(summary.intent, current=latest))


def _request_in_tail(cut: Cut) -> Quote:
    """Return the user's latest request in the tail; words of a program are not a request."""
    intent = read_intent(read_scene(items_after_cut(cut)[cut.lead :])).intent
    return intent.current if intent.current.text else intent.original


def without_tail(summary: Summary, cut: Cut) -> Summary:
    """Return the summary without the latest request if the tail already shows it."""
    intent, said = summary.intent, summary.intent.current
    if not _request_in_tail(cut).text:
        return summary
    older = said.text and said.entry != intent.original.entry
    words = (*summary.words, said, *intent.current_rest) if older else summary.words
    shown = replace(intent, current=Quote(), current_rest=())
    return replace(summary, intent=shown, words=words)
