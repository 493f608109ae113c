"""Select content for a packet: relevance to the task, exclusions, merging, and trimming to size.

The similarity of two texts is the share of the telling words of the shorter one that the other
contains, in the same or a similar form. It is not a cosine of vectors, so the bound is not the 0.7
of the document: it was set to separate a request and the agent's answer from a request and text of
another project (`benchmarks/packets.py` prints both). Constraints, the user's decisions and
failures are never filtered by relevance.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule_or
from holdfast.core.ledger.packet import Choice, Packet
from holdfast.core.observe.results.choices import terms_of
from holdfast.text.clip import clip_words, one_line
from holdfast.text.language import COMMON_WORDS
from holdfast.text.words import content_words, prefix_of, words_in

Like: TypeAlias = Callable[[str], Iterable[tuple[str, float]]]
"""Returns words of similar meaning, and how similar they are."""
Similar: TypeAlias = Callable[[str, str], float]
"""Returns how similar two texts are, from 0 to 1."""
T = TypeVar("T")

BOUND = 0.1
FORM = 0.9
MOST = 400
"""Words of a text that are compared."""


def no_similar_words(word: str) -> Iterable[tuple[str, float]]:
    """Return no words: only equal words count as similar."""
    del word
    return ()


def similarity_by(like: Like = no_similar_words) -> Similar:
    """Return a similarity measure; the words of each text are computed once."""
    known: dict[str, Mapping[str, float]] = {}

    def reach(text: str) -> Mapping[str, float]:
        if text not in known:
            known[text] = _reach(telling_words(text), like)
        return known[text]

    def similar(one: str, other: str) -> float:
        return _alike(telling_words(one), reach(one), telling_words(other), reach(other))

    return similar


def telling_words(text: str) -> tuple[str, ...]:
    """Return the words that say what a text is about, each once."""
    words = words_in(text[:20_000])
    return content_words(words, COMMON_WORDS, min_chars=3, numbers=False)[:MOST]


def _reach(words: Iterable[str], like: Like) -> dict[str, float]:
    """Every word that a text has or comes near to, and how near."""
    near: dict[str, float] = {}
    for word in words:
        near[word] = 1.0
        near.setdefault(prefix_of(word), FORM)
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
    return max(reach.get(word, 0.0), reach.get(prefix_of(word), 0.0))


def relevant_items(
    items: Iterable[T],
    task: str,
    text: Callable[[T], str],
    similar: Similar,
    *,
    pinned: Callable[[T], bool] = lambda _: False,
) -> list[T]:
    """Return the items that are about the task, in their order; pinned items are always kept."""
    return [one for one in items if pinned(one) or similar(text(one), task) >= BOUND]


# What a packet does not hold, and where it is: a worker that misses something can ask.


LAYER = {2: "decisions", 3: "code", 4: "failures"}
"""The content of each layer that was not asked for, in one word."""
TAGS = 6
"""Tags of old decisions that are named."""
LEFT_ROWS, LEFT_CHARS = 1, 32
"""Rows of each kind that are named, and characters of each."""


class LeftOut(Struct, frozen=True):
    """The content that was left out."""

    task: int = 0
    """Tokens of the task."""
    decisions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    """Steps of the plan besides the next one."""
    failures: int = 0
    entries: int = 0
    """All entries of the conversation."""


def describe_exclusions(packet: Packet, left: LeftOut) -> tuple[str, ...]:
    """Describe what was left out and how to get it, in few words."""
    task = f"{left.task:,} tokens of the task (`target_task`)" if left.task > 0 else ""
    layers = [name for number, name in LAYER.items() if number not in packet.layers]
    tags = f"old decisions ({', '.join(left.tags[:TAGS])})" if left.tags else ""
    talk = "the conversation" if left.entries else ""
    told = ", ".join(one for one in (task, *_counted(packet, left), tags, *layers, talk) if one)
    if not told:
        return ()
    return (f"{told}: `holdfast recover QUERY`",) if left.entries else (told,)


def _counted(packet: Packet, left: LeftOut) -> list[str]:
    shown: list[str] = []
    if left.decisions and 2 in packet.layers:
        shown.append(_named("more decision", left.decisions))
    if left.files and 3 in packet.layers:
        shown.append(_named("more file", left.files))
    if left.steps and 2 in packet.layers:
        shown.append(_named("other step", left.steps))
    return shown


def _named(what: str, rows: Sequence[str]) -> str:
    """How many rows there are, and the first few in a word or two each."""
    words = [clip_words(one_line(row), LEFT_CHARS, "…") for row in rows[:LEFT_ROWS]]
    return f"{len(rows)} {what}{'s' * (len(rows) > 1)} ({'; '.join(words)})"


# Strategy 4, deduplication: decisions that belong together become one choice with one reason.


LONGEST = 220
"""Characters of a merged choice; longer ones stay separate."""
PLUS = " + "
ALIKE = 0.45
"""Similarity from which two choices of one maker are about the same thing."""


def _unmerged(decisions: Iterable[Choice], similar: Similar) -> tuple[Choice, ...]:
    """All decisions as they are."""
    del similar
    return tuple(decisions)


@rule_or(_unmerged)
def merge_decisions(decisions: Iterable[Choice], similar: Similar) -> tuple[Choice, ...]:
    """Merge decisions of one maker that were made together or about the same thing."""
    kept: list[Choice] = []
    for one in decisions:
        at = next((at for at, other in enumerate(kept) if belong_together(one, other, similar)), -1)
        if at < 0:
            kept.append(one)
        else:
            kept[at] = join_decisions(kept[at], one)
    return tuple(kept)


def belong_together(one: Choice, other: Choice, similar: Similar) -> bool:
    """Return whether two decisions are parts of one."""
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


def join_decisions(one: Choice, other: Choice) -> Choice:
    """Join two decisions: each choice once, each reason once."""
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
"""Characters of an entry id that are enough to find the entry."""


def drop_one_row(packet: Packet, kept: frozenset[str], order: Sequence[str] = ()) -> Packet | None:
    """Return a packet with one row less; None when only layer 1 and manual edits are left.

    Within a layer, the last section in `order` loses rows first.
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


def shorten_refs(packet: Packet) -> Packet:
    """Return a packet with entry ids cut to a beginning that is enough to find them."""

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
