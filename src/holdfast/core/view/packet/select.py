"""Strategy 1, relevance: only what is about the task goes in.

How alike two texts are is the share of the telling words of the shorter one that the other has
too, in the same form or a like one. It is no cosine of vectors, so the bound is not the 0.7 of the
document: it was set where it parts a request and what the agent said to it from a request and what
was said in another project (`benchmarks/packets.py` prints both). Constraints, decisions of the
user and failures are never asked whether they are relevant.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule_or
from holdfast.core.ledger.packet import Choice, Packet
from holdfast.core.observe.results.choices import terms_of
from holdfast.text.language import COMMON_WORDS
from holdfast.text.words import words_in

Like: TypeAlias = Callable[[str], Iterable[tuple[str, float]]]
"""Words that mean nearly the same as a word, and how nearly."""
Similar: TypeAlias = Callable[[str, str], float]
"""How alike two texts are, from 0 to 1."""
T = TypeVar("T")

BOUND = 0.1
STEM = 5
"""Letters by which two long words are forms of one."""
FORM = 0.9
MOST = 400
"""Words of a text that are compared."""


def none_like(word: str) -> Iterable[tuple[str, float]]:
    """No word is like another: only the same words count."""
    del word
    return ()


def similar_by(like: Like = none_like) -> Similar:
    """A measure of how alike texts are; what a text is made of is worked out once."""
    known: dict[str, Mapping[str, float]] = {}

    def reach(text: str) -> Mapping[str, float]:
        if text not in known:
            known[text] = _reach(telling_words(text), like)
        return known[text]

    def similar(one: str, other: str) -> float:
        return _alike(telling_words(one), reach(one), telling_words(other), reach(other))

    return similar


def telling_words(text: str) -> tuple[str, ...]:
    """The words of a text that say what it is about, each once."""
    found = dict.fromkeys(word for word in words_in(text[:20_000]) if _tells(word))
    return tuple(found)[:MOST]


def _tells(word: str) -> bool:
    return len(word) > 2 and word not in COMMON_WORDS and not word.isdigit()


def _reach(words: Iterable[str], like: Like) -> dict[str, float]:
    """Every word that a text has or comes near to, and how near."""
    near: dict[str, float] = {}
    for word in words:
        near[word] = 1.0
        if len(word) > STEM:
            near.setdefault(word[:STEM], FORM)
        for other, degree in like(word):
            near[other] = max(near.get(other, 0.0), degree * degree)
    return near


def _alike(
    one: Sequence[str], reach: Mapping[str, float], other: Sequence[str], far: Mapping[str, float]
) -> float:
    if not one or not other:
        return 0.0
    few, wide = (one, far) if len(one) <= len(other) else (other, reach)
    return sum(_met(word, wide) for word in few) / (len(few) + 1)


def _met(word: str, reach: Mapping[str, float]) -> float:
    exact = reach.get(word, 0.0)
    return max(exact, reach.get(word[:STEM], 0.0)) if len(word) > STEM else exact


def relevant(
    items: Iterable[T],
    task: str,
    text: Callable[[T], str],
    similar: Similar,
    *,
    bound: float = BOUND,
    pinned: Callable[[T], bool] = lambda _: False,
) -> list[T]:
    """The items that are about the task, in their order; what is pinned is kept unasked."""
    return [one for one in items if pinned(one) or similar(text(one), task) >= bound]


# What a packet does not hold, and where it is: a worker that misses something can ask.


LAYER = {2: "decisions", 3: "code", 4: "failures"}
"""What the layers that were not asked for hold, in a word."""
TAGS = 6
"""Words for old decisions that are named."""


class Left(Struct, frozen=True):
    """How much was left out."""

    task: int = 0
    """Tokens of the task."""
    decisions: int = 0
    tags: tuple[str, ...] = ()
    files: int = 0
    failures: int = 0
    entries: int = 0
    """Entries of the conversation, all of them."""


def exclusions(packet: Packet, left: Left) -> tuple[str, ...]:
    """What was left out, and where it is, in as few words as can be."""
    task = f"{left.task:,} tokens of the task (`target_task`)" if left.task > 0 else ""
    layers = [name for number, name in LAYER.items() if number not in packet.layers]
    tags = f"old decisions ({', '.join(left.tags[:TAGS])})" if left.tags else ""
    talk = "the conversation" if left.entries else ""
    told = ", ".join(one for one in (task, *_counted(packet, left), tags, *layers, talk) if one)
    if not told:
        return ()
    return (f"{told}: `holdfast recover QUERY`",) if left.entries else (told,)


def _counted(packet: Packet, left: Left) -> list[str]:
    shown: list[str] = []
    if left.decisions > 0 and 2 in packet.layers:
        shown.append(f"{left.decisions} more decision{'s' * (left.decisions > 1)}")
    if left.files > 0 and 3 in packet.layers:
        shown.append(f"{left.files} more file{'s' * (left.files > 1)}")
    return shown


# Strategy 4, deduplication: decisions that belong together become one choice with one reason.


LONGEST = 220
"""Characters of a merged choice: what is longer stays two."""
PLUS = " + "
ALIKE = 0.45
"""How alike two choices of one maker are that speak of the same thing."""


def _unmerged(decisions: Iterable[Choice], similar: Similar) -> tuple[Choice, ...]:
    """All decisions as they are."""
    del similar
    return tuple(decisions)


@rule_or(_unmerged)
def merged(decisions: Iterable[Choice], similar: Similar) -> tuple[Choice, ...]:
    """Decisions with those merged that one maker made together or about the same thing."""
    kept: list[Choice] = []
    for one in decisions:
        at = next((at for at, other in enumerate(kept) if belongs(one, other, similar)), -1)
        if at < 0:
            kept.append(one)
        else:
            kept[at] = joined(kept[at], one)
    return tuple(kept)


def belongs(one: Choice, other: Choice, similar: Similar) -> bool:
    """Whether two decisions are parts of one."""
    if one.made_by != other.made_by or one.superseded or other.superseded:
        return False
    if _same(one.choice, other.choice):
        return True
    if len(one.choice) + len(other.choice) > LONGEST:
        return False
    return bool(set(one.refs) & set(other.refs)) or similar(one.choice, other.choice) >= ALIKE


def _same(one: str, other: str) -> bool:
    words, others = terms_of(one), terms_of(other)
    return bool(words) and words == others


def joined(one: Choice, other: Choice) -> Choice:
    """Two decisions as one: what each chose once, and every reason once."""
    choices = [one.choice] if _same(one.choice, other.choice) else [one.choice, other.choice]
    told = one.reason.split(PLUS)
    reasons = [text for text in (one.reason, other.reason) if text]
    reasons = reasons[:1] if other.reason in told else reasons
    return replace(
        one,
        choice="; ".join(text.strip().rstrip(".;") for text in choices),
        reason=PLUS.join(reason.strip().rstrip(".") for reason in reasons),
        refs=tuple(dict.fromkeys((*one.refs, *other.refs))),
    )


# A packet made smaller: a row less, from layer 4 down to layer 2; names cut to what is enough.


Row = TypeVar("Row")

REF = 12
"""Characters of an entry's name by which it is found."""


def less_of(packet: Packet, kept: frozenset[str], order: Sequence[str] = ()) -> Packet | None:
    """A packet with one row less; nothing when only layer 1 and what a person wrote is left.

    Within a layer, what comes last in `order` goes first.
    """
    for name in _needed_last(("open_questions", "pivots", "failed_attempts"), order):
        rows: Sequence[object] = getattr(packet, name)
        if rows and name not in kept:
            return replace(packet, **{name: tuple(rows[:-1])})
    code = packet.codebase
    for name in _needed_last(("anti_patterns", "patterns", "examples", "relevant_files"), order):
        rows = getattr(code, name)
        if rows and "codebase" not in kept:
            return replace(packet, codebase=replace(code, **{name: tuple(rows[:-1])}))
    for name in ("state", "decisions"):
        rows = getattr(packet, name)
        if rows and name not in kept:
            return replace(packet, **{name: tuple(rows[:-1])})
    return replace(packet, prior_session="") if packet.prior_session else None


def _needed_last(parts: Sequence[str], order: Sequence[str]) -> list[str]:
    """Parts in which they are cut: as they stand, unless the record knows better."""
    return sorted(parts, key=lambda part: -order.index(part) if part in order else -len(order))


def short_refs(packet: Packet) -> Packet:
    """A packet that names entries by the beginning of their ids: enough to find them."""

    def short(rows: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple(
            replace(row, refs=tuple(ref[:REF] for ref in getattr(row, "refs", ())))  # type: ignore[type-var]
            for row in rows
        )

    code = packet.codebase
    return replace(
        packet,
        decisions=short(packet.decisions),
        codebase=replace(code, relevant_files=short(code.relevant_files)),
        failed_attempts=short(packet.failed_attempts),
        pivots=short(packet.pivots),
    )
