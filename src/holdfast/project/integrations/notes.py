"""`NOTES.md`: its sections Session Continuity and Decision Log.

In the first we keep one block between two comments; to the second we add lines at its end. All
other text of the file is left as it is, byte for byte. The block carries a check of its own words:
when someone changed them by hand, the ledger is believed and what they wrote is handed back.
"""

import re
from collections.abc import Sequence
from hashlib import sha256

from msgspec import Struct

from holdfast.core.plan.preserve import KEPT, MISSING, REFUSED, Held
from holdfast.errors import Unreadable
from holdfast.project.integrations.files import is_there, read, rewrite
from holdfast.text.markdown import Section, newline_of, sections_of, titled

PLACES = ("NOTES.md", "grimoires/loa/NOTES.md", "loa-grimoire/NOTES.md")
CONTINUITY, DECISIONS = "Session Continuity", "Decision Log"
TITLES = {"session_continuity": CONTINUITY, "decision_log": DECISIONS}
BEGIN = re.compile(r"<!-- holdfast:begin ([0-9a-f]{12}) -->\r?\n")
END = "<!-- holdfast:end -->"
LEAST = 12
"""Characters of a choice from which it is known by its words alone."""
ROW = re.compile(r"(?m)^[ \t]{0,8}(?:[-*+|]|\d{1,6}\.|#{3,6}[ \t])[ \t]{0,8}\S")
"""How a line of a log begins."""


class Row(Struct, frozen=True):
    """A decision, and the line that a log has of it."""

    choice: str
    line: str


class Updated(Struct, frozen=True):
    """What became of a text."""

    text: str
    added: int = 0
    """Decisions that were not there."""
    edited: str = ""
    """What someone had made of our block by hand; empty when it was as we wrote it."""
    broken: bool = False
    """Whether our block lost an end or was moved: then it is left alone."""


def place_of(root: str, *, expected: bool = False) -> str:
    """Where the project's notes are; empty when it has none and none are expected."""
    found = [path for path in PLACES if is_there(root, path)]
    if len(found) > 1:
        # Where there are several, the one that continues sessions is meant.
        found = [path for path in found if _has_section(root, path)] or found
    if found:
        return found[0]
    if not expected:
        return ""
    return PLACES[1] if is_there(root, "grimoires/loa") else PLACES[0]


def _has_section(root: str, path: str) -> bool:
    try:
        return bool(titled(decoded(read(root, path)), CONTINUITY))
    except Unreadable:
        return False


def look(root: str, path: str) -> tuple[Held, Held]:
    """How the two sections were found."""
    try:
        content = read(root, path)
    except Unreadable as error:
        return _both(REFUSED, path, error.reason)
    if content is None:
        return _both(MISSING, path, "there is no such file")
    text = decoded(content)
    return _section(text, path, "session_continuity"), _section(text, path, "decision_log")


def _both(status: str, path: str, detail: str) -> tuple[Held, Held]:
    return (
        Held("session_continuity", status, path, detail),
        Held("decision_log", status, path, detail),
    )


def _section(text: str, path: str, item: str) -> Held:
    title = TITLES[item]
    found = titled(text, title)
    if not found:
        return Held(item, MISSING, path, f"it has no section {title!r}")
    own = text[found[0].body : found[0].end]
    twice = f"; {len(found)} sections of that name, the first counts" if len(found) > 1 else ""
    if item == "decision_log":
        detail = f"lines: {len(ROW.findall(own)):,}{twice}"
    else:
        detail = f"{len(own):,} characters{twice}{_state(text)}"
    label = title.lower()
    return Held(item, KEPT, path, detail, f"{path}, section {title}", label)


def _state(text: str) -> str:
    block = _block(text)
    if block is None:
        return "; nothing of ours in it yet"
    start, end, check = block
    return "" if _check(text[start:end]) == check else "; our lines in it were changed by hand"


def decoded(content: bytes | None) -> str:
    """Bytes as text that becomes the same bytes again."""
    return (content or b"").decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """The bytes of such a text."""
    return text.encode("utf-8", "surrogateescape")


def update(root: str, path: str, lines: Sequence[str], decisions: Sequence[Row]) -> Updated:
    """Bring both sections up to date, where they are there.

    Raises:
        Unreadable: it leads out of the project, or is no file.
        NotWritten: it could not be written.
    """
    done = Updated("")

    def change(content: bytes) -> bytes:
        nonlocal done
        done = updated(decoded(content), lines, decisions)
        return encoded(done.text)

    rewrite(root, path, change)
    return done


def updated(text: str, lines: Sequence[str], decisions: Sequence[Row]) -> Updated:
    """A text with our block in its Session Continuity, and its Decision Log with what is new."""
    told = _continued(text, lines)
    sections = titled(told.text, DECISIONS)
    if not sections:
        return told
    new = missing_from(told.text, sections[0], decisions)
    return Updated(_logged(told.text, sections[0], new), len(new), told.edited, told.broken)


def _continued(text: str, lines: Sequence[str]) -> Updated:
    sections, newline = titled(text, CONTINUITY), newline_of(text)
    if not sections:
        return Updated(text)
    block = _block(text)
    body = "".join(f"{line}{newline}" for line in lines)
    if block is None:
        if "<!-- holdfast:begin" in text or END in text:
            return Updated(text, broken=True)
        at = sections[0].body
        gap = "" if text[:at].endswith("\n") else newline
        made = f"{gap}<!-- holdfast:begin {_check(body)} -->{newline}{body}{END}{newline}"
        return Updated(f"{text[:at]}{made}{text[at:]}")
    start, end, check = block
    if not _is_within(start, end, sections[0], text):
        return Updated(text, broken=True)
    was = text[start:end]
    edited = was if _check(was) != check else ""
    # The twelve characters of the check stand at the end of the comment before the block.
    mark = text.rfind(check, 0, start)
    head = f"{text[:mark]}{_check(body)}{text[mark + len(check) : start]}"
    return Updated(f"{head}{body}{text[end:]}", edited=edited)


def _block(text: str) -> tuple[int, int, str] | None:
    """Where the words of our block begin and end, and their check; None without exactly one."""
    begins = list(BEGIN.finditer(text))
    if len(begins) != 1 or text.count(END) != 1:
        return None
    end = text.find(END)
    return (begins[0].end(), end, begins[0][1]) if begins[0].end() <= end else None


def _is_within(start: int, end: int, section: Section, text: str) -> bool:
    """Whether a block stands in its section and holds no heading of anyone's."""
    inside = section.body <= start and end <= section.end
    return inside and not any(start <= one.start < end for one in sections_of(text))


def _check(words: str) -> str:
    return sha256(encoded(words.replace("\r\n", "\n"))).hexdigest()[:12]


def missing(root: str, path: str, decisions: Sequence[Row]) -> list[str]:
    """The lines that the Decision Log of a file does not have yet; none when it has no such log."""
    try:
        text = decoded(read(root, path))
    except Unreadable:
        return []
    sections = titled(text, DECISIONS)
    return missing_from(text, sections[0], decisions) if sections else []


def missing_from(text: str, section: Section, decisions: Sequence[Row]) -> list[str]:
    """The lines that a log does not have yet, in whatever form it may have them."""
    known = _squeezed(text[section.body : section.end])
    return list(dict.fromkeys(row.line for row in decisions if not _is_in(row, known)))


def _is_in(row: Row, known: str) -> bool:
    choice = _squeezed(row.choice)
    # A choice of a word or two stands in many a text that is no log of it.
    return (choice if len(choice) >= LEAST else _squeezed(row.line)) in known


def _squeezed(text: str) -> str:
    return " ".join(text.split()).lower()


def _logged(text: str, section: Section, lines: Sequence[str]) -> str:
    """A text with lines behind the last of a section, before what separates it from the next."""
    if not lines:
        return text
    newline = newline_of(text)
    last = section.start + len(text[section.start : section.end].rstrip())
    at = text.find("\n", last, section.end) + 1 or section.end
    gap = "" if text[:at].endswith("\n") else newline
    return f"{text[:at]}{gap}{''.join(f'{line}{newline}' for line in lines)}{text[at:]}"


def create(root: str, path: str, items: Sequence[str]) -> bool:
    """Make the sections of these items that are not there; whether any was made.

    Raises:
        Unreadable: it leads out of the project, or is no file.
        NotWritten: it could not be written.
    """
    return rewrite(root, path, lambda content: encoded(created(decoded(content), items)))


def created(text: str, items: Sequence[str]) -> str:
    """A text with the sections that it lacks, empty, at its end."""
    newline = newline_of(text)
    for item in items:
        title = TITLES.get(item)
        if title is None or titled(text, title):
            continue
        gap = newline if not text or text.endswith("\n") else newline * 2
        start = f"# Notes{newline}" if not text else ""
        text = f"{text}{start}{gap}## {title}{newline}"
    return text
