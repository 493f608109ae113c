"""Find the sentences of a message that set constraints for the agent.

A constraint is recognised by its wording: a modal verb, an order, a bound. Doubtful sentences are
left out, because agents see every row as a rule. `overrides` handles withdrawals.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule
from holdfast.core.ledger.summary import Constraint
from holdfast.text.patterns import Pattern, cue
from holdfast.text.sentences import LIST_ITEM, Sentence, is_question, plain_words

MAX_CONSTRAINTS = 12
"""Maximum number of constraints in one message."""
MIN_DOCUMENT_CHARS = 4_000
"""A longer message is treated as a document, in which only hard and firm wording counts."""
MAX_BLOCK_CHARS = 600
"""Maximum length of a constraint that consists of a lead-in and its list."""
MAX_WRAP_GAP = 8
"""Maximum gap between two lines of a wrapped sentence: a line end and an indent."""
INDENT, MIN_COPIED_LINES, COPIED_SHARE = "  ", 6, 0.8
"""A text is copied from a terminal if so many lines, and this share of all, are indented."""
MAX_SENTENCE_CHARS = 400
"""A longer sentence is read clause by clause."""

HARD, FIRM, SOFT, CHOICE = 4, 3, 2, 1

_CLAUSE = (
    r"(?:^|[,;:(.!]\s{1,3}|[—–]\s{0,3}|\s--?\s|\b(?:and|but|so|then|please|also|just|or|ok|okay"
    r"|btw|omfg|dude|hey|yes|yeah|no|alright|actually|instead|however|because|must|should|shall"
    r"|may|agents?)\s{1,3})"
)
"""Where a clause begins: an order stands there, a report has its subject before the verb."""
_VERBS = (
    r"(?:use|edit|touch|change|modify|run|read|write|allow|include|accept|support|return|keep|test"
    r"|import|export|add|show|log|store|commit|push|deploy|call|do|make|work|report|answer|reply)"
)
_COUNT = r"(?:[$€£]?\d|(?:one|two|three|four|five|six|seven|eight|nine|ten|a single)\b)"


MUST_NOT = cue(
    "must|shall|allowed|permitted|forbidden|prohibited|off|circumstances|hands|you|want|nothing"
    "|nobody|approve|authori",
    r"\bmust(?:n't| (?:also |still )?(?:not|never))\b|\bshall not\b"
    r"|\b(?:not (?:be )?(?:allowed|permitted)|forbidden|prohibited|off[- ]limits"
    r"|under no circumstances|hands off)\b"
    r"|(?<!\bif )(?<!\bthat )(?<!\bunderstand )\byou (?:(?:may|can) ?not|can't)\b"
    r"|\bno longer (?:allowed|permitted)\b|\byou(?: are|'re) not to\b"
    r"|^(?:nothing|nobody) [^.;]{1,60}\b(?:may|is to|are to)\b"
    r"|\b(?:i|we) (?:really |definitely )?(?:do not|don't|dont) (?:want|approve|authori[sz]e)\b",
)
NEVER = cue(
    "never",
    r"\bnever\b(?<!\bi never)(?<!\bit never)(?<!\bthat never)(?<!\bthis never)(?<!\bthey never)"
    r"(?<!\bhas never)(?<!\bhave never)(?<!\bhad never)(?<!\bwas never)(?<!\bwere never)"
    r"(?<!\bis never)(?<!\bare never)(?<!'ve never)(?<!'s never)(?<!\bwhich never)"
    r"(?<!\bcurrently never)(?! ?mind\b)"
    r"(?! (?:had|got|saw|did|was|were|been|have|found|knew|\w{1,20}[^e\W]ed)\b)",
)
DO_NOT = cue(
    "do not|don't|dont",
    r"(?:\(|" + _CLAUSE + r")(?:do not|don't|dont)(?::| )"
    r"(?!know\b|think\b|understand\b|worry\b|see\b|mind\b|forget\b|believe\b|need\b|have\b"
    r"|care\b|remember\b|get\b|want\b|quite\b|really\b|even\b|we\b|you\b|i\b|they\b|it\b|seem\b|like\b|agree\b)",
)
_TELLS = cue(
    "do not|don't|dont",
    r"\b((?:where|which|because|since|how) (?:we|they|it|i) [^.,;:]{0,80}\b)"
    r"(?:and|but|or) (?:do not|don't|dont) ",
)
"""What somebody does and does not do, told beside something else: no order."""
SHOULD_NOT = cue(
    "should|let|no longer|avoid|refrain|stop|alone",
    r"\bshould(?:n't| not| never)\b|\blet'?s (?:not|never|avoid)\b|\bno longer (?:use|need|want)\b"
    r"|" + _CLAUSE + r"(?:avoid|refrain from|stop \w{2,20}ing|leave [^.,;]{1,60} alone)\b",
)
# `Die Tests nicht anfassen.`, `No toques los tests.`, `不要修改测试。`, but not `Ich weiß nicht.`,
# `No sé.` and `不知道。`
FORBIDS_ELSEWHERE = cue(
    "nie|nicht|kein|nunca|no |prohibid|sin |不|勿|禁|别",
    r"\b(?:niemals|auf keinen fall|keinesfalls|unter keinen umständen)\b"
    r"|\b(?:darf|darfst|dürfen|sollst?|sollen|sollten?) (?:[^.,;]{1,40} )?"
    r"(?:nicht|keine?[nmrs]?|nie)\b"
    r"|^(?:bitte )?(?:ändere|lösche|nutze|verwende|benutze|schreibe?|mache?|pushe|committe)\b"
    r"[^.,;]{0,60} (?:nicht|keine?[nmrs]?|nie)\b"
    r"|^(?![^.]{0,99}\b(?:ich|wir|es|kann|können|ist|war|wird|hat|haben)\b)"
    r"[^.,;]{0,60}\b(?:nicht|keine?[nmrs]?|nie) (?:[\w-]{1,30} ){0,2}[a-zäöü]{2,30}[enrl]n[.!]?$"
    r"|\bnunca (?!he\b|ha\b|hemos\b|había\b)|\bprohibid[oa]s?\b|\bno (?:debe[ns]?|puedes)\b"
    r"|(?:^|[,;:] |\b(?:y|pero|favor) )no (?:uses?|toques?|cambies?|modifiques?|hagas?|borres?"
    r"|añadas?|agregues?|subas?|escribas?|ejecutes?|rompas?|elimines?|crees?)\b"
    r"|不要|请勿|禁止|不得|绝不|千万别|不允许|不许|严禁|别(?=[改动用删碰写加提推])",
)
# The harder words stand first: the first that is found tells how hard a sentence is.
FORBIDS = (
    (HARD, MUST_NOT),
    (HARD, NEVER),
    (HARD, DO_NOT),
    (HARD, FORBIDS_ELSEWHERE),
    (FIRM, SHOULD_NOT),
)

_NOT_MEANT = (
    r"(?!need\b|idea\b|problem\b|worries\b|way\b|one\b|matter\b|longer\b|doubt\b|clue\b|rush\b"
    r"|more than\b|less than\b|fewer than\b|wonder\b|such\b|matching\b|existing\b|luck\b"
    r"|that\b|it\b|i\b|we\b|the\b|this\b|you\b"
    r"|(?:sé|hay|es|me|se|lo|la|tengo|entiendo|puedo|funciona)\b)"
)
BARE_NO = Pattern(r"^(?:and |but |please,? )?no " + _NOT_MEANT + r"[\w' /-]{2,60}(?:[.!,;]|$)")
NO_BESIDE = cue("no ", r"(?:[,;(] |[—–] ?|\b(?:with|and|but) )no " + _NOT_MEANT + r"[a-z]")
REPORTS = Pattern(
    r"\b(?:is|are|was|were|has|had|found|got|did|exists?|seems?|involved|triggered)\b"
)
_TOGETHER = cue("let", r"\blet(?:['’]s| us) ")
WITHOUT = cue("without", r"\bwithout (?:\w{2,20}ing|any|new|extra|my|asking|the use)\b")

MUST = cue(
    "must|shall",
    r"\bmust\b(?<!\bthere must)(?<!\bi must)(?! (?:have been|be (?:a|an|some|because|that|something"
    r"|the)|say|admit|confess)\b)|\bshall\b",
)
ONLY = cue(
    "only",
    _CLAUSE + r"only (?:" + _VERBS + r"|one|the|in|on|if|when|after|from|for|files)\b"
    r"|\b(?:i|we)(?:'m|'re)? only (?:want|interested)\b"
    r"|\b" + _VERBS + r" only\b"
    r"|\b(?:must|should|shall|may|want|would) (?:\w{1,20} ){0,2}only\b",
)
ALWAYS = cue(
    "always|keep|sure|ensure|required|mandatory|stick|stay|leave",
    _CLAUSE + r"(?:always (?!been\b|had\b|was\b|fail)|keep (?!in mind|me\b|it up|up\b"
    r"|\w{1,20}(?<!th)ing\b))|\b(?:you|will) always\b|(?<!\bto )\b(?:make sure|be sure to|ensure)\b"
    r"|\b(?:is|are|be) (?:strictly )?(?:required|mandatory)\b"
    r"|" + _CLAUSE + r"(?:stick to|stay (?:compatible|within)"
    r"|leave [^.,;]{1,60} (?:as[- ](?:it )?is|unchanged))\b",
)
WISH = cue(
    "prefer|rather|want|need|would like|every|each|any|forget|from now|has|have| me |before",
    r"\b(?:i|we)(?:'d| would)? (?:strongly |really |much )?(?:prefer|rather)\b|^prefer\b"
    r"|\b(?:i|we)(?: really)? (?:want|need|would like) [^.;\n]{1,80} to (?:stay|remain|keep)\b"
    r"|\b(?:before|after) (?:every|each|any)\b"
    r"|\b(?:ask|tell|show|warn|contact|check with|confirm with) me (?:first|before)\b"
    r"|\bbefore (?:making any|you (?:proceed|finali[sz]e|process|commit))\b"
    r"|(?<!\bwe )\b(?:don't|do not|dont) forget\b|\bfrom now on\b"
    r"|\b(?:it|that|this|they|which|plan|code|test|tests|file|files|api|output|result)"
    r" (?:still |also )?(?:has|have|needs?) to\b",
)
SHOULD = cue(
    "should",
    r"\bshould\b(?<!\bi should)(?! (?:have|work|be (?:fine|good|ok|okay|able|enough|it|done|fixed"
    r"|easy|ready)|now|see|know|i|we|it|they|this|that|there|the)\b)"
    r"(?![^.]{0,60}\b(?:already|by now)\b)",
)
USE = cue(
    "use|let",
    _CLAUSE + r"use \w"
    r"|\blet'?s (?:just |only |always |all )?(?:use|keep|stick|go with|make sure|assume"
    r"|treat|limit|default|leave|call|name|target|prefer)\b",
)
# `Bitte nur Tabs verwenden.`, `Usa siempre tabs.`, `必须使用空格。`, but not
# `Das muss ein Fehler sein.` and `Debe haber un error.`
BINDS_ELSEWHERE = cue(
    "muss|müssen|nur|immer|stets|ausschließlich|verwende|nutze|achte|deb|que|usa|utiliza|siempre"
    "|solo|sólo|únicamente|asegúrate|mantén|必须|务必|只能|一定要|请",
    r"(?<!\bich )(?<!\bwir )\b(?:muss|müssen|musst)\b(?! eine? (?:fehler|problem|bug))"
    r"|^(?:bitte )?(?:immer|nur|stets|ausschließlich|verwende|nutze|benutze|achte darauf)\b"
    r"|(?:^|\b(?:y|pero|favor,?) )(?:usa|utiliza|asegúrate|mantén)\b"
    r"|^(?:por favor,? )?(?:siempre|solo|sólo|únicamente)\b"
    r"|\b(?:debe[ns]?|tienen? que)\b(?! (?:haber|ser una?\b|estar))"
    r"|必须|务必|只能|一定要|请使用|请用|请只|请保持|请确保",
)
BINDS = (
    (HARD, MUST),
    (HARD, ONLY),
    (HARD, BINDS_ELSEWHERE),
    (FIRM, ALWAYS),
    (SOFT, WISH),
    (SOFT, SHOULD),
    (SOFT, USE),
)
BOUND = Pattern(
    r"\b(?:at most|at least|no (?:more|less|fewer) than|less than|fewer than|more than|up to|under"
    r"|below|within|above|over|exactly|max(?:imum)?|min(?:imum)?|limit(?:ed)? to|cap(?:ped)? at)"
    r" (?:of |about )?" + _COUNT
)
COMPARES = Pattern(r"[<>]=? ?\d")
DECIDES = cue("let", r"\blet'?s (?!see\b|say\b|think\b|talk\b|look\b)\w")
"""Decisions of the user (`let's …`): they are reported only after they were lifted."""

IMPERATIVE = Pattern(
    r"^(?:(?:please|also|then|and|but|so|ok|okay|now|just|next|first|finally|instead|actually|btw|yes"
    r"|yeah|no|omfg|dude|hey|alright"
    r"|critical|important|note|reminder|rule)[,:]? ){0,3}(?:add|build|change|check|create|delete|do"
    r"|edit|ensure|find|fix|give|implement|include|keep|leave|limit|make|move|pick|port|put|refactor"
    r"|remove|rename|replace|return|review|run|set|show|split|stop|store|stay|test|try|update|use"
    r"|write|rewrite|work|answer|reply|respond|go|let'?s|can you|could you|would you|i want|i need"
    r"|we want|we need|target|cap|retry|wait|send|spend|book|cancel|find|summari[sz]e|explain)\b"
)
MODAL = Pattern(r"\b(?:must|should|shall|please|need|needs|want|require[sd]?|limit|max|allowed)\b")
THINKING_ALOUD = cue(
    "wondering|if i|said:|says:|told me",
    r"\bwondering\b|\bif i (?:do|did|run|ran|were|was)\b"
    r"|^\w{1,30} (?:said|says):|^(?:he|she|they|someone|somebody) told me\b",
)
"""Thoughts, and words of somebody else."""
NOT_BINDING = cue(
    "would be|guess|suppose|assume|should|use|thank|in mind",
    r"\bin mind\b|^(?:many )?thank(?:s| you) for\b|\bsomething (?:we|i|you) should\b"
    r"|\bshould do the same\b"
    r"|\bwould be (?:great|nice|cool) if\b|\bi (?:guess|suppose|assume)\b"
    r"|\b(?:where|what|how|which|whether|who)\b[^.]{0,60}\bshould\b"
    r"|\buse [^.]{1,40} on (?:this|it|that)\b",
)
"""Vague wishes and one-time orders: not binding unless the wording is hard."""
MACHINE_TEXT = Pattern(r"\"[}\],]|[{\[]\"|\}\}|\\n")
"""Marks of data (JSON, escapes), which are not prose."""
# A line `**Describe the bug**`, `Description` or `Steps to reproduce:`, but not `Description: old`.
REPORT_HEADING = Pattern(
    r"^[\W_]{0,6}(?:description|(?:describe the bug|(?:steps )?to reproduce|actual behaviou?r):?)"
    r"[*_ \t\r]{0,6}$",
    re.IGNORECASE | re.MULTILINE,
)
"""A heading of a bug report, which describes how programs work: only orders in it bind."""
ORDER_START = Pattern(
    r"(?:(?:please|also|and|but)[, ]{1,2}){0,2}(?:do not|don't|never|always|only|make sure|ensure"
    r"|keep|use|avoid|you must|you may not)\b"
)
MISSING_SUBJECT = Pattern(r"(?:should|shouldn't|must|mustn't|needs? to|has to)\b")
EXCEPTION_START = Pattern(
    r"(?:except|unless|but only|but not|the only exception|exceptions?:|only if|only when)\b"
)
LIST_LEAD_IN = Pattern(
    r"\b(?:constraints?|rules|requirements|restrictions|guardrails|ground rules|non-negotiables?"
    r"|hard limits)\b[^.\n]{0,40}$"
)


def users_first(rows: Iterable[Constraint]) -> tuple[Constraint, ...]:
    """Return constraints in their order, but the user's before all others."""
    return tuple(sorted(rows, key=lambda row: row.by != "user"))


class ConstraintMatch(Struct, frozen=True):
    """A constraint in a message, with its start and the strength of its wording."""

    text: str
    start: int
    strength: int
    negative: bool = False


@rule(())
def constraints_in(text: str, told: Sequence[Sentence]) -> tuple[ConstraintMatch, ...]:
    """Return the constraints of a message in order: the strongest `MAX_CONSTRAINTS` of them."""
    least = FIRM if len(text) > MIN_DOCUMENT_CHARS else CHOICE
    found = [one for one in _matches_in(text, told) if one.strength >= least]
    if REPORT_HEADING.search(text):
        found = [one for one in found if ORDER_START.match(plain_words(one.text))]
    strongest = sorted(found, key=lambda one: (-one.strength, one.start))[:MAX_CONSTRAINTS]
    return tuple(sorted(strongest, key=lambda one: one.start))


def _matches_in(text: str, told: Sequence[Sentence]) -> Iterator[ConstraintMatch]:
    listing = False
    taken = 0
    copied = _is_copied(text)
    for at, one in enumerate(told):
        if copied and _is_indented(text, one.start):
            continue
        lead = one.kind == "heading" or one.text.endswith(":")
        if one.kind != "item":
            listing = lead and bool(LIST_LEAD_IN.search(plain_words(one.text).rstrip(":")))
        if one.start < taken or one.kind == "heading":
            continue
        for found in _read(one, listing=listing and one.kind == "item"):
            start = _subject(told, at, found, taken)
            end = _list_end(told, at, found) if lead else _exception_end(told, at, found)
            taken = max(taken, end)
            yield replace(found, text=text[start:end], start=start)


@rule(False)
def _is_copied(text: str) -> bool:
    """Return whether most of a message was copied from a terminal, which indents and wraps it.

    What is under discussion there, such as a plan, describes the work and does not bind the agent.
    """
    rows = [row for row in text.split("\n") if row.strip()]
    indented = [row for row in rows if row.startswith(INDENT)]
    plain = sum(LIST_ITEM.match(row.strip()) is None for row in indented)
    return plain >= MIN_COPIED_LINES and len(indented) >= COPIED_SHARE * len(rows)


def _is_indented(text: str, at: int) -> bool:
    return text.startswith(INDENT, text.rfind("\n", 0, at) + 1)


def _subject(told: Sequence[Sentence], at: int, found: ConstraintMatch, taken: int) -> int:
    """Where a constraint begins: with the sentence before when that one names what it is about."""
    if (
        not MISSING_SUBJECT.match(plain_words(found.text))
        or at == 0
        or found.start > told[at].start
    ):
        return found.start
    start = told[at - 1].start
    return start if start >= taken and told[at].end - start <= MAX_SENTENCE_CHARS else found.start


def _list_end(told: Sequence[Sentence], at: int, found: ConstraintMatch) -> int:
    """Where a lead-in ends with its items, unless they are too long to be one thought."""
    last = at
    while last + 1 < len(told) and told[last + 1].kind == "item":
        last += 1
    if last == at and _is_broken(told, at):
        last += 1
    end = told[last].end
    return end if end - found.start <= MAX_BLOCK_CHARS else found.start + len(found.text)


def _is_broken(told: Sequence[Sentence], at: int) -> bool:
    """Whether a sentence goes on in the line below: `Keep it:` and `as it is.`"""
    after = told[at + 1] if at + 1 < len(told) else None
    return (
        after is not None
        and after.kind == "plain"
        and after.start - told[at].end <= MAX_WRAP_GAP
        and after.text[:1].islower()
    )


def _exception_end(told: Sequence[Sentence], at: int, found: ConstraintMatch) -> int:
    """Where a sentence ends with the one after it, when that says where it does not hold."""
    after = told[at + 1] if at + 1 < len(told) else None
    if (
        after
        and EXCEPTION_START.match(plain_words(after.text))
        and after.end - found.start <= MAX_BLOCK_CHARS
    ):
        return after.end
    return found.start + len(found.text)


def _read(one: Sentence, *, listing: bool) -> Iterator[ConstraintMatch]:
    if is_question(one.text):
        return
    for start, piece in _pieces(one.text):
        strength, negative = _strength(piece)
        if listing and not strength:
            strength = FIRM
        if strength:
            yield ConstraintMatch(piece, one.start + start, strength, negative)


CLAUSE_END = Pattern(r"[;,] |\n")


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """A sentence; clause by clause when it runs on."""
    if len(text) <= MAX_SENTENCE_CHARS:
        yield 0, text
        return
    at = 0
    for found in CLAUSE_END.finditer(text):
        yield at, text[at : found.start()]
        at = found.end()
    yield at, text[at:]


def _strength(text: str) -> tuple[int, bool]:
    """How hard a sentence binds, 0 when it does not, and whether it forbids."""
    if len(text) > MAX_SENTENCE_CHARS:
        return 0, False
    words = plain_words(text)
    if _TELLS.search(words):
        words = _TELLS.pattern.sub(r"\1", words)
    if MACHINE_TEXT.search(words) or THINKING_ALOUD.search(words):
        return 0, False
    forbids = next((weight for weight, cue in FORBIDS if cue.search(words)), 0)
    if forbids == HARD:
        return HARD, True
    ordered = IMPERATIVE.match(words) is not None
    if not forbids and _forbids_by_the_way(words, ordered=ordered):
        forbids = FIRM
    binds = next((weight for weight, cue in BINDS if cue.search(words)), 0)
    asked = ordered or MODAL.search(words) is not None
    # `If it takes more than 5 tries, …` has a bound of the condition.
    if (BOUND.search(words) and not words.startswith("if ") and (asked or len(words) < 60)) or (
        asked and COMPARES.search(words)
    ):
        binds = max(binds, FIRM)
    strength = max(forbids, binds)
    if strength < HARD and NOT_BINDING.search(words):
        return 0, False
    if not strength and DECIDES.search(words):
        return CHOICE, False
    return strength, bool(forbids)


@rule(False)
def forbids(text: str) -> bool:
    """Return whether a text forbids something."""
    return _strength(text[:MAX_SENTENCE_CHARS])[1]


def _forbids_by_the_way(words: str, *, ordered: bool) -> bool:
    if WITHOUT.search(words):
        # An order about how to do something; what is wanted is the something.
        if _TOGETHER.search(words):
            return False
        return ordered or MODAL.search(words) is not None
    if REPORTS.search(words):
        return False
    return BARE_NO.match(words) is not None or (ordered and NO_BESIDE.search(words) is not None)
