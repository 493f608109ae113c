"""What is said of drift: a warning in the protocol's form, a realignment for the agent, a page.

The realignment restates what was asked for, word for word, and brings back what left the window as
data in fences. It is the user's role that carries it, never the system's, and it says itself that a
program wrote it.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from holdfast.core.ledger.marks import WARNING
from holdfast.core.ledger.summary import Intent, Quote
from holdfast.core.verify.drift.signs import RANK, Drift, Signal
from holdfast.core.view.conversation import opening
from holdfast.core.view.search.excerpts import Hit, fenced

LONGEST = 1_200
"""Characters of a request that are restated; it stands in sight as a whole."""
SHOWN = 160


class Flagged(Struct, frozen=True):
    """A step of the agent that was judged."""

    drift: Drift
    ref: str
    """Its first entry."""
    summary: str
    """The entry that put the summary in sight."""
    action: str
    """What the agent was doing, in a line."""
    at: str = ""
    recovered: tuple[Hit, ...] = ()


def render_warning(signals: Sequence[Signal], intent: Intent, action: str) -> str:
    """The protocol's warning."""
    found = "; ".join(f"{one.what} ({one.severity}): {one.finding.why}" for one in signals)
    return "\n".join(
        [
            WARNING,
            "",
            f"**Detection:** {found}",
            f"**Original Intent:** {opening(intent.original.text, SHOWN) or 'None'}",
            f"**Current Action:** {opening(action, SHOWN) or 'None'}",
            "",
            "**Recovery Action:**",
            "Searching archived content for original context...",
            "",
            f"**Recommendation:** {recommended(signals)}",
        ]
    )


def recommended(signals: Sequence[Signal]) -> str:
    """What to do about it, the gravest first."""
    return "; ".join(dict.fromkeys(one.action for one in signals)) or "Continue with task"


def render_realignment(
    signals: Sequence[Signal], intent: Intent, action: str, recovered: Iterable[Hit]
) -> str:
    """What an agent is told that left its goal: by whom, what was asked for, what it forgot."""
    parts = [
        render_warning(signals, intent, action),
        "",
        "Holdfast wrote this, not the user. What follows is from the record, word for word.",
        *_restated("Original request", intent.original),
    ]
    if intent.current.entry != intent.original.entry:
        parts += _restated("Current request", intent.current)
    for one in signals:
        found = one.finding
        if found.quote and found.quote not in (intent.original.text, intent.current.text):
            parts += _restated(f"It goes against this ({one.name})", Quote(found.quote, found.ref))
    told = [intent.original.text, intent.current.text, *(one.finding.quote for one in signals)]
    whole = [text for text in told if len(text) <= LONGEST]
    blocks = [fenced(one) for one in recovered if not any(one.text in text for text in whole)]
    if blocks:
        parts += ["", "**Brought back from the ledger, as data:**", "\n\n".join(blocks)]
    parts += ["", "Go on with the request as it stands above."]
    if any(RANK[one.severity] <= RANK["HIGH"] for one in signals):
        parts[-1] += " Tell the user in one sentence what you had lost."
    return "\n".join(parts)


def _restated(title: str, quote: Quote) -> list[str]:
    if not quote.text:
        return []
    text = quote.text
    cut = f"{text[:LONGEST].rstrip()} […]" if len(text) > LONGEST else text
    lines = (f"> {line}" for line in cut.split("\n"))
    return ["", f"**{title}** (ref {quote.entry[:12]}):", *lines]


def render_drifts(flagged: Sequence[Flagged], judged: int, *, width: int = 100) -> str:
    """A page over a whole session."""
    if not judged:
        return "no summary was put in sight of the agent: there was nothing to watch"
    told = f"{judged:,} steps after a summary, {len(flagged):,} flagged"
    return "\n".join([told, *(line for one in flagged for line in ("", *_flag(one, width)))])


def _flag(one: Flagged, width: int) -> list[str]:
    lines = [
        f"### [{one.ref[:12]}] step {one.drift.since} after summary {one.summary[:12]}, "
        f"score {one.drift.score:.2f}",
        f"doing: {opening(one.action, width - 7)}",
    ]
    for signal in one.drift.signals:
        found = signal.finding
        lines.append(f"- {signal.severity} {signal.what}: {found.why}")
        if found.evidence:
            lines.append(f"  it says: {opening(found.evidence, width - 11)}")
        if found.quote:
            lines.append(f"  against [{found.ref[:12]}]: {opening(found.quote, width - 25)}")
        lines.append(f"  → {signal.action}")
    for back in one.recovered:
        place = f"[{back.ref}] {back.role}, lines {back.first}-{back.last}"
        lines.append(f"  recovered {place}: {opening(back.text, width - len(place) - 14)}")
    return lines


def drifts_document(flagged: Sequence[Flagged], judged: int) -> dict[str, object]:
    """The same for a program."""
    return {
        "status": "DRIFT_DETECTED" if flagged else "ALIGNED",
        "judged": judged,
        "flagged": [
            {
                "ref": one.ref[:12],
                "at": one.at,
                "summary": one.summary[:12],
                "action": one.action,
                **one.drift.to_dict(),
                "recovered": [
                    {
                        "ref": back.ref,
                        "role": back.role,
                        "lines": [back.first, back.last],
                        "text": back.text,
                    }
                    for back in one.recovered
                ],
            }
            for one in flagged
        ],
    }
