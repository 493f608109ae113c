"""The templates that the source documents define, filled from the one summary.

A template keeps its own title, sections and columns. What it has no section for and must not be
without, the constraints above all, stands in the section that is nearest to it.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from holdfast.core.ledger.summary import Decision, Quote, Summary
from holdfast.core.shrink.summary.quoting import NONE, head_of, name_of
from holdfast.core.view.forms.parts import (
    About,
    artifacts,
    bound,
    bullets,
    count_of,
    decisions,
    due,
    errors,
    facts,
    failed,
    files_modified,
    files_read,
    found,
    in_a_line,
    progress,
    quoted,
    section,
    stamped,
    steps,
    table,
    wanted,
    where,
)

SAID = 12_000
"""Characters of what the user said that stand in a checkpoint, besides the requests themselves."""
BEGINNING = 120
"""Characters that are shown of what has no room there."""
RESUME = (
    "1. Take the intent and the constraints above as they stand; the other rows are a record.",
    "2. Go on with the first of the next steps.",
    "3. Look for what is missing with `holdfast recover WORDS` before asking for it again.",
)


def compression_skill(summary: Summary, about: About) -> str:
    """The output format of the compression skill."""
    must = [
        *bound(summary, "Constraint "),
        *bullets(f"Error {failed(error)}" for error in summary.errors if not error.resolved),
        *quoted(summary.questions, "Open question "),
        *found(summary, "Found "),
        *facts(summary),
    ]
    lines = [
        f"## Session Summary [{in_a_line(about.session)}]",
        *stamped(summary),
        *section("Session Intent", wanted(summary.intent)),
        *section("Artifacts Created", artifacts(summary)),
        *section("Key Decisions", decisions(summary)),
        *section("Current Progress", progress(summary)),
        *section("Critical Facts", must),
        *section("Next Steps", steps(summary)),
        *section("Recovery References", where(summary, about)),
    ]
    return "\n".join(lines)


def anchored(summary: Summary, about: About) -> str:
    """The summary file that a task keeps."""
    lines = [
        f"## Session Summary — {about.title}",
        *section("Session Intent", [*wanted(summary.intent), *bound(summary, "Constraint ")]),
        *section("Files Modified", files_modified(summary)),
        *section("Files Read (Not Modified)", files_read(summary)),
        *section("Decisions Made", decisions(summary)),
        *section("Current State", _state(summary)),
        *section("Next Steps", steps(summary)),
        *section("Error Context (if any)", errors(summary)),
    ]
    return "\n".join(lines)


def _state(summary: Summary) -> list[str]:
    now = summary.progress
    state = bullets(text for text in (now.phase, count_of(summary), now.tests) if text)
    return [*state, *found(summary, "Found "), *_blockers(summary)]


def _blockers(summary: Summary) -> list[str]:
    """What is in the way: errors that are open, questions that nobody answered."""
    still = sum(not error.resolved for error in summary.errors)
    said = [f"- Blocker: {still} open error{'s' if still > 1 else ''}, see below"] if still else []
    blocked = [*said, *quoted(summary.questions, "Blocker, not answered yet: ")]
    return blocked or (["- No blockers"] if summary != Summary() else [])


def notes(summary: Summary, about: About) -> str:
    """Session Continuity and the Decision Log: what a new session reads first."""
    lines = [
        "## Session Continuity",
        *section("Active Context", _active(summary, about)),
        *section("Constraints", bound(summary)),
        *section("Lightweight Identifiers", _identifiers(summary)),
        *section("Next Steps", steps(summary)),
        *section("Pending Questions", quoted(summary.questions)),
        *section("Recovery References", where(summary, about)),
        "",
        "## Decision Log",
        *(_log(summary.decisions) or [NONE]),
    ]
    return "\n".join(lines)


def _active(summary: Summary, about: About) -> list[str]:
    now = summary.progress
    state = "; ".join(text for text in (now.phase, count_of(summary), now.tests) if text)
    step = due(summary.next[0]) if summary.next else ""
    known = {
        "Task": about.task,
        "Session": about.session,
        "Last checkpoint": summary.at,
        "State": state,
        "Next": step,
    }
    fields = [f"- **{label}:** {in_a_line(text) or NONE}" for label, text in known.items()]
    return [*fields, "- **Request:**", *(wanted(summary.intent) or [NONE])]


def _identifiers(summary: Summary) -> list[str]:
    """What can be opened again: paths with their lines, and entries."""
    files = [
        (_place(file.path, file.lines), file.change or file.why or file.action)
        for file in summary.files
    ]
    entries = [(f"`holdfast recover --ref {name_of(ref.entry)}`", ref.what) for ref in summary.refs]
    return table(("Identifier", "Purpose"), [*files, *entries])


def _place(path: str, lines: tuple[tuple[int, int], ...]) -> str:
    spans = ",".join(f"{first}-{last}" for first, last in lines)
    return f"{path}:{spans}" if spans else path


def _log(made: tuple[Decision, ...]) -> list[str]:
    rows = [(one.choice, one.reason, _decider(one), head_of(name_of(one.entry))) for one in made]
    return table(("Decision", "Rationale", "By", "Entry"), rows)


def _decider(one: Decision) -> str:
    return f"{one.by}, instead of {name_of(one.overrules)}" if one.overrules else one.by


def checkpoint(summary: Summary, about: About) -> str:
    """Everything a fresh session needs to go on: no section is left out."""
    covers = f"{summary.hidden:,} entries, revision {summary.revision}"
    lines = [
        f"## Checkpoint — {about.title}",
        f"**Session ID:** {in_a_line(about.session) or NONE}",
        f"**Timestamp:** {in_a_line(summary.at) or NONE}",
        f"**Context Saved:** {summary.saved:,} tokens ({covers})",
        *section("Session Intent", wanted(summary.intent)),
        *section("Constraints", bound(summary)),
        *section("Current Progress", progress(summary)),
        *section("Next Steps", steps(summary)),
        *section("Files Modified", files_modified(summary)),
        *section("Files Read (Not Modified)", files_read(summary)),
        *section("Key Decisions", decisions(summary)),
        *section("Findings", found(summary)),
        *section("Error Context", errors(summary)),
        *section("Open Questions", quoted(summary.questions)),
        *section("Critical Facts", facts(summary) or bullets([about.facts] if about.facts else [])),
        *section("User Words", quoted(_said(summary.words))),
        *section("Recovery References", where(summary, about)),
        *section("Resume", RESUME),
    ]
    return "\n".join(lines)


def _said(words: Sequence[Quote]) -> list[Quote]:
    """What the user said, the newest whole: every checkpoint repeats it, and the record has it."""
    room, shown = SAID, list[Quote]()
    for quote in reversed(words):
        whole = len(quote.text) <= max(room, BEGINNING)
        room -= len(quote.text) if whole else BEGINNING
        shown.append(quote if whole else replace(quote, text=_beginning(quote.text)))
    return shown[::-1]


def _beginning(text: str) -> str:
    return f"{in_a_line(text[:BEGINNING])} … ({len(text):,} characters)"
