"""The parts that the written forms share: one kind of row each, as Markdown for files and people.

These texts are read by eye and never back. A row is one line, so what a tool said cannot start a
section; words of the user that have several lines stand raw inside a fence.
"""

import re
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
from holdfast.core.observe.results.choices import overruled
from holdfast.core.shrink.summary.quoting import NONE, head_of, name_of
from holdfast.core.shrink.summary.text import gist_of

SEARCH = "`holdfast recover WORDS`"
"""How to find what no file holds."""
FOUND = 20
"""Findings that a page shows: it is read from end to end."""
FENCE = 3
TICKS = re.compile(r"`{3,}")


class About(Struct, frozen=True):
    """What a form is about, beside the summary itself."""

    session: str = ""
    task: str = ""
    archive: str = ""
    """The file that holds the whole conversation; empty when none was written."""
    facts: str = ""
    """What to say where there are no facts, when nobody looked for any."""

    @property
    def cache(self) -> str:
        """The folder that the archive is in, which holds the offloaded content too."""
        return self.archive.rpartition("/conversations/")[0] or "cache"

    @property
    def title(self) -> str:
        """What it is called in a heading."""
        return in_a_line(self.task or self.session) or NONE


def in_a_line(text: str) -> str:
    """A text without its line breaks."""
    return " ".join(text.splitlines())


def in_a_row(texts: Iterable[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(in_a_line(text).replace('|', chr(92) + '|') for text in texts)} |"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table, or nothing when it has no rows."""
    rule = "|".join("-" * (len(column) + 2) for column in columns)
    return [in_a_row(columns), f"|{rule}|", *map(in_a_row, rows)] if rows else []


def section(title: str, lines: Sequence[str]) -> list[str]:
    """A section; one that is empty says so."""
    return ["", f"### {title}", *(lines or [NONE])]


def bullets(texts: Iterable[str]) -> list[str]:
    """Texts as a list."""
    return [f"- {in_a_line(text)}" for text in texts]


def numbered(texts: Iterable[str]) -> list[str]:
    """Texts as a list in their order."""
    return [f"{number}. {in_a_line(text)}" for number, text in enumerate(texts, 1)]


def words(quote: Quote) -> list[str]:
    """Words as they were said: raw, inside a fence when they have several lines."""
    if "\n" not in quote.text:
        return [quote.text]
    longest = max(map(len, TICKS.findall(quote.text)), default=FENCE - 1)
    fence = "`" * (longest + 1)
    return [f"{fence}text", quote.text, fence]


def quoted(quotes: Iterable[Quote], label: str = "") -> list[str]:
    """Words with where they stand, a row each."""
    lines = list[str]()
    for quote in quotes:
        first, *others = words(quote)
        start = f"- {label}{head_of(name_of(quote.entry))}"
        lines += [start, first, *others] if others else [f"{start} {first}"]
    return lines


def wanted(intent: Intent) -> list[str]:
    """What the user wants: the first request, the newest when it is another, the changes."""
    lines = words(intent.original) if intent.original.text else []
    lines += quoted(intent.original_rest)
    if intent.current.text and intent.current.text != intent.original.text:
        lines += quoted([intent.current, *intent.current_rest], "**Now:** ")
    return lines + quoted(intent.changes, "**Scope change:** ")


def in_force(summary: Summary) -> list[Constraint]:
    """The constraints that hold, the user's own first: a program repeats those of its system."""
    held = (one for one in summary.constraints if not one.lifted)
    return sorted(held, key=lambda one: one.by != "user")


def bound(summary: Summary, label: str = "") -> list[str]:
    """The constraints that hold, word for word."""
    return quoted((Quote(one.text, one.entry) for one in in_force(summary)), label)


def changed(summary: Summary) -> list[File]:
    """The files that were changed."""
    return [file for file in summary.files if file.action != "read"]


def done_to(file: File) -> str:
    """What was done to a file."""
    return f"{file.action} from {file.was}" if file.was else file.action


def state_of(file: File) -> str:
    """Whether what was done to a file came to its end."""
    return "Partial" if file.partial else "Complete"


def artifacts(summary: Summary) -> list[str]:
    """The table of what was made."""
    rows = [
        (f"{_base(file.path)} ({done_to(file)})", file.path, state_of(file))
        for file in changed(summary)
    ]
    return table(("Artifact", "Path", "Status"), rows)


def _base(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2] or path


def files_modified(summary: Summary) -> list[str]:
    """The table of what was changed, and how."""
    rows = [(file.path, done_to(file), _unfinished(file.change, file)) for file in changed(summary)]
    return table(("File", "Action", "What Changed"), rows)


def _unfinished(change: str, file: File) -> str:
    return f"{change} (partial)".lstrip() if file.partial else change


def files_read(summary: Summary) -> list[str]:
    """The files that were only read, and what for."""
    return bullets(looked_at(file) for file in summary.files if file.action == "read")


def looked_at(file: File) -> str:
    """A file that was read: its lines, and why."""
    span = ", ".join(f"{first}–{last}" for first, last in file.lines)
    lines, why = f" lines {span}" if span else "", f" — {file.why}" if file.why else ""
    return f"{file.path}{lines}{why}"


def decisions(summary: Summary) -> list[str]:
    """The decisions with their reasons, in their order, and which of them are over."""
    gone = overruled(summary.decisions)
    rows = enumerate(summary.decisions)
    return numbered(f"{chosen(one)}{_over(gone.get(number))}" for number, one in rows)


def _over(by: int | None) -> str:
    return f" (no longer: see {by + 1})" if by is not None else ""


def chosen(one: Decision) -> str:
    """A decision, its reason, and who made it when it was not the agent."""
    reason = f": {one.reason}" if one.reason else ""
    by = one.by if one.by != "agent" else ""
    instead = f"instead of {name_of(one.overrules)}" if one.overrules else ""
    return f"{one.choice}{reason}{_in_parentheses(by, instead)}"


def _in_parentheses(*tags: str) -> str:
    told = ", ".join(tag for tag in tags if tag)
    return f" ({told})" if told else ""


def found(summary: Summary, label: str = "") -> list[str]:
    """What the agent found out and reported; of much only the newest."""
    earlier = len(summary.findings) - FOUND
    more = [f"- {label}{earlier:,} earlier: {SEARCH}"] if earlier > 0 else []
    return [*more, *quoted(summary.findings[-FOUND:], label)]


def progress(summary: Summary) -> list[str]:
    """Where the work stands, as the protocol lists it."""
    now = summary.progress
    lines = [
        f"- **Phase:** {in_a_line(now.phase) or NONE}",
        *_listed("Completed", now.completed),
        *_listed("Remaining", now.remaining),
    ]
    tests = [f"- **Tests:** {in_a_line(now.tests)}"] if now.tests else []
    return [*lines, *tests] if now.phase or now.completed or now.remaining or now.tests else []


def _listed(label: str, items: Sequence[str]) -> list[str]:
    if not items:
        return [f"- **{label}:** {NONE}"]
    return [f"- **{label}:**", *(f"  - {in_a_line(item)}" for item in items)]


def count_of(summary: Summary) -> str:
    """How much is done, and what; nothing when nobody keeps count."""
    done, left = summary.progress.completed, summary.progress.remaining
    if not done and not left:
        return ""
    names = (f"done: {', '.join(done) or NONE}", f"pending: {', '.join(left) or NONE}")
    return f"{len(done)}/{len(done) + len(left)} steps done ({'; '.join(names)})"


def errors(summary: Summary) -> list[str]:
    """What went wrong: what still does first."""
    ranked = sorted(summary.errors, key=lambda error: bool(error.resolved))
    return bullets(failed(error) for error in ranked)


def failed(error: Error) -> str:
    """Something that went wrong, and how it stands."""
    what = f"{error.what} → " if error.what else ""
    state = f"resolved by {name_of(error.resolved)}" if error.resolved else "open"
    text = gist_of(error.text) if error.resolved else error.text
    return f"{head_of(name_of(error.entry), state)} {what}{text}"


def facts(summary: Summary) -> list[str]:
    """The lines that may be needed again, each with what brought it."""
    return bullets(
        f"{fact.text.strip()} ({fact.source})" if fact.source else fact.text.strip()
        for fact in summary.facts
    )


def steps(summary: Summary) -> list[str]:
    """What is to be done, the first thing first."""
    return numbered(due(one) for one in summary.next)


def due(one: Next) -> str:
    """A step, who takes it when it is not the agent, and how it stands when it is under way."""
    owner = one.owner if one.owner != "agent" else ""
    status = one.status if one.status != "pending" else ""
    return f"{one.step}{_in_parentheses(owner, status)}"


def where(summary: Summary, about: About) -> list[str]:
    """Where everything is that is out of sight: in files that were written, or in the ledger."""
    if about.archive:
        places = (about.archive, f"{about.cache}/offloaded/", f"{about.cache}/checkpoints/")
    else:
        places = (SEARCH, "`holdfast recover --ref NAME`", NONE)
    labels = ("Full conversation", "Offloaded content", "Checkpoints")
    return [
        *bullets(f"{label}: {place}" for label, place in zip(labels, places, strict=True)),
        *bullets(kept(ref) for ref in summary.refs),
    ]


def kept(ref: Ref) -> str:
    """What an entry holds that is out of sight, and how large it is."""
    size = f" ({ref.tokens:,} tokens)" if ref.tokens else ""
    return f"{head_of(name_of(ref.entry))} {ref.what}{size}"


def stamped(summary: Summary) -> list[str]:
    """When it was made, and what it saves."""
    return [
        f"**Generated:** {in_a_line(summary.at) or NONE}",
        f"**Context Saved:** {summary.saved:,} tokens",
    ]
