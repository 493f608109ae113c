"""How texts stand in the lines of a summary, so that what is read back is what was written.

A text stands raw wherever it can, because a reader may look for it word for word. What would break
its line is spelled otherwise: several lines under their number, the rest as a JSON string. Nothing
here knows what a row means.
"""

import json
import re

NAME = 8
"""Characters by which an entry is named."""
NOBODY = "-"
"""The name of an entry that is not known."""
NONE = "None"

COUNTED = re.compile(r"(\d{1,9}) lines:")
PIPE = re.compile(r"(?<!\\)\|")
DECODER = json.JSONDecoder()


def name_of(entry: str) -> str:
    """The short name of an entry; nothing that could end the brackets around it."""
    short = entry[:NAME]
    if not short or (short.isascii() and short.isalnum()):
        return short
    return "".join(char for char in entry[: 2 * NAME] if char.isascii() and char.isalnum())[:NAME]


def need(met: bool) -> None:
    """Refuse a text that was not written here."""
    if not met:
        raise ValueError("no summary of ours")


class Lines:
    """The lines of a text and how far they have been read."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._at = 0

    def more(self) -> bool:
        """Whether a row follows: a section ends at an empty line or with the text."""
        return self._at < len(self._lines) and self._lines[self._at] != ""

    def over(self) -> bool:
        """Whether all of them have been read."""
        return self._at >= len(self._lines)

    def begins(self, start: str) -> bool:
        """Whether the next line begins so."""
        return not self.over() and self._lines[self._at].startswith(start)

    def follow(self, *lines: str) -> bool:
        """Whether exactly these lines come next; they are taken then."""
        end = self._at + len(lines)
        if tuple(self._lines[self._at : end]) != lines:
            return False
        self._at = end
        return True

    def take(self, start: str = "") -> str:
        """The next line without its start, which it must have."""
        need(self.begins(start))
        self._at += 1
        return self._lines[self._at - 1][len(start) :]

    def told(self, text: str) -> str:
        """A text whose first line has been taken: itself, or so many of the next lines."""
        counted = COUNTED.fullmatch(text)
        if counted is None:
            return text
        end = self._at + int(counted[1])
        need(self._at < end <= len(self._lines))
        block = "\n".join(self._lines[self._at : end])
        self._at = end
        return block


def told(text: str) -> list[str]:
    """A text as it stands, under the number of its lines when it has several."""
    if "\n" not in text and not COUNTED.fullmatch(text):
        return [text]
    lines = text.split("\n")
    return [f"{len(lines)} lines:", *lines]


def field(text: str, *stops: str) -> str:
    """A text that is one of several in its line; `stops` are what ends it there."""
    if text.startswith('"') or text == NONE or any(stop in text for stop in ("\n", *stops)):
        return json.dumps(text, ensure_ascii=False)
    return text


def split_field(line: str, *stops: str) -> tuple[str, str]:
    """The field that a line begins with, and what follows it."""
    if line.startswith('"'):
        value, end = DECODER.raw_decode(line)
        return str(value), line[end:]
    found = [at for at in (line.find(stop) for stop in stops) if at >= 0]
    end = min(found, default=len(line))
    return line[:end], line[end:]


def whole_field(line: str) -> str:
    """The field that a line is."""
    value, rest = split_field(line)
    need(rest == "")
    return value


def cell(text: str) -> str:
    """A text in a table, where a bar would start the next cell."""
    spelled = field(text)
    if "|" in spelled and "\\" in spelled:
        # Beside a backslash an escaped bar could not be told from what was there before.
        return json.dumps(text, ensure_ascii=False).replace("|", r"\u007c")
    return spelled.replace("|", r"\|")


def row_of(cells: list[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(cell(text) for text in cells)} |"


def cells_of(line: str, count: int) -> list[str]:
    """The cells of a row of a table."""
    parts = PIPE.split(line)
    need(len(parts) == count + 2 and parts[0] == parts[-1] == "")
    return [_cell_text(part[1:-1]) for part in parts[1:-1]]


def _cell_text(part: str) -> str:
    return whole_field(part) if part.startswith('"') else part.replace(r"\|", "|")


def head_of(entry: str, *tags: str) -> str:
    """The brackets before a row: where it comes from, and what else is to be known of it."""
    return f"[{', '.join((entry or NOBODY, *(tag for tag in tags if tag)))}]"


def split_head(head: str) -> tuple[str, list[str]]:
    """The entry and the tags in the brackets before a row."""
    entry, *tags = head[1:-1].split(", ")
    return entry_of(entry), tags


def entry_of(name: str) -> str:
    """An entry by what stands for it."""
    need(name == NOBODY or (name != "" and name == name_of(name)))
    return "" if name == NOBODY else name


def headed(rows: list[tuple[str, list[str]]], *, numbered: bool = False) -> list[str]:
    """Rows with their heads; a head that is that of the row above is not said again."""
    said, lines = head_of(""), list[str]()
    for number, (head, (first, *others)) in enumerate(rows, 1):
        label = f"{number}. " if numbered else "- "
        bare = head == said and not first.startswith("[")
        lines += [f"{label}{first}" if bare else f"{label}{head} {first}", *others]
        said = head
    return lines


def split_headed(line: str, said: str) -> tuple[str, str]:
    """The head of a row and the rest; the head of the row above when it has none."""
    if not line.startswith("["):
        return said, line
    head, bracket, rest = line.partition("] ")
    need(bracket != "")
    return f"{head}]", rest
