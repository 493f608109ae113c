"""Session Continuity in a few lines, for a file that others write too: one line a row."""

from collections.abc import Iterator

from holdfast.core.ledger.summary import Decision, File, Next, Quote, Summary
from holdfast.core.shrink.summary.quoting import head_of, name_of
from holdfast.core.view.forms.parts import (
    About,
    changed,
    chosen,
    count_of,
    due,
    in_a_line,
    in_force,
    state_of,
)
from holdfast.text.jsontext import Json

MOST = 3_200
"""Characters of it in all."""
LONGEST, REQUEST = 300, 1_000
"""Characters of a row, and of a request, from which on only its beginning is told."""
OWN = ("session continuity: ", "decision log: ")
ASKED = ("Request", "Now")
ROWS = 6
"""Constraints, steps and files that are told one by one."""


def continuity(summary: Summary, about: About) -> list[str]:
    """Where a session stands: what comes first stays when there is no room for all."""
    lines: list[str] = []
    left = MOST
    for label, text in _told(summary, about):
        longest = REQUEST + LONGEST if label in ASKED else LONGEST
        line = f"- **{label}:** {_opening(text, longest)}"
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    return lines


def _told(summary: Summary, about: About) -> Iterator[tuple[str, str]]:
    intent, now = summary.intent, summary.progress
    yield "Session", f"{about.session}, revision {summary.revision}"
    yield "Last checkpoint", summary.at or "unknown"
    yield "Request", _asked(intent.original)
    if intent.current.text not in ("", intent.original.text):
        yield "Now", _asked(intent.current)
    for row in in_force(summary)[-ROWS:]:
        yield "Constraint", row.text
    state = "; ".join(text for text in (now.phase, count_of(summary), now.tests) if text)
    if state:
        yield "State", state
    for step in summary.next[:ROWS]:
        yield "Next", due(step)
    for quote in summary.questions[:ROWS]:
        yield "Pending question", quote.text
    paths = [file.path for file in changed(summary)]
    if paths:
        more = f" and {len(paths) - ROWS} more" if len(paths) > ROWS else ""
        yield "Changed", f"{', '.join(paths[-ROWS:])}{more}"
    for ref in summary.refs:
        # The two that stand in this very file need no pointer to it.
        if not ref.entry and not ref.what.startswith(OWN):
            yield "Kept", ref.what
    yield "Recover", "`holdfast recover --level 1`, 2 or 3; `holdfast recover WORDS`"


def decided(one: Decision, at: str) -> str:
    """A decision as a log has it, in one line that names its entry."""
    day = f"{in_a_line(at)[:10]} " if at else ""
    return f"- {day}{_opening(chosen(one))} {head_of(name_of(one.entry))}"


def _asked(quote: Quote) -> str:
    """A request, whole while it is not long; else with where the whole of it is."""
    if len(quote.text) <= REQUEST:
        return quote.text
    rest = f"`holdfast recover --ref {name_of(quote.entry)}` shows all of it"
    return f"{quote.text[:REQUEST]}… ({rest})"


def _opening(text: str, longest: int = LONGEST) -> str:
    """A text in one line that ends no comment; of a long one, its beginning."""
    plain = " ".join(text.split()).replace("<!--", "<! --").replace("-->", "-- >")
    return plain if len(plain) <= longest else f"{plain[: longest - 1]}…"


# The summary as the object that the compression skill returns: plain JSON values.


def as_object(summary: Summary, session: str, *, archive: str = "") -> dict[str, Json]:
    """The summary under the keys of the protocol; the constraints are part of the intent."""
    path = archive or f"cache/conversations/{session}_full.md"
    cache = About(session, archive=path).cache
    return {
        "session_id": session,
        "generated": summary.at,
        "intent": _intent(summary),
        "artifacts": [_artifact(file) for file in changed(summary)],
        "decisions": [_decision(one) for one in summary.decisions],
        "progress": _progress(summary),
        "next_steps": [_step(one) for one in summary.next],
        "recovery_refs": {
            "full_conversation": path,
            "offloaded": f"{cache}/offloaded/",
            "checkpoints": f"{cache}/checkpoints/",
        },
    }


def _intent(summary: Summary) -> dict[str, Json]:
    intent = summary.intent
    return {
        "original": _whole(intent.original, *intent.original_rest),
        "current": _whole(intent.current, *intent.current_rest) or intent.original.text,
        "scope_changes": [change.text for change in intent.changes],
        "constraints": [one.text for one in in_force(summary)],
    }


def _whole(*parts: Quote) -> str:
    return "\n".join(part.text for part in parts if part.text)


def _artifact(file: File) -> dict[str, Json]:
    return {
        "path": file.path,
        "action": file.action,
        "status": state_of(file),
        "what_changed": file.change,
    }


def _decision(one: Decision) -> dict[str, Json]:
    entry = name_of(one.entry)
    return {"decision": one.choice, "rationale": one.reason, "by": one.by, "ref": entry}


def _progress(summary: Summary) -> dict[str, Json]:
    now = summary.progress
    return {
        "phase": now.phase,
        "completed": list(now.completed),
        "remaining": list(now.remaining),
        "tests": now.tests,
    }


def _step(one: Next) -> dict[str, Json]:
    return {"step": one.step, "owner": one.owner, "status": one.status}
