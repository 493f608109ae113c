"""The summary as the object that the compression skill returns: plain JSON values."""

from holdfast.core.ledger.jsontext import Json
from holdfast.core.ledger.summary import Decision, File, Next, Quote, Summary
from holdfast.core.shrink.spelling import name_of
from holdfast.core.view.forms.parts import About, changed, in_force, state_of


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
