"""The sections and rows that all forms of a summary share, as Markdown for files and people.

These texts are read by people and never parsed. A row is one line, so that a tool's output cannot
start a section; quotes of several lines are put in a fence.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from holdfast.core.ledger.summary import (
    Constraint,
    Decision,
    Error,
    File,
    Intent,
    Next,
    Quote,
    Ref,
    Summary,
)
from holdfast.core.observe.moments.moment import Moment
from holdfast.core.observe.requests.constraints import users_first
from holdfast.core.observe.results.choices import overruled_decisions
from holdfast.core.shrink.summary.quoting import NONE, row_head, short_name
from holdfast.core.shrink.summary.sections import USER_MARK, story_turns
from holdfast.core.shrink.summary.text import main_error_line, window_form
from holdfast.text.patterns import Pattern

SEARCH = "`holdfast recover WORDS`"
"""The command that finds content that no file contains."""
MIN_FENCE_TICKS = 3
# Matches the fence "```"; not the quotes in "`name`".
TICK_RUN = Pattern(r"`{3,}")


class FormContext(Struct, frozen=True):
    """The values that a form needs beside the summary."""

    session: str = ""
    task: str = ""
    archive: str = ""
    """The file with the whole conversation; empty when none was written."""
    moments: Sequence[Moment] = ()
    """The moments of the session; without any, the facts of the summary are used."""

    @property
    def cache(self) -> str:
        """Return the folder that contains the archive and the offloaded content."""
        return self.archive.rpartition("/conversations/")[0] or "cache"

    @property
    def title(self) -> str:
        """Return the title for a heading: the task, else the session."""
        return join_lines(self.task or self.session) or NONE


def join_lines(text: str) -> str:
    """Return a text with its line breaks replaced by spaces."""
    return " ".join(text.splitlines())


def table_row(texts: Iterable[str]) -> str:
    """Return texts as a row of a Markdown table."""
    return f"| {' | '.join(join_lines(text).replace('|', chr(92) + '|') for text in texts)} |"


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a Markdown table; empty when it has no rows."""
    rule = "|".join("-" * (len(column) + 2) for column in columns)
    return [table_row(columns), f"|{rule}|", *map(table_row, rows)] if rows else []


def section_lines(title: str, lines: Sequence[str]) -> list[str]:
    """Return a section with its heading; an empty one says `None`."""
    return ["", f"### {title}", *(lines or [NONE])]


def bullet_lines(texts: Iterable[str]) -> list[str]:
    """Return texts as a bullet list."""
    return [f"- {join_lines(text)}" for text in texts]


def numbered_lines(texts: Iterable[str]) -> list[str]:
    """Return texts as a numbered list."""
    return [f"{number}. {join_lines(text)}" for number, text in enumerate(texts, 1)]


def quote_lines(quote: Quote) -> list[str]:
    """Return a quote unchanged, in a fence when it has several lines."""
    if "\n" not in quote.text:
        return [quote.text]
    longest = max(map(len, TICK_RUN.findall(quote.text)), default=MIN_FENCE_TICKS - 1)
    fence = "`" * (longest + 1)
    return [f"{fence}text", quote.text, fence]


def quote_rows(quotes: Iterable[Quote], label: str = "") -> list[str]:
    """Return quotes as rows with the entries that contain them."""
    lines = list[str]()
    for quote in quotes:
        first, *others = quote_lines(quote)
        start = f"- {label}{row_head(short_name(quote.entry))}"
        lines += [start, first, *others] if others else [f"{start} {first}"]
    return lines


def intent_lines(intent: Intent) -> list[str]:
    """Return the first request, the newest one if it differs, and the scope changes."""
    lines = quote_lines(intent.original) if intent.original.text else []
    lines += quote_rows(intent.original_rest)
    if intent.current.text and intent.current.text != intent.original.text:
        lines += quote_rows([intent.current, *intent.current_rest], "**Now:** ")
    return lines + quote_rows(intent.changes, "**Scope change:** ")


def constraints_in_force(summary: Summary) -> list[Constraint]:
    """Return the constraints in force, the user's own first."""
    return list(users_first(row for row in summary.constraints if not row.lifted))


def constraint_rows(summary: Summary, label: str = "") -> list[str]:
    """Return the constraints in force as rows, word for word."""
    return quote_rows(
        (Quote(constraint.text, constraint.entry) for constraint in constraints_in_force(summary)),
        label,
    )


def changed_files(summary: Summary) -> list[File]:
    """Return the files that were changed."""
    return [file for file in summary.files if file.action != "read"]


def file_action(file: File) -> str:
    """Return what was done to a file."""
    return f"{file.action} from {file.was}" if file.was else file.action


def file_status(file: File) -> str:
    """Return whether the work on a file is complete."""
    return "Partial" if file.partial else "Complete"


def artifact_table(summary: Summary) -> list[str]:
    """Return the table of created and changed files."""
    rows = [
        (f"{_base_name(file.path)} ({file_action(file)})", file.path, file_status(file))
        for file in changed_files(summary)
    ]
    return markdown_table(("Artifact", "Path", "Status"), rows)


def _base_name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2] or path


def modified_files_table(summary: Summary) -> list[str]:
    """Return the table of changed files with what changed."""
    rows = [
        (file.path, file_action(file), _change_text(file.change, file))
        for file in changed_files(summary)
    ]
    return markdown_table(("File", "Action", "What Changed"), rows)


def _change_text(change: str, file: File) -> str:
    return f"{change} (partial)".lstrip() if file.partial else change


def read_file_bullets(summary: Summary) -> list[str]:
    """Return the files that were only read, with the reasons."""
    return bullet_lines(describe_read_file(file) for file in summary.files if file.action == "read")


def describe_read_file(file: File) -> str:
    """Describe a file that was read: path, lines and reason."""
    span = ", ".join(f"{first}–{last}" for first, last in file.lines)
    lines, why = f" lines {span}" if span else "", f" — {file.why}" if file.why else ""
    return f"{file.path}{lines}{why}"


def decision_list(summary: Summary) -> list[str]:
    """Return the decisions with their reasons, in order; overruled ones are marked."""
    overruled_by = overruled_decisions(summary.decisions)
    rows = enumerate(summary.decisions)
    return numbered_lines(
        f"{describe_decision(decision)}{_overruled_note(overruled_by.get(number))}"
        for number, decision in rows
    )


def _overruled_note(by: int | None) -> str:
    return f" (no longer: see {by + 1})" if by is not None else ""


def describe_decision(decision: Decision) -> str:
    """Describe a decision with its reason, and its maker unless that is the agent."""
    reason = f": {decision.reason}" if decision.reason else ""
    by = decision.by if decision.by != "agent" else ""
    instead = f"instead of {short_name(decision.overrules)}" if decision.overrules else ""
    return f"{decision.choice}{reason}{_in_parentheses(by, instead)}"


def _in_parentheses(*tags: str) -> str:
    joined = ", ".join(tag for tag in tags if tag)
    return f" ({joined})" if joined else ""


def story_rows(summary: Summary) -> list[str]:
    """Return the user's words, each followed by the facts of that request, in order."""
    lines = list[str]()
    for turn in story_turns(window_form(summary)):
        lines += (
            quote_rows([turn.quote], USER_MARK)
            if turn.quote is not None
            else [f"- {row_head(turn.entry)}"]
        )
        lines += [f"  - {join_lines(fact.text).strip()}" for fact in turn.facts]
    return lines


def progress_lines(summary: Summary) -> list[str]:
    """Return the progress in the protocol's list form."""
    now = summary.progress
    lines = [
        f"- **Phase:** {join_lines(now.phase) or NONE}",
        *_labelled_list("Completed", now.completed),
        *_labelled_list("Remaining", now.remaining),
    ]
    tests = [f"- **Tests:** {join_lines(now.tests)}"] if now.tests else []
    return [*lines, *tests] if now.phase or now.completed or now.remaining or now.tests else []


def _labelled_list(label: str, items: Sequence[str]) -> list[str]:
    if not items:
        return [f"- **{label}:** {NONE}"]
    return [f"- **{label}:**", *(f"  - {join_lines(item)}" for item in items)]


def describe_progress(summary: Summary) -> str:
    """Describe how many steps are done and which; empty when no steps are tracked."""
    done, left = summary.progress.completed, summary.progress.remaining
    if not done and not left:
        return ""
    names = (f"done: {', '.join(done) or NONE}", f"pending: {', '.join(left) or NONE}")
    return f"{len(done)}/{len(done) + len(left)} steps done ({'; '.join(names)})"


def error_bullets(summary: Summary) -> list[str]:
    """Return the errors, open ones first."""
    ranked = sorted(summary.errors, key=lambda error: bool(error.resolved))
    return bullet_lines(describe_error(error) for error in ranked)


def describe_error(error: Error) -> str:
    """Describe an error and whether it is resolved."""
    what = f"{error.what} → " if error.what else ""
    state = f"resolved by {short_name(error.resolved)}" if error.resolved else "open"
    text = main_error_line(error.text) if error.resolved else error.text
    return f"{row_head(short_name(error.entry), state)} {what}{text}"


def next_step_list(summary: Summary) -> list[str]:
    """Return the next steps in order."""
    return numbered_lines(describe_next_step(step) for step in summary.next)


def describe_next_step(step: Next) -> str:
    """Describe a step with its owner and status where they are not the default."""
    owner = step.owner if step.owner != "agent" else ""
    status = step.status if step.status != "pending" else ""
    return f"{step.step}{_in_parentheses(owner, status)}"


def recovery_lines(summary: Summary, context: FormContext) -> list[str]:
    """Return where hidden content is: in written files, or in the ledger."""
    if context.archive:
        places = (context.archive, f"{context.cache}/offloaded/", f"{context.cache}/checkpoints/")
    else:
        places = (SEARCH, "`holdfast recover --ref NAME`", NONE)
    labels = ("Full conversation", "Offloaded content", "Checkpoints")
    return [
        *bullet_lines(f"{label}: {place}" for label, place in zip(labels, places, strict=True)),
        *bullet_lines(describe_ref(ref) for ref in summary.refs),
    ]


def describe_ref(ref: Ref) -> str:
    """Describe the content of a hidden entry and its size."""
    size = f" ({ref.tokens:,} tokens)" if ref.tokens else ""
    return f"{row_head(short_name(ref.entry))} {ref.what}{size}"


def timestamp_lines(summary: Summary) -> list[str]:
    """Return when the summary was made, and how many tokens it saves."""
    return [
        f"**Generated:** {join_lines(summary.at) or NONE}",
        f"**Context Saved:** {summary.saved:,} tokens",
    ]
