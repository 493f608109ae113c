"""What a message says it does, clause by clause, and what its calls do, in the same words."""

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from holdfast.core.ledger.entry import Said, Source, ToolCalled
from holdfast.core.observe.files.touch import RUNS, arguments_of, command_of, plain_name, touch_of
from holdfast.core.observe.requests.overrides import DENIES, telling
from holdfast.core.observe.results.failures import PARTS, only_looks
from holdfast.core.observe.sentences import Sentence, is_question, plain, sentences
from holdfast.core.observe.worth import parts_of, telling_names
from holdfast.text.jsontext import Json, as_list, as_object

# One message of the agent, as it is judged: its words, its calls, and what it speaks of.
#
# What a call writes into a file is new by nature and tells nothing about what the agent remembers,
# so only what it refers to is looked at: paths, commands, patterns, and the words around them.
# Thinking is left out: an agent may weigh anything there.


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
    return frozenset(name for name in telling_names(text) if not _PLAIN.fullmatch(name))


def words_in(text: str) -> frozenset[str]:
    """The words of a text, also those that names are made of, in lower case."""
    found: set[str] = set()
    for word in set(_WORD.findall(text[:LONGEST_TEXT])):
        found |= parts_of(word)
    return frozenset(found)


_JOINT = re.compile(
    r"[,;:()—–] {0,2}|\s--?\s| (?:but|although|though|so that|because|since|while) "
)
_QUOTED = re.compile(r"'[^']{0,1000}'|\"[^\"]{0,1000}\"")
SKIPS = re.compile(
    r"\b(?:skip(?:ping|ped)?|without|instead of|rather than|ignor(?:e|ing|ed)|bypass(?:ing|ed)?"
    r"|omit(?:ting|ted)?|leav(?:e|ing) out|drop(?:ping|ped)?|no need|disabl(?:e|ing|ed)"
    r"|remov(?:e|ing|ed)|overrid(?:e|ing)|replac(?:e|ing|ed)|away from|abandon(?:ing|ed)?"
    r"|revert(?:ing|ed)?|undo(?:ing)?|scrap(?:ping|ped)?|won't|will not|not going to|never"
    r"|don't|do not|not)\b"
)
"""Words with which something is left undone or taken back."""
DENIALS = frozenset(("not", "don't", "do not", "never", "won't", "will not", "without", "no need"))
HEDGES = re.compile(
    r"\b(?:if|unless|whether|should i|would you|could|might|may|you (?:said|asked|told|want)"
    r"|as (?:you|requested|instructed)|per your)\b"
)
MOST = 60
AGAINST = re.compile(r"\b(?:instead of|rather than|in favou?r of|over|not|without|from)\b")
_ALIKE = {
    "edit": "touch edit modify change alter update rewrite overwrite patch",
    "remove": "delete remove erase drop purge",
    "add": "add introduce include create",
}
"""Verbs that mean the same when something is forbidden."""
_LETTERS = re.compile(r"[a-z]{3,20}")


def _inflected(verb: str) -> Iterator[str]:
    stem = verb[:-1] if verb[-1] in "ey" else verb
    vowel = "i" if verb.endswith("y") else ""
    yield from (verb, f"{verb}s", f"{stem}{vowel}ed", f"{stem}{vowel}es")
    yield f"{verb}ing" if verb.endswith("y") else f"{stem}ing"
    yield f"{verb}{verb[-1]}ing"


MEANT = {
    word: kind
    for kind, verbs in _ALIKE.items()
    for verb in verbs.split()
    for word in _inflected(verb)
}

_STEMS = frozenset(term for word in MEANT for term in telling(word).terms)


class Clause(Struct, frozen=True):
    """Something that is said or done."""

    text: str
    terms: frozenset[str]
    values: frozenset[str]
    skips: frozenset[str]
    """What the words after a cue of leaving undone are about."""
    taken: frozenset[str]
    """What the words before such a cue, or any that denies, are about; all of them without one."""
    turns: bool = False
    """Whether such a cue takes something back, and does not only deny it."""
    called: bool = False


def about(words: str) -> frozenset[str]:
    """The words that say what something is about, those that mean the same as one."""
    kinds = {MEANT[word] for word in _LETTERS.findall(words) if word in MEANT}
    others = (term for term in telling(words).terms if term not in _STEMS)
    return frozenset(kinds) | frozenset(map(_undoubled, others))


def _undoubled(term: str) -> str:
    """`running` and `run` have one stem, whatever became of it."""
    return term[:-1] if len(term) > 3 and term[-1] == term[-2] else term


def names(text: str) -> frozenset[str]:
    """The names of files and things in a text, in small letters; of a path, its last part too."""
    return frozenset(name.lower() for name in names_in(text))


def verbs(terms: frozenset[str]) -> frozenset[str]:
    """The verbs among some terms that mean a kind of change."""
    return terms & _ALIKE.keys()


def sides(words: str) -> tuple[frozenset[str], frozenset[str]]:
    """What a choice takes, and what it turns down."""
    turn = AGAINST.search(words)
    if turn is None or not turn.start():
        return about(words), frozenset()
    taken = about(words[: turn.start()])
    return taken, about(words[turn.end() :]) - taken


def covers(terms: frozenset[str], what: frozenset[str], share: float, enough: int = 2) -> bool:
    """Whether some words hold so much of what a rule or a choice is about."""
    shared = len(terms & what)
    return 0 < shared >= min(enough, len(what)) and shared >= share * len(what)


def clauses(move: Move) -> list[Clause]:
    """What a message says that it does or did; no questions, nothing that it only considers."""
    found: list[Clause] = []
    for one in move.prose:
        if one.kind == "heading" or is_question(one.text) or len(one.text) > 600:
            continue
        for piece in (one.text, *_pieces(one.text)):
            words = plain(piece)
            if not HEDGES.search(words):
                found.append(_clause(piece, words))
        if len(found) >= MOST:
            break
    return found


def _pieces(text: str) -> Iterator[str]:
    parts = _JOINT.split(text)
    if len(parts) > 1:
        yield from (part for part in parts if len(part) > 8)


def _clause(text: str, words: str) -> Clause:
    cue, denied = SKIPS.search(words), DENIES.search(words)
    first = min((found.start() for found in (cue, denied) if found), default=len(words))
    return Clause(
        text,
        about(words),
        telling(words).values,
        about(words[cue.end() :]) if cue else frozenset(),
        about(words[:first]),
        turns=cue is not None and cue[0] not in DENIALS,
    )


def deeds(call: ToolCalled) -> Iterator[Clause]:
    """What a call does, in words: what it writes to, or the commands that it runs."""
    touch = touch_of(call)
    if touch.verb in ("write", "edit"):
        words = f"edit write {touch.path}"
        yield _deed(f"{touch.verb} {touch.path}", words)
    elif touch.verb == "run" and not only_looks(touch.command):
        for part in PARTS.split(_QUOTED.sub(" ", touch.command[:2_000])):
            if part and not only_looks(part):
                yield _deed(part, f"run use execute {part}")


def _deed(text: str, words: str) -> Clause:
    terms = about(words)
    return Clause(text, terms, telling(words).values, frozenset(), terms, called=True)
