"""Export a summary as short Session Continuity lines for a shared file, and as a JSON object."""

from collections.abc import Iterator

from holdfast.core.ledger.summary import Decision, File, Next, Quote, Summary
from holdfast.core.shrink.summary.quoting import row_head, short_name
from holdfast.core.view.forms.parts import (
    FormContext,
    changed_files,
    constraints_in_force,
    describe_decision,
    describe_next_step,
    describe_progress,
    file_status,
    join_lines,
)
from holdfast.text.clip import and_more, clip, clip_and_mark, one_line
from holdfast.text.jsontext import Json

MAX_CONTINUITY_CHARS = 3_200
"""Characters of all lines together."""
MAX_ROW_CHARS, MAX_REQUEST_CHARS = 300, 1_000
"""Characters of a row and of a request; a longer text is cut to its beginning."""
OWN_REFS = ("session continuity: ", "decision log: ")
REQUEST_LABELS = ("Request", "Now")
MAX_ROWS_PER_LABEL = 6
"""Constraints, steps, questions and files that are listed."""


def continuity_lines(summary: Summary, context: FormContext) -> list[str]:
    """Return the state of a session in lines; the first ones are kept when the room is short."""
    lines: list[str] = []
    left = MAX_CONTINUITY_CHARS
    for label, text in _labelled_texts(summary, context):
        longest = MAX_REQUEST_CHARS + MAX_ROW_CHARS if label in REQUEST_LABELS else MAX_ROW_CHARS
        line = f"- **{label}:** {_one_line(text, longest)}"
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    return lines


def _labelled_texts(summary: Summary, context: FormContext) -> Iterator[tuple[str, str]]:
    intent, now = summary.intent, summary.progress
    yield "Session", f"{context.session}, revision {summary.revision}"
    yield "Last checkpoint", summary.at or "unknown"
    yield "Request", _request_text(intent.original)
    if intent.current.text not in ("", intent.original.text):
        yield "Now", _request_text(intent.current)
    for row in constraints_in_force(summary)[:MAX_ROWS_PER_LABEL]:
        yield "Constraint", row.text
    state = "; ".join(text for text in (now.phase, describe_progress(summary), now.tests) if text)
    if state:
        yield "State", state
    for step in summary.next[:MAX_ROWS_PER_LABEL]:
        yield "Next", describe_next_step(step)
    for quote in summary.questions[:MAX_ROWS_PER_LABEL]:
        yield "Pending question", quote.text
    paths = [file.path for file in changed_files(summary)]
    if paths:
        yield (
            "Changed",
            f"{', '.join(paths[-MAX_ROWS_PER_LABEL:])}{and_more(len(paths) - MAX_ROWS_PER_LABEL)}",
        )
    for ref in summary.refs:
        # These two references point to the file that this text is written to.
        if not ref.entry and not ref.what.startswith(OWN_REFS):
            yield "Kept", ref.what
    yield "Recover", "`holdfast recover --level 1`, 2 or 3; `holdfast recover WORDS`"


def decision_log_line(decision: Decision, at: str) -> str:
    """Render a decision as one line of a log, with its entry."""
    day = f"{join_lines(at)[:10]} " if at else ""
    return f"- {day}{_one_line(describe_decision(decision))} {row_head(short_name(decision.entry))}"


def _request_text(quote: Quote) -> str:
    """Return a request; of a long one the beginning, and the command that shows all of it."""
    rest = f"`holdfast recover --ref {short_name(quote.entry)}` shows all of it"
    return clip_and_mark(quote.text, MAX_REQUEST_CHARS, f"… ({rest})")


def _one_line(text: str, longest: int = MAX_ROW_CHARS) -> str:
    """Return a text on one line that cannot end an HTML comment, cut to `longest` characters."""
    return clip(one_line(text).replace("<!--", "<! --").replace("-->", "-- >"), longest)


# The summary as the JSON object that the compression skill returns.


def summary_object(summary: Summary, session: str, *, archive: str = "") -> dict[str, Json]:
    """Return the summary under the keys of the protocol; constraints are part of the intent."""
    path = archive or f"cache/conversations/{session}_full.md"
    cache = FormContext(session, archive=path).cache
    return {
        "session_id": session,
        "generated": summary.at,
        "intent": _intent_object(summary),
        "artifacts": [_artifact_object(file) for file in changed_files(summary)],
        "decisions": [_decision_object(decision) for decision in summary.decisions],
        "progress": _progress_object(summary),
        "next_steps": [_step_object(step) for step in summary.next],
        "recovery_refs": {
            "full_conversation": path,
            "offloaded": f"{cache}/offloaded/",
            "checkpoints": f"{cache}/checkpoints/",
        },
    }


def _intent_object(summary: Summary) -> dict[str, Json]:
    intent = summary.intent
    return {
        "original": _join_quotes(intent.original, *intent.original_rest),
        "current": _join_quotes(intent.current, *intent.current_rest) or intent.original.text,
        "scope_changes": [change.text for change in intent.changes],
        "constraints": [constraint.text for constraint in constraints_in_force(summary)],
    }


def _join_quotes(*parts: Quote) -> str:
    return "\n".join(part.text for part in parts if part.text)


def _artifact_object(file: File) -> dict[str, Json]:
    return {
        "path": file.path,
        "action": file.action,
        "status": file_status(file),
        "what_changed": file.change,
    }


def _decision_object(decision: Decision) -> dict[str, Json]:
    entry = short_name(decision.entry)
    return {
        "decision": decision.choice,
        "rationale": decision.reason,
        "by": decision.by,
        "ref": entry,
    }


def _progress_object(summary: Summary) -> dict[str, Json]:
    now = summary.progress
    return {
        "phase": now.phase,
        "completed": list(now.completed),
        "remaining": list(now.remaining),
        "tests": now.tests,
    }


def _step_object(step: Next) -> dict[str, Json]:
    return {"step": step.step, "owner": step.owner, "status": step.status}
