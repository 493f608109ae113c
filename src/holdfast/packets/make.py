"""Make a packet for a task from a session's record; nothing is recorded here."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.ledger.packet import SHARED, Choice
from holdfast.core.ledger.packet import Packet as Stored
from holdfast.core.ledger.summary import Summary
from holdfast.core.observe.scene import scene_of
from holdfast.core.shrink.step import ref_of
from holdfast.core.view.levels import render_level
from holdfast.core.view.packet.code import relevant_files
from holdfast.core.view.packet.goal import task_to_carry
from holdfast.core.view.packet.inputs import (
    PacketMaterial,
    PacketRequest,
    PacketTools,
    RecordInputs,
    gather_record_inputs,
)
from holdfast.core.view.packet.layers import DEPTHS, SAME
from holdfast.core.view.packet.make import make_packet
from holdfast.core.view.packet.select import Similar, similarity_by
from holdfast.engine.fault_log import notes_faults
from holdfast.engine.levels import full_command
from holdfast.errors import BadSetting
from holdfast.models.thesaurus import similar_words
from holdfast.packets.packet import Packet
from holdfast.packets.records import PacketRecord, newest_among, packet_records
from holdfast.packets.seal import sign, token_counter
from holdfast.project.clock import time_after

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger


MAX_NEAR_FILES = 40
"""Maximum files of a codebase that are read for a packet."""
PRIOR_PART = 2
"""An earlier session gets the tokens of a deep packet divided by this number."""
MAX_TASK_CHARS = 4 * 1024 * 1024


@notes_faults
def generate_packet(
    ledger: "Ledger",
    task: str,
    depth: str = "",
    *,
    layers: Sequence[int] = (),
    budget: int = 0,
    audience: str = "",
    codebase: Mapping[str, str] | None = None,
    decisions: Sequence[Choice] = (),
    known: Mapping[str, str] | None = None,
    order: Sequence[str] = (),
    continues: str = "",
    prior: str = "",
    before: Stored | None = None,
    why: str = "",
) -> Packet:
    """Make a packet for a task from a session's record; record nothing.

    `decisions` are decisions of other sessions that may concern the task, `known` the depth and
    `order` the parts that the recommendation in force names, `continues` the session or task that
    is continued, and `prior` the result of that, if it is known already. If the audience has a
    packet for the same task, the new one is its next revision.

    Raises:
        BadSetting: the depth, the layers or the task is invalid.
    """
    rules = ledger.policy.packets
    wanted = _check_depth(depth or rules.depth)
    _check_arguments(task, layers, audience)
    count = token_counter(ledger)
    similar = similarity_by(similar_words)
    task = ledger.redactor.text(ledger.storable(task))
    records = packet_records(ledger)
    request = PacketRequest(
        task,
        wanted,
        tuple(layers),
        budget,
        {"minimal": rules.minimal, "standard": rules.standard, "deep": rules.deep},
        known or {},
        tuple(order),
        before or _same_task(records, audience, task),
        why,
        ledger.now(),
    )
    material = _material(ledger, task, similar, codebase or {}, continues, prior)
    shared = _shared_decisions(records, material.record.rows)
    material = replace(material, decisions=(*shared, *decisions))
    made = make_packet(request, material, PacketTools(count, similar))
    return sign(ledger, _with_address(ledger, made, audience))


def _same_task(records: Sequence[PacketRecord], audience: str, task: str) -> Stored:
    """Return the packet that a worker already has for a task; an empty one if it has none."""
    last = newest_among(records, audience) if audience else None
    if last is None or last.packet.target_task != task_to_carry(task):
        return Stored()
    return last.packet


def _check_depth(depth: str) -> str:
    named = SAME.get(depth, depth)
    if named not in DEPTHS:
        choices = ", ".join((*DEPTHS, *SAME))
        raise BadSetting("depth", f"{depth!r} is not one of {choices}", origin="the caller")
    return named


def _check_arguments(task: str, layers: Sequence[int], audience: str) -> None:
    if not task.strip() and audience != SHARED:
        raise BadSetting("task", "it is empty: say what the worker is to do", origin="the caller")
    if len(task) > MAX_TASK_CHARS:
        size = f"{len(task):,} characters, and {MAX_TASK_CHARS:,} are the most"
        raise BadSetting("task", f"it has {size}", origin="the caller")
    wrong = [layer for layer in layers if layer not in (1, 2, 3, 4)]
    if wrong:
        raise BadSetting("layers", f"{wrong[0]!r} is not one of 1, 2, 3, 4", origin="the caller")


def _material(
    ledger: "Ledger",
    task: str,
    similar: Similar,
    codebase: Mapping[str, str],
    continues: str,
    prior: str,
) -> PacketMaterial:
    """Return everything that a packet can be made of."""
    near = relevant_files(task, codebase, similar, most=MAX_NEAR_FILES) if codebase else []
    return PacketMaterial(
        _record_inputs(ledger),
        codebase={row.path: ledger.redactor.text(codebase[row.path]) for row in near},
        prior=_prior_work(ledger, continues) or prior,
    )


def _record_inputs(ledger: "Ledger") -> RecordInputs:
    """Return the inputs from the record up to the end of the session."""
    path = ledger.redactor.entries(ledger.path())
    if not path:
        return RecordInputs()
    content = ledger.engine.content(outside=False)
    # A packet has no references: neither of the summary nor to the project's files.
    content = replace(content, rows=replace(content.rows, refs=()))
    return gather_record_inputs(content, scene_of(path))


def _prior_work(ledger: "Ledger", continues: str) -> str:
    """Return what the continued session or task achieved."""
    from holdfast.core.ledger.inherited import (
        inherited_summary,
    )  # late: few sessions continue another

    more = {}
    if continues and continues != ledger.name and ledger.store.head(continues) is not None:
        prior = ledger.sibling(continues)
        content = prior.engine.content()
        rows, moments = content.rows, content.moments
        more = {"more": full_command(prior)}
    else:
        rows, moments = Summary() if continues else inherited_summary(ledger.events()), ()
    if rows == Summary():
        return ""
    tokens = ledger.policy.packets.deep // PRIOR_PART
    level = render_level(rows, tokens, token_counter(ledger), moments=moments, **more)
    # A packet is data as a whole: it needs no fence of its own.
    return "\n".join(level.text.split("\n")[1:-1])


def _shared_decisions(records: Sequence[PacketRecord], rows: Summary) -> tuple[Choice, ...]:
    """Return the decisions in the shared packet that were not overruled since."""
    found = newest_among(records, SHARED)
    overruled = [decision.overrules for decision in rows.decisions if decision.overrules]
    return tuple(
        choice
        for choice in (found.packet.decisions if found is not None else ())
        if not any(entry.startswith(ref) for entry in overruled for ref in choice.refs)
    )


def _with_address(ledger: "Ledger", packet: Stored, audience: str) -> Stored:
    head = ledger.store.head(ledger.name)
    end = head.lane(ledger.agent).end if head else None
    now, minutes = ledger.now(), ledger.policy.packets.stale
    return replace(
        packet,
        created=now,
        creator=f"orchestrator{f'-{ledger.agent}' if ledger.agent else ''}",
        audience=audience,
        session=ledger.name,
        upto=ref_of(end) if end else "",
        stale_after=time_after(now, 60 * minutes) if minutes else "",
    )
