"""A command line, taken apart into simple commands.

Words that only the shell could have filled in (globs, unknown variables, output of other commands)
are marked as such: nobody can say what they were.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule

LONGEST = 40_000
"""Characters of a command, here-documents apart, that are looked at."""
REMEMBERED = 4_000
"""Characters of a command line up to which it is taken apart once."""
MOST_COMMANDS = 500
MOST_PIECES = 5_000
"""Quotes, runs and variables in one word; one of more names no file and ends the reading."""
MOST_VALUES = 20
DEEPEST_BRACKET = 200
_RUN = re.compile(r"[^\s'\"\\$`|&;<>()#*?\[{]+")
_QUOTED = re.compile(r"[^\"\\$`]+")
_QUOTE_END = re.compile(r"[\"\\]")
_SUB = re.compile(r"[()'\"\\`]|<<-?[ \t]{0,4}['\"]?(\w{1,40})")
_NAME = re.compile(r"\$(?:\{(\w{1,60})\}|(\w{1,60}))")
ASSIGNED = re.compile(r"([A-Za-z_]\w{0,60})=", re.ASCII)


class Word(Struct, frozen=True):
    """A word as a program gets it."""

    text: str
    live: bool = False
    """Whether the shell would have put something else there that nobody wrote down."""


class Command(Struct, frozen=True):
    """One program with its words, and where its output goes."""

    words: tuple[Word, ...] = ()
    into: tuple[tuple[Word, bool], ...] = ()
    """The files that it is redirected to, each with whether it is added to."""
    reads: Word | None = None
    text: str | None = None
    """The here-document that it is given."""
    joined: str = ""
    """What stands before it: `&&`, `||`, `|`, `;`, a new line, or nothing."""
    hushed: bool = False
    """Whether its complaints are not shown."""


@rule(())
def commands_of(script: str) -> tuple[Command, ...]:
    """The simple commands of a command line, in order."""
    return _known(script) if len(script) <= REMEMBERED else tuple(_Lexer(script).commands())


@lru_cache(maxsize=8_192)
def _known(script: str) -> tuple[Command, ...]:
    return tuple(_Lexer(script).commands())


class _Lexer:
    """A command line while it is taken apart."""

    def __init__(self, script: str) -> None:
        self.script, self.at = script, 0
        self.known: dict[str, tuple[str, ...]] = {}
        self.done: list[Command] = []
        self.waiting: list[tuple[int, str]] = []
        """Here-documents whose text is still to come: whose they are, and how they end."""
        self.joined = ""
        self.words: list[Word] = []
        self.into: list[tuple[Word, bool]] = []
        self.reads: Word | None = None
        self.hushed = False
        self.spread = 0
        """Words of this command that stand for several: what belongs to what is lost after one."""

    def commands(self) -> list[Command]:
        """All simple commands; what cannot be read ends them."""
        skipped = 0
        while self.at < len(self.script) and self.at - skipped < LONGEST:
            if len(self.done) >= MOST_COMMANDS:
                break
            char = self.script[self.at]
            if char == "\n":
                self._end("\n")
                self.at += 1
                skipped += self._here_documents()
            elif char in " \t\r":
                self.at += 1
            elif char == "#":
                self.at = self._find("\n")
            elif char in ";|&()":
                self._operator(char)
            elif char in "<>":
                self._redirect("")
            else:
                self._word_or_stream()
        self._end("")
        return self.done

    def _find(self, text: str) -> int:
        found = self.script.find(text, self.at)
        return len(self.script) if found < 0 else found

    def _end(self, joined: str) -> None:
        """One command is over; what parts it from the next is `joined`."""
        if self.words or self.into:
            self._remember()
            self.done.append(
                Command(
                    tuple(self.words), tuple(self.into), self.reads, None, self.joined, self.hushed
                )
            )
            self.joined = joined
        elif joined != "\n":
            self.joined = joined
        self.words, self.into, self.reads = [], [], None
        self.hushed, self.spread = False, 0

    def _remember(self) -> None:
        """Learn the variables that a command sets."""
        words = self.words
        if len(words) > 2 and words[0].text == "for" and words[2].text == "in":
            values = words[3:]
            fixed = len(values) <= MOST_VALUES and not any(word.live for word in values)
            self.known[words[1].text] = tuple(word.text for word in values) if fixed else ()
        for word in words:
            found = ASSIGNED.match(word.text)
            if found is None:
                return
            self.known[found[1]] = () if word.live else (word.text[found.end() :],)

    def _operator(self, char: str) -> None:
        pair = self.script[self.at : self.at + 2]
        if pair == "&>":
            self.at += 1
            self._redirect("&")
            return
        mark = pair if pair in ("&&", "||", ";;", "|&") else char
        self._end({"&&": "&&", "||": "||", "|": "|", "|&": "|"}.get(mark, ";"))
        self.at += len(mark)

    def _redirect(self, stream: str) -> None:
        rest = self.script[self.at : self.at + 3]
        if rest == "<<<":
            self.at += 3
            self._target()
        elif rest[:2] == "<<":
            self.at += 3 if rest == "<<-" else 2
            tag = self._target()
            if tag is not None:
                self.waiting.append((len(self.done), tag.text))
        elif rest[:2] in ("<(", ">("):
            self.at = _past(self.script, self.at + 2)
        elif rest[0] == "<":
            self.at += 1
            self.reads = self._target()
        else:
            self._redirect_out(stream, rest[:2])

    def _redirect_out(self, stream: str, mark: str) -> None:
        self.at += 2 if mark in (">>", ">|", ">&") else 1
        target = self._target()
        if target is None or (mark == ">&" and target.text in ("1", "2", "-")):
            return
        if target.text.startswith("/dev/"):
            self.hushed = self.hushed or stream in ("2", "&") or mark == ">&"
        else:
            self.into.append((target, mark == ">>"))

    def _target(self) -> Word | None:
        while self.script[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        ready = self.at < len(self.script) and self.script[self.at] not in "\r\n;|&<>()"
        words = self._word() if ready else [None]
        # One command cannot write to the several values of a variable at once.
        return words[0] if len(words) == 1 else Word("", live=True)

    def _word_or_stream(self) -> None:
        start = self.at
        words = self._word()
        text = self.script[start : self.at]
        if text in ("0", "1", "2") and self.script[self.at : self.at + 1] in ("<", ">"):
            self._redirect(text)
        else:
            self.spread += len(words) > 1
            self.words += words if self.spread < 2 else [Word(text, live=True)]

    def _word(self) -> list[Word]:
        """The word that begins here; several for a variable of several values."""
        pieces: list[str] = []
        live = False
        while self.at < len(self.script) and self.script[self.at] not in " \t\r\n;|&<>()":
            piece, odd = self._piece(self.script[self.at], pieces[0] if pieces else "")
            pieces.append(piece)
            live = live or odd
            self._give_up_after(pieces)
        text = "".join(pieces)
        if "\0" not in text:
            return [Word(text, live)]
        name = text.split("\0")[1]
        return [
            Word(text.replace(f"\0{name}\0", value), live) for value in self.known.get(name, ())
        ] or [Word(text, live=True)]

    def _give_up_after(self, pieces: Sequence[str]) -> None:
        if len(pieces) >= MOST_PIECES:
            self.at = len(self.script)

    def _piece(self, char: str, head: str) -> tuple[str, bool]:
        """The next piece of a word, and whether the shell would have filled it in."""
        start = self.at
        if char == "'":
            self.at += 1
            self.at = self._find("'") + 1
            return self.script[start + 1 : self.at - 1], False
        if char == '"':
            return self._quoted()
        if char == "\\":
            self.at += 2
            follows = self.script[start + 1 : start + 2]
            # A Windows path keeps its backslashes; nothing else looks like one.
            drive = head[1:2] == ":" and head[0].isalpha()
            return f"\\{follows}" if drive else follows.strip("\n"), False
        if char in "$`":
            return self._expansion(char)
        found = _RUN.match(self.script, start)
        if found is None:
            self.at += 1
            single = char == "{" and self.script[self.at : self.at + 1] in ("}", " ", "\n", "")
            return char, char != "#" and not single
        self.at = found.end()
        return found[0], False

    def _quoted(self) -> tuple[str, bool]:
        self.at += 1
        pieces: list[str] = []
        live = False
        while self.at < len(self.script) and self.script[self.at] != '"':
            char = self.script[self.at]
            odd = False
            if char == "\\":
                follows = self.script[self.at + 1 : self.at + 2]
                piece = follows.strip("\n") if follows in '"\\$`\n' else f"\\{follows}"
                self.at += 2
            elif char in "$`":
                piece, odd = self._expansion(char)
            else:
                end = _end_of(_QUOTED, self.script, self.at)
                piece, self.at = self.script[self.at : end], end
            pieces.append(piece)
            live = live or odd
            self._give_up_after(pieces)
        self.at += 1
        return "".join(pieces), live

    def _expansion(self, char: str) -> tuple[str, bool]:
        """What stands for something else; a variable of several values is marked by its name."""
        start = self.at
        if char == "`" or self.script.startswith("$(", start):
            closed = char == "`"
            self.at = (
                _after(self.script, "`", start + 1) if closed else _past(self.script, start + 2)
            )
            return self.script[start : self.at], True
        found = _NAME.match(self.script, start)
        if found is None:
            self.at += 1
            return "$", self.script[self.at : self.at + 1] in ("{", "@", "*", "?", "!", "#", "'")
        self.at = found.end()
        name = found[1] or found[2]
        values = self.known.get(name, ())
        if len(values) > 1:
            return f"\0{name}\0", False
        return (values[0], False) if values else (found[0], True)

    def _here_documents(self) -> int:
        """Read the here-documents that begin here; how many characters they are."""
        start = self.at
        for number, tag in self.waiting:
            text, self.at = _here_document(self.script, self.at, tag)
            if number < len(self.done):
                self.done[number] = replace(self.done[number], text=text)
        self.waiting.clear()
        return self.at - start


def _end_of(pattern: re.Pattern[str], script: str, at: int) -> int:
    found = pattern.match(script, at)
    return found.end() if found else at + 1


def _here_document(script: str, at: int, tag: str) -> tuple[str, int]:
    """The text of a here-document, and where the script goes on after it."""
    place = at
    while place < len(script):
        end = script.find("\n", place)
        end = len(script) if end < 0 else end
        if script[place:end].strip() == tag:
            return script[at:place], min(end + 1, len(script))
        place = end + 1
    return script[at:], len(script)


def _past(script: str, at: int) -> int:
    """The place after the bracket that closes the one before `at`."""
    depth = 1
    while 0 < depth < DEEPEST_BRACKET and (found := _SUB.search(script, at)):
        at = found.end()
        mark = found[0][0]
        if mark == "\\":
            at += 1
        elif mark in "'`":
            at = _after(script, mark, at)
        elif mark == '"':
            at = _past_quote(script, at)
        elif mark == "<":
            line = script.find("\n", at)
            at = _here_document(script, line + 1, found[1])[1] if line >= 0 else len(script)
        else:
            depth += 1 if mark == "(" else -1
    return len(script) if depth else at


def _past_quote(script: str, at: int) -> int:
    while found := _QUOTE_END.search(script, at):
        if found[0] == '"':
            return found.end()
        at = found.end() + 1
    return len(script)


def _after(script: str, mark: str, at: int) -> int:
    found = script.find(mark, at)
    return len(script) if found < 0 else found + 1
