"""Packets on a session: made, handed over, read, revised, edited and cleared.

The ledger has every revision of every packet and what became of it. The file that a worker reads
is a copy: it goes when the task is done, and is written again when it is asked for.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import (
    Entry,
    Handed,
    Noted,
    PacketCleared,
    PacketRead,
    PacketReported,
    text_of,
)
from holdfast.core.ledger.packet import SHARED, Choice
from holdfast.core.ledger.packet import Packet as Stored
from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.calls import Scene, read_scene
from holdfast.core.observe.likely import Likely
from holdfast.core.observe.pins import PINNED, UNPINNED
from holdfast.core.observe.worth import hold
from holdfast.core.shrink.step import ref_of
from holdfast.core.view.packet.code import relevant_files
from holdfast.core.view.packet.goal import carried
from holdfast.core.view.packet.layers import DEPTHS, PARTS, SAME
from holdfast.core.view.packet.making import Material, Tools, Wish, make
from holdfast.core.view.packet.relevance import Similar, similar_by
from holdfast.core.view.packet.revising import (
    edited,
    is_same,
    only,
    revised,
    rewritten,
    rows_of,
)
from holdfast.core.view.packet.wire import NoPacket
from holdfast.core.view.recovery import sections_of
from holdfast.errors import BadPacket, BadSetting, NotHanded, NotRecorded, NotWritten
from holdfast.packets import Packet, as_packet, read_packet, seal
from holdfast.thesaurus import like
from holdfast.vocabularies import counter

if TYPE_CHECKING:
    from holdfast.session import Session

WHOLE_TASK = "packet_task"
"""The note that holds a task which is too long for a packet."""
LONGEST_TASK = 4 * 1024 * 1024
NEAREST = 40
"""Files of a codebase that are looked at closely."""
PIN_NOTES = (PINNED, UNPINNED)
REACH = 250_000
"""Characters of the record, from its end, in which names are weighed."""
PRIOR = 4_000
"""Characters of what an earlier session came to."""
VARIABLES = ("HOLDFAST_PANE", "AGENTWIRE_PANE")
"""Where a worker's environment says which pane it is."""


class Listed(Struct, frozen=True):
    """A packet, and what became of it."""

    id: str
    """The name of its entry; `ref` is its beginning."""
    session: str
    packet: Stored
    file: str = ""
    at: str = ""
    reads: int = 0
    """How often this revision was read."""
    cleared: bool = False
    reported: bool = False

    @property
    def ref(self) -> str:
        """How it is called where room is short."""
        return ref_of(self.id)


def audience_of(pane: int | str | None, environment: Mapping[str, str] | None = None) -> str:
    """Whom a packet is for: `1` is `pane-1`; of nobody named, whoever the environment says.

    Raises:
        BadSetting: it is no name.
    """
    told = pane
    if told is None:
        told = next((value for name in VARIABLES if (value := (environment or {}).get(name))), None)
    if told is None:
        return ""
    name = str(told).strip()
    if name.isdigit():
        return f"pane-{int(name)}"
    if not name or len(name) > 64 or not all(one.isalnum() or one in "-_." for one in name):
        raise BadSetting(
            "pane", f"{name[:40]!r} is neither a number nor a name", origin="the caller"
        )
    return name


def generate(
    session: "Session",
    task: str,
    depth: str = "",
    *,
    layers: Sequence[int] = (),
    budget: int = 0,
    audience: str = "",
    codebase: Mapping[str, str] | None = None,
    decisions: Sequence[Choice] = (),
    known: Mapping[str, str] | None = None,
    continues: str = "",
    before: Stored | None = None,
    why: str = "",
) -> Packet:
    """Make a packet for a task from what a session came to; nothing is recorded.

    `decisions` are those of other sessions that may bear on the task, `known` the depth that the
    record recommends for a kind of task, `continues` the session or task whose work goes on.
    Of a task that the audience has a packet for already, it becomes the next revision.

    Raises:
        BadSetting: the depth, the layers or the task cannot be meant.
    """
    rules = session.policy.packets
    wanted = _depth(depth or rules.depth)
    _check(task, layers, audience)
    count = _count(session)
    similar = similar_by(like)
    task = session.redactor.text(task)
    wish = Wish(
        task,
        wanted,
        tuple(layers),
        budget,
        {"minimal": rules.minimal, "standard": rules.standard, "deep": rules.deep},
        known or {},
        before or _same_task(session, audience, task),
        why,
        session.now(),
    )
    material = _material(session, task, similar, codebase or {}, continues)
    material = replace(material, decisions=(*_shared(session, audience), *decisions))
    made = make(wish, material, Tools(count, similar))
    return _signed(session, _addressed(session, made, audience))


def _same_task(session: "Session", audience: str, task: str) -> Stored:
    """The packet that a worker has for a task already; an empty one when it has none."""
    last = newest(session, audience) if audience else None
    if last is None or last.packet.target_task != carried(task):
        return Stored()
    return last.packet


def _depth(depth: str) -> str:
    named = SAME.get(depth, depth)
    if named not in DEPTHS:
        choices = ", ".join((*DEPTHS, *SAME))
        raise BadSetting("depth", f"{depth!r} is not one of {choices}", origin="the caller")
    return named


def _check(task: str, layers: Sequence[int], audience: str) -> None:
    if not task.strip() and audience != SHARED:
        raise BadSetting("task", "it is empty: say what the worker is to do", origin="the caller")
    if len(task) > LONGEST_TASK:
        size = f"{len(task):,} characters, and {LONGEST_TASK:,} are the most"
        raise BadSetting("task", f"it has {size}", origin="the caller")
    wrong = [layer for layer in layers if layer not in (1, 2, 3, 4)]
    if wrong:
        raise BadSetting("layers", f"{wrong[0]!r} is not one of 1, 2, 3, 4", origin="the caller")


def _count(session: "Session") -> CountTokens:
    head = session.store.head(session.name)
    return counter((head.vocabulary if head else "") or session.model().vocabulary)


_drawn: "WeakKeyDictionary[Session, tuple[object, Material]]" = WeakKeyDictionary()
"""What was last drawn from a session, and where it stood: workers are spawned several at a time."""


def _material(
    session: "Session",
    task: str,
    similar: Similar,
    codebase: Mapping[str, str],
    continues: str,
) -> Material:
    """All that a packet can be made of."""
    near = relevant_files(task, codebase, similar, most=NEAREST) if codebase else []
    return replace(
        _from_record(session),
        codebase={row.path: session.redactor.text(codebase[row.path]) for row in near},
        prior=_prior(session, continues),
    )


def _from_record(session: "Session") -> Material:
    """What the record shows, looked at once for each end that the session has."""
    head = session.store.head(session.name)
    lane = head.lane(session.agent) if head else None
    known = session.redactor.known
    stand = (lane.end, lane.generation) if lane else (), len(known.marks), len(_pins(session))
    found = _drawn.get(session)
    if found is None or found[0] != stand:
        found = _drawn[session] = stand, _read(session)
    return found[1]


def _pins(session: "Session") -> list[Entry]:
    """Notes of the user's: they bind a worker as well, and are no link of the chain."""
    ledger = session.sight.window(whole=True).ledger
    return [one for one in ledger if isinstance(one.body, Noted) and one.body.what in PIN_NOTES]


def _read(session: "Session") -> Material:
    head = session.store.head(session.name)
    scene = read_scene(
        [Item(one) for one in session.redactor.entries(session.path())] if head else ()
    )
    rows = session.engine.rows() if scene.items else Summary()
    recent = _recent(scene)
    held = hold(recent.items, {})
    return Material(
        rows=rows,
        scene=recent,
        held=held,
        weigh=Likely(recent, held) if recent.items else lambda _: 1.0,
    )


def _recent(scene: Scene) -> Scene:
    """The end of a record, in which what is needed next was met last."""
    left, at = REACH, len(scene.items)
    while at > 0 and left > 0:
        at -= 1
        left -= len(text_of(scene.items[at].body))
    return read_scene(scene.items[at:]) if at else scene


def _prior(session: "Session", continues: str) -> str:
    """What the session or task came to that this one goes on with."""
    from holdfast.core.ledger.inherited import inherited  # late: few go on from another

    rows = inherited(session.store.read(session.name)) if not continues else Summary()
    if continues and continues != session.name and session.store.head(continues) is not None:
        other = session.sibling(continues, store=session.store)
        rows = other.engine.rows()
    lines = [row.told() for section in sections_of(rows) for row in section.rows]
    return "\n".join(lines)[:PRIOR]


def _shared(session: "Session", audience: str) -> tuple[Choice, ...]:
    """What the packet of all workers says was decided."""
    found = newest(session, SHARED)
    del audience
    return found.packet.decisions if found is not None else ()


def _addressed(session: "Session", packet: Stored, audience: str) -> Stored:
    head = session.store.head(session.name)
    end = head.lane(session.agent).end if head else None
    now = session.now()
    return replace(
        packet,
        created=now,
        creator=f"orchestrator{f'-{session.agent}' if session.agent else ''}",
        audience=audience,
        session=session.name,
        upto=ref_of(end) if end else "",
        stale_after=_later(now, session.policy.packets.stale),
    )


def _later(now: str, minutes: int) -> str:
    from datetime import datetime, timedelta  # late: only packets go stale

    if not minutes or not now:
        return ""
    try:
        at = datetime.fromisoformat(now) + timedelta(minutes=minutes)
    except ValueError:
        return ""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _signed(session: "Session", packet: Stored) -> Packet:
    return seal(packet, key_of(session))


def key_of(session: "Session") -> str:
    """What packets are signed with; empty when no key is set.

    Raises:
        BadSetting: the file of the key cannot be read, or is empty.
    """
    path = session.policy.packets.key_file
    if not path:
        return ""
    try:
        key = Path(path).expanduser().read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "it cannot be read"
        raise BadSetting("packets.key_file", f"{path}: {reason}", origin="the settings") from None
    if not key:
        raise BadSetting("packets.key_file", f"{path} is empty", origin="the settings")
    return key


def hand(session: "Session", packet: Stored, *, act: str = "generate", task: str = "") -> Listed:
    """Put a packet on record and write the file that its worker reads.

    `task` is the whole task where the packet carries only its beginning.

    Raises:
        NotHanded: the file could not be written; the packet is on record.
    """
    if task and _carried(session, task) == packet.target_task != task.strip():
        session.note(WHOLE_TASK, text=task)
    sealed = _sized(session, packet)
    file = _file_of(session, sealed.audience)
    made = session.derive(Handed(sealed, act, file))
    if file:
        write(session, sealed, file)
    return Listed(made.id, session.name, sealed, file, made.at)


def _sized(session: "Session", packet: Stored) -> Packet:
    text = as_packet(packet).to_prompt()
    return _signed(session, replace(packet, token_count=_count(session)(text)))


def _file_of(session: "Session", audience: str) -> str:
    if not session.root or not audience:
        return ""
    from holdfast.files.layout import packet_of

    return packet_of(audience, session.policy.layout)


def write(session: "Session", packet: Stored, file: str) -> None:
    """Write the file that a worker reads.

    Raises:
        NotHanded: it could not be written.
    """
    from holdfast.files.projecting import project

    text = as_packet(packet).to_yaml()
    try:
        project(session.root, file, text.encode("utf-8", "surrogatepass"))
    except NotWritten as error:
        raise NotHanded(file, error.reason) from None


def spawned(session: "Session", facts: Mapping[str, str]) -> Listed | None:
    """Hand a packet to a worker that is started with a task; nothing when it was not told which.

    Raises:
        NotHanded: its file could not be written; the packet is on record.
    """
    task, pane = facts.get("task", ""), facts.get("pane", "") or facts.get("agent", "")
    if not task.strip() or not pane:
        return None
    audience = audience_of(pane)
    made = generate(session, task, facts.get("depth", ""), audience=audience)
    return hand(session, made, task=task, act="spawn")


def handed(session: "Session") -> list[Listed]:
    """Every revision of every packet of a session, oldest first, and what became of each."""
    made: dict[str, Listed] = {}
    for entry in session.redactor.entries(session.store.read(session.name)):
        body = entry.body
        if isinstance(body, Handed):
            made[entry.id] = Listed(entry.id, session.name, body.packet, body.file, entry.at)
        else:
            _follow(made, entry)
    return list(made.values())


def _follow(made: dict[str, Listed], entry: Entry) -> None:
    match entry.body:
        case PacketRead(packet=name) if name in made:
            made[name] = replace(made[name], reads=made[name].reads + 1)
        case PacketCleared(packet=name) if name in made:
            made[name] = replace(made[name], cleared=True)
        case PacketReported(feedback=told) if told.packet in made:
            made[told.packet] = replace(made[told.packet], reported=True)
        case _:
            pass


def newest(session: "Session", audience: str) -> Listed | None:
    """The newest packet for a worker in this session; nothing when there is none."""
    mine = [one for one in handed(session) if one.packet.audience == audience]
    return mine[-1] if mine else None


def unread(session: "Session") -> list[Listed]:
    """The newest packets, one for each worker, that nobody has read."""
    last = {one.packet.audience: one for one in handed(session) if one.packet.audience}
    return [one for one in last.values() if not one.reads and not one.cleared]


def found(session: "Session", audience: str) -> Listed:
    """The packet of a worker.

    Raises:
        NotRecorded: there is none; the sentence says for whom there are some.
    """
    one = newest(session, audience) if audience else None
    if one is not None:
        return one
    known = list(dict.fromkeys(each.packet.audience for each in handed(session)))
    others = f"; there are packets for {', '.join(filter(None, known))}" if any(known) else ""
    where = f"session {session.name!r}{others}"
    raise NotRecorded("packet for", audience or "an unnamed worker", where=where)


def take(
    session: "Session", audience: str, *, layers: Sequence[int] = (), way: str = "cli"
) -> Packet:
    """The packet of a worker, as it reads it; that it did is put on record.

    Raises:
        NotRecorded: there is none for it.
        BadPacket: its file is not what was handed over.
    """
    one = found(session, audience)
    _compare(session, one)
    if session.policy.packets.track == "on":
        session.derive(PacketRead(one.id, audience, tuple(layers), way))
    if not layers:
        return as_packet(one.packet)
    return as_packet(only(_with_layers(session, one.packet, layers), layers))


def _with_layers(session: "Session", packet: Stored, layers: Sequence[int]) -> Stored:
    """A packet with layers that it was made without: what a worker asks for when it needs it."""
    missing = [layer for layer in layers if layer not in packet.layers and layer != 1]
    if not missing:
        return packet
    more = generate(
        session,
        whole_task(session, packet),
        "deep",
        layers=(1, *missing),
        audience=packet.audience,
    )
    parts = [part for layer in missing for part in PARTS[layer]]
    grown = replace(packet, **{part: getattr(more, part) for part in parts})
    return _sized(session, replace(grown, layers=tuple(sorted({*packet.layers, *missing}))))


def _compare(session: "Session", one: Listed) -> None:
    """Refuse a file that was changed by hand, and say what differs from what is on record."""
    if not one.file or one.cleared:
        return
    path = Path(session.root, one.file)
    try:
        text = path.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise BadPacket(one.file, reason.lower()) from None
    try:
        read_packet(text, key=key_of(session), where=one.file)
    except BadPacket as error:
        differing = _differing(text, one)
        told = f"{error.reason}{differing}; `holdfast context push` writes it anew"
        raise BadPacket(one.file, told) from None


def _differing(text: str, one: Listed) -> str:
    try:
        file = read_packet(text, checked=False)
    except BadPacket:
        return ""
    before, after = rows_of(one.packet), rows_of(file)
    parts = [part for part in before if before[part] != after[part]]
    return f"; {', '.join(parts)} differ from what is on record" if parts else ""


def refresh(session: "Session", audience: str, *, why: str = "", act: str = "refresh") -> Listed:
    """Make a worker's packet again from where the session stands; what was edited stays.

    Nothing new is recorded when nothing changed and no reason is given; its file is there again.

    Raises:
        NotRecorded: the worker has none.
        NotHanded: its file could not be written.
    """
    one = found(session, audience)
    old = one.packet
    made = generate(
        session,
        whole_task(session, old),
        old.depth or "standard",
        layers=old.layers,
        audience=audience,
        before=old,
        why=why,
    )
    if why or not is_same(old, made):
        return hand(session, made, act=act)
    file = one.file or _file_of(session, audience)
    if file:
        write(session, old, file)
    return one


def whole_task(session: "Session", packet: Stored) -> str:
    """The task of a packet in full: as it was given, where the packet has only its beginning."""
    for entry in reversed(list(session.store.read(session.name))):
        body = entry.body
        if isinstance(body, Noted) and body.what == WHOLE_TASK:
            task = body.facts.get("text", "")
            if _carried(session, task) == packet.target_task:
                return task
    return packet.target_task


def _carried(session: "Session", task: str) -> str:
    """A task as a packet carries it: without secrets, and of a long one the beginning."""
    return carried(session.redactor.text(task))


def edit(
    session: "Session",
    audience: str,
    parts: Mapping[str, Sequence[str]] | None = None,
    *,
    text: str = "",
    why: str = "",
) -> Listed:
    """Write parts of a worker's packet by hand, or take its file as a person rewrote it.

    Raises:
        NotRecorded: the worker has none.
        BadPacket: there is no such part, or the text is no packet.
    """
    one = found(session, audience)
    packet: Stored = one.packet
    try:
        if text:
            packet = rewritten(packet, read_packet(text, checked=False))
        for part, rows in (parts or {}).items():
            packet = edited(packet, part, rows)
    except NoPacket as error:
        raise BadPacket(f"the packet of {audience}", str(error)) from None
    now = session.now()
    new = revised(one.packet, packet, why=why or "edited", at=now)
    sized = _count(session)(as_packet(new).to_prompt())
    over = sized > _cap(session, new)
    return hand(session, replace(new, created=now, over_budget=over), act="edit")


def _cap(session: "Session", packet: Stored) -> int:
    rules = session.policy.packets
    caps = {"minimal": rules.minimal, "standard": rules.standard, "deep": rules.deep}
    return caps.get(packet.depth, rules.standard)


def staleness(session: "Session", packet: Stored) -> str:
    """Why a packet should be asked for again; empty when it is fresh."""
    if packet.stale_after and session.now() and session.now() > packet.stale_after:
        return f"it was good until {packet.stale_after}"
    head = session.store.head(session.name)
    end = head.lane(session.agent).end if head else None
    if packet.upto and end and ref_of(end) != packet.upto:
        return "the session has moved on since it was made"
    return ""


def clear(session: "Session", audience: str, *, reason: str = "asked for") -> Listed:
    """Take the file of a packet away; the packet stays on record.

    Raises:
        NotRecorded: the worker has none.
        NotHanded: the file is there and could not be taken away.
    """
    one = found(session, audience)
    if one.file and session.root:
        from holdfast.files.removing import remove

        try:
            remove(session.root, one.file)
        except NotWritten as error:
            raise NotHanded(one.file, error.reason) from None
    if not one.cleared:
        session.derive(PacketCleared(one.id, reason))
    return replace(one, cleared=True)


def clean_up(session: "Session", audience: str, outcome: str) -> None:
    """Take a packet's file away when its task is done, where that is wanted."""
    if outcome == "done" and session.policy.packets.cleanup == "on":
        one = newest(session, audience)
        if one is not None and not one.cleared:
            clear(session, audience, reason="the task is done")


def session_of(names: Iterable[str], root: str | os.PathLike[str], file: str) -> str:
    """The session that a packet's file says it was drawn from; empty when it says none."""
    try:
        text = Path(root, file).read_text("utf-8")
        told = read_packet(text, checked=False).session
    except (OSError, UnicodeDecodeError, BadPacket):
        return ""
    return told if told in set(names) else ""
