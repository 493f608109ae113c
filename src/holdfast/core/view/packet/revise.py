"""Revise packets: compare two, write the changelog, apply manual edits, keep chosen layers."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.packet import Change, Choice, FailedAttempt, Packet, Pivot, RelevantFile
from holdfast.core.view.packet.document import CONTEXT, InvalidPacket
from holdfast.core.view.packet.layers import PARTS
from holdfast.core.view.packet.prompt import (
    NOTHING,
    render_decision,
    render_failed_attempt,
    render_pivot,
)
from holdfast.text.clip import and_more, clip_words, one_line

LONGEST = 120
"""Characters of a row that a changelog quotes."""
QUOTED = 2
"""Rows of a part that a changelog quotes."""
REASON = " — "


class PacketDifference(Struct, frozen=True):
    """The rows of one part that were added or removed."""

    part: str
    gone: tuple[str, ...] = ()
    come: tuple[str, ...] = ()


def packet_rows(packet: Packet) -> dict[str, tuple[str, ...]]:
    """Return the parts of a packet that a worker acts on, each as rows."""
    code = packet.codebase
    return {
        "target_task": _one(packet.target_task),
        "goal": _one(packet.goal),
        "success_criteria": packet.success_criteria,
        "constraints": packet.constraints,
        "decisions": tuple(map(render_decision, packet.decisions)),
        "state": packet.state,
        "relevant_files": tuple(f"{one.path}: {one.summary}" for one in code.relevant_files),
        "patterns": code.patterns,
        "examples": code.examples,
        "anti_patterns": code.anti_patterns,
        "failed_attempts": tuple(map(render_failed_attempt, packet.failed_attempts)),
        "pivots": tuple(map(render_pivot, packet.pivots)),
        "open_questions": packet.open_questions,
        "prior_session": _one(packet.prior_session),
        "not_included": packet.not_included,
    }


def _one(text: str) -> tuple[str, ...]:
    return (text,) if text else ()


def packet_differences(old: Packet, new: Packet) -> tuple[PacketDifference, ...]:
    """Return what changed from one packet to another, part by part."""
    before, after = packet_rows(old), packet_rows(new)
    found: list[PacketDifference] = []
    for part, rows in before.items():
        gone = tuple(row for row in rows if row not in after[part])
        come = tuple(row for row in after[part] if row not in rows)
        if gone or come:
            found.append(PacketDifference(part, gone, come))
    return tuple(found)


def describe_differences(found: Sequence[PacketDifference], why: str = "") -> str:
    """Describe the changes in one line of the changelog."""
    telling = [one for one in found if one.part != "not_included"]
    parts = [_told(one) for one in telling if one.part not in NOISY]
    noisy = [one.part for one in telling if one.part in NOISY]
    parts += [f"{', '.join(noisy)} brought up to date"] if noisy else []
    words = "; ".join(parts) or NOTHING
    return f"{why}: {words}" if why else words


NOISY = frozenset({"state", "relevant_files", "examples", "prior_session"})
"""Parts that follow the session, whose rows say little about what changed."""


def _told(one: PacketDifference) -> str:
    shown = [f"+ {_short(row)}" for row in one.come[:QUOTED]]
    shown += [f"− {_short(row)}" for row in one.gone[:QUOTED]]
    more = len(one.come) + len(one.gone) - len(shown)
    return f"{one.part} {', '.join(shown)}" + and_more(more)


def _short(row: str) -> str:
    return clip_words(one_line(row), LONGEST, "…", split=False)


def is_unchanged(old: Packet, new: Packet) -> bool:
    """Return whether nothing changed that a worker acts on."""
    return all(one.part == "not_included" for one in packet_differences(old, new))


def next_revision(old: Packet, new: Packet, *, why: str = "", at: str = "") -> Packet:
    """Return the next revision of a packet: the new content with the old changelog."""
    number = old.revision + 1
    change = Change(number, describe_differences(packet_differences(old, new), why), at)
    return replace(new, revision=number, changelog=(*old.changelog, change), extra=old.extra)


def edit_part(packet: Packet, part: str, rows: Sequence[str]) -> Packet:
    """Return a packet with one part written by a person; a refresh does not change it.

    Raises:
        InvalidPacket: there is no such part, or it is one text and several were given.
    """
    if part in TEXTS:
        if len(rows) != 1:
            raise InvalidPacket(f"`{part}` is one text, and {len(rows)} were given")
        return _marked(replace(packet, **{part: rows[0]}), part)
    if part in CODE:
        kept: object = tuple(rows)
        if part == "relevant_files":
            kept = tuple(RelevantFile(*_parted(row, ": ")) for row in rows)
        code = replace(packet.codebase, **{part: kept})
        return _marked(replace(packet, codebase=code), "codebase")
    if part not in LISTS:
        raise InvalidPacket(f"it has no part {part!r}; choose one of {', '.join(EDITABLE)}")
    return _marked(replace(packet, **{part: tuple(_row(part, row) for row in rows)}), part)


TEXTS = ("goal", "prior_session")
LISTS = (
    *("success_criteria", "constraints", "decisions", "state", "failed_attempts", "pivots"),
    *("open_questions", "not_included"),
)
CODE = ("relevant_files", "patterns", "examples", "anti_patterns")
EDITABLE = (*TEXTS, *LISTS, *CODE)


def _row(part: str, text: str) -> object:
    match part:
        case "decisions":
            return Choice(*_parted(text, REASON))
        case "failed_attempts":
            return FailedAttempt(*_parted(text, REASON))
        case "pivots":
            return Pivot(*_parted(text, REASON))
        case _:
            return text


def _parted(text: str, mark: str) -> tuple[str, str]:
    first, _, rest = text.partition(mark)
    return first.strip(), rest.strip()


def _marked(packet: Packet, part: str) -> Packet:
    return replace(packet, edited=tuple(dict.fromkeys((*packet.edited, part))))


def apply_rewrite(old: Packet, new: Packet) -> Packet:
    """Return a packet with the content of its rewritten file; changes count as manual edits."""
    changed = [name for name in CONTEXT if getattr(old, name) != getattr(new, name)]
    marks = tuple(dict.fromkeys((*old.edited, *changed)))
    own = {name: getattr(new, name) for name in CONTEXT}
    return replace(old, **own, extra=new.extra, edited=marks)


def keep_layers(packet: Packet, layers: Sequence[int]) -> Packet:
    """Return a packet with only the given layers, so that nothing is sent twice."""
    empty = Packet()
    dropped = [name for number, names in PARTS.items() if number not in layers for name in names]
    return replace(packet, not_included=(), **{name: getattr(empty, name) for name in dropped})
