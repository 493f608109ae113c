"""Records of tasks: what was sent, how it ended, what was missing and what was not needed."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Entry, Handed, PacketRead, PacketReported
from holdfast.core.ledger.packet import Feedback, Outcome, Packet
from holdfast.core.ledger.packet_tuning import UNTUNED, Tunings
from holdfast.core.view.packet.layers import SECTIONS
from holdfast.core.view.search.ranking import Stems
from holdfast.text.language import COMMON_WORDS
from holdfast.text.words import WORD

UNTYPED = "other"


class Record(Struct, frozen=True, omit_defaults=True):
    """One task of a worker's, as far as it was told."""

    context_sent: int
    """Tokens of the packet; 0 when there was none."""
    outcome: Outcome = ""
    gaps: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    task_type: str = UNTYPED
    tokens_used: int = 0
    explored: int = 0
    """How many things the worker looked up again although the orchestrator knew them."""
    edited: bool = False
    """Whether somebody wrote on the packet by hand."""
    sections: tuple[str, ...] = ()
    """Which parts the packet had."""
    read: bool = True
    depth: str = ""
    at: str = ""
    tuning: int = 0
    """The version of the recommendation that the packet was made under."""

    @property
    def success(self) -> bool | None:
        """Whether the task was done; nothing when nobody told."""
        return None if not self.outcome else self.outcome == "done"


def records_of(entries: Iterable[Entry], tunings: Tunings = UNTUNED) -> tuple[Record, ...]:
    """The tasks that were reported on, in the order of the reports, each with its last word.

    A worker may report as often as it likes: what it says of the same revision of a packet adds up,
    and the newest outcome counts.
    """
    packets: dict[str, tuple[Packet, str]] = {}
    read: set[str] = set()
    reported: dict[object, list[tuple[Feedback, str]]] = {}
    for entry in entries:
        match entry.body:
            case Handed() as body:
                packets[entry.id] = (body.packet, entry.at)
            case PacketRead() as body:
                read.add(body.packet)
            case PacketReported() as body:
                key = (
                    (body.feedback.packet, body.feedback.revision)
                    if body.feedback.packet
                    else entry.id
                )
                reported.setdefault(key, []).append((body.feedback, entry.at))
            case _:
                pass
    made = (_record(said, packets, read) for said in reported.values())
    return tuple(replace(one, tuning=_in_force(one.at, tunings)) for one in made)


def _in_force(at: str, tunings: Tunings) -> int:
    """The version that was newest at a moment; 0 when nobody told the time."""
    before = [one.version for one in tunings.versions if at and one.at and one.at <= at]
    return max(before, default=0)


def _record(
    said: list[tuple[Feedback, str]],
    packets: Mapping[str, tuple[Packet, str]],
    read: set[str],
) -> Record:
    told = [one for one, _ in said]
    last = told[-1]
    ended: list[Outcome] = [one.outcome for one in told if one.outcome]
    packet = packets.get(last.packet, (None, ""))[0]
    return Record(
        context_sent=last.context_sent or (packet.token_count if packet else 0),
        outcome=ended[-1] if ended else "",
        gaps=tuple(dict.fromkeys(gap for one in told for gap in one.gaps)),
        unused=tuple(dict.fromkeys(part for one in told for part in one.unused)),
        task_type=last.task_type or (packet.task_type if packet else "") or UNTYPED,
        tokens_used=max(one.tokens_used for one in told),
        explored=len({what for one in told for what in one.explored}),
        edited=bool(packet and packet.edited),
        sections=tuple(sections_of(packet)) if packet else (),
        read=last.packet in read or packet is None,
        depth=packet.depth if packet else "",
        at=said[-1][1],
    )


def sections_of(packet: Packet) -> Iterator[str]:
    """The parts that a packet has."""
    code = packet.codebase
    held: Mapping[str, object] = {
        name: getattr(code if hasattr(code, name) else packet, name) for name in SECTIONS
    }
    return (name for name, value in held.items() if value)


# Gaps that workers report, counted by what is missing and not by how they put it.


LEAD = re.compile(
    r"(?i)^\W{0,4}(?:needed|need|missing|received|unused|gap|lacked|wanted)\b\s{0,3}:?\s{0,3}"
)
ASIDE = re.compile(r"\([^()]{0,200}\)")
"""What stands in brackets explains; it names nothing else."""
NOTHING = re.compile(r"(?i)^\W{0,4}(?:none|nothing|no(?: context)?(?: gaps?)?|n/?a|-)\W{0,4}$")
"""Words that say that there is no gap."""
_EMPTY = """
about actual additional approach clear context convention conventions current description detail
details documentation existing explanation exact guidance idea info information knowledge list
lack lacked missing more need needed overview pattern patterns project relevant section sense
specific style didn reference referenced
used using way where which
"""
EMPTY = frozenset(_EMPTY.split())
"""Words that say that something is missing, not what."""
ALIKE = 0.5
"""The share of words in common from which two wordings mean the same."""
LONGEST_LABEL = 6
"""Words by which a gap is called."""


class Gap(Struct, frozen=True):
    """Something that was missing, in all its wordings."""

    label: str
    stems: frozenset[str]
    wordings: tuple[str, ...]


def bare(text: str) -> str:
    """A wording without its `Needed:`."""
    return LEAD.sub("", " ".join(text.split())[:500]).strip(" .-")


def is_none(text: str) -> bool:
    """Whether a wording says that nothing is missing."""
    return not text.strip() or NOTHING.match(text) is not None or not bare(text)


def key_of(text: str, stems: Stems) -> frozenset[str]:
    """The words that say what is missing, as stems; all of them when none says more than others."""
    words = [word.lower() for word in WORD.findall(ASIDE.sub(" ", bare(text)))]
    telling = [word for word in words if word not in COMMON_WORDS and word not in EMPTY]
    return frozenset(stem for word in telling or words for stem in stems(word)[:1])


def label_of(text: str) -> str:
    """How a gap is called: its telling words, as they were put."""
    words = WORD.findall(ASIDE.sub(" ", bare(text)))
    kept = [word for word in words if word.lower() not in COMMON_WORDS]
    while len(kept) > 1 and kept[0].lower() in EMPTY:
        kept = kept[1:]
    if len(kept) > 2 and kept[-1].lower() in EMPTY:
        kept = kept[:-1]
    return " ".join(kept[:LONGEST_LABEL]).lower() or bare(text)[:60]


def counted_as_one(wordings: Iterable[str], stems: Stems) -> tuple[Gap, ...]:
    """The gaps that some wordings name: those that share most of their words are one.

    The same wordings in another order give the same gaps: the shortest come first.
    """
    told = {text: key_of(text, stems) for text in wordings if not is_none(text)}
    groups: list[tuple[frozenset[str], list[str]]] = []
    for text in sorted(told, key=lambda one: (len(told[one]), one)):
        found = next((group for group in groups if _same(group[0], told[text])), None)
        if found is None:
            groups.append((told[text], [text]))
        else:
            found[1].append(text)
    return tuple(Gap(label_of(texts[0]), key, tuple(texts)) for key, texts in groups)


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other:
        return one == other
    shared = len(one & other)
    # All of a short wording in a longer one is the same gap told at length.
    return shared == min(len(one), len(other)) or shared / len(one | other) >= ALIKE


def gap_of(text: str, gaps: Sequence[Gap]) -> str:
    """The label of the gap that a wording belongs to; empty when it names none."""
    return next((gap.label for gap in gaps if text in gap.wordings), "")
