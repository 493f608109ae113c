"""Detect that a text is in another language than its source, by script and common words.

The check is coarse on purpose: it must detect a summary in another language than the session, and
must never refuse one because the session is full of code. A short text counts as the same language.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable

from holdfast.text.words import ATOM, folded_atoms

SAMPLE_CHARS = 20_000
"""Characters of a text that are read."""
MIN_LETTERS = 24
MIN_WORDS = 3
"""A text with fewer counts as the same language."""

STOP_WORD_TEXTS = {
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
"""Other languages leave out words that are common in English or in code."""
STOP_WORDS = {name: frozenset(words.split()) for name, words in STOP_WORD_TEXTS.items()}


def take_sample(texts: Iterable[str]) -> str:
    """Join the beginnings of texts, up to `SAMPLE_CHARS` characters."""
    beginnings: list[str] = []
    left = SAMPLE_CHARS
    for text in texts:
        beginnings.append(text[: min(left, 2_000)])
        left -= len(beginnings[-1])
        if left <= 0:
            break
    return "\n".join(beginnings)


def is_foreign(text: str, source: str) -> bool:
    """Whether a text is mostly in a language that its source is not in."""
    mine, theirs = _count_scripts(text), _count_scripts(source)
    if sum(mine.values()) < MIN_LETTERS or sum(theirs.values()) < MIN_LETTERS:
        return False
    script = mine.most_common(1)[0][0]
    if theirs[script] < sum(theirs.values()) * 0.1:
        return True
    return script == "LATIN" and _has_other_words(text, source, theirs)


def _has_other_words(text: str, source: str, scripts: Counter[str]) -> bool:
    # Count different words: one word that is repeated often proves nothing.
    mine = _count_stop_words(set(folded_atoms(text)))
    theirs = _count_stop_words(folded_atoms(source))
    (language, hits), (_, second) = (*mine.most_common(2), ("", 0), ("", 0))[:2]
    if hits < MIN_WORDS or hits == second:
        return False
    if scripts["LATIN"] < sum(scripts.values()) / 2:
        # The source is in another script; its Latin letters are names and code.
        return theirs[language] < _count_words(source) * 0.02
    strongest = max(theirs.values(), default=0)
    return strongest >= MIN_WORDS and theirs[language] * 4 < strongest


def _count_words(text: str) -> int:
    return sum(1 for _ in ATOM.finditer(text))


def _count_stop_words(words: Iterable[str]) -> Counter[str]:
    """Count the stop words of each language among the words."""
    hits: Counter[str] = Counter()
    for word in words:
        for language, stop_words in STOP_WORDS.items():
            hits[language] += word in stop_words
    return +hits


def _count_scripts(text: str) -> Counter[str]:
    """Count the letters of each script in a text; kana counts as Han, because they mix."""
    letters: Counter[str] = Counter()
    for char, times in Counter(text[:SAMPLE_CHARS]).items():
        if char.isalpha():
            script = unicodedata.name(char, "?").split(" ", 1)[0]
            letters["CJK" if script in ("HIRAGANA", "KATAKANA") else script] += times
    return letters


# Words that any English text may contain, so that they do not show its subject.


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
