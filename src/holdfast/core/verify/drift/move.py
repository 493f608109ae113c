"""One message of the agent, as it is judged: its words, its calls, and what it speaks of.

What a call writes into a file is new by nature and tells nothing about what the agent remembers, so
only what it refers to is looked at: paths, commands, patterns, and the words around them. Thinking
is left out: an agent may weigh anything there.
"""

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from holdfast.core.ledger.entry import Said, Source, ToolCalled
from holdfast.core.ledger.jsontext import Json, as_list, as_object
from holdfast.core.observe.artifacts import RUNS, arguments_of, command_of, plain_name, touch_of
from holdfast.core.observe.likely import parts_of
from holdfast.core.observe.sentences import Sentence, sentences
from holdfast.core.observe.worth import telling

LONGEST_VALUE = 400
"""Characters of an argument up to which it refers to something; a longer one is content."""
LONGEST_PROSE = 12_000
"""Characters of a message's words that are judged, from the front."""
LONGEST_TEXT = 200_000
CONTENT = frozenset(
    (
        *("content", "contents", "file_text", "text", "code", "new_string", "old_string"),
        *("newText", "oldText", "new_str", "old_str", "newString", "oldString", "insert_text"),
        *("patch", "patchText", "diff", "input", "edits", "new_source", "code_edit"),
    )
)
"""Arguments that hold what is written, not what is spoken of."""
_WORD = re.compile(r"[A-Za-z]{3,80}")
_PLAIN = re.compile(r"[\d.,:-]{1,120}|\d{1,12}[A-Za-z]{1,3}|[A-Za-z]{1,40}(?:-[A-Za-z]{1,40}){1,6}")
_COMMIT = re.compile(r"\bgit commit\b")
_HEREDOC = re.compile(r"<<-?\s{0,4}['\"]?[A-Za-z_]\w{0,40}")
_FENCE = re.compile(r"(?m)^[ \t]{0,3}(?:```|~~~)")


_IN_WORDS = re.compile(r"```(?:bash|sh|shell|mswea_bash_command)\n|<{7} SEARCH")


class Move(Struct, frozen=True):
    """What the agent says and calls in one message."""

    text: str = ""
    calls: tuple[ToolCalled, ...] = ()

    @property
    def prose(self) -> tuple[Sentence, ...]:
        """Its sentences: no code, no quotations."""
        return sentences(self.text[:LONGEST_PROSE])

    @property
    def acts(self) -> bool:
        """Whether it does something: an agent without tools writes its commands into its words."""
        return bool(self.calls) or _IN_WORDS.search(self.text) is not None


def move_of(bodies: Iterable[Source]) -> Move:
    """The parts of a message that are judged."""
    said: list[str] = []
    calls: list[ToolCalled] = []
    for body in bodies:
        match body:
            case Said(role="assistant"):
                said.append(body.text)
            case ToolCalled():
                calls.append(body)
            case _:
                pass
    return Move("\n".join(said), tuple(calls))


def spoken_of(move: Move) -> str:
    """Everything that a message refers to, as one text."""
    return "\n".join([outside_fences(move.text[:LONGEST_PROSE]), *map(referred, move.calls)])


def outside_fences(text: str) -> str:
    """A text without its blocks of code, fenced or to be searched and replaced."""
    plain = "\n".join(_edits(text))
    return "\n".join(_FENCE.split(plain)[::2])


def _edits(text: str) -> Iterator[str]:
    """What stands around the edits that are written into a text."""
    first, *later = text.split("<<<<<<< SEARCH")
    yield first
    for part in later:
        yield part.partition(">>>>>>> REPLACE")[2]


def referred(call: ToolCalled) -> str:
    """What a call refers to: a command without what it writes, else its short arguments."""
    arguments = arguments_of(call)
    if plain_name(call.tool).rpartition(".")[2] in RUNS:
        command = command_of(arguments)
        # What a commit is said to do is part of what it refers to.
        written = None if _COMMIT.search(command) else _HEREDOC.search(command)
        return (command[: written.start()] if written else command)[:LONGEST_VALUE]
    return "\n".join(dict.fromkeys([touch_of(call).path, *short_values(arguments)]))


def short_values(value: Json, depth: int = 0) -> Iterator[str]:
    """The texts in some arguments that are short enough to name something."""
    if isinstance(value, str):
        if len(value) <= LONGEST_VALUE:
            yield value
    elif isinstance(value, dict) and depth < 4:
        for key, inner in as_object(value).items():
            if key not in CONTENT:
                yield from short_values(inner, depth + 1)
    elif isinstance(value, list) and depth < 4:
        for inner in as_list(value)[:20]:
            yield from short_values(inner, depth + 1)


def names_in(text: str) -> frozenset[str]:
    """The names of a text: no numbers, no counted units, no words that a hyphen joins."""
    return frozenset(name for name in telling(text) if not _PLAIN.fullmatch(name))


def words_in(text: str) -> frozenset[str]:
    """The words of a text, also those that names are made of, in lower case."""
    found: set[str] = set()
    for word in set(_WORD.findall(text[:LONGEST_TEXT])):
        found |= parts_of(word)
    return frozenset(found)
