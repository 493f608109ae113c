"""Quote texts in the lines, fields and table cells of a summary, and read them back exactly.

A text is written raw if possible, because a reader may search for it. A text that would break its
line is quoted: several lines under their number, others as a JSON string. These functions do not
know the meaning of a row.
"""

import json

from holdfast.text.patterns import Pattern

NAME_CHARS = 8
"""Characters of the short name of an entry."""
NO_ENTRY = "-"
"""The name of an entry that is not known."""
NONE = "None"

LINE_COUNT = Pattern(r"(\d{1,9}) lines:")
PIPE = Pattern(r"(?<!\\)\|")
DECODER = json.JSONDecoder()


def short_name(entry: str) -> str:
    """Return the short name of an entry, without characters that could end its brackets."""
    short = entry[:NAME_CHARS]
    if not short or (short.isascii() and short.isalnum()):
        return short
    return "".join(char for char in entry[: 2 * NAME_CHARS] if char.isascii() and char.isalnum())[
        :NAME_CHARS
    ]


def require(met: bool) -> None:
    """Raise ValueError unless a condition is met: the text is not a summary of ours."""
    if not met:
        raise ValueError("no summary of ours")


class SummaryLines:
    """Reads the lines of a text one after another."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._at = 0

    def has_row(self) -> bool:
        """Return whether a row follows: a section ends at an empty line or with the text."""
        return self._at < len(self._lines) and self._lines[self._at] != ""

    def at_end(self) -> bool:
        """Return whether all lines have been read."""
        return self._at >= len(self._lines)

    def starts_with(self, start: str) -> bool:
        """Return whether the next line starts with a text."""
        return not self.at_end() and self._lines[self._at].startswith(start)

    def skip_exact(self, *lines: str) -> bool:
        """Skip these lines if they are the next ones, and return whether they were."""
        end = self._at + len(lines)
        if tuple(self._lines[self._at : end]) != lines:
            return False
        self._at = end
        return True

    def take(self, start: str = "") -> str:
        """Take the next line, which must start with `start`, and return the rest of it."""
        require(self.starts_with(start))
        self._at += 1
        return self._lines[self._at - 1][len(start) :]

    def take_block(self, text: str) -> str:
        """Return a text whose first line was taken; take its other lines if it states a number."""
        counted = LINE_COUNT.fullmatch(text)
        if counted is None:
            return text
        end = self._at + int(counted[1])
        require(self._at < end <= len(self._lines))
        block = "\n".join(self._lines[self._at : end])
        self._at = end
        return block


def block_lines(text: str) -> list[str]:
    """Return a text as lines; several lines follow a line with their number."""
    if "\n" not in text and not LINE_COUNT.fullmatch(text):
        return [text]
    lines = text.split("\n")
    return [f"{len(lines)} lines:", *lines]


def quote_field(text: str, *stops: str) -> str:
    """Quote a text that is one field of a line, if it contains one of the separators `stops`."""
    if text.startswith('"') or text == NONE or any(stop in text for stop in ("\n", *stops)):
        return json.dumps(text, ensure_ascii=False)
    return text


def split_field(line: str, *stops: str) -> tuple[str, str]:
    """Return the first field of a line, and the rest of the line."""
    if line.startswith('"'):
        value, end = DECODER.raw_decode(line)
        return str(value), line[end:]
    found = [at for at in (line.find(stop) for stop in stops) if at >= 0]
    end = min(found, default=len(line))
    return line[:end], line[end:]


def whole_field(line: str) -> str:
    """Return the only field of a line."""
    value, rest = split_field(line)
    require(rest == "")
    return value


def quote_cell(text: str) -> str:
    """Quote a text for a table, where a bar would start the next cell."""
    spelled = quote_field(text)
    if "|" in spelled and "\\" in spelled:
        # Beside a backslash an escaped bar could not be told from what was there before.
        return json.dumps(text, ensure_ascii=False).replace("|", r"\u007c")
    return spelled.replace("|", r"\|")


def write_table_row(cells: list[str]) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(quote_cell(text) for text in cells)} |"


def split_table_row(line: str, count: int) -> list[str]:
    """Return the cells of a row of a table."""
    parts = PIPE.split(line)
    require(len(parts) == count + 2 and parts[0] == parts[-1] == "")
    return [_cell_text(part[1:-1]) for part in parts[1:-1]]


def _cell_text(part: str) -> str:
    return whole_field(part) if part.startswith('"') else part.replace(r"\|", "|")


def row_head(entry: str, *tags: str) -> str:
    """Return the brackets before a row, with its entry and its tags."""
    return f"[{', '.join((entry or NO_ENTRY, *(tag for tag in tags if tag)))}]"


def split_head(head: str) -> tuple[str, list[str]]:
    """Return the entry and the tags in the brackets before a row."""
    entry, *tags = head[1:-1].split(", ")
    return entry_of_name(entry), tags


def entry_of_name(name: str) -> str:
    """Return the entry of a short name; empty for `NO_ENTRY`."""
    require(name == NO_ENTRY or (name != "" and name == short_name(name)))
    return "" if name == NO_ENTRY else name


def rows_with_heads(rows: list[tuple[str, list[str]]], *, numbered: bool = False) -> list[str]:
    """Write rows with their heads; a head equal to that of the row above is left out."""
    said, lines = row_head(""), list[str]()
    for number, (head, (first, *others)) in enumerate(rows, 1):
        label = f"{number}. " if numbered else "- "
        bare = head == said and not first.startswith("[")
        lines += [f"{label}{first}" if bare else f"{label}{head} {first}", *others]
        said = head
    return lines


def split_row(line: str, said: str) -> tuple[str, str]:
    """Split a row into its head and the rest; without a head, `said` of the row above applies."""
    if not line.startswith("["):
        return said, line
    head, bracket, rest = line.partition("] ")
    require(bracket != "")
    return f"{head}]", rest
