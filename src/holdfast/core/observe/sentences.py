"""The user's own words in a message, and the sentences of prose among them.

Programs put their own text where the user speaks: reminders, output of commands, summaries, our own
stand-ins. Users paste code, logs and quotations. Neither is what the user says. Everything here is
a slice of what was given, so that a sentence can be found again where it stands.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, TypeAlias

from msgspec import Struct

from holdfast.core.faults import rule, rule_or
from holdfast.core.ledger.marks import WARNING, is_stand_in

Kind: TypeAlias = Literal["plain", "item", "heading"]

WHOLE = (
    WARNING,
    "## Session Summary [",
    "This session is being continued from a previous conversation",
    "Another language model started to solve this problem",
    "The conversation history before this point was compacted",
    "# Context Checkpoint",
    "Base directory for this skill:",
    "Summarize the task tool output above and continue",
    "Called the Read tool with the following input",
    "Please always provide EXACTLY ONE action",
    '{"type":"subtask"',
    "<returncode>",
)
"""How messages begin that a program wrote from end to end."""

HOOK = re.compile(
    r"(?:Stop|SubagentStop|SessionStart|UserPromptSubmit|PreToolUse|PostToolUse|Notification)"
    r"(?::\w{1,60})? hook\b"
)

SPEAKING = frozenset(("command-args", "user_query", "user-memory-input"))
"""Wrappers around what the user typed: they go, what they hold stays."""

OPENING = re.compile(
    r"<(?P<tag>system-reminder|command-name|command-message|local-command-stdout"
    r"|local-command-stderr|local-command-caveat|bash-input|bash-stdout|bash-stderr"
    r"|task-notification|user-prompt-submit-hook|post-tool-use-hook|session-start-hook"
    r"|environment_context|environment_details|user_instructions|permissions instructions"
    r"|turn_aborted|subagent_notification|teammate-message|new-diagnostics|ide_opened_file"
    r"|ide_selection|ide_diagnostics|open_and_recently_viewed_files|attached_files|user_info"
    r"|tool_result|function_results|command-args|user_query|user-memory-input)"
    r"(?:\s[^<>\n]{0,200})?>"
    r"|</(?P<end>command-args|user_query|user-memory-input)>"
    r"|\[Request interrupted by user[^\]\n]{0,40}\]"
    r"|(?P<line>--- data (?P<token>[0-9a-f]{6}): [^\n]{0,300}"
    r"|Caveat: The messages below were generated[^\n]{0,2000}"
    r"|# (?P<agents>AGENTS\.md) instructions\b)"
)
"""Where something begins that a program put in; a `line` only at the beginning of one."""


PIECES = 32
"""Stretches of one message that are heard; nobody's words are cut into more."""


def _unread(text: str) -> tuple[str, ...]:
    """The whole text, when the user's words in it cannot be told apart."""
    return (text,)


@rule_or(_unread)
def own_words(text: str) -> tuple[str, ...]:
    """The stretches of a user's message that the user wrote; none when a program wrote it all."""
    start = text.lstrip()
    if is_stand_in(start) or start.startswith(WHOLE) or HOOK.match(start):
        return ()
    cut = list(_wrappers(text))
    if not cut:
        return (start.rstrip(),) if start else ()
    pieces: list[str] = []
    at = 0
    for first, last in [*cut, (len(text), len(text))]:
        pieces.append(text[at:first].strip())
        at = last
    # A number beside a wrapper is an argument of a command, and says nothing without it.
    said = [piece for piece in pieces if any(char.isalpha() for char in piece)]
    return tuple(said if len(said) <= PIECES else [*said[: PIECES // 2], *said[-PIECES // 2 :]])


def _wrappers(text: str) -> Iterator[tuple[int, int]]:
    """Where the parts begin and end that are not the user's."""
    at = 0
    missing: set[str] = set()
    for found in OPENING.finditer(text):
        if found.start() < at:
            continue
        end = _end_of(found, text, missing)
        if end is not None:
            yield found.start(), end
            at = end


def _end_of(found: re.Match[str], text: str, missing: set[str]) -> int | None:
    closing = _closing(found)
    if found["line"] and text[found.start() - 1 : found.start()] not in {"", "\n"}:
        return None
    if not closing:
        return found.end()
    if text[found.start() - 1 : found.start()] == "`":
        return None  # the user speaks of the wrapper
    # A close that was sought once in vain is not sought again: the work stays linear.
    place = -1 if closing in missing else text.find(closing, found.end())
    if place >= 0:
        return place + len(closing)
    missing.add(closing)
    lead = text[max(0, found.start() - 40) : found.start()]
    return len(text) if not lead.rpartition("\n")[2].strip() else None


def _closing(found: re.Match[str]) -> str:
    tag, token = found["tag"], found["token"]
    if tag and tag not in SPEAKING:
        return f"</{tag}>"
    if token:
        return f"--- end {token} ---"
    return "</INSTRUCTIONS>" if found["agents"] else ""


class Sentence(Struct, frozen=True):
    """A sentence, an item of a list or a heading, and where it stands."""

    text: str
    start: int
    kind: Kind = "plain"

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.text)


REMEMBERED = 40_000
"""Characters of a text up to which its sentences are found once."""
EDGE = 16_000
"""Characters that are read at each end of a message: whoever pastes more speaks before or after."""

FENCE = ("```", "~~~")
ITEM = re.compile(r"(?:[-*•–]|\d{1,3}[.)]|\([a-z0-9]\)|[a-z]\))[ \t]{1,8}(?:\[[ xX]\] )?")
PASTED = re.compile(
    r"[>|{}<+$%➜❯│┃⎿●✓✗✘─═=]|@@|\[[\w:./ -]{1,40}\](?!\()|\"[^\"\n]{0,80}\":"
    r"|'/|'[^' \n]{1,60}',?$|/\w{1,40}/"
    r"|\d{1,4}[-/:]\d{1,2}[-/:]\d{1,2}|\d{1,6}\s{0,4}[|:│]|at \S{1,200} ?\(|at <|File \""
    r"|\.{1,2}/|E {2,16}\S|Traceback\b|(?:[A-Z]\w{0,24})?(?:Error|Exception|Warning)\b ?[:\[(]"
    r"|(?:FAIL|WARN|WARNING|INFO|DEBUG|ERROR)(?:ED)?\b|---? (?:FAIL|PASS)"
    r"|(?:diff --git|(?:index|commit) [0-9a-f]{6}|Author:|Date:|remote:|fatal:|error:|warning:"
    r"|npm (?:ERR|WARN)|panic:)"
    r"|(?:import|from|const|let|var|func|return|if|for|while|else) .{0,200}[;{(]$"
    r"|(?:def|class|elif|try|except)\b.{0,200}:$"
)
"""How lines begin that were copied from somewhere: logs, traces, diffs, tables, code, markup."""

REMARK, REMARK_END = "<!--", "-->"
"""Around what no reader of a page is shown, such as the hints of a form: nobody says it."""
TEST = re.compile(r"\w{1,120} \([\w.]{1,200}\)$")
TESTED = re.compile(r"(?<=\.\.\. )(?:ok|FAIL|ERROR|skipped\b.{0,80}|expected failure)$")

LAST = re.compile(r"[.!?…]{1,8}[\"'”’)\]*_`]{0,3}(?=\s)|[。！？]{1,8}")
SHORTENED = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|mr|mrs|ms|dr|approx|resp|incl|fig)$|^\d{1,3}$",
    re.IGNORECASE,
)
WRAPPED = 50
"""A line of at least so many characters may have been broken by an editor, not by its writer."""
ITEM_WHOLE = 300
"""An item up to this length is one thought."""


SPOKEN_AS = re.compile(r"^(?:THOUGHT|Thought|DISCUSSION): ?")
"""The name under which an agent thinks aloud: no word of the thought itself."""


@rule(())
def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of prose in a text, in order: no code, no quotation, no pasted output."""
    return _known(text) if len(text) <= REMEMBERED else _told(text)


@lru_cache(maxsize=1_024)
def _known(text: str) -> tuple[Sentence, ...]:
    return _told(text)


def _told(text: str) -> tuple[Sentence, ...]:
    if len(text) <= 2 * EDGE:
        return tuple(_sentences(text, 0))
    tail = text.find("\n", len(text) - EDGE)
    head = text[: text.rfind("\n", 0, EDGE) + 1]
    return (*_sentences(head, 0), *(_sentences(text[tail:], tail) if tail >= 0 else ()))


def _sentences(text: str, offset: int) -> Iterator[Sentence]:
    for start, end, kind in _units(text):
        unit = text[start:end]
        short = kind == "item" and len(unit) <= ITEM_WHOLE and "? " not in unit
        whole = kind == "heading" or short
        for first, last in [(0, len(unit))] if whole else _split(unit):
            piece = unit[first:last]
            lead = len(piece) - len(piece.lstrip())
            if piece := piece.strip():
                yield Sentence(piece, offset + start + first + lead, kind)


def _split(unit: str) -> Iterator[tuple[int, int]]:
    at = 0
    for found in LAST.finditer(unit):
        if found[0] == "." and SHORTENED.search(unit, max(at, found.start() - 12), found.start()):
            continue
        yield at, found.end()
        at = found.end()
    yield at, len(unit)


_LineKind: TypeAlias = Kind | Literal["blank", "indented", "pasted"]


class _Line(Struct, frozen=True):
    text: str
    start: int
    indent: int
    kind: _LineKind

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def _units(text: str) -> Iterator[tuple[int, int, Kind]]:
    """Paragraphs, items and headings: where they begin and end."""
    open_unit: tuple[int, int, Kind] | None = None
    before: _Line | None = None
    for line in _lines(text):
        if open_unit and before and _continues(open_unit, before, line):
            open_unit = (open_unit[0], line.end, open_unit[2])
        else:
            if open_unit:
                yield open_unit
            open_unit = _unit(line)
        before = line
    if open_unit:
        yield open_unit


def _unit(line: _Line) -> tuple[int, int, Kind] | None:
    match line.kind:
        case "blank" | "indented" | "pasted":
            return None
        case "item":
            marker = ITEM.match(line.text)
            return (line.start + (marker.end() if marker else 0), line.end, "item")
        case kind:
            return (line.start, line.end, kind)


def _continues(unit: tuple[int, int, Kind], before: _Line, line: _Line) -> bool:
    """Whether a line goes on with what is open: an item by its indent, a paragraph by its wrap."""
    if line.kind not in {"plain", "indented"} or unit[2] == "heading":
        return False
    if unit[2] == "item" and line.indent:
        first = before.kind == "item"
        return line.indent > before.indent if first else line.indent == before.indent
    return (
        line.kind == "plain"
        and len(before.text) >= WRAPPED
        and before.text[-1] not in ".!?:;。！？"
        and (line.text[0].islower() or before.text[-1] == ",")
    )


def _lines(text: str) -> Iterator[_Line]:
    rows = text.split("\n")
    indents = [len(row) - len(row.lstrip()) for row in rows if row.strip()]
    base = min(indents, default=0)
    fence = before = ""
    start = remarked = 0
    closing = text.rfind(REMARK_END)
    for row in rows:
        bare = row.strip()
        indent = len(row) - len(row.lstrip()) if bare else 0
        if bare.startswith(REMARK) and remarked <= start < closing and not fence:
            remarked = text.find(REMARK_END, start) + len(REMARK_END)
        if bare.startswith(FENCE) and (not fence or bare.startswith(fence)):
            fence = "" if fence else bare[:3]
            kind = "pasted"
        elif fence or start < remarked or _is_reported(before, bare):
            kind = "pasted"
        else:
            kind = _kind_of(row, bare, indent - base)
        yield _Line(bare, start + indent, indent, kind)
        start += len(row) + 1
        before = bare


def _is_reported(before: str, bare: str) -> bool:
    """Whether a test run says here what the test above is about, and how it went."""
    return TESTED.search(bare) is not None and TEST.match(before) is not None


def _kind_of(row: str, bare: str, indent: int) -> _LineKind:
    if not bare:
        return "blank"
    if bare.startswith("#"):
        return "heading" if bare.lstrip("#").startswith(" ") else "pasted"
    if ITEM.match(bare):
        return "item"
    if PASTED.match(bare):
        return "pasted"
    return "indented" if indent >= 4 or row.startswith("\t") else "plain"


def without_remarks(text: str) -> str:
    """A text as the reader of a page has it."""
    first, *parts = text.split(REMARK)
    shown = (part.partition(REMARK_END) for part in parts)
    return first + "".join(rest if end else f"{REMARK}{part}" for part, end, rest in shown)


ASKS = re.compile(
    r"^(?:(?:ok|so|and|but|also|hmm|wait|then|well|q)[,:]? ){0,3}"
    r"(?:should (?:we|i|it|they|this|that)"
    r"|why|how (?:do|does|can|would|about|should|come)|what(?:'s| is| are| do| does| about| should)"
    r"|where|who|which|do (?:we|i|you)|does|did|is (?:it|there|this|that)|are (?:we|there|you)"
    r"|can (?:we|i)|could we|would (?:it|that)|isn't|aren't|can't we|shouldn't|don't we)\b"
)
POLITE = re.compile(
    r"(?<!why )(?<!how )(?<!what )(?<!where )\b(?:can|could|would|will) you (?!say\b|think\b"
    r"|suggest|recommend|prefer|explain)|\bplease\b"
)


def is_question(text: str) -> bool:
    """Whether a sentence asks something, other than to do it."""
    words = plain(text)
    if ASKS.match(words):
        return True
    return words.rstrip("\"')*_ ").endswith(("?", "？")) and not POLITE.search(words)


def plain(text: str) -> str:
    """Small letters, straight apostrophes, one line: so one spelling of a pattern is enough."""
    return text.lower().replace("’", "'").replace("**", "").replace("\n", " ")


ANNOUNCED = re.compile(
    r"(?:now |next,? |first,? |ok(?:ay)?,? |perfect[.!,]? |good[.!,]? |great[.!,]? ){0,3}"
    r"(?:let me|let's|i'll|i will|i need to|i should|looking at|here(?:'s| is| are))\b"
)


def is_announced(text: str) -> bool:
    """Whether a sentence only says what is done next, and nothing of what was found."""
    return ANNOUNCED.match(text.lstrip().lower()) is not None


LOOKING = re.compile(
    r"(?:now |next,? |first,? |ok(?:ay)?,? ){0,3}(?:let me|let's|i'll|i will|i need to|i should) "
    r"(?:first |also |now |just |quickly ){0,2}"
    r"(?:check|look|see|read|find|search|explore|examine|inspect|investigate|verify|understand"
    r"|view|review|try to|take a look|get|fetch|list|confirm|figure)\b"
)


def is_looking(text: str) -> bool:
    """Whether whoever says it is about to find something out."""
    return LOOKING.match(text.lstrip().lower()) is not None
