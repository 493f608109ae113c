"""Update the sections Session Continuity and Decision Log of `NOTES.md`.

The first has one block of ours between two comments; to the second, lines are appended. All other
text stays the same, byte for byte. The block has a checksum: if a user edited it, the block is
replaced all the same, and the user's text is returned.
"""

from collections.abc import Sequence
from hashlib import sha256

from msgspec import Struct

from holdfast.core.plan.preserve import KEPT, MISSING, REFUSED, PreservedState
from holdfast.errors import Unreadable
from holdfast.project.integrations.files import exists, read_file, rewrite_file
from holdfast.text.markdown import Section, newline_of, sections_of, sections_titled
from holdfast.text.patterns import Pattern

NOTES_PATHS = ("NOTES.md", "grimoires/loa/NOTES.md", "loa-grimoire/NOTES.md")
CONTINUITY, DECISIONS = "Session Continuity", "Decision Log"
TITLES = {"session_continuity": CONTINUITY, "decision_log": DECISIONS}
# Matches `<!-- holdfast:begin 1f3a9c2b4d5e -->` with its line end; not one without a checksum.
BLOCK_BEGIN = Pattern(r"<!-- holdfast:begin ([0-9a-f]{12}) -->\r?\n")
BLOCK_END = "<!-- holdfast:end -->"
MIN_CHOICE_CHARS = 12
"""A choice of at least so many characters is recognised in a log by its text alone."""
# Matches the start of `- Use SQLite`, `| a |`, `1. Use` and `### Use`; not `## Title` or `Use it`.
LOG_LINE = Pattern(r"(?m)^[ \t]{0,8}(?:[-*+|]|\d{1,6}\.|#{3,6}[ \t])[ \t]{0,8}\S")
"""The start of an item in a decision log."""


class LoggedDecision(Struct, frozen=True):
    """A decision, and its line in a log."""

    choice: str
    line: str


class NotesUpdate(Struct, frozen=True):
    """The result of an update."""

    text: str
    added: int = 0
    """Number of decisions that were added to the log."""
    edited: str = ""
    """Our block as a user had edited it; empty if it was not edited."""
    broken: bool = False
    """Whether our block lost a comment or was moved: then it is not changed."""


def notes_path(root: str, *, expected: bool = False) -> str:
    """Return the path of the project's notes; empty if there are none and none are `expected`."""
    existing = [path for path in NOTES_PATHS if exists(root, path)]
    if len(existing) > 1:
        # Of several files, take the one with a section Session Continuity.
        existing = [path for path in existing if _has_continuity(root, path)] or existing
    if existing:
        return existing[0]
    if not expected:
        return ""
    return NOTES_PATHS[1] if exists(root, "grimoires/loa") else NOTES_PATHS[0]


def _has_continuity(root: str, path: str) -> bool:
    try:
        return bool(sections_titled(decode(read_file(root, path)), CONTINUITY))
    except Unreadable:
        return False


def find_sections(root: str, path: str) -> tuple[PreservedState, PreservedState]:
    """Return the state of the two sections."""
    try:
        content = read_file(root, path)
    except Unreadable as error:
        return _both_sections(REFUSED, path, error.reason)
    if content is None:
        return _both_sections(MISSING, path, "there is no such file")
    text = decode(content)
    return _section(text, path, "session_continuity"), _section(text, path, "decision_log")


def _both_sections(status: str, path: str, detail: str) -> tuple[PreservedState, PreservedState]:
    return (
        PreservedState("session_continuity", status, path, detail),
        PreservedState("decision_log", status, path, detail),
    )


def _section(text: str, path: str, item: str) -> PreservedState:
    title = TITLES[item]
    sections = sections_titled(text, title)
    if not sections:
        return PreservedState(item, MISSING, path, f"it has no section {title!r}")
    body = text[sections[0].body : sections[0].end]
    repeated = (
        f"; {len(sections)} sections of that name, the first counts" if len(sections) > 1 else ""
    )
    if item == "decision_log":
        detail = f"lines: {len(LOG_LINE.findall(body)):,}{repeated}"
    else:
        detail = f"{len(body):,} characters{repeated}{_block_state(text)}"
    label = title.lower()
    return PreservedState(item, KEPT, path, detail, f"{path}, section {title}", label)


def _block_state(text: str) -> str:
    block = _block(text)
    if block is None:
        return "; nothing of ours in it yet"
    start, end, check = block
    return "" if _checksum(text[start:end]) == check else "; our lines in it were changed by hand"


def decode(content: bytes | None) -> str:
    """Decode bytes to text so that `encode` gives the same bytes again."""
    return (content or b"").decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Encode a text of `decode`."""
    return text.encode("utf-8", "surrogateescape")


def update_notes(
    root: str, path: str, lines: Sequence[str], decisions: Sequence[LoggedDecision]
) -> NotesUpdate:
    """Update both sections of a file, as far as they exist.

    Raises:
        Unreadable: it leads out of the project, or is not a file.
        NotWritten: it could not be written.
    """
    result = NotesUpdate("")

    def change(content: bytes) -> bytes:
        nonlocal result
        result = update_text(decode(content), lines, decisions)
        return encode(result.text)

    rewrite_file(root, path, change)
    return result


def update_text(
    text: str, lines: Sequence[str], decisions: Sequence[LoggedDecision]
) -> NotesUpdate:
    """Update our block in Session Continuity, and append new decisions to the Decision Log."""
    continued = _update_continuity(text, lines)
    sections = sections_titled(continued.text, DECISIONS)
    if not sections:
        return continued
    new = missing_lines(continued.text, sections[0], decisions)
    return NotesUpdate(
        _append_to_section(continued.text, sections[0], new),
        len(new),
        continued.edited,
        continued.broken,
    )


def _update_continuity(text: str, lines: Sequence[str]) -> NotesUpdate:
    sections, newline = sections_titled(text, CONTINUITY), newline_of(text)
    if not sections:
        return NotesUpdate(text)
    block = _block(text)
    body = "".join(f"{line}{newline}" for line in lines)
    if block is None:
        if "<!-- holdfast:begin" in text or BLOCK_END in text:
            return NotesUpdate(text, broken=True)
        at = sections[0].body
        gap = "" if text[:at].endswith("\n") else newline
        addition = (
            f"{gap}<!-- holdfast:begin {_checksum(body)} -->{newline}{body}{BLOCK_END}{newline}"
        )
        return NotesUpdate(f"{text[:at]}{addition}{text[at:]}")
    start, end, check = block
    if not _is_within(start, end, sections[0], text):
        return NotesUpdate(text, broken=True)
    old = text[start:end]
    edited = old if _checksum(old) != check else ""
    # The checksum is at the end of the comment before the block.
    mark = text.rfind(check, 0, start)
    head = f"{text[:mark]}{_checksum(body)}{text[mark + len(check) : start]}"
    return NotesUpdate(f"{head}{body}{text[end:]}", edited=edited)


def _block(text: str) -> tuple[int, int, str] | None:
    """Return the start, end and checksum of our block; None unless there is exactly one."""
    begins = list(BLOCK_BEGIN.finditer(text))
    if len(begins) != 1 or text.count(BLOCK_END) != 1:
        return None
    end = text.find(BLOCK_END)
    return (begins[0].end(), end, begins[0][1]) if begins[0].end() <= end else None


def _is_within(start: int, end: int, section: Section, text: str) -> bool:
    """Whether a block is inside its section and contains no heading."""
    inside = section.body <= start and end <= section.end
    return inside and not any(start <= other.start < end for other in sections_of(text))


def _checksum(words: str) -> str:
    return sha256(encode(words.replace("\r\n", "\n"))).hexdigest()[:12]


def missing_decisions(root: str, path: str, decisions: Sequence[LoggedDecision]) -> list[str]:
    """Return the lines that the Decision Log of a file lacks; none if it has no such log."""
    try:
        text = decode(read_file(root, path))
    except Unreadable:
        return []
    sections = sections_titled(text, DECISIONS)
    return missing_lines(text, sections[0], decisions) if sections else []


def missing_lines(text: str, section: Section, decisions: Sequence[LoggedDecision]) -> list[str]:
    """Return the lines of decisions that a log does not mention in any form."""
    log = _normalize(text[section.body : section.end])
    return list(dict.fromkeys(row.line for row in decisions if not _is_logged(row, log)))


def _is_logged(row: LoggedDecision, log: str) -> bool:
    choice = _normalize(row.choice)
    # A short choice may occur in unrelated text, so its whole line is compared.
    return (choice if len(choice) >= MIN_CHOICE_CHARS else _normalize(row.line)) in log


def _normalize(text: str) -> str:
    return " ".join(text.split()).lower()


def _append_to_section(text: str, section: Section, lines: Sequence[str]) -> str:
    """Append lines after the last line of a section, before the empty lines at its end."""
    if not lines:
        return text
    newline = newline_of(text)
    last = section.start + len(text[section.start : section.end].rstrip())
    at = text.find("\n", last, section.end) + 1 or section.end
    gap = "" if text[:at].endswith("\n") else newline
    return f"{text[:at]}{gap}{''.join(f'{line}{newline}' for line in lines)}{text[at:]}"


def create_sections(root: str, path: str, items: Sequence[str]) -> bool:
    """Create the missing sections of these items; return whether any was created.

    Raises:
        Unreadable: it leads out of the project, or is not a file.
        NotWritten: it could not be written.
    """
    return rewrite_file(root, path, lambda content: encode(with_sections(decode(content), items)))


def with_sections(text: str, items: Sequence[str]) -> str:
    """Append the missing sections of these items to a text, empty."""
    newline = newline_of(text)
    for item in items:
        title = TITLES.get(item)
        if title is None or sections_titled(text, title):
            continue
        gap = newline if not text or text.endswith("\n") else newline * 2
        start = f"# Notes{newline}" if not text else ""
        text = f"{text}{start}{gap}## {title}{newline}"
    return text
