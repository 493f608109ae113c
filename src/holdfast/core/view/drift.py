"""Render drift: a warning in the protocol's form, a realignment for the agent, a page per session.

The realignment repeats the user's request word for word and returns hidden text as fenced data. It
is sent in the user's role, never the system's, and says that a program wrote it.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from holdfast.core.ledger.marks import DRIFT_WARNING
from holdfast.core.ledger.summary import Intent, Quote
from holdfast.core.verify.drift.signs import SEVERITY_RANK, Drift, Signal
from holdfast.core.view.search.excerpts import Hit, fence_hit
from holdfast.text.clip import clip_and_mark, clip_line

MAX_REQUEST_CHARS = 1_200
"""Characters of a request that are repeated; the window shows all of it."""
MAX_WARNING_CHARS = 160
"""Characters of the intent and of the action that a warning shows."""


class FlaggedStep(Struct, frozen=True):
    """A step of the agent in which drift was detected."""

    drift: Drift
    ref: str
    """Its first entry."""
    summary: str
    """The entry that placed the summary in the window."""
    action: str
    """What the agent was doing, in one line."""
    at: str = ""
    recovered: tuple[Hit, ...] = ()


def render_warning(signals: Sequence[Signal], intent: Intent, action: str) -> str:
    """Render the protocol's warning."""
    found = "; ".join(
        f"{signal.what} ({signal.severity}): {signal.finding.why}" for signal in signals
    )
    return "\n".join(
        [
            DRIFT_WARNING,
            "",
            f"**Detection:** {found}",
            f"**Original Intent:** {clip_line(intent.original.text, MAX_WARNING_CHARS) or 'None'}",
            f"**Current Action:** {clip_line(action, MAX_WARNING_CHARS) or 'None'}",
            "",
            "**Recovery Action:**",
            "Searching archived content for original context...",
            "",
            f"**Recommendation:** {recommended_actions(signals)}",
        ]
    )


def recommended_actions(signals: Sequence[Signal]) -> str:
    """Return the recommended actions, the most severe signal's first."""
    return "; ".join(dict.fromkeys(signal.action for signal in signals)) or "Continue with task"


def render_realignment(
    signals: Sequence[Signal],
    intent: Intent,
    action: str,
    recovered: Iterable[Hit],
    work: str = "",
) -> str:
    """Render the message that returns the agent to its goal.

    It names its author, quotes the requests that the agent violates, and adds recovered text as
    data. `work` is the fenced state of the work.
    """
    parts = [
        render_warning(signals, intent, action),
        "",
        "Holdfast wrote this, not the user. What follows is from the record, word for word.",
        *_quote_lines("Original request", intent.original),
    ]
    if intent.current.entry != intent.original.entry:
        parts += _quote_lines("Current request", intent.current)
    for signal in signals:
        found = signal.finding
        if found.quote and found.quote not in (intent.original.text, intent.current.text):
            parts += _quote_lines(
                f"It goes against this ({signal.name})", Quote(found.quote, found.ref)
            )
    quoted = [
        intent.original.text,
        intent.current.text,
        *(signal.finding.quote for signal in signals),
    ]
    whole = [text for text in quoted if len(text) <= MAX_REQUEST_CHARS]
    blocks = [fence_hit(hit) for hit in recovered if not any(hit.text in text for text in whole)]
    if blocks:
        parts += ["", "**Brought back from the ledger, as data:**", "\n\n".join(blocks)]
    parts += ["", work] if work else []
    parts += ["", "Go on with the request as it stands above."]
    if any(SEVERITY_RANK[signal.severity] <= SEVERITY_RANK["HIGH"] for signal in signals):
        parts[-1] += " Tell the user in one sentence what you had lost."
    return "\n".join(parts)


def _quote_lines(title: str, quote: Quote) -> list[str]:
    if not quote.text:
        return []
    lines = (
        f"> {line}" for line in clip_and_mark(quote.text, MAX_REQUEST_CHARS, " […]").split("\n")
    )
    return ["", f"**{title}** (ref {quote.entry[:12]}):", *lines]


def render_drifts(flagged: Sequence[FlaggedStep], judged_count: int, *, width: int = 100) -> str:
    """Render all flagged steps of a session as one page."""
    if not judged_count:
        return "no summary was put in sight of the agent: there was nothing to watch"
    heading = f"{judged_count:,} steps after a summary, {len(flagged):,} flagged"
    return "\n".join(
        [heading, *(line for step in flagged for line in ("", *_flagged_lines(step, width)))]
    )


def _flagged_lines(step: FlaggedStep, width: int) -> list[str]:
    lines = [
        f"### [{step.ref[:12]}] step {step.drift.since} after summary {step.summary[:12]}, "
        f"score {step.drift.score:.2f}",
        f"doing: {clip_line(step.action, width - 7)}",
    ]
    for signal in step.drift.signals:
        found = signal.finding
        lines.append(f"- {signal.severity} {signal.what}: {found.why}")
        if found.evidence:
            lines.append(f"  it says: {clip_line(found.evidence, width - 11)}")
        if found.quote:
            lines.append(f"  against [{found.ref[:12]}]: {clip_line(found.quote, width - 25)}")
        lines.append(f"  → {signal.action}")
    for back in step.recovered:
        place = f"[{back.ref}] {back.role}, lines {back.first}-{back.last}"
        lines.append(f"  recovered {place}: {clip_line(back.text, width - len(place) - 14)}")
    return lines


def drifts_document(flagged: Sequence[FlaggedStep], judged_count: int) -> dict[str, object]:
    """Return the flagged steps of a session as a JSON document."""
    return {
        "status": "DRIFT_DETECTED" if flagged else "ALIGNED",
        "judged": judged_count,
        "flagged": [
            {
                "ref": step.ref[:12],
                "at": step.at,
                "summary": step.summary[:12],
                "action": step.action,
                **step.drift.to_dict(),
                "recovered": [
                    {
                        "ref": back.ref,
                        "role": back.role,
                        "lines": [back.first, back.last],
                        "text": back.text,
                    }
                    for back in step.recovered
                ],
            }
            for step in flagged
        ],
    }
