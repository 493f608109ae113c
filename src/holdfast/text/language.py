"""Whether two texts are of the same language, told by their script and their commonest words.

It is a coarse look on purpose: it must find a summary in another language than the work, and must
never refuse one because the work is full of code. What is too short to tell is taken as the same.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

SAMPLE = 20_000
"""Characters that are looked at."""
FEW_LETTERS = 24
FEW_WORDS = 3
"""Below these nothing can be told."""

WORD = re.compile(r"\w+")

COMMON = {
    "english": "the and of to is for that with was are this not it from be because which has",
    "german": "der und ist das nicht mit ein eine wird für auf dem werden weil auch wurde sich",
    "french": "le les des est et une dans pour que pas sur avec du qui sont ce cette nous",
    "spanish": "el los una para que con del es por se como más esta fue está porque pero",
    "portuguese": "uma para com não que dos das em por mais como foi são está ao pelo porque",
    "italian": "il di che una con sono del della è nel gli questo perché stato anche alla",
    "dutch": "het een van niet dat voor met zijn wordt aan omdat deze naar ook bij worden",
    "polish": "nie się na jest że jak przez dla oraz ale który być są zostało został tego aby",
    "turkish": "bir ve için bu ile olarak daha çok değil olan gibi sonra kadar ama",
    "swedish": "och att det som är inte för med på av till har ett eftersom",
    "indonesian": "yang dan untuk dengan tidak dari pada akan adalah karena atau sudah oleh",
}
"""No word of one that is a common name or word in English or in code."""
STOP_WORDS = {name: frozenset(words.split()) for name, words in COMMON.items()}


def sample(texts: Iterable[str]) -> str:
    """The beginnings of texts, a sample in all."""
    taken: list[str] = []
    left = SAMPLE
    for text in texts:
        taken.append(text[: min(left, 2_000)])
        left -= len(taken[-1])
        if left <= 0:
            break
    return "\n".join(taken)


def is_foreign(text: str, source: str) -> bool:
    """Whether a text is mostly of a language that its source is not in."""
    mine, theirs = _scripts(text), _scripts(source)
    if sum(mine.values()) < FEW_LETTERS or sum(theirs.values()) < FEW_LETTERS:
        return False
    script = mine.most_common(1)[0][0]
    if theirs[script] < sum(theirs.values()) * 0.1:
        return True
    return script == "LATIN" and _other_words(text, source, theirs)


def _other_words(text: str, source: str, scripts: Counter[str]) -> bool:
    # Different words, for one that is said over and over tells nothing.
    mine = _hits(set(WORD.findall(text.casefold())))
    theirs = _hits(WORD.findall(source.casefold()))
    (tongue, hits), (_, second) = (*mine.most_common(2), ("", 0), ("", 0))[:2]
    if hits < FEW_WORDS or hits == second:
        return False
    if scripts["LATIN"] < sum(scripts.values()) / 2:
        # The work is told in another script; its Latin letters are names and code.
        return theirs[tongue] < _words(source) * 0.02
    strongest = max(theirs.values(), default=0)
    return strongest >= FEW_WORDS and theirs[tongue] * 4 < strongest


def _words(text: str) -> int:
    return sum(1 for _ in WORD.finditer(text))


def _hits(found: Iterable[str]) -> Counter[str]:
    """How many of the words are common ones of each language."""
    hits: Counter[str] = Counter()
    for word in found:
        for tongue, words in STOP_WORDS.items():
            hits[tongue] += word in words
    return +hits


def _scripts(text: str) -> Counter[str]:
    """How many letters of each script a text has; kana counts as Han, as they mix."""
    found: Counter[str] = Counter()
    for char, times in Counter(text[:SAMPLE]).items():
        if char.isalpha():
            script = unicodedata.name(char, "?").split(" ", 1)[0]
            found["CJK" if script in ("HIRAGANA", "KATAKANA") else script] += times
    return found


# Words that stand in any text and say nothing of what it is about.


_COMMON_WORDS = """
a about after again all also am an and any are as at be because been before being between both but
by can could did do does doing done during each either etc ever few for from get gets got had has
have having he her here hers him his how i if in into is it its itself just kind let like likely
many may me might more most much must my no nor not now of off on once only or other our ours out
over own per same shall she should so some such than that the their theirs them then there these
they this those through to too type under until up us very via was we were what when where which
while who whom whose why will with would yes you your yours s t d ll m re ve don didn doesn isn
wasn won
"""
COMMON_WORDS = frozenset(_COMMON_WORDS.split())
