"""Parse a question into the words that say what it is about, each with a weight.

Most words of a question only say that something is asked ("what did we decide for …"). The others
get a weight by their rarity in the ledger; words for the sort of answer weigh little, because an
answer seldom repeats them.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from holdfast.core.index.terms import SimilarWords
from holdfast.core.view.search.ranking import Stems
from holdfast.text.language import COMMON_WORDS
from holdfast.text.patterns import Pattern
from holdfast.text.tech_terms import NAME_SIMILARITY, base_forms, names_of_kind
from holdfast.text.words import WORD, content_words, lower_words

MAX_SUBJECT_WORDS = 24
"""Words of a question that are used; a longer text is not a question."""
MAX_READ_CHARS = 2_000
"""Characters of a question, and of a text compared with it, that are read."""

_ASKING_WORDS = """
agree agreed allow allowed answer any approach ask asked can chose choose chosen choice come comes
current currently decide decided decides decision describe did do does done explain finally find
follow followed following give given go goes going gone happen happens have held hold holds keep
know let like made make makes may mean mention mentioned must need needed needs now off ok okay
opt opted option out permitted pick picked please plan planned possible prefer preferred
question reason remember require required requires right said say says select selected settle
settled shall should solution still stick supposed take taken talk tell thing things today told
turned turn use used uses using want wanted way went why work works would yet
"""
ASKING_WORDS = frozenset(_ASKING_WORDS.split())
"""Words that say that something is asked, not what about."""
QUESTION_STOP_WORDS = COMMON_WORDS | ASKING_WORDS
_LOOSE_WORDS = """
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
LOOSE_WORDS = frozenset(_LOOSE_WORDS.split())
"""Words for the sort of answer and for any activity; an answer seldom repeats them."""

FULL_RARITY = 6.0
"""Rarity from which a word has its full weight."""
MIN_WORTH, WEAK_WORTH, UNKNOWN_WORTH = 0.35, 0.3, 1.0
"""Weights: the least of any word, that of a loose word, that of a word that the ledger lacks."""
LIKE_BASE, LIKE_SCALE = 0.2, 0.8
"""Share that any similar word counts, and what its similarity adds."""
MIN_STEM_SHARE = 0.5
"""Share of a word that its stem must keep to have the same meaning."""
# Matches "which phone models" in "which phone models do we test"; not "what is used for".
FOCUS_PHRASE = Pattern(
    r"\b(?:which|what|how many|how much)(?: (?:is|are|was|were) (?:the|our|its))?"
    r"((?: (?!(?:is|are|was|were|do|does|did|has|have|had|can|may|must|should|will|would|to|for|of"
    r"|in|on|with|by|we|i|you|the|a|an|about|from|at|between|when|happens)\b)[\w-]{2,40}){1,3})"
)
"""The thing that is asked for, directly after the question word."""
# Matches "what powers the index"; not "what is the index".
WHAT_DOES = Pattern(
    r"^\W{0,3}(?:what|who) (\w{2,30}(?:s|ed)) (?!(?:is|are|was|were|do|does|did|has|have|had|can"
    r"|may|must|should|will|would|to|for|of|we|i|you)\b)\w"
)
"""A person or thing that is asked for by its activity."""
# Matches "which protocol feeds the bar"; not "which protocol do we use".
WHICH_DOES = Pattern(
    r"\bwhich (?:[\w-]{2,40} ){1,3}([a-z]{2,30}[^s\W]s) (?:(?:out|up|in|on|off|down|over|back) )?"
    r"(?:the|a|an|our|its|their|all|every|each)\b"
)
"""A thing that is asked for by its sort and its activity."""
# Phrases that say nothing about the subject. Matches "these days"; not "day".
ASKING_PHRASES = Pattern(
    r"\boff[- ]limits\b|\bon call\b|\bin charge\b|\bthese days\b|\bat the moment\b"
)
UP_TO_DATE = Pattern(r"\bup[- ]to[- ]date\b")
# Verbs that are joined to one word. Matches "sign up"; not "sign the form".
TWO_PART_VERBS = Pattern(r"\b(sign|log|set|back|roll|clean|start) (up|in|out)\b")
# Matches "how long is the delay" and "when do we ship"; not "how does it work".
ASKS_MEASURE = Pattern(
    r"\bhow (?:long|many|much|often|big|large|wide|old|frequently|soon|far|fast|high|late)\b"
    r"|^\W{0,3}(?:since |until |by |from )?when\b"
    r"|\b(?:what time|what hour|(?:earliest|latest)(?: time| moment)?"
    r"|(?:maximum|minimum|limit|threshold|interval|duration|size|delay|timeout|deadline|frequency"
    r"|cadence|rhythm)(?! (?:limit|method)))\b"
)
"""A question for a number or a time."""
# Matches "how large is the cache"; not "how often".
ASKS_SIZE = Pattern(r"\bhow (?:long|big|large|wide|old|far|high)\b")
# Matches "what does it cost" and "how much is paid"; not "how much memory".
ASKS_PRICE = Pattern(
    r"\b(?:costs?|prices?|fees?|salary|salaries|wages?|budget|charged?|earns?|expensive|cheap)\b"
    r"|\bpays?\b|\bhow much (?:money|is paid)\b"
)
"""A question for an amount of money."""
# Matches "who reviews releases"; not "who decided on Redis".
ASKS_PERSON = Pattern(
    r"^\W{0,3}who(?:se|m)? (?!(?:was it (?:that|who) |has |had )?(?:decided?|chose|chosen|picked"
    r"|wanted|wants|said|asked|made|told|preferred|opted|handles|runs|serves|processes|supplies"
    r"|provides|hosts|powers|delivers)\b)"
)
"""A question for a person, except for the one who decided."""


class QuestionWord(Struct, frozen=True):
    """One subject word of a question."""

    word: str
    stem: str
    worth: float
    like: Mapping[str, float] = {}
    """Stems of the same or a similar meaning, and how similar they are."""
    names: frozenset[str] = frozenset()
    """Those of them that are names of such a thing."""


class ParsedQuestion(Struct, frozen=True):
    """A question with its subject words."""

    text: str
    subjects: tuple[QuestionWord, ...]
    focus: tuple[str, ...] = ()
    """Stems of what an answer has to be, if the question says so: both words of `which phone
    models`."""

    @property
    def weight(self) -> float:
        """Return the worth of an answer to the whole question."""
        return sum(word.worth for word in self.subjects)

    @property
    def asks_measure(self) -> bool:
        """Return whether it asks for a number or a time."""
        return ASKS_MEASURE.search(self.text[:MAX_READ_CHARS].lower()) is not None

    @property
    def asks_size(self) -> bool:
        """Return whether it asks for a size or length, to which "never" is not an answer."""
        return ASKS_SIZE.search(self.text[:MAX_READ_CHARS].lower()) is not None

    @property
    def asks_price(self) -> bool:
        """Return whether it asks for an amount of money."""
        return ASKS_PRICE.search(self.text[:MAX_READ_CHARS].lower()) is not None

    @property
    def asks_count(self) -> bool:
        """Return whether it asks how many there are."""
        return "how many" in self.text[:MAX_READ_CHARS].lower()

    @property
    def asks_person(self) -> bool:
        """Return whether it asks for a person."""
        return ASKS_PERSON.match(self.text[:MAX_READ_CHARS].lower()) is not None


def subjects_in(text: str) -> tuple[str, ...]:
    """Return the words that say what a question is about, in order."""
    words = lower_words(_normalize(text))
    return content_words(words, QUESTION_STOP_WORDS)[:MAX_SUBJECT_WORDS]


def _normalize(text: str) -> str:
    """Return the text in lower case, without asking phrases, two-part verbs joined."""
    plain = UP_TO_DATE.sub("updated", ASKING_PHRASES.sub(" ", text[:MAX_READ_CHARS].lower()))
    return TWO_PART_VERBS.sub(r"\1\2", plain)


def read_question(
    text: str, *, rarity: Callable[[str], float], like: SimilarWords, stems: Stems
) -> ParsedQuestion:
    """Parse a question and weigh its words; `rarity` returns 0 for a word that the ledger lacks."""
    weak = _weak_words(_normalize(text))
    subjects = (
        QuestionWord(
            word,
            stem,
            WEAK_WORTH if word in weak else _word_worth(word, rarity(word)),
            *_similar_stems(word, stem, like, stems),
        )
        for word in subjects_in(text)
        for stem in stems(word)[:1]
    )
    found = _without_synonyms(tuple(subjects))
    return ParsedQuestion(text, found, _focus(text, found))


def _weak_words(text: str) -> frozenset[str]:
    """Return words for how something is asked: the activity, the measure or the price."""
    activity = WHAT_DOES.match(text) or WHICH_DOES.search(text)
    measures = " ".join(
        found[0] for by in (ASKS_MEASURE, ASKS_PRICE) for found in by.finditer(text)
    )
    return frozenset(f"{activity[1] if activity else ''} {measures}".split())


def _without_synonyms(subjects: tuple[QuestionWord, ...]) -> tuple[QuestionWord, ...]:
    """Drop words that repeat another one: `sign-up and registration` is one thing."""
    unique: list[QuestionWord] = []
    for word in subjects:
        if not any(word.stem in other.names and other.stem in word.names for other in unique):
            unique.append(word)
    return tuple(unique)


def _focus(text: str, subjects: Sequence[QuestionWord]) -> tuple[str, ...]:
    """Return the stems of what an answer has to be; empty when any sort of answer will do."""
    named = FOCUS_PHRASE.search(_normalize(text))
    if named is None or WHAT_DOES.match(_normalize(text)):
        return ()
    activity = WHICH_DOES.search(_normalize(text))
    words = set(WORD.findall(named[1])) - ({activity[1]} if activity else set())
    return tuple(word.stem for word in subjects if word.word in words and word.worth > WEAK_WORTH)


def _word_worth(word: str, rarity: float) -> float:
    # `run` is a loose word, but `runner` names a thing.
    doer = word.endswith("er") and word not in LOOSE_WORDS
    if not doer and any(form in LOOSE_WORDS for form in base_forms(word)):
        return WEAK_WORTH
    if not rarity:
        return UNKNOWN_WORTH
    return min(max(rarity / FULL_RARITY, MIN_WORTH), 1.0)


def _similar_stems(
    word: str, stem: str, like: SimilarWords, stems: Stems
) -> tuple[dict[str, float], frozenset[str]]:
    similar: dict[str, float] = {}
    for other, near in like(word):
        for key in stems(other)[:1]:
            # The stem `author` of `authorization` means something else.
            if len(key) < len(other) * MIN_STEM_SHARE:
                continue
            similar[key] = max(similar.get(key, 0.0), LIKE_BASE + LIKE_SCALE * near)
    names = frozenset(key for name in names_of_kind(word) for key in stems(name)[:1]) - {stem}
    similar |= {key: max(similar.get(key, 0.0), NAME_SIMILARITY) for key in names}
    similar.pop(stem, None)
    return similar, names
