"""Collect feedback of workers: from calls or files into entries of the orchestrator's ledger.

A worker without Holdfast can write a file; the ledger is the source of truth. The same feedback is
recorded once, however often its file is read. A worker's request for more stays open until a newer
packet is delivered.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Entry, PacketReported, PacketSent
from holdfast.core.ledger.notes import MORE, PacketWanted, note_of
from holdfast.core.ledger.packet import Feedback
from holdfast.core.plan.policy import LAYOUTS
from holdfast.core.view.packet.layers import task_type_of
from holdfast.core.view.packet_stats.feedback import feedback_document, read_feedback
from holdfast.engine.ledger import Ledger
from holdfast.engine.never_store import NeverStoreFilter
from holdfast.errors import BadFeedback, BadPacket, NotWritten
from holdfast.packets.deliver import clear_if_done
from holdfast.packets.packet import read_yaml
from holdfast.packets.records import (
    PacketRecord,
    newest_of_each_worker,
    newest_packet,
    packet_entries,
    packet_records,
)
from holdfast.project.clock import timestamp
from holdfast.project.layout import slug
from holdfast.project.regular_files import read_regular
from holdfast.project.write import write_copy
from holdfast.text.jsontext import whole_number
from holdfast.text.patterns import Pattern
from holdfast.text.utf8 import to_bytes
from holdfast.text.yaml import to_yaml

REFRESH = "refresh"
AGENTWIRE = ".agentwire"
MAX_FEEDBACK_BYTES = 256 * 1024
"""Maximum bytes of a feedback file; a real one has some hundreds."""
MAX_REASON_CHARS = 2_000
"""Maximum characters of the reason for a request."""
PANE_FILE = Pattern(r"(?:pane-)?([\w.-]{1,64})\.md")
"""The name of a feedback file. Matches `pane-1.md` and `reviewer.md`, not `pane 1.md`."""


class WorkerRequest(Struct, frozen=True):
    """An open request of a worker for another packet."""

    pane: str
    kind: str
    """`more` if its packet is not enough, `refresh` if it is old."""
    why: str = ""
    at: str = ""
    packet: str = ""


class CollectedFeedback(Struct, frozen=True):
    """A feedback file that was read."""

    file: str
    feedback: Feedback
    new: bool = True
    """Whether it was not recorded yet."""
    flaw: str = ""
    """Why it could not be read."""


def feedback_file(pane: str, layout: str) -> str:
    """Return the path of a worker's feedback file."""
    return f"{_folder(layout)}/feedback/{slug(pane).replace('_', '-')}.md"


def _folder(layout: str) -> str:
    return LAYOUTS[layout].removesuffix("/cache")


def record_feedback(ledger: Ledger, feedback: Feedback, *, file: str = "") -> Entry | None:
    """Record feedback with the packet it is about; None if tracking is off."""
    stored = with_packet(
        ledger, _map_texts(feedback, NeverStoreFilter(ledger.policy.never_store).text)
    )
    if ledger.policy.packets.track == "off":
        return None
    entry = ledger.derive(PacketReported(stored, file))
    if stored.pane:
        clear_if_done(ledger, stored.pane, stored.outcome)
    return entry


def _map_texts(feedback: Feedback, change: Callable[[str], str]) -> Feedback:
    """Return feedback with `change` applied to every text of the worker."""
    return replace(
        feedback,
        gaps=tuple(map(change, feedback.gaps)),
        unused=tuple(map(change, feedback.unused)),
        explored=tuple(map(change, feedback.explored)),
        note=change(feedback.note),
    )


def with_packet(ledger: Ledger, feedback: Feedback) -> Feedback:
    """Return feedback with the packet it is about, its size, and the kind of its task."""
    record = newest_packet(ledger, feedback.pane) if feedback.pane else None
    if record is None:
        return feedback
    packet = record.packet
    kind = feedback.task_type or packet.task_type or task_type_of(packet.target_task)
    return replace(
        feedback,
        packet=record.id,
        revision=packet.revision,
        task_type=kind,
        context_sent=packet.token_count,
    )


def write_feedback(ledger: Ledger, feedback: Feedback) -> str:
    """Write the file of a worker's feedback; return its path. Without a project, write nothing.

    Raises:
        NotWritten: it could not be written.
    """
    if not ledger.root or not feedback.pane:
        return ""
    file = feedback_file(feedback.pane, ledger.policy.layout)
    shown = feedback_document(_map_texts(feedback, ledger.redactor.text))
    try:
        write_copy(ledger.root, file, to_yaml(dict(shown)).encode("utf-8", "replace"))
    except NotWritten as error:
        raise BadFeedback(file, f"it could not be written ({error.reason})") from None
    return file


def parse_feedback(text: str, where: str) -> Feedback:
    """Read a worker's feedback from a text.

    Raises:
        BadFeedback: it is too large.
    """
    if len(to_bytes(text)) > MAX_FEEDBACK_BYTES:
        raise BadFeedback(where, f"it has more than {MAX_FEEDBACK_BYTES // 1024} kB")

    def loads(part: str) -> Mapping[str, object] | None:
        try:
            return read_yaml(part, where)
        except BadPacket:
            return None

    return read_feedback(text, loads)


def collect_feedback(ledger: Ledger) -> list[CollectedFeedback]:
    """Read every feedback file, and record what is new."""
    shown = ledger.redactor.text
    never_stored = NeverStoreFilter(ledger.policy.never_store).text
    entries = packet_entries(ledger.store, ledger.name)
    bodies = (entry.body for entry in entries if isinstance(entry.body, PacketReported))
    # Redacted, because the file that a command wrote is redacted too.
    known = {(body.file, _said_parts(_map_texts(body.feedback, shown))) for body in bodies}
    found: list[CollectedFeedback] = []
    for pane, file in _feedback_files(ledger):
        try:
            feedback = replace(parse_feedback(_read_file(ledger.root, file), file), pane=pane)
            _check_age(ledger, pane, file)
        except BadFeedback as error:
            found.append(CollectedFeedback(file, Feedback(pane=pane), new=False, flaw=error.reason))
            continue
        new = (
            file,
            _said_parts(_map_texts(feedback, lambda text: shown(never_stored(text)))),
        ) not in known
        if new:
            record_feedback(ledger, feedback, file=file)
        found.append(CollectedFeedback(file, feedback, new))
    return found


def _check_age(ledger: Ledger, pane: str, file: str) -> None:
    """Refuse a file that is older than the worker's first packet: it is about another task.

    Raises:
        BadFeedback: it is older.
    """
    delivered_at = [
        record.at
        for record in packet_records(ledger)
        if record.packet.audience == pane and record.at
    ]
    if not delivered_at:
        return
    written_at = timestamp(_written_at(ledger.root, file))
    if written_at < min(delivered_at):
        raise BadFeedback(file, f"it is older than the first packet of {pane} in this session")


def _written_at(root: str, file: str) -> float:
    return Path(root, file).stat(follow_symlinks=False).st_mtime


def _said_parts(feedback: Feedback) -> tuple[object, ...]:
    """Return the worker's own statements, without the facts that we added."""
    return feedback.gaps, feedback.unused, feedback.outcome, feedback.explored, feedback.note


def _feedback_files(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Yield the pane and the path of feedback files, in both layouts."""
    if not ledger.root:
        return
    for folder in dict.fromkeys((_folder(ledger.policy.layout), AGENTWIRE)):
        for name in _file_names(Path(ledger.root, folder, "feedback")):
            match = PANE_FILE.fullmatch(name)
            if match:
                yield _pane(match[1]), f"{folder}/feedback/{name}"
        for name in _file_names(Path(ledger.root, folder)):
            match = PANE_FILE.fullmatch(name.removeprefix("feedback-"))
            if match and name.startswith("feedback-"):
                yield _pane(match[1]), f"{folder}/{name}"


def _pane(name: str) -> str:
    number = whole_number(name)
    return f"pane-{number}" if number is not None else name


def _file_names(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError:
        return []


def _read_file(root: str, file: str) -> str:
    """Return the text of a file that others write.

    Raises:
        BadFeedback: it is a link, no regular file, too large, or cannot be read.
    """
    try:
        data = read_regular(Path(root, file), MAX_FEEDBACK_BYTES, links=False)
    except OSError as error:
        raise BadFeedback(file, error.strerror or "it cannot be read") from None
    return data.decode("utf-8", "replace")


def ask_for_more(ledger: Ledger, pane: str, *, kind: str = MORE, why: str = "") -> WorkerRequest:
    """Record that a worker's packet is not enough, or old: the orchestrator sees it."""
    record = newest_packet(ledger, pane) if pane else None
    note = PacketWanted(pane, kind, why[:MAX_REASON_CHARS], record.id if record else "")
    ledger.note(note)
    return _as_request(note, ledger.now())


def _as_request(note: PacketWanted, at: str) -> WorkerRequest:
    return WorkerRequest(note.pane, note.kind, note.why, at, note.packet)


def open_requests(ledger: Ledger) -> list[WorkerRequest]:
    """Return the requests of workers that are still open, oldest first."""
    requests: dict[tuple[str, str], WorkerRequest] = {}
    for entry in ledger.redactor.entries(ledger.store.events(ledger.name)):
        match note_of(entry.body) or entry.body:
            case PacketWanted() as note:
                requests[note.pane, note.kind] = _as_request(note, entry.at)
            case PacketSent(packet=packet):
                _drop_requests(requests, packet.audience)
            case PacketReported(feedback=feedback) if feedback.outcome == "done":
                _drop_requests(requests, feedback.pane)
            case _:
                pass
    return list(requests.values())


def _drop_requests(requests: dict[tuple[str, str], WorkerRequest], pane: str) -> None:
    for key in [key for key in requests if key[0] == pane]:
        del requests[key]


def recorded_feedback(ledger: Ledger) -> list[tuple[Entry, Feedback]]:
    """Return all recorded feedback, oldest first."""
    entries = ledger.redactor.entries(packet_entries(ledger.store, ledger.name))
    return [
        (entry, entry.body.feedback) for entry in entries if isinstance(entry.body, PacketReported)
    ]


def unreported(listed: Sequence[PacketRecord]) -> list[PacketRecord]:
    """Return the newest packet of each worker that was read and has no feedback yet."""
    newest = newest_of_each_worker(listed)
    return [record for record in newest if record.reads and not record.reported]
