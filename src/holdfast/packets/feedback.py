"""Workers report back: feedback told or written to a file becomes an entry of the orchestrator's.

The file is what a worker without us can write; the ledger is the truth. The same words are taken
once, however often they are read. A worker that lacks something asks for more, and that stands
until it is handed a newer packet.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import gmtime, strftime

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Entry, Handed, Noted, PacketReported
from holdfast.core.ledger.packet import Feedback
from holdfast.core.plan.policy import LAYOUTS
from holdfast.core.view.packet.layers import task_type_of
from holdfast.core.view.packet_stats.feedback import read_feedback, written
from holdfast.engine.ledger import Ledger
from holdfast.engine.never_store import Withholder
from holdfast.errors import BadFeedback, BadPacket, NotWritten
from holdfast.packets.deliver import clean_up
from holdfast.packets.packet import read_yaml
from holdfast.packets.records import Listed, handed, newest
from holdfast.project.layout import slug
from holdfast.project.regular_files import read_regular
from holdfast.project.write import project
from holdfast.text.jsontext import whole_number
from holdfast.text.yaml import to_yaml

WANTED = "packet_wanted"
"""The note of a worker that its packet is not enough, or old."""
MORE, REFRESH = "more", "refresh"
AGENTWIRE = ".agentwire"
LARGEST = 256 * 1024
"""Bytes of a file of feedback; a real one has some hundreds."""
NOTE = 2_000
"""Characters of why a worker wants more."""
PANE = re.compile(r"(?:pane-)?([\w.-]{1,64})\.md")


class Wanted(Struct, frozen=True):
    """What a worker asked for and did not get yet."""

    pane: str
    kind: str
    """`more` when its packet is not enough, `refresh` when it is old."""
    why: str = ""
    at: str = ""
    packet: str = ""


class Collected(Struct, frozen=True):
    """A file of feedback that was read."""

    file: str
    feedback: Feedback
    new: bool = True
    """Whether its words were not on record yet."""
    flaw: str = ""
    """Why nothing of it could be taken."""


def feedback_file(pane: str, layout: str) -> str:
    """Where a worker writes what it has to say of its packet."""
    return f"{_folder(layout)}/feedback/{slug(pane).replace('_', '-')}.md"


def _folder(layout: str) -> str:
    return LAYOUTS[layout].removesuffix("/cache")


def report(ledger: Ledger, feedback: Feedback, *, file: str = "") -> Entry | None:
    """Put feedback on record, with the packet it is about; nothing when records are not kept."""
    told = about_packet(ledger, _worded(feedback, Withholder(ledger.policy.never_store).text))
    if ledger.policy.packets.track == "off":
        return None
    entry = ledger.derive(PacketReported(told, file))
    if told.pane:
        clean_up(ledger, told.pane, told.outcome)
    return entry


def _worded(feedback: Feedback, change: Callable[[str], str]) -> Feedback:
    """Feedback with every text of the worker's changed."""
    return replace(
        feedback,
        gaps=tuple(map(change, feedback.gaps)),
        unused=tuple(map(change, feedback.unused)),
        explored=tuple(map(change, feedback.explored)),
        note=change(feedback.note),
    )


def about_packet(ledger: Ledger, feedback: Feedback) -> Feedback:
    """Feedback with which packet it is of, how large that was and what kind of task it was for."""
    one = newest(ledger, feedback.pane) if feedback.pane else None
    if one is None:
        return feedback
    packet = one.packet
    kind = feedback.task_type or packet.task_type or task_type_of(packet.target_task)
    return replace(
        feedback,
        packet=one.id,
        revision=packet.revision,
        task_type=kind,
        context_sent=packet.token_count,
    )


def write_feedback(ledger: Ledger, feedback: Feedback) -> str:
    """Write the file of a worker's feedback; returns where. Nothing without a project's folder.

    Raises:
        NotWritten: it could not be written.
    """
    if not ledger.root or not feedback.pane:
        return ""
    file = feedback_file(feedback.pane, ledger.policy.layout)
    shown = written(_worded(feedback, ledger.redactor.text))
    try:
        project(ledger.root, file, to_yaml(dict(shown)).encode("utf-8", "replace"))
    except NotWritten as error:
        raise BadFeedback(file, f"it could not be written ({error.reason})") from None
    return file


def parsed(text: str, where: str) -> Feedback:
    """What a worker wrote.

    Raises:
        BadFeedback: it is larger than any feedback.
    """
    if len(text.encode("utf-8", "surrogatepass")) > LARGEST:
        raise BadFeedback(where, f"it has more than {LARGEST // 1024} kB")

    def loads(part: str) -> Mapping[str, object] | None:
        try:
            return read_yaml(part, where)
        except BadPacket:
            return None

    return read_feedback(text, loads)


def collect(ledger: Ledger) -> list[Collected]:
    """Read every file of feedback there is, and put on record what is new."""
    shown = ledger.redactor.text
    kept_out = Withholder(ledger.policy.never_store).text
    entries = ledger.store.events(ledger.name)
    bodies = (entry.body for entry in entries if isinstance(entry.body, PacketReported))
    # As anyone may see them: the file that a command wrote has no secrets either.
    known = {(body.file, _words(_worded(body.feedback, shown))) for body in bodies}
    found: list[Collected] = []
    for pane, file in _files(ledger):
        try:
            told = replace(parsed(_read(ledger.root, file), file), pane=pane)
            _check_age(ledger, pane, file)
        except BadFeedback as error:
            found.append(Collected(file, Feedback(pane=pane), new=False, flaw=error.reason))
            continue
        new = (file, _words(_worded(told, lambda text: shown(kept_out(text))))) not in known
        if new:
            report(ledger, told, file=file)
        found.append(Collected(file, told, new))
    return found


def _check_age(ledger: Ledger, pane: str, file: str) -> None:
    """A file that was there before the worker's first packet here is about another task.

    Raises:
        BadFeedback: it is.
    """
    handed_over = [one.at for one in handed(ledger) if one.packet.audience == pane and one.at]
    if not handed_over:
        return
    written_at = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(_written_at(ledger.root, file)))
    if written_at < min(handed_over):
        raise BadFeedback(file, f"it is older than the first packet of {pane} in this session")


def _written_at(root: str, file: str) -> float:
    return Path(root, file).stat(follow_symlinks=False).st_mtime


def _words(feedback: Feedback) -> tuple[object, ...]:
    """What was said, without what we know of it."""
    return feedback.gaps, feedback.unused, feedback.outcome, feedback.explored, feedback.note


def _files(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Files of feedback in both spellings: whose, and where below the root."""
    if not ledger.root:
        return
    for folder in dict.fromkeys((_folder(ledger.policy.layout), AGENTWIRE)):
        for name in _listed(Path(ledger.root, folder, "feedback")):
            match = PANE.fullmatch(name)
            if match:
                yield _pane(match[1]), f"{folder}/feedback/{name}"
        for name in _listed(Path(ledger.root, folder)):
            match = PANE.fullmatch(name.removeprefix("feedback-"))
            if match and name.startswith("feedback-"):
                yield _pane(match[1]), f"{folder}/{name}"


def _pane(name: str) -> str:
    number = whole_number(name)
    return f"pane-{number}" if number is not None else name


def _listed(folder: Path) -> list[str]:
    try:
        return sorted(one.name for one in folder.iterdir())
    except OSError:
        return []


def _read(root: str, file: str) -> str:
    """The text of a file that others write.

    Raises:
        BadFeedback: it is a link, no regular file, too large, or cannot be read.
    """
    try:
        data = read_regular(Path(root, file), LARGEST, links=False)
    except OSError as error:
        raise BadFeedback(file, error.strerror or "it cannot be read") from None
    return data.decode("utf-8", "replace")


def ask_for_more(ledger: Ledger, pane: str, *, kind: str = MORE, why: str = "") -> Wanted:
    """A worker says that its packet is not enough, or old: the orchestrator sees it."""
    one = newest(ledger, pane) if pane else None
    facts = {"pane": pane, "kind": kind, "why": why[:NOTE], "packet": one.id if one else ""}
    ledger.note(WANTED, **facts)
    return Wanted(pane, kind, facts["why"], ledger.now(), facts["packet"])


def wanted(ledger: Ledger) -> list[Wanted]:
    """What workers asked for, were not handed since, and still need; oldest first."""
    asked: dict[tuple[str, str], Wanted] = {}
    for entry in ledger.redactor.entries(ledger.store.events(ledger.name)):
        match entry.body:
            case Noted(what="packet_wanted", facts=facts):
                pane, kind = facts.get("pane", ""), facts.get("kind", MORE)
                made = Wanted(pane, kind, facts.get("why", ""), entry.at, facts.get("packet", ""))
                asked[pane, kind] = made
            case Handed(packet=packet):
                _answered(asked, packet.audience)
            case PacketReported(feedback=told) if told.outcome == "done":
                _answered(asked, told.pane)
            case _:
                pass
    return list(asked.values())


def _answered(asked: dict[tuple[str, str], Wanted], pane: str) -> None:
    for key in [key for key in asked if key[0] == pane]:
        del asked[key]


def reports(ledger: Ledger) -> list[tuple[Entry, Feedback]]:
    """All feedback on record, oldest first."""
    entries = ledger.redactor.entries(ledger.store.events(ledger.name))
    return [
        (entry, entry.body.feedback) for entry in entries if isinstance(entry.body, PacketReported)
    ]


def silent(listed: Sequence[Listed]) -> list[Listed]:
    """Packets that were read and not reported on, the newest of each worker."""
    last = {one.packet.audience: one for one in listed if one.packet.audience}
    return [one for one in last.values() if one.reads and not one.reported]
