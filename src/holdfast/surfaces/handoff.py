"""Handing work over, on any surface: whose packet is meant, made for a task, read, reported on.

A packet is on record in the session of whoever made it. A worker has a session of its own, which is
usually the newer one, so its packet is looked for by its file and then by the record of the
project's sessions. Whose it is, is what the worker says, else what its environment says, else what
its client calls itself; what is left to guess is not guessed.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from holdfast.core.index.terms import Term
from holdfast.core.ledger.entry import Handed, PacketCleared
from holdfast.core.ledger.packet import SHARED, Choice
from holdfast.core.view.questions.question import subjects_in
from holdfast.core.view.questions.statements import Statement
from holdfast.engine.recover import stemmer
from holdfast.errors import Ambiguous, NotRecorded, Unreadable
from holdfast.packets.decisions import decisions_for
from holdfast.packets.deliver import hand
from holdfast.packets.make import generate
from holdfast.packets.questions import Settled
from holdfast.packets.records import VARIABLES, Listed, audience_of, session_of
from holdfast.packets.tuning import Tuned, tuned_for
from holdfast.project.layout import packet_of
from holdfast.session.session import Session
from holdfast.surfaces.project import Project

SESSIONS = 24
"""The newest sessions, whose record is looked through for packets."""
POOL, READ = 120, 4
"""Passages that hold words of a task, and sessions with most of them, whose decisions are read."""
SHARED_WORDS = 2
"""Words that a decision has to share with a task: by one alone, `push` finds every push."""
MADE = "; context_generate (`holdfast context generate`) makes one"
_PANE = re.compile(r"(?:^|[^a-z0-9])(?:pane|worker)[-_ ]?(\d{1,4})$")


def worker_of(
    project: Project,
    pane: int | str | None,
    *,
    environment: Mapping[str, str],
    client: str = "",
    session: str = "",
) -> tuple[str, str]:
    """Whose packet is meant, and the session that has it.

    Raises:
        NotRecorded: nobody has one, or not the one who is meant.
        Ambiguous: several have, and nothing tells which of them asks.
    """
    audience = audience_of(pane, environment) or _called(client)
    known = _known(project, audience, session)
    audience = audience or _only(known)
    if audience not in known:
        others = f"; there are packets for {', '.join(known)}" if known else MADE
        raise NotRecorded("packet for", audience, where=f"this project{others}")
    return known[audience], audience


def _known(project: Project, audience: str, session: str) -> dict[str, str]:
    """Who has a packet, and in which session; the record is only looked through if need be."""
    if session:
        return _on_record(project, [project.session(session).name], cleared=bool(audience))
    waiting = dict(_by_file(project))
    if audience in waiting or (waiting and not audience):
        return waiting
    return packets_in(project, cleared=bool(audience))


def _called(client: str) -> str:
    """The pane that a client's own name tells."""
    found = _PANE.search(client.lower())
    return audience_of(found[1]) if found is not None else ""


def _only(known: Iterable[str]) -> str:
    """The only worker that has a packet; the packet of all, when no worker has one."""
    workers = [one for one in known if one != SHARED] or list(known)
    if len(workers) > 1:
        hint = f"say which pane, or set {VARIABLES[0]}"
        raise Ambiguous("packet", "this worker", tuple(workers), hint=hint)
    if not workers:
        raise NotRecorded("packet", "", where=f"this project{MADE}")
    return workers[0]


def packets_in(project: Project, *, cleared: bool = True) -> dict[str, str]:
    """Who has a packet, and the session that it is on record in: files first, then the record.

    With those that were cleared, or without.
    """
    names = [listed.name for listed in project.store.sessions()] if project.has_ledger else []
    found = _on_record(project, names[:SESSIONS], cleared=cleared)
    return {**found, **dict(_by_file(project))}


def _by_file(project: Project) -> Iterator[tuple[str, str]]:
    if not project.has_ledger:
        return
    names = [listed.name for listed in project.store.sessions()]
    folder = Path(packet_of(SHARED, project.settings.policy.layout)).parent
    for path in sorted(Path(project.root, folder).glob("*.yaml")):
        name = session_of(names, project.root, str(folder / path.name))
        if name:
            yield path.stem, name


def _on_record(project: Project, names: Sequence[str], *, cleared: bool) -> dict[str, str]:
    """What the ledger says; the newest session comes last, and so counts."""
    found: dict[str, tuple[str, str]] = {}
    gone: set[str] = set()
    for name in reversed(names):
        for entry in project.store.read(name):
            match entry.body:
                case Handed(packet=packet) if packet.audience:
                    found[packet.audience] = name, entry.id
                case PacketCleared(packet=ref):
                    gone.add(ref)
                case _:
                    pass
    return {who: name for who, (name, ref) in found.items() if cleared or ref not in gone}


def packet_for(
    session: Session,
    settled: Settled,
    task: str,
    depth: str = "",
    *,
    audience: str = "",
    layers: Sequence[int] = (),
    budget: int = 0,
    codebase: Mapping[str, str] | None = None,
    continues: str = "",
) -> Listed:
    """A packet for a task, with what earlier sessions decided about it; handed over if to someone.

    A recommendation that is in force decides what was not asked for: how deep, how large, and what
    comes first.

    Raises:
        BadSetting: the task or the depth cannot be meant.
        NotHanded: the file could not be written; the packet is on record.
    """
    tuned = tuned_for(session.root, task) if session.root else Tuned("")
    # What somebody asks for by name is not tuned.
    free = not depth or depth == "auto"
    budget = budget or (tuned.budget if free and not layers else 0)
    made = generate(
        session.ledger,
        task,
        "auto" if not depth and tuned.depth else depth,
        layers=layers,
        budget=budget,
        audience=audience,
        codebase=codebase,
        decisions=tuple(map(_choice, decided_elsewhere(task, settled, session.name))),
        known={tuned.task_type: tuned.depth},
        order=tuned.order,
        continues=continues,
    )
    if not audience:
        return Listed("", session.name, made)
    return hand(session.ledger, made, task=task, budget=budget)


def decided_elsewhere(task: str, settled: Settled, session: str) -> list[Statement]:
    """What other sessions decided that a task is about, by more than one word.

    Only the sessions that speak most of it are read: a project may have hundreds.
    """
    terms = [Term((word,)) for word in subjects_in(task)]
    if len(terms) < SHARED_WORDS:
        return []
    found = settled.store.search(terms, limit=POOL).found
    speaking = Counter(one.session for one in found if one.session != session)
    names = [name for name, _ in speaking.most_common(READ)]
    if not names:
        return []
    stems = stemmer()
    about = {stem for word in subjects_in(task) for stem in stems(word)}
    told = decisions_for(task, settled, apart=session, sessions=names)
    return [one for one in told if len(about & set(stems(one.words))) >= SHARED_WORDS]


def _choice(one: Statement) -> Choice:
    by = one.by if one.by in ("user", "system") else "orchestrator"
    # Its entry is of another session, where no reference of this one leads.
    return Choice(one.text, one.reason, by)


def layers_of(told: str | int | Iterable[int] | None) -> tuple[int, ...]:
    """The layers that `1,3`, a number or a list of them names; none when nothing was said.

    Raises:
        Unreadable: it names something else.
    """
    if told is None or told == "":
        return ()
    parts = str(told).split(",") if isinstance(told, str | int) else list(map(str, told))
    numbers = [part.strip().lower().removeprefix("l") for part in parts]
    if not all(number in ("1", "2", "3", "4") for number in numbers):
        raise Unreadable("layers", f"{str(told)[:40]!r} names no layers such as 1 or 2,3")
    return tuple(sorted({int(number) for number in numbers}))
