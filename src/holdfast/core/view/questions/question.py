"""A question as it is held against what is known: what it is about, and what each word weighs.

Most words of a question only say that something is asked ("what did we decide for …"). What is left
says what about. Each such word weighs by how rare it is in the ledger; words for the sort of answer
weigh little, because an answer seldom repeats them.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from holdfast.core.index.terms import Like
from holdfast.core.view.search.ranking import Stems
from holdfast.text.language import COMMON_WORDS
from holdfast.text.tech_terms import NAMED, forms_of, names_of
from holdfast.text.words import WORD

TERMS = 24
"""Words of a question that are looked at; a longer text is no question."""
LOOKED_AT = 2_000
"""Characters of a question, and of what is held against it, that are read."""

_ASKING = """
agree agreed allow allowed answer any approach ask asked can chose choose chosen choice come comes
current currently decide decided decides decision describe did do does done explain finally find
follow followed following give given go goes going gone happen happens have held hold holds keep
know let like made make makes may mean mention mentioned must need needed needs now off ok okay
opt opted option out permitted pick picked please plan planned possible prefer preferred
question reason remember require required requires right said say says select selected settle
settled shall should solution still stick supposed take taken talk tell thing things today told
turned turn use used uses using want wanted way went why work works would yet
"""
ASKING = frozenset(_ASKING.split())
"""Words that say that something is asked, not what about."""
_LOOSE = """
add algorithm amount anybody anyone apply back backend bot build built call carry channel code
component concept connect consist contain control convention cover create deal deliver design done
drive engine exchange finish fix format framework function get got handle identifier implement
implementation improve involve keep kept kind library live location manage manner mechanism medium
method mode model moment name operate organise organize pattern people perform person place point
policy power practice present procedure process product project protect protocol provide provider
put reach refactor report represent rule run running saved schema scheme serve service set setting
setup ship software someone sort standard store strategy structure style supplier supply system
team technique technology tool type unit user value vendor version write written
"""
LOOSE = frozenset(_LOOSE.split())
"""Words for the sort of answer, and for doing anything at all: it seldom repeats them."""

WEIGHED = 6.0
"""The rarity from which on a word weighs all it can."""
LEAST, WEAK, NOWHERE = 0.35, 0.3, 1.0
"""What a word weighs at the least; a loose one; one that the ledger does not have."""
NEAR, NEARER = 0.2, 0.8
"""What any word that means nearly the same counts, and what more for how nearly."""
KEPT = 0.5
"""Which part of a word its stem has to be, for the stem to mean what the word means."""
FOCUS = re.compile(
    r"\b(?:which|what|how many|how much)(?: (?:is|are|was|were) (?:the|our|its))?"
    r"((?: (?!(?:is|are|was|were|do|does|did|has|have|had|can|may|must|should|will|would|to|for|of"
    r"|in|on|with|by|we|i|you|the|a|an|about|from|at|between|when|happens)\b)[\w-]{2,40}){1,3})"
)
"""What is asked for, right behind the word that asks."""
ACTING = re.compile(
    r"^\W{0,3}(?:what|who) (\w{2,30}(?:s|ed)) (?!(?:is|are|was|were|do|does|did|has|have|had|can"
    r"|may|must|should|will|would|to|for|of|we|i|you)\b)\w"
)
"""What someone or something does, asked for by what it does: `what powers the index`."""
DOING = re.compile(
    r"\bwhich (?:[\w-]{2,40} ){1,3}([a-z]{2,30}[^s\W]s) (?:(?:out|up|in|on|off|down|over|back) )?"
    r"(?:the|a|an|our|its|their|all|every|each)\b"
)
"""The same of something that is named by its sort: `which protocol feeds the bar`."""
PHRASES = re.compile(
    r"\boff[- ]limits\b|\bon call\b|\bin charge\b|\bthese days\b|\bat the moment\b"
)
UP_TO_DATE = re.compile(r"\bup[- ]to[- ]date\b")
TWO_PARTS = re.compile(r"\b(sign|log|set|back|roll|clean|start) (up|in|out)\b")
MEASURES = re.compile(
    r"\bhow (?:long|many|much|often|big|large|wide|old|frequently|soon|far|fast|high|late)\b"
    r"|^\W{0,3}(?:since |until |by |from )?when\b"
    r"|\b(?:what time|what hour|(?:earliest|latest)(?: time| moment)?"
    r"|(?:maximum|minimum|limit|threshold|interval|duration|size|delay|timeout|deadline|frequency"
    r"|cadence|rhythm)(?! (?:limit|method)))\b"
)
"""A number or a time is asked for."""
SIZES = re.compile(r"\bhow (?:long|big|large|wide|old|far|high)\b")
PRICED = re.compile(
    r"\b(?:costs?|prices?|fees?|salary|salaries|wages?|budget|charged?|earns?|expensive|cheap)\b"
    r"|\bpays?\b|\bhow much (?:money|is paid)\b"
)
"""Money is asked for."""
WHOM = re.compile(
    r"^\W{0,3}who(?:se|m)? (?!(?:was it (?:that|who) |has |had )?(?:decided?|chose|chosen|picked"
    r"|wanted|wants|said|asked|made|told|preferred|opted|handles|runs|serves|processes|supplies"
    r"|provides|hosts|powers|delivers)\b)"
)
"""A person is asked for, and not whoever decided."""


class Wanted(Struct, frozen=True):
    """One thing that a question is about."""

    word: str
    stem: str
    worth: float
    like: Mapping[str, float] = {}
    """Stems that mean it, or nearly so, and how nearly."""
    names: frozenset[str] = frozenset()
    """Those of them that are the name of such a thing."""


class Question(Struct, frozen=True):
    """What is asked, word by word."""

    text: str
    wanted: tuple[Wanted, ...]
    focus: tuple[str, ...] = ()
    """The stems of what an answer has to be, where that is said: of `which phone models`, both."""

    @property
    def weight(self) -> float:
        """What an answer to all of it would be worth."""
        return sum(one.worth for one in self.wanted)

    @property
    def measures(self) -> bool:
        """Whether a number or a time is asked for."""
        return MEASURES.search(self.text[:LOOKED_AT].lower()) is not None

    @property
    def sizes(self) -> bool:
        """Whether it is asked how much of something there is: never is no answer to that."""
        return SIZES.search(self.text[:LOOKED_AT].lower()) is not None

    @property
    def prices(self) -> bool:
        """Whether an amount of money is asked for."""
        return PRICED.search(self.text[:LOOKED_AT].lower()) is not None

    @property
    def counts(self) -> bool:
        """Whether it is asked how many there are of something."""
        return "how many" in self.text[:LOOKED_AT].lower()

    @property
    def whom(self) -> bool:
        """Whether a person is asked for."""
        return WHOM.match(self.text[:LOOKED_AT].lower()) is not None


def subjects_in(text: str) -> tuple[str, ...]:
    """The words of a question that say what it is about, in order."""
    words = (found.lower() for found in WORD.findall(_plain(text)))
    telling = dict.fromkeys(
        word for word in words if word not in COMMON_WORDS and word not in ASKING
    )
    return tuple(telling)[:TERMS]


def _plain(text: str) -> str:
    """In small letters, without phrases that only ask, words of two parts as one."""
    plain = UP_TO_DATE.sub("updated", PHRASES.sub(" ", text[:LOOKED_AT].lower()))
    return TWO_PARTS.sub(r"\1\2", plain)


def read_question(
    text: str, *, rarity: Callable[[str], float], like: Like, stems: Stems
) -> Question:
    """A question with what each of its words weighs here; `rarity` is 0 for a word not known."""
    weak = _weak(_plain(text))
    wanted = (
        Wanted(
            word,
            stem,
            WEAK if word in weak else _worth(word, rarity(word)),
            *_meant(word, stem, like, stems),
        )
        for word in subjects_in(text)
        for stem in stems(word)[:1]
    )
    found = _told_once(tuple(wanted))
    return Question(text, found, _focus(text, found))


def _weak(text: str) -> frozenset[str]:
    """Words that say how something is asked for: what it does, by which measure or price."""
    acting = ACTING.match(text) or DOING.search(text)
    measures = " ".join(found[0] for by in (MEASURES, PRICED) for found in by.finditer(text))
    return frozenset(f"{acting[1] if acting else ''} {measures}".split())


def _told_once(wanted: tuple[Wanted, ...]) -> tuple[Wanted, ...]:
    """Without words that only say another one again: `sign-up and registration` is one thing."""
    kept: list[Wanted] = []
    for one in wanted:
        if not any(one.stem in other.names and other.stem in one.names for other in kept):
            kept.append(one)
    return tuple(kept)


def _focus(text: str, wanted: Sequence[Wanted]) -> tuple[str, ...]:
    """What an answer has to be; nothing when any sort of answer would do."""
    named = FOCUS.search(_plain(text))
    if named is None or ACTING.match(_plain(text)):
        return ()
    doing = DOING.search(_plain(text))
    words = set(WORD.findall(named[1])) - ({doing[1]} if doing else set())
    return tuple(one.stem for one in wanted if one.word in words and one.worth > WEAK)


def _worth(word: str, rarity: float) -> float:
    # Who runs something may be meant by anything; a runner is a thing.
    doer = word.endswith("er") and word not in LOOSE
    if not doer and any(form in LOOSE for form in forms_of(word)):
        return WEAK
    if not rarity:
        return NOWHERE
    return min(max(rarity / WEIGHED, LEAST), 1.0)


def _meant(
    word: str, stem: str, like: Like, stems: Stems
) -> tuple[dict[str, float], frozenset[str]]:
    meant: dict[str, float] = {}
    for other, near in like(word):
        for key in stems(other)[:1]:
            # `author` is what is left of `authorization`, and means something else.
            if len(key) < len(other) * KEPT:
                continue
            meant[key] = max(meant.get(key, 0.0), NEAR + NEARER * near)
    names = frozenset(key for name in names_of(word) for key in stems(name)[:1]) - {stem}
    meant |= {key: max(meant.get(key, 0.0), NAMED) for key in names}
    meant.pop(stem, None)
    return meant, names
