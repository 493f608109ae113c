"""Split an agent's message into clauses: subjects, chosen and rejected terms, and its calls."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from holdfast.core.ledger.entry import Said, Source, ToolCalled
from holdfast.core.observe.files.touch import (
    SHELL_TOOLS,
    arguments_of,
    bare_tool_name,
    command_of,
    touch_of,
)
from holdfast.core.observe.requests.overrides import NEGATION, subject_of
from holdfast.core.observe.results.failures import COMMAND_SEPARATOR, is_read_only
from holdfast.core.observe.sentences import sentences
from holdfast.core.observe.worth import find_names
from holdfast.text.jsontext import Json, as_list, as_object
from holdfast.text.names import is_ordinary
from holdfast.text.patterns import Pattern
from holdfast.text.sentences import Sentence, is_question, plain_words
from holdfast.text.words import name_parts_in, verb_forms, without_doubled_end

# One message of the agent: its words, its calls, and everything that it refers to.
#
# Content that a call writes to a file is new by nature and says nothing about the agent's memory.
# So only references are judged: paths, commands, patterns, and the words around them. Thinking is
# ignored: an agent may consider anything there.


MAX_VALUE_CHARS = 400
"""Characters up to which an argument is a reference; a longer one is content."""
MAX_PROSE_CHARS = 12_000
"""Characters of a message's text that are judged, from the start."""
MAX_TEXT_CHARS = 200_000
CONTENT_ARGUMENTS = frozenset(
    (
        *("content", "contents", "file_text", "text", "code", "new_string", "old_string"),
        *("newText", "oldText", "new_str", "old_str", "newString", "oldString", "insert_text"),
        *("patch", "patchText", "diff", "input", "edits", "new_source", "code_edit"),
    )
)
"""Arguments with content that is written, not with a reference."""
_COMMIT = Pattern(r"\bgit commit\b")
_HEREDOC = Pattern(r"<<-?\s{0,4}['\"]?[A-Za-z_]\w{0,40}")
_FENCE = Pattern(r"(?m)^[ \t]{0,3}(?:```|~~~)")


_COMMAND_IN_TEXT = Pattern(r"```(?:bash|sh|shell|mswea_bash_command)\n|<{7} SEARCH")


class AgentMessage(Struct, frozen=True):
    """The agent's words and calls in one message."""

    text: str = ""
    calls: tuple[ToolCalled, ...] = ()

    @property
    def prose(self) -> tuple[Sentence, ...]:
        """The sentences of its text, without code and quotations."""
        return sentences(self.text[:MAX_PROSE_CHARS])

    @property
    def acts(self) -> bool:
        """Whether it has calls, or commands in its text as agents without tools write them."""
        return bool(self.calls) or _COMMAND_IN_TEXT.search(self.text) is not None


def agent_message(bodies: Iterable[Source]) -> AgentMessage:
    """Return the agent's words and calls among the bodies of a message."""
    texts: list[str] = []
    calls: list[ToolCalled] = []
    for body in bodies:
        match body:
            case Said(role="assistant"):
                texts.append(body.text)
            case ToolCalled():
                calls.append(body)
            case _:
                pass
    return AgentMessage("\n".join(texts), tuple(calls))


def referenced_text(message: AgentMessage) -> str:
    """Return everything that a message refers to, as one text."""
    return "\n".join(
        [outside_fences(message.text[:MAX_PROSE_CHARS]), *map(call_reference, message.calls)]
    )


def outside_fences(text: str) -> str:
    """Return a text without fenced code and without search-and-replace blocks."""
    plain_words = "\n".join(_text_around_edits(text))
    return "\n".join(_FENCE.split(plain_words)[::2])


def _text_around_edits(text: str) -> Iterator[str]:
    """Yield the parts of a text around its search-and-replace blocks."""
    first, *later = text.split("<<<<<<< SEARCH")
    yield first
    for part in later:
        yield part.partition(">>>>>>> REPLACE")[2]


def call_reference(call: ToolCalled) -> str:
    """Return what a call refers to: its command without a heredoc, or its short arguments."""
    arguments = arguments_of(call)
    if bare_tool_name(call.tool).rpartition(".")[2] in SHELL_TOOLS:
        command = command_of(arguments)
        # The message of a commit is a reference too, so its heredoc stays.
        written = None if _COMMIT.search(command) else _HEREDOC.search(command)
        return (command[: written.start()] if written else command)[:MAX_VALUE_CHARS]
    return "\n".join(dict.fromkeys([touch_of(call).path, *short_values(arguments)]))


def short_values(value: Json, depth: int = 0) -> Iterator[str]:
    """Yield the texts in arguments that are short enough to be a reference."""
    if isinstance(value, str):
        if len(value) <= MAX_VALUE_CHARS:
            yield value
    elif isinstance(value, dict) and depth < 4:
        for key, inner in as_object(value).items():
            if key not in CONTENT_ARGUMENTS:
                yield from short_values(inner, depth + 1)
    elif isinstance(value, list) and depth < 4:
        for inner in as_list(value)[:20]:
            yield from short_values(inner, depth + 1)


def specific_names(text: str) -> frozenset[str]:
    """Return the names in a text, without numbers, units and hyphenated words."""
    return frozenset(name for name in find_names(text) if not is_ordinary(name))


def word_parts_in(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, including the parts of names."""
    return name_parts_in(text[:MAX_TEXT_CHARS])


_JOINT = Pattern(r"[,;:()—–] {0,2}|\s--?\s| (?:but|although|though|so that|because|since|while) ")
_QUOTED = Pattern(r"'[^']{0,1000}'|\"[^\"]{0,1000}\"")
LEAVES_OUT = Pattern(
    r"\b(?:skip(?:ping|ped)?|without|instead of|rather than|ignor(?:e|ing|ed)|bypass(?:ing|ed)?"
    r"|omit(?:ting|ted)?|leav(?:e|ing) out|drop(?:ping|ped)?|no need|disabl(?:e|ing|ed)"
    r"|remov(?:e|ing|ed)|overrid(?:e|ing)|replac(?:e|ing|ed)|away from|abandon(?:ing|ed)?"
    r"|revert(?:ing|ed)?|undo(?:ing)?|scrap(?:ping|ped)?|won't|will not|not going to|never"
    r"|don't|do not|not)\b"
)
"""Cues that something is left undone or taken back: "skipping the linter"."""
DENIALS = frozenset(("not", "don't", "do not", "never", "won't", "will not", "without", "no need"))
# The clause only considers something, or quotes the user: "if we drop it", "as you asked".
HEDGES = Pattern(
    r"\b(?:if|unless|whether|should i|would you|could|might|may|you (?:said|asked|told|want)"
    r"|as (?:you|requested|instructed)|per your)\b"
)
MAX_CLAUSES = 60
# Separates the chosen from the rejected option: "Decimal instead of float".
TURNS_DOWN = Pattern(r"\b(?:instead of|rather than|in favou?r of|over|not|without|from)\b")
_VERBS_BY_CHANGE_KIND = {
    "edit": "touch edit modify change alter update rewrite overwrite patch",
    "remove": "delete remove erase drop purge",
    "add": "add introduce include create",
}
"""Verbs that mean the same kind of change in a prohibition."""
_LETTERS = Pattern(r"[a-z]{3,20}")


CHANGE_KIND_BY_VERB = {
    word: kind
    for kind, verbs in _VERBS_BY_CHANGE_KIND.items()
    for verb in verbs.split()
    for word in verb_forms(verb)
}

_VERB_TERMS = frozenset(term for word in CHANGE_KIND_BY_VERB for term in subject_of(word).terms)


class Clause(Struct, frozen=True):
    """A statement of the agent about what it does, or one of its calls in words."""

    text: str
    terms: frozenset[str]
    values: frozenset[str]
    left_out: frozenset[str]
    """Terms after a cue that something is left undone."""
    taken: frozenset[str]
    """Terms before such a cue, or before a denial; all terms if there is neither."""
    takes_back: bool = False
    """Whether the cue takes something back and not only denies it."""
    is_call: bool = False


def subject_terms(words: str) -> frozenset[str]:
    """Return the terms of a text, with verbs of the same kind of change unified."""
    kinds = {
        CHANGE_KIND_BY_VERB[word] for word in _LETTERS.findall(words) if word in CHANGE_KIND_BY_VERB
    }
    others = (term for term in subject_of(words).terms if term not in _VERB_TERMS)
    return frozenset(kinds) | frozenset(map(without_doubled_end, others))


def lower_names(text: str) -> frozenset[str]:
    """Return the names in a text in lower case; for a path, also its last part."""
    return frozenset(name.lower() for name in specific_names(text))


def change_verbs(terms: frozenset[str]) -> frozenset[str]:
    """Return the terms that are kinds of change."""
    return terms & _VERBS_BY_CHANGE_KIND.keys()


def split_choice(words: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the terms that a choice takes, and the terms that it rejects."""
    turn = TURNS_DOWN.search(words)
    if turn is None or not turn.start():
        return subject_terms(words), frozenset()
    taken = subject_terms(words[: turn.start()])
    return taken, subject_terms(words[turn.end() :]) - taken


def covers_terms(
    terms: frozenset[str], wanted: frozenset[str], share: float, min_shared: int = 2
) -> bool:
    """Whether `terms` contain at least `min_shared` and a share of `share` of the wanted terms."""
    shared = len(terms & wanted)
    return 0 < shared >= min(min_shared, len(wanted)) and shared >= share * len(wanted)


def clauses_of_message(message: AgentMessage) -> list[Clause]:
    """Return what a message says it does or did, without questions and mere considerations."""
    clauses: list[Clause] = []
    for sentence in message.prose:
        if sentence.kind == "heading" or is_question(sentence.text) or len(sentence.text) > 600:
            continue
        for piece in (sentence.text, *_split_at_joints(sentence.text)):
            words = plain_words(piece)
            if not HEDGES.search(words):
                clauses.append(_read_clause(piece, words))
        if len(clauses) >= MAX_CLAUSES:
            break
    return clauses


def _split_at_joints(text: str) -> Iterator[str]:
    parts = _JOINT.split(text)
    if len(parts) > 1:
        yield from (part for part in parts if len(part) > 8)


def _read_clause(text: str, words: str) -> Clause:
    cue, denied = LEAVES_OUT.search(words), NEGATION.search(words)
    first = min((found.start() for found in (cue, denied) if found), default=len(words))
    return Clause(
        text,
        subject_terms(words),
        subject_of(words).values,
        subject_terms(words[cue.end() :]) if cue else frozenset(),
        subject_terms(words[:first]),
        takes_back=cue is not None and cue[0] not in DENIALS,
    )


def clauses_of_call(call: ToolCalled) -> Iterator[Clause]:
    """Yield what a call does, in words: the file it writes, or the commands it runs."""
    touch = touch_of(call)
    if touch.verb in ("write", "edit"):
        words = f"edit write {touch.path}"
        yield _call_clause(f"{touch.verb} {touch.path}", words)
    elif touch.verb == "run" and not is_read_only(touch.command):
        for part in COMMAND_SEPARATOR.split(_QUOTED.sub(" ", touch.command[:2_000])):
            if part and not is_read_only(part):
                yield _call_clause(part, f"run use execute {part}")


def _call_clause(text: str, words: str) -> Clause:
    terms = subject_terms(words)
    return Clause(text, terms, subject_of(words).values, frozenset(), terms, is_call=True)
