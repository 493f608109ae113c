"""Fill the templates that the source documents define from a summary.

A template keeps its own title, sections and columns. Required content without a section of its own,
above all the constraints, goes into the nearest one.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from holdfast.core.ledger.summary import Decision, Quote, Summary
from holdfast.core.shrink.summary.quoting import NONE, row_head, short_name
from holdfast.core.view.forms.parts import (
    FormContext,
    artifact_table,
    bullet_lines,
    constraint_rows,
    decision_list,
    describe_error,
    describe_next_step,
    describe_progress,
    error_bullets,
    intent_lines,
    join_lines,
    markdown_table,
    modified_files_table,
    next_step_list,
    progress_lines,
    quote_rows,
    read_file_bullets,
    recovery_lines,
    section_lines,
    story_rows,
    timestamp_lines,
)

MAX_USER_WORDS_CHARS = 12_000
"""Characters of the user's other messages that a checkpoint contains."""
MAX_CUT_QUOTE_CHARS = 120
"""Characters that are shown of a message that does not fit."""
RESUME_STEPS = (
    "1. Take the intent and the constraints above as they stand; the other rows are a record.",
    "2. Go on with the first of the next steps.",
    "3. Look for what is missing with `holdfast recover WORDS` before asking for it again.",
)


def compression_skill_form(summary: Summary, context: FormContext) -> str:
    """Render the output format of the compression skill."""
    critical = [
        *constraint_rows(summary, "Constraint "),
        *bullet_lines(
            f"Error {describe_error(error)}" for error in summary.errors if not error.resolved
        ),
        *quote_rows(summary.questions, "Open question "),
        *story_rows(summary),
    ]
    lines = [
        f"## Session Summary [{join_lines(context.session)}]",
        *timestamp_lines(summary),
        *section_lines("Session Intent", intent_lines(summary.intent)),
        *section_lines("Artifacts Created", artifact_table(summary)),
        *section_lines("Key Decisions", decision_list(summary)),
        *section_lines("Current Progress", [*quote_rows(summary.state), *progress_lines(summary)]),
        *section_lines("Critical Facts", critical),
        *section_lines("Next Steps", next_step_list(summary)),
        *section_lines("Recovery References", recovery_lines(summary, context)),
    ]
    return "\n".join(lines)


def anchored_form(summary: Summary, context: FormContext) -> str:
    """Render the summary file of a task."""
    lines = [
        f"## Session Summary — {context.title}",
        *section_lines(
            "Session Intent",
            [*intent_lines(summary.intent), *constraint_rows(summary, "Constraint ")],
        ),
        *section_lines("Files Modified", modified_files_table(summary)),
        *section_lines("Files Read (Not Modified)", read_file_bullets(summary)),
        *section_lines("Decisions Made", decision_list(summary)),
        *section_lines("Current State", _state_lines(summary)),
        *section_lines("Next Steps", next_step_list(summary)),
        *section_lines("Error Context (if any)", error_bullets(summary)),
    ]
    return "\n".join(lines)


def _state_lines(summary: Summary) -> list[str]:
    now = summary.progress
    state = bullet_lines(
        text for text in (now.phase, describe_progress(summary), now.tests) if text
    )
    return [*state, *quote_rows(summary.state), *_blocker_lines(summary), *story_rows(summary)]


def _blocker_lines(summary: Summary) -> list[str]:
    """Return open errors and unanswered questions as blockers."""
    open_errors = sum(not error.resolved for error in summary.errors)
    errors = (
        [f"- Blocker: {open_errors} open error{'s' if open_errors > 1 else ''}, see below"]
        if open_errors
        else []
    )
    blocked = [*errors, *quote_rows(summary.questions, "Blocker, not answered yet: ")]
    return blocked or (["- No blockers"] if summary != Summary() else [])


def notes_form(summary: Summary, context: FormContext) -> str:
    """Render Session Continuity and the Decision Log, which a new session reads first."""
    lines = [
        "## Session Continuity",
        *section_lines("Active Context", _active_context_lines(summary, context)),
        *section_lines("Constraints", constraint_rows(summary)),
        *section_lines("Lightweight Identifiers", _identifier_table(summary)),
        *section_lines("Next Steps", next_step_list(summary)),
        *section_lines("Pending Questions", quote_rows(summary.questions)),
        *section_lines("Recovery References", recovery_lines(summary, context)),
        "",
        "## Decision Log",
        *(_decision_table(summary.decisions) or [NONE]),
    ]
    return "\n".join(lines)


def _active_context_lines(summary: Summary, context: FormContext) -> list[str]:
    now = summary.progress
    state = "; ".join(text for text in (now.phase, describe_progress(summary), now.tests) if text)
    step = describe_next_step(summary.next[0]) if summary.next else ""
    values = {
        "Task": context.task,
        "Session": context.session,
        "Last checkpoint": summary.at,
        "State": state,
        "Next": step,
    }
    fields = [f"- **{label}:** {join_lines(text) or NONE}" for label, text in values.items()]
    return [*fields, "- **Request:**", *(intent_lines(summary.intent) or [NONE])]


def _identifier_table(summary: Summary) -> list[str]:
    """Return what can be opened again: paths with their lines, and entries."""
    files = [
        (_file_place(file.path, file.lines), file.change or file.why or file.action)
        for file in summary.files
    ]
    entries = [
        (f"`holdfast recover --ref {short_name(ref.entry)}`", ref.what) for ref in summary.refs
    ]
    return markdown_table(("Identifier", "Purpose"), [*files, *entries])


def _file_place(path: str, lines: tuple[tuple[int, int], ...]) -> str:
    spans = ",".join(f"{first}-{last}" for first, last in lines)
    return f"{path}:{spans}" if spans else path


def _decision_table(decisions: tuple[Decision, ...]) -> list[str]:
    rows = [
        (decision.choice, decision.reason, _decider(decision), row_head(short_name(decision.entry)))
        for decision in decisions
    ]
    return markdown_table(("Decision", "Rationale", "By", "Entry"), rows)


def _decider(decision: Decision) -> str:
    return (
        f"{decision.by}, instead of {short_name(decision.overrules)}"
        if decision.overrules
        else decision.by
    )


def checkpoint_form(summary: Summary, context: FormContext) -> str:
    """Render everything that a fresh session needs to continue, with all sections."""
    shown = replace(summary, words=tuple(_fit_user_words(summary.words)))
    covers = f"{summary.hidden:,} entries, revision {summary.revision}"
    lines = [
        f"## Checkpoint — {context.title}",
        f"**Session ID:** {join_lines(context.session) or NONE}",
        f"**Timestamp:** {join_lines(summary.at) or NONE}",
        f"**Context Saved:** {summary.saved:,} tokens ({covers})",
        *section_lines("Session Intent", intent_lines(summary.intent)),
        *section_lines("Constraints", constraint_rows(summary)),
        *section_lines("State", quote_rows(summary.state)),
        *section_lines("Current Progress", progress_lines(summary)),
        *section_lines("Next Steps", next_step_list(summary)),
        *section_lines("Files Modified", modified_files_table(summary)),
        *section_lines("Files Read (Not Modified)", read_file_bullets(summary)),
        *section_lines("Key Decisions", decision_list(summary)),
        *section_lines("Error Context", error_bullets(summary)),
        *section_lines("Open Questions", quote_rows(summary.questions)),
        *section_lines("Critical Facts", story_rows(shown)),
        *section_lines("Recovery References", recovery_lines(summary, context)),
        *section_lines("Resume", RESUME_STEPS),
    ]
    return "\n".join(lines)


def _fit_user_words(words: Sequence[Quote]) -> list[Quote]:
    """Cut the user's messages to the limit, the newest uncut: every checkpoint repeats them."""
    room, shown = MAX_USER_WORDS_CHARS, list[Quote]()
    for quote in reversed(words):
        whole = len(quote.text) <= max(room, MAX_CUT_QUOTE_CHARS)
        room -= len(quote.text) if whole else MAX_CUT_QUOTE_CHARS
        shown.append(quote if whole else replace(quote, text=_cut_text(quote.text)))
    return shown[::-1]


def _cut_text(text: str) -> str:
    return f"{join_lines(text[:MAX_CUT_QUOTE_CHARS])} … ({len(text):,} characters)"
