"""Strategy 4, deduplication: decisions that belong together become one choice with one reason."""

from collections.abc import Iterable

from msgspec.structs import replace

from holdfast.core.faults import rule_or
from holdfast.core.ledger.packet import Choice
from holdfast.core.observe.choices import terms_of
from holdfast.core.view.packet.relevance import Similar

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
