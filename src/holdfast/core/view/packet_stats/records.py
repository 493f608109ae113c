"""Collect task records (packet, outcome, gaps, unused sections); match remarks to both of these."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Entry, PacketRead, PacketReported, PacketSent
from holdfast.core.ledger.packet import Feedback, Outcome, Packet
from holdfast.core.ledger.packet_tuning import UNTUNED, Tunings
from holdfast.core.view.packet.layers import SECTIONS
from holdfast.core.view.search.ranking import Stems
from holdfast.text.language import COMMON_WORDS
from holdfast.text.patterns import Pattern
from holdfast.text.words import WORD, content_words, lower_words

UNKNOWN_TASK_TYPE = "other"


class TaskRecord(Struct, frozen=True, omit_defaults=True):
    """One task of a worker, as far as it was reported."""

    context_sent: int
    """Tokens of the packet; 0 when there was none."""
    outcome: Outcome = ""
    gaps: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    task_type: str = UNKNOWN_TASK_TYPE
    tokens_used: int = 0
    explored: int = 0
    """Number of things that the worker looked up although the orchestrator knew them."""
    edited: bool = False
    """Whether a person edited the packet."""
    sections: tuple[str, ...] = ()
    """Sections that the packet had."""
    read: bool = True
    depth: str = ""
    at: str = ""
    tuning: int = 0
    """Version of the recommendation in force when the packet was made."""

    @property
    def success(self) -> bool | None:
        """Return whether the task was done; None when no outcome was reported."""
        return None if not self.outcome else self.outcome == "done"


def task_records(entries: Iterable[Entry], tunings: Tunings = UNTUNED) -> tuple[TaskRecord, ...]:
    """Return the reported tasks in the order of the first reports.

    A worker may report several times: reports on the same revision of a packet are merged, and the
    newest outcome counts.
    """
    packets: dict[str, tuple[Packet, str]] = {}
    read: set[str] = set()
    reported: dict[object, list[tuple[Feedback, str]]] = {}
    for entry in entries:
        match entry.body:
            case PacketSent() as body:
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
    records = (_task_record(reports, packets, read) for reports in reported.values())
    return tuple(
        replace(record, tuning=_tuning_version_at(record.at, tunings)) for record in records
    )


def _tuning_version_at(at: str, tunings: Tunings) -> int:
    """Return the newest version at a moment; 0 when the time is not known."""
    before = [tuning.version for tuning in tunings.versions if at and tuning.at and tuning.at <= at]
    return max(before, default=0)


def _task_record(
    reports: list[tuple[Feedback, str]], packets: Mapping[str, tuple[Packet, str]], read: set[str]
) -> TaskRecord:
    feedbacks = [feedback for feedback, _ in reports]
    last = feedbacks[-1]
    ended: list[Outcome] = [feedback.outcome for feedback in feedbacks if feedback.outcome]
    packet = packets.get(last.packet, (None, ""))[0]
    return TaskRecord(
        context_sent=last.context_sent or (packet.token_count if packet else 0),
        outcome=ended[-1] if ended else "",
        gaps=tuple(dict.fromkeys(gap for feedback in feedbacks for gap in feedback.gaps)),
        unused=tuple(dict.fromkeys(part for feedback in feedbacks for part in feedback.unused)),
        task_type=last.task_type or (packet.task_type if packet else "") or UNKNOWN_TASK_TYPE,
        tokens_used=max(feedback.tokens_used for feedback in feedbacks),
        explored=len({what for feedback in feedbacks for what in feedback.explored}),
        edited=bool(packet and packet.edited),
        sections=tuple(packet_sections(packet)) if packet else (),
        read=last.packet in read or packet is None,
        depth=packet.depth if packet else "",
        at=reports[-1][1],
    )


def packet_sections(packet: Packet) -> Iterator[str]:
    """Yield the names of the sections that a packet has."""
    code = packet.codebase
    values: Mapping[str, object] = {
        name: getattr(code if hasattr(code, name) else packet, name) for name in SECTIONS
    }
    return (name for name, value in values.items() if value)


# Gaps that workers report, grouped by the missing thing and not by their wording.


# Matches "Needed: " in "Needed: the schema"; not "needs" in "needs the schema".
GAP_LEAD_IN = Pattern(
    r"(?i)^\W{0,4}(?:needed|need|missing|received|unused|gap|lacked|wanted)\b\s{0,3}:?\s{0,3}"
)
# Matches "(not in docs)"; not nested parentheses.
PARENTHESES = Pattern(r"\([^()]{0,200}\)")
"""A remark in parentheses, which explains a gap and names nothing else."""
# Matches "None." and "n/a"; not "no tests".
NO_GAP = Pattern(r"(?i)^\W{0,4}(?:none|nothing|no(?: context)?(?: gaps?)?|n/?a|-)\W{0,4}$")
"""A wording that says that there is no gap."""
_VAGUE_WORDS = """
about actual additional approach clear context convention conventions current description detail
details documentation existing explanation exact guidance idea info information knowledge list
lack lacked missing more need needed overview pattern patterns project relevant section sense
specific style didn reference referenced
used using way where which
"""
VAGUE_WORDS = frozenset(_VAGUE_WORDS.split())
"""Words that say that something is missing, not what."""
GAP_STOP_WORDS = COMMON_WORDS | VAGUE_WORDS
MIN_SHARED_STEMS = 0.5
"""Share of common stems from which two wordings mean the same gap."""
MAX_LABEL_WORDS = 6
"""Words of a gap's label."""


class Gap(Struct, frozen=True):
    """Something that was missing, with all its wordings."""

    label: str
    stems: frozenset[str]
    wordings: tuple[str, ...]


def without_lead_in(text: str) -> str:
    """Return a wording without its `Needed:`."""
    return GAP_LEAD_IN.sub("", " ".join(text.split())[:500]).strip(" .-")


def says_no_gap(text: str) -> bool:
    """Return whether a wording says that nothing is missing."""
    return not text.strip() or NO_GAP.match(text) is not None or not without_lead_in(text)


def gap_key(text: str, stems: Stems) -> frozenset[str]:
    """Return the stems of the words that say what is missing; of all words if none does."""
    words = lower_words(PARENTHESES.sub(" ", without_lead_in(text)))
    specific = content_words(words, GAP_STOP_WORDS)
    return frozenset(stem for word in specific or words for stem in stems(word)[:1])


def gap_label(text: str) -> str:
    """Return the label of a gap: its specific words, as they were written."""
    words = WORD.findall(PARENTHESES.sub(" ", without_lead_in(text)))
    label_words = [word for word in words if word.lower() not in COMMON_WORDS]
    while len(label_words) > 1 and label_words[0].lower() in VAGUE_WORDS:
        label_words = label_words[1:]
    if len(label_words) > 2 and label_words[-1].lower() in VAGUE_WORDS:
        label_words = label_words[:-1]
    return " ".join(label_words[:MAX_LABEL_WORDS]).lower() or without_lead_in(text)[:60]


def group_gaps(wordings: Iterable[str], stems: Stems) -> tuple[Gap, ...]:
    """Group wordings into gaps: those that share most of their stems are one.

    The order of the wordings does not matter: the shortest are grouped first.
    """
    keys = {text: gap_key(text, stems) for text in wordings if not says_no_gap(text)}
    groups: list[tuple[frozenset[str], list[str]]] = []
    for text in sorted(keys, key=lambda wording: (len(keys[wording]), wording)):
        found = next((group for group in groups if _is_same_gap(group[0], keys[text])), None)
        if found is None:
            groups.append((keys[text], [text]))
        else:
            found[1].append(text)
    return tuple(Gap(gap_label(texts[0]), key, tuple(texts)) for key, texts in groups)


def _is_same_gap(key: frozenset[str], other: frozenset[str]) -> bool:
    if not key or not other:
        return key == other
    shared = len(key & other)
    # A longer wording that contains all stems of a short one describes the same gap.
    return shared == min(len(key), len(other)) or shared / len(key | other) >= MIN_SHARED_STEMS


def names_section(part: str, section: str, stems: Stems) -> bool:
    """Return whether a worker's words name a section: `failed_attempts (didn't reference)`."""
    words = set(stems(without_lead_in(part).replace("_", " ")))
    section_stems = {stem for word in section.split("_") for stem in stems(word)[:1]}
    # Workers write `files` for `relevant_files`.
    return section_stems <= words or (
        section == "relevant_files" and bool(words & set(stems("files")))
    )
