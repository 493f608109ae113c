"""What a text of the record could tell a worker: sentences, lines of code, names and commands."""

import re
from collections.abc import Iterator

from holdfast.core.ledger.entry import ToolCalled
from holdfast.core.ledger.summary import Fact
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.sentences import is_announced
from holdfast.core.observe.worth import telling_names
from holdfast.core.shrink.summary.facts import Line
from holdfast.text.jsontext import SURROGATE

SAID, RAN, LOOSE = "said", "ran", "loose"
"""Heads of what is of no file: sentences, commands, and names that were met elsewhere."""
SPOKEN, DEFINED = 0.9, 0.85
"""What a token of the agent's own sentences counts, and one of a definition: they say more."""
BARE = 1
"""Tokens that a bare name counts more than it takes."""
RICH = 4
"""Words from which a line says something about its names."""
LONG_LINE, LONGEST_SENTENCE = 140, 260
LONGEST_TEXT = 60_000
SHORTEST = 8
PER_TOKEN = 3.4
"""Characters of a token, about: what is chosen is counted exactly in the end."""
LONGEST_COMMAND = 120

_NUMBERED = re.compile(r"^\s{0,8}(?:L?\d{1,6}(?:→|\t|: ?|\| ?|- | {1,2}(?=\S))){1,2}")
_DIFF = re.compile(r"^[+-]{1,3}\s?")
_WRAP = re.compile(r"^</?(?:path|type|content|file|output|result)>\s{0,2}")
_MARKS = re.compile(r"^(?:[#>*\s-]{1,8}|\d{1,3}[.)] )|\*\*")
_FENCE = re.compile(r"^\s{0,8}(?:`{3}|~{3})")
_EMPTY = re.compile(r"^(?:</?[\w-]{1,40}>|[\W\d_]{0,40})$")
_ENDS = re.compile(r"(?<=[.!?])\s{1,3}(?=[A-Z`*])")
_DEFINES = re.compile(
    r"(?:export |pub |async |public |static |default ){0,3}"
    r"(?:def|class|func|fn|function|type|interface|struct|enum|const|trait)\b"
)
_LEAD = re.compile(
    r"^(?:[})\]]{1,3} |(?:await|case|const|elif|else|export|for|if|let|not|private|public|return"
    r"|static|switch|throw|raise|var|while|with|yield)\b ){1,4}(?:err := )?"
)
_TAIL = re.compile(r"(?:; err [!=]= nil)?[\s{(\[,;]{1,8}$|; err [!=]= nil$")
_PLAIN = re.compile(r"[a-z]{2,20}|[A-Z][a-z]{1,20}|I|a")
_NAME = re.compile(r"(?![0-9a-f]{7,40}$)(?!\d)(?=.{0,200}[A-Za-z_]{3})")
_MARKED = re.compile(r"(?:^|\s)_\w")
_FILE = re.compile(
    r"(?<![\w./@~-])(?:[\w@.~+-]{0,60}/){0,16}[\w@+-]{1,80}\.[A-Za-z]\w{0,5}(?![\w/])"
)
_OWN_WORDS = re.compile(
    r"^(?:</?(?:tool|system|error)|The file |File (?:created|written|updated)|Successfully |cat <<)"
)
_ORDERS = re.compile(
    r"(?i)\b(?:you|your|must|never|always|ignore|disregard|do not|don't|instructions?|decided)\b"
)
_FRAME = re.compile(
    r"^cd \S{1,200} (?:&&|;) "
    r"|(?: 2>&1| 2>/dev/null| \|\| true| \| (?:cat|head|tail)\b[^|]{0,12}){1,6}$"
)


def spoken_lines(text: str) -> Iterator[Line]:
    """What was said: its sentences, and the names in the code that was shown with them."""
    fenced, path = False, ""
    for row in text[:LONGEST_TEXT].split("\n"):
        if _FENCE.match(row):
            fenced = not fenced
        elif fenced:
            yield from code_lines(path or LOOSE, row, telling_names(row))
        else:
            path = file_named_in(row) if row.strip() else path
            yield from _sentences(row)


def _sentences(row: str) -> Iterator[Line]:
    plain = SURROGATE.sub("\ufffd", " ".join(_MARKS.sub("", row).split()))
    if plain.startswith("|"):
        plain = " — ".join(cell.strip() for cell in plain.strip("|").split("|") if cell.strip())
    parted = len(plain) > LONG_LINE or is_announced(plain)
    pieces = _ENDS.split(plain) if parted else [plain]
    for piece in pieces:
        words = piece.strip()
        names = telling_names(words)
        if names and SHORTEST <= len(words) <= LONGEST_SENTENCE and _says(words):
            yield _line(SAID, words, names)


def _says(words: str) -> bool:
    """Whether a sentence tells of the work rather than of what is done next."""
    plain = not words.startswith("<") and not words.endswith((":", "{", "("))
    return plain and is_prose(words) and not is_announced(words)


def is_prose(words: str) -> bool:
    """Whether a text is made of words rather than of code."""
    parts = words.split()
    plain = sum(bool(_PLAIN.fullmatch(part.strip(".,;:!?()\"'`*"))) for part in parts)
    return plain >= RICH and plain * 2 >= len(parts)


def code_lines(head: str, text: str, names: frozenset[str]) -> Iterator[Line]:
    """A line of a file: as it stands, and each name in it alone."""
    words = _WRAP.sub("", text.strip())
    words = _TAIL.sub("", _DIFF.sub("", _NUMBERED.sub("", words))).strip()
    if len(words) < SHORTEST or _EMPTY.match(words) or _OWN_WORDS.match(words):
        return
    if not _DEFINES.match(words):
        words = _LEAD.sub("", words)
    # What a file or a program tells its reader to do is not passed on as a word of ours.
    if head != LOOSE and " " in words and not (_ORDERS.search(words) and is_prose(words)):
        yield _line(head, words, names)
    for name in sorted(names, key=lambda name: (words.find(name), name)):
        if is_name(name) and name in words and not _is_piece(name, words):
            shown = f"{name}()" if f"{name}(" in words else name
            yield Line(Fact(shown, head, _source(head)), frozenset((name,)), about(name) + BARE)


def _is_piece(name: str, words: str) -> bool:
    """Whether it is no name but a piece of the text: `\\nThe` in data, `_so_` in marks."""
    if name[0] in "nrtbf" and words.count(f"\\{name}") == words.count(name):
        return True
    return name.endswith("_") and _MARKED.search(words) is not None


def is_name(word: str) -> bool:
    """Whether a word by itself says what is meant: no plain word, no number, no hash."""
    return _NAME.match(word) is not None and not (word.isalpha() and word.islower())


def command_lines(fact: Fact, body: ToolCalled) -> Iterator[Line]:
    """What was run, without what only frames it."""
    command = bare_command(body)
    if fact.line == 1 and command:
        yield _line(RAN, command, telling_names(command))


def bare_command(body: ToolCalled) -> str:
    """The command of a call without what only frames it; empty when it is too long to tell."""
    command = " ".join(touch_of(body).command.split())
    while (shorter := _FRAME.sub("", command).strip()) != command:
        command = shorter
    return command if len(command) <= LONGEST_COMMAND else ""


def _line(head: str, text: str, names: frozenset[str]) -> Line:
    price = about(text) * (SPOKEN if head == SAID else DEFINED if _DEFINES.match(text) else 1.0)
    rich = len(text.split()) >= RICH
    return Line(Fact(text, head, _source(head)), names, int(price) + 1, rich)


def _source(head: str) -> str:
    return "" if head in (SAID, RAN, LOOSE) else head


def file_named_in(command: str) -> str:
    """The one file that a command names, no address; empty when it names none or several."""
    named = {name for name in _FILE.findall(command[:1_000]) if "@" not in name or "/" in name}
    return named.pop() if len(named) == 1 else ""


def about(text: str) -> int:
    """Tokens of a text, about."""
    return int(len(text) / PER_TOKEN) + 1
