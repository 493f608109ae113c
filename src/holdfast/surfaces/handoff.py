"""Find the packet of a worker, and make a packet for a task; for CLI and MCP server.

A packet is recorded in the session of the orchestrator. A worker has its own session, which is
usually newer, so its packet is looked up by its file first and then in the records of the project's
sessions. The worker is identified by its own argument, else by its environment, else by the name of
its client; if none of them names it, it must be the only worker with a packet.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from holdfast.core.index.terms import Term
from holdfast.core.ledger.entry import PacketCleared, PacketSent
from holdfast.core.ledger.packet import SHARED, Choice
from holdfast.core.view.questions.question import subjects_in
from holdfast.core.view.questions.statements import Statement
from holdfast.engine.recover import stemmer
from holdfast.errors import Ambiguous, NotRecorded, Unreadable
from holdfast.packets.decisions import decisions_for
from holdfast.packets.deliver import deliver_packet
from holdfast.packets.make import generate_packet
from holdfast.packets.questions import ProjectDecisions
from holdfast.packets.records import (
    PANE_VARIABLES,
    PacketRecord,
    audience_of,
    packet_entries,
    session_in_file,
)
from holdfast.packets.tuning import TaskTuning, tuning_for
from holdfast.project.layout import packet_path
from holdfast.session.session import Session
from holdfast.surfaces.project import Project
from holdfast.text.patterns import Pattern

MAX_SESSIONS_SEARCHED = 24
"""Number of newest sessions whose records are searched for packets."""
MAX_PASSAGES, MAX_SESSIONS_READ = 120, 4
"""Passages that match words of a task, and the number of best sessions to read decisions of."""
MIN_SHARED_WORDS = 2
"""A decision must share this many words with a task: one word such as `push` matches too much."""
GENERATE_HINT = "; context_generate (`holdfast context generate`) makes one"
_PANE = Pattern(r"(?:^|[^a-z0-9])(?:pane|worker)[-_ ]?(\d{1,4})$")


def worker_of(
    project: Project,
    pane: int | str | None,
    *,
    environment: Mapping[str, str],
    client: str = "",
    session: str = "",
) -> tuple[str, str]:
    """Return the session that has the worker's packet, and the worker's name.

    Raises:
        NotRecorded: there is no packet, or none for this worker.
        Ambiguous: several workers have packets, and nothing says which one asks.
    """
    audience = audience_of(pane, environment) or _pane_in_client_name(client)
    sessions = _packet_sessions(project, audience, session)
    audience = audience or _only_worker(sessions)
    if audience not in sessions:
        others = f"; there are packets for {', '.join(sessions)}" if sessions else GENERATE_HINT
        raise NotRecorded("packet for", audience, where=f"this project{others}")
    return sessions[audience], audience


def _packet_sessions(project: Project, audience: str, session: str) -> dict[str, str]:
    """Return the session by worker; records are read only if the files do not suffice."""
    if session:
        return _recorded_packets(project, [project.session(session).name], cleared=bool(audience))
    files = dict(_packet_files(project))
    if audience in files or (files and not audience):
        return files
    return packet_sessions(project, cleared=bool(audience))


def _pane_in_client_name(client: str) -> str:
    """Return the pane that a client's name ends with, such as `worker-3`."""
    found = _PANE.search(client.lower())
    return audience_of(found[1]) if found is not None else ""


def _only_worker(audiences: Iterable[str]) -> str:
    """Return the only worker that has a packet, or `shared` if only that packet exists."""
    workers = [worker for worker in audiences if worker != SHARED] or list(audiences)
    if len(workers) > 1:
        hint = f"say which pane, or set {PANE_VARIABLES[0]}"
        raise Ambiguous("packet", "this worker", tuple(workers), hint=hint)
    if not workers:
        raise NotRecorded("packet", "", where=f"this project{GENERATE_HINT}")
    return workers[0]


def packet_sessions(project: Project, *, cleared: bool = True) -> dict[str, str]:
    """Return the session of the packet of each worker; files take precedence over records.

    Cleared packets are left out unless `cleared`.
    """
    names = [listed.name for listed in project.store.sessions()] if project.has_ledger else []
    found = _recorded_packets(project, names[:MAX_SESSIONS_SEARCHED], cleared=cleared)
    return {**found, **dict(_packet_files(project))}


def _packet_files(project: Project) -> Iterator[tuple[str, str]]:
    if not project.has_ledger:
        return
    names = [listed.name for listed in project.store.sessions()]
    folder = Path(packet_path(SHARED, project.settings.policy.layout)).parent
    for path in sorted(Path(project.root, folder).glob("*.yaml")):
        name = session_in_file(names, project.root, str(folder / path.name))
        if name:
            yield path.stem, name


def _recorded_packets(project: Project, names: Sequence[str], *, cleared: bool) -> dict[str, str]:
    """Return the session by worker from the records; for each worker the newest counts."""
    found: dict[str, tuple[str, str]] = {}
    cleared_refs: set[str] = set()
    for name in reversed(names):
        for entry in packet_entries(project.store, name):
            match entry.body:
                case PacketSent(packet=packet) if packet.audience:
                    found[packet.audience] = name, entry.id
                case PacketCleared(packet=ref):
                    cleared_refs.add(ref)
                case _:
                    pass
    return {who: name for who, (name, ref) in found.items() if cleared or ref not in cleared_refs}


def packet_for(
    session: Session,
    settled: ProjectDecisions,
    task: str,
    depth: str = "",
    *,
    audience: str = "",
    layers: Sequence[int] = (),
    budget: int = 0,
    codebase: Mapping[str, str] | None = None,
    continues: str = "",
) -> PacketRecord:
    """Make a packet for a task, with decisions of other sessions; deliver it if it has an audience.

    The active tuning chooses depth, budget and order, unless the caller gives them.

    Raises:
        BadSetting: the task or the depth is not valid.
        NotHanded: the file could not be written; the packet is recorded.
    """
    tuned = tuning_for(session.root, task) if session.root else TaskTuning("")
    # A depth or budget that the caller names is not tuned.
    free = not depth or depth == "auto"
    budget = budget or (tuned.budget if free and not layers else 0)
    packet = generate_packet(
        session.ledger,
        task,
        "auto" if not depth and tuned.depth else depth,
        layers=layers,
        budget=budget,
        audience=audience,
        codebase=codebase,
        decisions=tuple(map(_choice, decisions_of_other_sessions(task, settled, session.name))),
        known={tuned.task_type: tuned.depth},
        order=tuned.order,
        continues=continues,
    )
    if not audience:
        return PacketRecord("", session.name, packet)
    return deliver_packet(session.ledger, packet, task=task, budget=budget)


def decisions_of_other_sessions(
    task: str, settled: ProjectDecisions, session: str
) -> list[Statement]:
    """Return decisions of other sessions that share at least two words with a task.

    Only the sessions with the most matches are read: a project may have hundreds.
    """
    terms = [Term((word,)) for word in subjects_in(task)]
    if len(terms) < MIN_SHARED_WORDS:
        return []
    found = settled.store.search(terms, limit=MAX_PASSAGES).found
    hits_by_session = Counter(hit.session for hit in found if hit.session != session)
    names = [name for name, _ in hits_by_session.most_common(MAX_SESSIONS_READ)]
    if not names:
        return []
    stems = stemmer()
    about = {stem for word in subjects_in(task) for stem in stems(word)}
    decisions = decisions_for(task, settled, except_session=session, sessions=names)
    return [
        decision
        for decision in decisions
        if len(about & set(stems(decision.words))) >= MIN_SHARED_WORDS
    ]


def _choice(statement: Statement) -> Choice:
    by = statement.by if statement.by in ("user", "system") else "orchestrator"
    # The entry is in another session, so a reference to it could not be opened.
    return Choice(statement.text, statement.reason, by)


def parse_layers(value: str | int | Iterable[int] | None) -> tuple[int, ...]:
    """Parse layers given as `1,3`, a number or a list; no layers if nothing is given.

    Raises:
        Unreadable: the value names anything else.
    """
    if value is None or value == "":
        return ()
    parts = str(value).split(",") if isinstance(value, str | int) else list(map(str, value))
    numbers = [part.strip().lower().removeprefix("l") for part in parts]
    if not all(number in ("1", "2", "3", "4") for number in numbers):
        raise Unreadable("layers", f"{str(value)[:40]!r} names no layers such as 1 or 2,3")
    return tuple(sorted({int(number) for number in numbers}))
