"""Parse a shell command line into simple commands with their words and redirects.

Words that the shell would have expanded (globs, unknown variables, command substitution) are marked
`dynamic`: their value is unknown.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule
from holdfast.text.patterns import Pattern

MAX_SCRIPT_CHARS = 40_000
"""Characters of a script that are read, not counting here-documents."""
MAX_CACHED_CHARS = 4_000
"""Command lines up to this length are cached."""
MAX_COMMANDS = 500
MAX_WORD_PIECES = 5_000
"""Maximum number of quotes, variables and plain parts in one word; more end the parse."""
MAX_LOOP_VALUES = 20
MAX_BRACKET_DEPTH = 200
# Text without special characters: all of `src/a.py`, but not the `$` in `$HOME`.
_PLAIN_CHARS = Pattern(r"[^\s'\"\\$`|&;<>()#*?\[{]+")
# Plain text inside double quotes: `a b` in `"a b$X"`, but not `$X`.
_QUOTED_CHARS = Pattern(r"[^\"\\$`]+")
# A character that ends or escapes inside double quotes.
_QUOTE_END = Pattern(r"[\"\\]")
# A bracket, quote or here-document tag inside `$(…)`: `(`, `'`, `<<EOF`; not `<` alone.
_SUBSTITUTION_MARK = Pattern(r"[()'\"\\`]|<<-?[ \t]{0,4}['\"]?(\w{1,40})")
# `$HOME` and `${HOME}`, but not `$(pwd)` or `$?`.
_VARIABLE = Pattern(r"\$(?:\{(\w{1,60})\}|(\w{1,60}))")
# `CI=1` at the start of a word, but not `--level=1`.
ASSIGNMENT = Pattern(r"([A-Za-z_]\w{0,60})=", re.ASCII)


class Word(Struct, frozen=True):
    """A word as the program receives it."""

    text: str
    dynamic: bool = False
    """Whether the shell would have expanded it to a value that the record does not contain."""


class ShellCommand(Struct, frozen=True):
    """One program with its words and redirects."""

    words: tuple[Word, ...] = ()
    redirects: tuple[tuple[Word, bool], ...] = ()
    """The files that its output goes to, each with whether it is appended."""
    stdin: Word | None = None
    here_document: str | None = None
    """The here-document on its standard input."""
    operator: str = ""
    """The operator before it: `&&`, `||`, `|`, `;`, a new line, or nothing."""
    silenced: bool = False
    """Whether its error output is discarded."""


@rule(())
def commands_of(script: str) -> tuple[ShellCommand, ...]:
    """Return the simple commands of a command line, in order."""
    return (
        _cached_commands(script)
        if len(script) <= MAX_CACHED_CHARS
        else tuple(_Lexer(script).commands())
    )


@lru_cache(maxsize=8_192)
def _cached_commands(script: str) -> tuple[ShellCommand, ...]:
    return tuple(_Lexer(script).commands())


class _Lexer:
    """State of the parser of one command line."""

    def __init__(self, script: str) -> None:
        self.script, self.at = script, 0
        self.variables: dict[str, tuple[str, ...]] = {}
        self.finished: list[ShellCommand] = []
        self.pending_documents: list[tuple[int, str]] = []
        """Here-documents that are not read yet: index of their command, and their end tag."""
        self.operator = ""
        self.words: list[Word] = []
        self.redirects: list[tuple[Word, bool]] = []
        self.stdin: Word | None = None
        self.silenced = False
        self.multi_value_words = 0
        """Words of this command that expand to several; after two, the words are dynamic."""

    def commands(self) -> list[ShellCommand]:
        """Return all simple commands up to the first part that cannot be parsed."""
        skipped = 0
        while self.at < len(self.script) and self.at - skipped < MAX_SCRIPT_CHARS:
            if len(self.finished) >= MAX_COMMANDS:
                break
            char = self.script[self.at]
            if char == "\n":
                self._finish_command("\n")
                self.at += 1
                skipped += self._here_documents()
            elif char in " \t\r":
                self.at += 1
            elif char == "#":
                self.at = self._index_of("\n")
            elif char in ";|&()":
                self._operator(char)
            elif char in "<>":
                self._redirect("")
            else:
                self._word_or_stream()
        self._finish_command("")
        return self.finished

    def _index_of(self, text: str) -> int:
        index = self.script.find(text, self.at)
        return len(self.script) if index < 0 else index

    def _finish_command(self, operator: str) -> None:
        """Finish the current command; `operator` separates it from the next one."""
        if self.words or self.redirects:
            self._learn_variables()
            self.finished.append(
                ShellCommand(
                    tuple(self.words),
                    tuple(self.redirects),
                    self.stdin,
                    None,
                    self.operator,
                    self.silenced,
                )
            )
            self.operator = operator
        elif operator != "\n":
            self.operator = operator
        self.words, self.redirects, self.stdin = [], [], None
        self.silenced, self.multi_value_words = False, 0

    def _learn_variables(self) -> None:
        """Remember the values of the variables that the current command sets."""
        words = self.words
        if len(words) > 2 and words[0].text == "for" and words[2].text == "in":
            values = words[3:]
            values_known = len(values) <= MAX_LOOP_VALUES and not any(
                word.dynamic for word in values
            )
            self.variables[words[1].text] = (
                tuple(word.text for word in values) if values_known else ()
            )
        for word in words:
            assignment = ASSIGNMENT.match(word.text)
            if assignment is None:
                return
            self.variables[assignment[1]] = () if word.dynamic else (word.text[assignment.end() :],)

    def _operator(self, char: str) -> None:
        pair = self.script[self.at : self.at + 2]
        if pair == "&>":
            self.at += 1
            self._redirect("&")
            return
        mark = pair if pair in ("&&", "||", ";;", "|&") else char
        self._finish_command({"&&": "&&", "||": "||", "|": "|", "|&": "|"}.get(mark, ";"))
        self.at += len(mark)

    def _redirect(self, stream: str) -> None:
        rest = self.script[self.at : self.at + 3]
        if rest == "<<<":
            self.at += 3
            self._redirect_target()
        elif rest[:2] == "<<":
            self.at += 3 if rest == "<<-" else 2
            tag = self._redirect_target()
            if tag is not None:
                self.pending_documents.append((len(self.finished), tag.text))
        elif rest[:2] in ("<(", ">("):
            self.at = _after_bracket(self.script, self.at + 2)
        elif rest[0] == "<":
            self.at += 1
            self.stdin = self._redirect_target()
        else:
            self._redirect_out(stream, rest[:2])

    def _redirect_out(self, stream: str, mark: str) -> None:
        self.at += 2 if mark in (">>", ">|", ">&") else 1
        target = self._redirect_target()
        if target is None or (mark == ">&" and target.text in ("1", "2", "-")):
            return
        if target.text.startswith("/dev/"):
            self.silenced = self.silenced or stream in ("2", "&") or mark == ">&"
        else:
            self.redirects.append((target, mark == ">>"))

    def _redirect_target(self) -> Word | None:
        while self.script[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        has_target = self.at < len(self.script) and self.script[self.at] not in "\r\n;|&<>()"
        words = self._word() if has_target else [None]
        # A redirect to a variable of several values has an unknown target.
        return words[0] if len(words) == 1 else Word("", dynamic=True)

    def _word_or_stream(self) -> None:
        start = self.at
        words = self._word()
        text = self.script[start : self.at]
        if text in ("0", "1", "2") and self.script[self.at : self.at + 1] in ("<", ">"):
            self._redirect(text)
        else:
            self.multi_value_words += len(words) > 1
            self.words += words if self.multi_value_words < 2 else [Word(text, dynamic=True)]

    def _word(self) -> list[Word]:
        """Return the word that begins here; several if a loop variable has several values."""
        pieces: list[str] = []
        dynamic = False
        while self.at < len(self.script) and self.script[self.at] not in " \t\r\n;|&<>()":
            piece, piece_dynamic = self._piece(self.script[self.at], pieces[0] if pieces else "")
            pieces.append(piece)
            dynamic = dynamic or piece_dynamic
            self._stop_if_too_long(pieces)
        text = "".join(pieces)
        if "\0" not in text:
            return [Word(text, dynamic)]
        name = text.split("\0")[1]
        return [
            Word(text.replace(f"\0{name}\0", value), dynamic)
            for value in self.variables.get(name, ())
        ] or [Word(text, dynamic=True)]

    def _stop_if_too_long(self, pieces: Sequence[str]) -> None:
        if len(pieces) >= MAX_WORD_PIECES:
            self.at = len(self.script)

    def _piece(self, char: str, head: str) -> tuple[str, bool]:
        """Return the next piece of a word, and whether the shell would have expanded it."""
        start = self.at
        if char == "'":
            self.at += 1
            self.at = self._index_of("'") + 1
            return self.script[start + 1 : self.at - 1], False
        if char == '"':
            return self._quoted()
        if char == "\\":
            self.at += 2
            follows = self.script[start + 1 : start + 2]
            # Keep the backslashes of a Windows path, which starts with a drive letter.
            drive = head[1:2] == ":" and head[0].isalpha()
            return f"\\{follows}" if drive else follows.strip("\n"), False
        if char in "$`":
            return self._expansion(char)
        plain = _PLAIN_CHARS.match(self.script, start)
        if plain is None:
            self.at += 1
            single = char == "{" and self.script[self.at : self.at + 1] in ("}", " ", "\n", "")
            return char, char != "#" and not single
        self.at = plain.end()
        return plain[0], False

    def _quoted(self) -> tuple[str, bool]:
        self.at += 1
        pieces: list[str] = []
        dynamic = False
        while self.at < len(self.script) and self.script[self.at] != '"':
            char = self.script[self.at]
            piece_dynamic = False
            if char == "\\":
                follows = self.script[self.at + 1 : self.at + 2]
                piece = follows.strip("\n") if follows in '"\\$`\n' else f"\\{follows}"
                self.at += 2
            elif char in "$`":
                piece, piece_dynamic = self._expansion(char)
            else:
                end = _match_end(_QUOTED_CHARS, self.script, self.at)
                piece, self.at = self.script[self.at : end], end
            pieces.append(piece)
            dynamic = dynamic or piece_dynamic
            self._stop_if_too_long(pieces)
        self.at += 1
        return "".join(pieces), dynamic

    def _expansion(self, char: str) -> tuple[str, bool]:
        """Return an expansion and whether its value is unknown.

        A variable of several values is returned as its name between NUL characters.
        """
        start = self.at
        if char == "`" or self.script.startswith("$(", start):
            closed = char == "`"
            self.at = (
                _after_mark(self.script, "`", start + 1)
                if closed
                else _after_bracket(self.script, start + 2)
            )
            return self.script[start : self.at], True
        variable = _VARIABLE.match(self.script, start)
        if variable is None:
            self.at += 1
            return "$", self.script[self.at : self.at + 1] in ("{", "@", "*", "?", "!", "#", "'")
        self.at = variable.end()
        name = variable[1] or variable[2]
        values = self.variables.get(name, ())
        if len(values) > 1:
            return f"\0{name}\0", False
        return (values[0], False) if values else (variable[0], True)

    def _here_documents(self) -> int:
        """Read the here-documents that begin here; return their length in characters."""
        start = self.at
        for number, tag in self.pending_documents:
            text, self.at = _here_document(self.script, self.at, tag)
            if number < len(self.finished):
                self.finished[number] = replace(self.finished[number], here_document=text)
        self.pending_documents.clear()
        return self.at - start


def _match_end(pattern: Pattern[str], script: str, at: int) -> int:
    match = pattern.match(script, at)
    return match.end() if match else at + 1


def _here_document(script: str, at: int, tag: str) -> tuple[str, int]:
    """Return the text of a here-document, and the index at which the script continues."""
    place = at
    while place < len(script):
        end = script.find("\n", place)
        end = len(script) if end < 0 else end
        if script[place:end].strip() == tag:
            return script[at:place], min(end + 1, len(script))
        place = end + 1
    return script[at:], len(script)


def _after_bracket(script: str, at: int) -> int:
    """Return the index after the bracket that closes the one before `at`."""
    depth = 1
    while 0 < depth < MAX_BRACKET_DEPTH and (match := _SUBSTITUTION_MARK.search(script, at)):
        at = match.end()
        mark = match[0][0]
        if mark == "\\":
            at += 1
        elif mark in "'`":
            at = _after_mark(script, mark, at)
        elif mark == '"':
            at = _after_quote(script, at)
        elif mark == "<":
            line = script.find("\n", at)
            at = _here_document(script, line + 1, match[1])[1] if line >= 0 else len(script)
        else:
            depth += 1 if mark == "(" else -1
    return len(script) if depth else at


def _after_quote(script: str, at: int) -> int:
    while match := _QUOTE_END.search(script, at):
        if match[0] == '"':
            return match.end()
        at = match.end() + 1
    return len(script)


def _after_mark(script: str, mark: str, at: int) -> int:
    index = script.find(mark, at)
    return len(script) if index < 0 else index + 1
