"""Read the user's requests, changes of scope and constraints from a scene, word for word.

Only user messages count, and system messages for constraints; texts of the agent, of tools and of
summaries do not. The words with which a user refused a call count as a user message. A constraint
is lifted by words that withdraw it or give its subject a new value. Otherwise both constraints are
kept: losing a rule is worse than keeping two.
"""

from collections.abc import Container, Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule, rule_or
from holdfast.core.ledger.entry import Said, Source, ToolReturned, is_request, text_of
from holdfast.core.ledger.marks import is_stand_in
from holdfast.core.ledger.summary import Constraint, Intent, Quote
from holdfast.core.ledger.window import Item
from holdfast.core.observe.requests.constraints import (
    CHOICE,
    MAX_BLOCK_CHARS,
    ConstraintMatch,
    constraints_in,
    users_first,
)
from holdfast.core.observe.requests.overrides import (
    HeldConstraint,
    Override,
    apply_overrides,
    lift_overridden,
    subject_of,
)
from holdfast.core.observe.requests.pastes import EDGE_CHARS as PASTE_EDGE_CHARS
from holdfast.core.observe.requests.pastes import split_pastes
from holdfast.core.observe.requests.replies import words_of_refusal
from holdfast.core.observe.scene import Scene
from holdfast.core.observe.sentences import (
    PROGRAM_COMMAND,
    own_words,
    prompt_rules,
    rule_files_in,
    sentences,
)
from holdfast.text.patterns import Pattern
from holdfast.text.sentences import EDGE_CHARS, Sentence, is_question, plain_words

__all__ = ["IntentReading", "apply_overrides", "has_substance", "read_intent", "scope_changes_in"]


ScopeChange: TypeAlias = tuple[int, str]
"""Start of a change of scope in a message, and its text."""


class IntentReading(Struct, frozen=True):
    """The user's intent, constraints and other requests, as read from a scene."""

    intent: Intent = Intent()
    constraints: tuple[Constraint, ...] = ()
    words: tuple[Quote, ...] = ()
    """User requests besides the first and the current one, oldest first."""


def _requests(scene: Scene) -> tuple[Quote, ...]:
    """Return every user message whole."""
    return tuple(
        Quote(item.entry.body.text, item.entry.id)
        for item in scene.items
        if isinstance(item.entry.body, Said) and is_request(item.entry.body)
    )


def _unparsed_intent(scene: Scene) -> IntentReading:
    """Return the first and the newest user message whole: the fallback of `read_intent`."""
    said = _requests(scene)
    if not said:
        return IntentReading()
    rules = (
        Constraint(found.text, quote.entry, "user", found.negative)
        for quote in said
        for found in constraints_in(quote.text, sentences(quote.text))
    )
    return IntentReading(Intent(said[0], said[-1]), tuple(rules), said[1:-1])


class _IntentReader:
    """State of one pass over the items of a scene."""

    def __init__(self) -> None:
        self._said: list[Quote] = []
        self._messages: list[int] = []
        self._changes: list[Quote] = []
        self._held: Sequence[HeldConstraint] = []
        self._refusals: set[int] = set()
        self._commanded = False

    def read(self, scene: Scene) -> IntentReading:
        """Return the intent."""
        for at in range(len(scene.items)):
            self._read_item(scene, at)
        found = _first_and_current(self._said, self._messages, self._refusals)
        intent = replace(found, changes=tuple(self._changes))
        requests = set(intent.requests)
        return IntentReading(
            intent,
            users_first(one.row for one in self._held if one.row.lifted or not one.weak),
            tuple(quote for quote in self._said if quote not in requests),
        )

    def _read_item(self, scene: Scene, at: int) -> None:
        item = scene.items[at]
        body = _stated_body(item)
        for text in _system_texts(body):
            self._held = _ruled(self._held, Quote(text, item.entry.id))
        if words := _refusal(scene, at, body):
            heard = _Heard.of(Quote(words, item.entry.id), item.entry.id)
            self._held = _obeyed(self._held, heard)
            self._changes.append(heard.said)
            self._refusals.add(len(self._said))
            self._say(heard, item)
        # The text that a command stands for follows it at once.
        expanded, self._commanded = self._commanded, _names_command(body)
        if expanded or body is None or not is_request(body):
            return
        before = self._said[-1].entry if self._said else ""
        for text in own_words(text_of(body)):
            heard = _Heard.of(Quote(text, item.entry.id), before)
            self._held = _ruled(self._held, Quote(heard.prompt, item.entry.id))
            self._held = _obeyed(self._held, heard)
            self._changes += [Quote(words, item.entry.id) for _, words in heard.turns]
            self._say(heard, item)

    def _say(self, heard: "_Heard", item: Item) -> None:
        self._said.append(heard.said)
        self._messages.append(item.entry.message)


@rule_or(_unparsed_intent)
def read_intent(scene: Scene) -> IntentReading:
    """Read the user's intent, constraints and other requests from a scene."""
    return _IntentReader().read(scene)


def _refusal(scene: Scene, at: int, body: Source | None) -> str:
    pair = scene.by_result.get(at)
    return words_of_refusal(pair.body, body) if pair and isinstance(body, ToolReturned) else ""


SYSTEM_ROLES = frozenset(("system", "developer"))
# `You are Codex, …`, but not `You are a helpful airline agent.`
HOST_PROMPT = Pattern(
    r"You are (?:Codex|Claude Code|opencode|OpenCode|GitHub Copilot|the GitHub Copilot|pi\b|Cursor"
    r"|Gemini CLI|Cline|Roo|Aider)|You are (?:an expert coding assistant operating inside pi"
    r"|an interactive (?:CLI|command)|a coding agent running in)"
    r"|<(?:permissions instructions|collaboration_mode|skills_instructions|plugins_instructions"
    r"|apps_instructions)>"
)
"""The beginning of the prompt of a known program: each session of the program has its rules."""


def _system_texts(body: Source | None) -> Iterable[str]:
    """The texts here that set rules of the system: its prompt, or rule files of the project."""
    if not isinstance(body, Said):
        return ()
    if body.role in SYSTEM_ROLES:
        return () if body.by or HOST_PROMPT.match(body.text) else own_words(body.text)
    inserted = body.role == "user" and body.by in {"", "host"}
    return rule_files_in(body.text) if inserted else ()


def _stated_body(item: Item) -> Source | None:
    """What was said here, also where a stand-in shows less of it; a summary says nothing new."""
    if item.stand_in is None:
        return item.body
    alone = item.covers == (item.entry.id,)
    if alone and is_stand_in(text_of(item.stand_in)):
        return Item(item.entry).body
    # A request with its pastes cut says what the request said.
    return item.stand_in if alone and is_request(item.stand_in) else None


def _names_command(body: Source | None) -> bool:
    """Whether a text follows that a program inserts: for a command, or for a skill."""
    if isinstance(body, ToolReturned):
        return body.output.startswith("Launching skill:")
    if body is None or not is_request(body):
        return False
    return text_of(body).lstrip().startswith("<command-message>")


class _Heard(Struct, frozen=True):
    """What the user said, with what it turns from and what it rules."""

    said: Quote
    before: str
    """The request right before it."""
    turns: tuple[ScopeChange, ...]
    rules: tuple[ConstraintMatch, ...]
    prompt: str = ""
    """The part that sets rules of the system, if a program wrote the message."""

    @classmethod
    def of(cls, said: Quote, before: str) -> "_Heard":
        prompt = prompt_rules(said.text)
        if prompt is not None:
            return cls(said, before, (), (), prompt)
        told = _typed(said.text)
        turns = scope_changes_in(said.text, told, first=not before)
        return cls(said, before, turns, constraints_in(said.text, told))

    def turn_at(self, place: int) -> str:
        """The words of the turn that a place of the message belongs to."""
        return next((words for at, words in self.turns if at <= place < at + len(words)), "")


MAX_TYPED_CHARS = 16_000
"""Only the ends of a longer message may be typed: nothing in it shows where a paste begins."""


def _typed(text: str) -> tuple[Sentence, ...]:
    """The sentences of a message outside its pastes."""
    edge = PASTE_EDGE_CHARS if len(text) > MAX_TYPED_CHARS else len(text)
    spans, at = list[tuple[int, int]](), 0
    for piece in split_pastes(text):
        if piece.kind == "words":
            spans.append((at, at + len(piece.text)))
        at += len(piece.text)
    return tuple(
        one
        for one in sentences(text)
        if (one.start < edge or one.end > len(text) - edge)
        and any(start <= one.start < end for start, end in spans)
    )


def _ruled(held: Sequence[HeldConstraint], said: Quote) -> Sequence[HeldConstraint]:
    """What is held after the system spoke; it takes nothing back."""
    for found in constraints_in(said.text, sentences(said.text)):
        if found.strength > CHOICE:
            row = Constraint(found.text, said.entry, "system", found.negative)
            held = _with(held, HeldConstraint(row, subject_of(row.text)))
    return held


def _obeyed(held: Sequence[HeldConstraint], heard: _Heard) -> Sequence[HeldConstraint]:
    """What is held after the user spoke, in the order of the words: a turn, then what it rules."""
    entry, before = heard.said.entry, heard.before
    told = [*heard.turns, *((found.start, found) for found in heard.rules)]
    for place, what in sorted(told, key=lambda one: one[0]):
        turn = heard.turn_at(place)
        text = what if isinstance(what, str) else what.text
        held = lift_overridden(held, Override.of(Quote(text, entry), cue=bool(turn)), before=before)
        if not isinstance(what, str):
            row = Constraint(text, entry, "user", what.negative)
            weak = what.strength == CHOICE and not CHOOSES_AGAIN.search(plain_words(turn))
            held = _with(held, HeldConstraint(row, subject_of(text), weak))
    return held


def _with(held: Sequence[HeldConstraint], one: HeldConstraint) -> Sequence[HeldConstraint]:
    """With one more, unless it is held already; what was taken back may be set again."""
    same = any(_same(one, other) for other in held if not other.row.lifted)
    return held if same else [*held, one]


def _same(one: HeldConstraint, other: HeldConstraint) -> bool:
    if one.about != other.about or one.row.by != other.row.by:
        return False
    return one.row.text.lower().split() == other.row.text.lower().split()


_SLIGHT = """
a again ahead all alright and appreciate awesome bye can continue cool correct do exactly fine for
go going good got great hello help hey hi hm hmm i it just keep later let's lets lgtm like looks
me move much needed next nice no nope now ok okay on one perfect please proceed resume right same
so sounds start step sure thank thanks that that's thats the then there this to try up very wait
well works wow y yeah yep yes yo you your
bitte danke einverstanden fortfahren genau gut ja jetzt klar los mach machen nein super weiter
weitermachen
acuerdo adelante bien claro continúa de favor gracias hazlo perfecto por sigue sí vale
可以 好 好的 对 是 是的 没问题 继续 继续吧 行 请 请继续 谢谢
"""
FILLER_WORDS = frozenset(_SLIGHT.split())
"""Words that do not make a request by themselves."""
WORD = Pattern(r"[^\W_][\w']{0,60}")


def has_substance(text: str) -> bool:
    """Return whether a text is a request by itself, unlike `yes`, `go on` or `/model`."""
    if PROGRAM_COMMAND.match(text) or _is_pasted(text):
        return False
    words = (found[0] for found in WORD.finditer(plain_words(text)))
    return any(word not in FILLER_WORDS and not word.isdigit() for word in words)


def _is_command(text: str) -> bool:
    """Whether it is the bare name of a command, which does not say what is wanted."""
    return text.startswith("/") and len(text) < 60 and len(text.split()) == 1


def _is_pasted(text: str) -> bool:
    """Whether it is output that somebody pasted and added nothing to."""
    if len(text) < 300:
        return False
    if 20 * sum(len(one.text) for one in _typed(text)) >= min(len(text), 2 * EDGE_CHARS):
        return False
    # Whoever pastes something and speaks, speaks before it or after it.
    found = split_pastes(text)
    ends = (piece.text for piece in (found[0], found[-1]) if piece.kind == "words")
    return len(found) < 2 or not any(map(sentences, ends))


def _first_and_current(
    said: Sequence[Quote], messages: Sequence[int], refusals: Container[int] = ()
) -> Intent:
    """The first and the newest request; a message in several parts is one request.

    The words of a refusal correct what was asked before, so they are never the first request.
    """
    if not said:
        return Intent()
    places = range(len(said))
    first = next((at for at in places if at not in refusals and not _is_command(said[at].text)), 0)
    newest = next((at for at in reversed(places) if has_substance(said[at].text)), places[-1])
    now = next(at for at in places if messages[at] == messages[newest] and _asks(said, at, newest))
    rest = _rest(said, messages, now) if messages[now] != messages[first] else ()
    current = said[now] if messages[now] != messages[first] else said[first]
    return Intent(said[first], current, (), _rest(said, messages, first), rest)


def _asks(said: Sequence[Quote], at: int, newest: int) -> bool:
    return at == newest or has_substance(said[at].text)


def _rest(said: Sequence[Quote], messages: Sequence[int], at: int) -> tuple[Quote, ...]:
    same = (number for number in range(len(said)) if messages[number] == messages[at])
    return tuple(said[number] for number in same if number != at)


_LEAD = r"^(?:(?:ok|okay|oh|hm+|ah|sorry|so|and|but|well|also|btw|yeah|yes|no)[,. ]{1,2}){0,3}"
RETRACTS = Pattern(
    r"\bscratch (?:that|this|it|the)\b|\bchanged? my mind\b|\bon second thoughts?\b|\bnever ?mind\b"
    r"|(?<!don't )(?<!not )(?<!never )\b(?:ignore|disregard|forget)"
    r" (?:the|that|this|what|my|about|all|everything|it|any)\b"
    r"|\bno longer\b|\bfrom now on\b|\bnot what i (?:meant|asked|want)|\bi meant\b"
)
"""Phrases that withdraw something at any position of a sentence."""
TURNS = Pattern(
    _LEAD + r"(?:actually|wait|hold on|nope|instead|rather|scratch|cancel|ditch|drop|undo|revert"
    r"|(?:let'?s|now) (?:drop|ditch|skip|abandon)|i (?:actually|now) (?:want|need|prefer))\b"
    r"|^no[,.!;:—–-]|^(?:no,? )?that's (?:wrong|not)\b"
)
"""Phrases at the start of a sentence that correct an earlier request."""
SWAPS = Pattern(
    r"\b(?:use|do|make|go|put|want|let'?s|have|call|keep|set|switch|try|write|store|be|prefer|like)\b"
    r"[^.!?\n]{1,100}\b(?:instead|rather than)\b|\bnot [^.!?,\n]{1,60},? but (?!not\b)"
    r"|\binstead[.!]?$"
)
PERMITS = Pattern(
    r"\byou can(?= now\b| [^.!?\n]{1,80} (?:now|again|after all)\b)|\byou may\b"
    r"|\byou(?: are|'re) (?:now )?(?:allowed|free) to\b|\bfeel free to\b"
    r"|\bit(?:'s| is) (?:now )?(?:fine|ok|okay|allowed|alright) (?:now )?(?:to|if you)\b"
    r"|\b(?:no longer|don't|do not) (?:need|have) to\b|\bno need to\b"
)
ALLOWED = Pattern(r"\b(?:is|are) (?:now )?(?:fine|ok|okay|allowed|permitted)\b(?: now| again)?")
WIDENS = Pattern(
    r"^(?:(?:ok|oh|and|but|please|then|btw)[, ]{1,2}){0,2}(?:also|additionally|in addition|plus"
    r"|one (?:more )?thing (?:to add|more)|on top of that|while you're at it)\b"
    r"|^(?:can|could|would) you also\b"
    r"|^(?:you (?:can|should|must)|we (?:need|should)|please) also\b"
)
CHOOSES_AGAIN = Pattern(r"\binstead\b|\bscratch\b|\bmy mind\b|\bearlier\b|\bprevious\b")
MIN_DOCUMENT_CHARS = 2_000
"""A longer message is treated as a document, not as a correction."""
DOCUMENT_EDGE_CHARS = 400
"""Characters at either end of a document that are read for changes."""
MAX_CHANGES = 4
"""Maximum number of scope changes in one message."""


def _is_change(one: Sentence, *, first: bool, lengthy: bool) -> bool:
    """Whether a sentence turns from what was wanted before; `first` when nothing was."""
    if one.kind == "heading" or len(one.text) > 600 or is_question(one.text):
        return False
    words = plain_words(one.text)
    if TURNS.match(words) or RETRACTS.search(words):
        return True
    if first or lengthy:
        return False
    return (
        any(cue.search(words) for cue in (SWAPS, PERMITS, WIDENS))
        or ALLOWED.search(words) is not None
    )


POINTING_WORD = Pattern(r"\b(?:that|this|it|those|these)\b")


def _understandable(told: Sequence[Sentence], at: int) -> tuple[int, int]:
    """Where words begin and end that say by themselves what a sentence is about."""
    one = told[at]
    if one.text.endswith(":"):
        last = at
        while last + 1 < len(told) and told[last + 1].kind == "item":
            last += 1
        return one.start, told[last].end if told[
            last
        ].end - one.start <= MAX_BLOCK_CHARS else one.end
    about = subject_of(one.text).all
    if len(about) > 1 or (about and not POINTING_WORD.search(plain_words(one.text))):
        return one.start, one.end
    if at + 1 < len(told):
        return one.start, told[at + 1].end
    return told[max(0, at - 1)].start, one.end


@rule(())
def scope_changes_in(
    text: str, told: Sequence[Sentence], *, first: bool
) -> tuple[ScopeChange, ...]:
    """Return the changes of scope in a message, each with its start.

    A sentence that is unclear alone is returned with the next one, or else with the previous one.
    """
    lengthy = len(text) > MIN_DOCUMENT_CHARS
    spans: list[tuple[int, int]] = []
    for at, one in enumerate(told):
        inside = one.start > DOCUMENT_EDGE_CHARS and one.end < len(text) - DOCUMENT_EDGE_CHARS
        if (lengthy and inside) or not _is_change(one, first=first, lengthy=lengthy):
            continue
        span = _understandable(told, at)
        if spans and span[0] <= spans[-1][1]:
            span = (spans.pop()[0], span[1])
        spans.append(span)
    return tuple((start, text[start:end]) for start, end in spans[:MAX_CHANGES])
