"""Split texts of the record into sentences, code lines, names and commands for a packet."""

from collections.abc import Iterator

from holdfast.core.ledger.entry import ToolCalled
from holdfast.core.ledger.summary import Fact
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.worth import find_names
from holdfast.core.shrink.summary.facts import FactLine
from holdfast.text.jsontext import SURROGATE
from holdfast.text.patterns import Pattern
from holdfast.text.sentences import is_announcement

SAID, RAN, LOOSE = "said", "ran", "loose"
"""Heads of lines that belong to no file: sentences, commands, and other names."""
SPOKEN, DEFINED = 0.9, 0.85
"""Price factors for the agent's own sentences and for definitions, which say more per token."""
BARE = 1
"""Tokens added to the price of a bare name."""
RICH = 4
"""Words that a line needs to say something about its names."""
LONG_LINE, LONGEST_SENTENCE = 140, 260
LONGEST_TEXT = 60_000
SHORTEST = 8
PER_TOKEN = 3.4
"""Estimated characters per token; the final selection is counted exactly."""
LONGEST_COMMAND = 120

_NUMBERED = Pattern(r"^\s{0,8}(?:L?\d{1,6}(?:→|\t|: ?|\| ?|- | {1,2}(?=\S))){1,2}")
_DIFF = Pattern(r"^[+-]{1,3}\s?")
_WRAP = Pattern(r"^</?(?:path|type|content|file|output|result)>\s{0,2}")
_MARKS = Pattern(r"^(?:[#>*\s-]{1,8}|\d{1,3}[.)] )|\*\*")
_FENCE = Pattern(r"^\s{0,8}(?:`{3}|~{3})")
_EMPTY = Pattern(r"^(?:</?[\w-]{1,40}>|[\W\d_]{0,40})$")
_ENDS = Pattern(r"(?<=[.!?])\s{1,3}(?=[A-Z`*])")
_DEFINES = Pattern(
    r"(?:export |pub |async |public |static |default ){0,3}"
    r"(?:def|class|func|fn|function|type|interface|struct|enum|const|trait)\b"
)
_LEAD = Pattern(
    r"^(?:[})\]]{1,3} |(?:await|case|const|elif|else|export|for|if|let|not|private|public|return"
    r"|static|switch|throw|raise|var|while|with|yield)\b ){1,4}(?:err := )?"
)
_TAIL = Pattern(r"(?:; err [!=]= nil)?[\s{(\[,;]{1,8}$|; err [!=]= nil$")
_PLAIN = Pattern(r"[a-z]{2,20}|[A-Z][a-z]{1,20}|I|a")
_NAME = Pattern(r"(?![0-9a-f]{7,40}$)(?!\d)(?=.{0,200}[A-Za-z_]{3})")
_MARKED = Pattern(r"(?:^|\s)_\w")
_FILE = Pattern(r"(?<![\w./@~-])(?:[\w@.~+-]{0,60}/){0,16}[\w@+-]{1,80}\.[A-Za-z]\w{0,5}(?![\w/])")
_OWN_WORDS = Pattern(
    r"^(?:</?(?:tool|system|error)|The file |File (?:created|written|updated)|Successfully |cat <<)"
)
_ORDERS = Pattern(
    r"(?i)\b(?:you|your|must|never|always|ignore|disregard|do not|don't|instructions?|decided)\b"
)
_FRAME = Pattern(
    r"^cd \S{1,200} (?:&&|;) "
    r"|(?: 2>&1| 2>/dev/null| \|\| true| \| (?:cat|head|tail)\b[^|]{0,12}){1,6}$"
)


def spoken_lines(text: str) -> Iterator[FactLine]:
    """Yield the sentences of a message, and the names in its code blocks."""
    fenced, path = False, ""
    for row in text[:LONGEST_TEXT].split("\n"):
        if _FENCE.match(row):
            fenced = not fenced
        elif fenced:
            yield from code_lines(path or LOOSE, row, find_names(row))
        else:
            path = file_named_in(row) if row.strip() else path
            yield from _sentences(row)


def _sentences(row: str) -> Iterator[FactLine]:
    plain = SURROGATE.sub("\ufffd", " ".join(_MARKS.sub("", row).split()))
    if plain.startswith("|"):
        plain = " — ".join(cell.strip() for cell in plain.strip("|").split("|") if cell.strip())
    parted = len(plain) > LONG_LINE or is_announcement(plain)
    pieces = _ENDS.split(plain) if parted else [plain]
    for piece in pieces:
        words = piece.strip()
        names = find_names(words)
        if names and SHORTEST <= len(words) <= LONGEST_SENTENCE and _says(words):
            yield _line(SAID, words, names)


def _says(words: str) -> bool:
    """Whether a sentence tells of the work rather than of what is done next."""
    plain = not words.startswith("<") and not words.endswith((":", "{", "("))
    return plain and is_prose(words) and not is_announcement(words)


def is_prose(words: str) -> bool:
    """Return whether a text consists of words rather than code."""
    parts = words.split()
    plain = sum(bool(_PLAIN.fullmatch(part.strip(".,;:!?()\"'`*"))) for part in parts)
    return plain >= RICH and plain * 2 >= len(parts)


def code_lines(head: str, text: str, names: frozenset[str]) -> Iterator[FactLine]:
    """Yield a line of a file, and each name in it alone."""
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
            yield FactLine(
                Fact(shown, head, _source(head)),
                frozenset((name,)),
                estimate_line_tokens(name) + BARE,
            )


def _is_piece(name: str, words: str) -> bool:
    """Whether it is no name but a piece of the text: `\\nThe` in data, `_so_` in marks."""
    if name[0] in "nrtbf" and words.count(f"\\{name}") == words.count(name):
        return True
    return name.endswith("_") and _MARKED.search(words) is not None


def is_name(word: str) -> bool:
    """Return whether a word is specific by itself: not a plain word, a number or a hash."""
    return _NAME.match(word) is not None and not (word.isalpha() and word.islower())


def command_lines(fact: Fact, body: ToolCalled) -> Iterator[FactLine]:
    """Yield the command of a call without its wrapping."""
    command = bare_command(body)
    if fact.line == 1 and command:
        yield _line(RAN, command, find_names(command))


def bare_command(body: ToolCalled) -> str:
    """Return the command of a call without its wrapping; empty when it is too long."""
    command = " ".join(touch_of(body).command.split())
    while (shorter := _FRAME.sub("", command).strip()) != command:
        command = shorter
    return command if len(command) <= LONGEST_COMMAND else ""


def _line(head: str, text: str, names: frozenset[str]) -> FactLine:
    price = estimate_line_tokens(text) * (
        SPOKEN if head == SAID else DEFINED if _DEFINES.match(text) else 1.0
    )
    rich = len(text.split()) >= RICH
    return FactLine(Fact(text, head, _source(head)), names, int(price) + 1, rich)


def _source(head: str) -> str:
    return "" if head in (SAID, RAN, LOOSE) else head


def file_named_in(command: str) -> str:
    """Return the only file that a command names; empty when it names none or several."""
    named = {name for name in _FILE.findall(command[:1_000]) if "@" not in name or "/" in name}
    return named.pop() if len(named) == 1 else ""


def estimate_line_tokens(text: str) -> int:
    """Estimate the tokens of a text from its length."""
    return int(len(text) / PER_TOKEN) + 1
