"""Make a packet from the record: layer by layer, within its cap, with a note on what is left out.

Layer 1 is always complete. The remaining room goes to decisions, then to code and the state of the
work, then to history. If the result is too large, rows are removed from layer 4, then 3, then 2.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from msgspec.structs import replace

from holdfast.core.faults import rule, rule_keeping, rule_or
from holdfast.core.ledger.packet import Change, Choice, Codebase, Packet
from holdfast.core.observe.worth import find_names
from holdfast.core.view.packet.code import extract_patterns, relevant_files
from holdfast.core.view.packet.document import seal_packet
from holdfast.core.view.packet.goal import beginning_of_text, goal_of, task_to_carry
from holdfast.core.view.packet.history import (
    USER,
    DecisionsByAge,
    age_by_refs,
    decisions_by_age,
    decisions_in_force,
    open_questions_of,
    pivots_of,
    rejected_options,
)
from holdfast.core.view.packet.inputs import PacketMaterial, PacketRequest, PacketTools
from holdfast.core.view.packet.layers import (
    CAPS,
    SECTIONS,
    depth_for,
    layers_for_depth,
    sorted_layers,
    task_type_of,
)
from holdfast.core.view.packet.prompt import (
    render_decision,
    render_failed_attempt,
    render_pivot,
    to_prompt,
)
from holdfast.core.view.packet.record import PacketSelection, select_lines
from holdfast.core.view.packet.revise import next_revision
from holdfast.core.view.packet.select import (
    LeftOut,
    describe_exclusions,
    drop_one_row,
    merge_decisions,
    relevant_items,
    shorten_refs,
)

Row = TypeVar("Row")

SHARES: Mapping[int, float] = {2: 0.35, 4: 0.3}
"""Shares of the room after layer 1 for decisions and for history."""
SCAN = 0.5
"""Share of layer 3's room for files of the codebase that the session never touched."""
MORE, LESS = 1.5, 0.4
"""Factors for the share of a section that was missing, and of one that was unused."""
EARLIER, LATER = -2, 3
"""How many places a section must be moved forward or back for these factors."""
TRIES = 6
SLACK = 4
"""Tokens of a cap that may stay unused."""
ROW = 4
JUST_NOW = 12
"""Steps within which a decision need not be similar to the task."""
STATE = 3
"""Rows about the plan, which is soon out of date."""


def make_packet(wish: PacketRequest, material: PacketMaterial, tools: PacketTools) -> Packet:
    """Make a packet for a task; creator, time and audience are left empty for the caller."""
    rows = material.record.rows
    still = sum(not one.resolved for one in rows.errors)
    depth, why = (wish.depth, "")
    if depth == "auto":
        depth, why = depth_for(wish.task, failures=still, known=wish.known)
    layers = sorted_layers(wish.layers or layers_for_depth(depth))
    cap = wish.budget or wish.caps.get(depth) or CAPS[depth]
    goal = goal_of(wish.task, rows, cap, tools.count)
    first = Packet(
        target_task=task_to_carry(wish.task),
        task_type=task_type_of(wish.task),
        depth=depth,
        layers=layers,
        goal=goal.text,
        success_criteria=goal.criteria,
        constraints=goal.constraints,
        changelog=(Change(1, f"made at depth {depth}" + (f": {why}" if why else "")),),
    )
    making = _Making(first, cap, wish, material, tools, goal.left)
    return seal_packet(shorten_refs(making.packet()))


class _Making:
    """One packet under way."""

    def __init__(
        self,
        first: Packet,
        cap: int,
        wish: PacketRequest,
        material: PacketMaterial,
        tools: PacketTools,
        left: int,
    ) -> None:
        self._first, self._cap, self._wish = first, cap, wish
        self._material, self._tools, self._rest = material, tools, left
        self._record, self._rows = material.record, material.record.rows
        decided = self._decided()
        self._decisions, self._tags = decided.shown, decided.tags
        deep = 4 in first.layers
        self._pivots = pivots_of(self._rows) if deep else ()
        self._questions = open_questions_of(self._rows) if deep else ()

    @rule(DecisionsByAge())
    def _decided(self) -> DecisionsByAge:
        every = (*decisions_in_force(self._rows), *self._material.decisions)
        age = age_by_refs(self._record.steps, self._record.now)
        about = relevant_items(
            every,
            self._wish.task,
            lambda one: f"{one.choice} {one.reason}",
            self._tools.similar,
            # What was decided a moment ago was decided with this task in mind.
            pinned=lambda one: one.made_by == USER or (bool(one.refs) and age(one) <= JUST_NOW),
        )
        return decisions_by_age(reversed(merge_decisions(about, self._tools.similar)), age)

    def packet(self) -> Packet:
        """Return the packet, filled up to its cap."""
        bare = self._finished(self._first)
        if bare.token_count > self._cap or self._first.layers == (1,):
            return self._barest(bare)
        filled = self._filled(bare)
        return self._trimmed(filled) if filled.token_count > self._cap else filled

    def _finished(self, packet: Packet) -> Packet:
        """A packet with a word on what is not in it, and its size."""
        kept = {name: getattr(self._wish.before, name) for name in self._wish.before.edited}
        done = replace(packet, edited=self._wish.before.edited, **kept)
        if "not_included" not in kept:
            done = replace(done, not_included=describe_exclusions(done, self._left(done)))
        if self._wish.before.goal:
            done = next_revision(self._wish.before, done, why=self._wish.why, at=self._wish.at)
        return replace(done, token_count=self._tools.count(to_prompt(done)))

    def _left(self, packet: Packet) -> LeftOut:
        shown = {file.path for file in packet.codebase.relevant_files}
        bound = "\n".join(packet.constraints)
        untold = [one for one in self._decisions if one.choice not in bound]
        return LeftOut(
            task=self._rest,
            decisions=sum(one not in packet.decisions for one in untold),
            tags=self._tags,
            files=sum(file.path not in shown for file in self._record.files),
            failures=len(self._rows.errors) if 4 not in packet.layers else 0,
            entries=self._record.entries,
        )

    def _filled(self, bare: Packet) -> Packet:
        room = self._cap - bare.token_count
        packet = self._with_prior(self._first, room)
        if 2 in packet.layers:
            packet = self._with_decisions(packet, self._share(room, SHARES[2], "decisions"))
        if 4 in packet.layers:
            packet = self._with_history(packet, self._share(room, SHARES[4], "failed_attempts"))
        if 3 in packet.layers and self._material.codebase:
            packet = self._with_scanned(packet, self._share(room, SCAN, "relevant_files"))
        return self._with_record(packet)

    def _share(self, room: int, share: float, part: str) -> int:
        """The part of a room that a part of the packet may take: more where it was missing."""
        order = self._wish.order
        moved = order.index(part) - SECTIONS.index(part) if part in order else 0
        return int(room * share * (MORE if moved <= EARLIER else LESS if moved >= LATER else 1.0))

    @rule_keeping(1)
    def _with_prior(self, packet: Packet, room: int) -> Packet:
        if not self._material.prior:
            return packet
        text = beginning_of_text(self._material.prior, max(room // 2, 20), self._tools.count)
        return replace(packet, prior_session=text)

    @rule_keeping(1)
    def _with_decisions(self, packet: Packet, room: int) -> Packet:
        return replace(packet, decisions=self._taken(self._ordered(), render_decision, room))

    def _ordered(self) -> list[Choice]:
        """What the user decided first; the rest the newest first."""
        return sorted(self._decisions, key=lambda one: one.made_by != USER)

    @rule_keeping(1)
    def _with_history(self, packet: Packet, room: int) -> Packet:
        questions = self._taken(self._questions, str, room // 4)
        pivots = self._taken(self._pivots, render_pivot, room // 4)
        spent = sum(self._tools.count(render_pivot(one)) + ROW for one in pivots)
        spent += sum(self._tools.count(one) + ROW for one in questions)
        failures = self._taken(self._record.failed, render_failed_attempt, room - spent)
        return replace(packet, failed_attempts=failures, pivots=pivots, open_questions=questions)

    def _taken(self, rows: Iterable[Row], text: Callable[[Row], str], room: int) -> tuple[Row, ...]:
        """As many rows as a room takes, in their order."""
        kept: list[Row] = []
        for row in rows:
            cost = self._tools.count(text(row)) + ROW
            if cost <= room:
                kept.append(row)
                room -= cost
        return tuple(kept)

    @rule_keeping(1)
    def _with_scanned(self, packet: Packet, room: int) -> Packet:
        similar, codebase = self._tools.similar, self._material.codebase
        near = relevant_files(self._wish.task, codebase, similar)
        found = extract_patterns(near, codebase)
        files = self._taken(found.files, lambda row: f"{row.path}: {row.summary}", room)
        paths = {file.path for file in files}
        examples = tuple(path for path in found.examples if path in paths)
        code = Codebase(files, found.patterns if files else (), examples)
        return replace(packet, codebase=code)

    @rule_or(_finished)
    def _with_record(self, packet: Packet) -> Packet:
        """Fill what is left with what the record shows, as nearly as can be told."""
        record = self._record
        packet = self._with_plan(packet)
        base = self._finished(packet)
        best = base
        covered = find_names(to_prompt(base))
        room, step = self._cap - base.token_count, 1
        for _ in range(TRIES):
            if room < SLACK:
                break
            found = select_lines(
                record.pool, room, record.weigh, covered=covered, layers=packet.layers
            )
            made = self._finished(self._composed(packet, found))
            over = made.token_count - self._cap
            if over <= 0 and made.token_count > best.token_count:
                best = made
            if -SLACK <= over <= 0 or (over <= 0 and made.token_count < best.token_count):
                break
            # What lines cost together is known only once they stand there; the same lines that are
            # too much by a token would be chosen again for a token less.
            room -= max(over, ROW) * step if over > 0 else over * 3 // 4
            step = step * 2 if over > 0 else 1
        return self._with_files(self._with_more_decisions(best))

    @rule_keeping(1)
    def _with_plan(self, packet: Packet) -> Packet:
        if 2 not in packet.layers:
            return packet
        rows = self._rows
        plan = [f"Next: {one.step}" for one in rows.next[:1]]
        plan += [f"Working on: {rows.progress.phase}"] if rows.progress.phase else []
        plan += [f"Tests: {rows.progress.tests}{self._tested()}"] if rows.progress.tests else []
        return replace(packet, state=tuple(plan[:STATE]))

    def _tested(self) -> str:
        """The command by which the tests were run last."""
        return f" (`{self._record.tested}`)" if self._record.tested else ""

    def _composed(self, packet: Packet, found: PacketSelection) -> Packet:
        code = packet.codebase
        known = {file.path for file in code.relevant_files}
        files = tuple(file for file in found.files if file.path not in known)
        ran = (f"Commands used: {'; '.join(f'`{one}`' for one in found.ran)}",) if found.ran else ()
        loose = (f"Names in use: {', '.join(found.loose)}",) if found.loose else ()
        packet = replace(packet, state=(*packet.state, *found.said, *ran, *loose))
        if 3 not in packet.layers:
            return packet
        avoid = rejected_options(self._rows)[:2]
        rows = (*code.relevant_files, *files)
        return replace(packet, codebase=Codebase(rows, code.patterns, code.examples, avoid))

    @rule_keeping(1)
    def _with_more_decisions(self, packet: Packet) -> Packet:
        """Tell of decisions that had no share of the room, as long as there is some left."""
        if 2 not in packet.layers or "decisions" in packet.edited:
            return packet
        for one in self._ordered():
            if self._cap - packet.token_count < ROW * 4:
                break
            if one not in packet.decisions:
                packet = self._if_it_fits(packet, decisions=(*packet.decisions, one))
        return packet

    @rule_keeping(1)
    def _with_files(self, packet: Packet) -> Packet:
        """Name more of the files that were touched, as long as there is room."""
        if 3 not in packet.layers:
            return packet
        for file in self._record.files:
            if self._cap - packet.token_count < ROW * 4:
                break
            code = packet.codebase
            known = {one.path for one in code.relevant_files}
            if any(path.endswith(file.path) or file.path.endswith(path) for path in known):
                continue
            more = replace(code, relevant_files=(*code.relevant_files, file))
            packet = self._if_it_fits(packet, codebase=more)
        return packet

    def _if_it_fits(self, packet: Packet, **parts: object) -> Packet:
        made = self._finished(replace(packet, **parts))
        return made if made.token_count <= self._cap else packet

    def _trimmed(self, packet: Packet) -> Packet:
        """Take rows out, from layer 4 down to layer 2, until it fits; layer 1 stays."""
        while packet.token_count > self._cap:
            less = drop_one_row(packet, frozenset(packet.edited), self._wish.order)
            if less is None:
                return self._barest(packet)
            packet = self._finished(less)
        return packet

    def _barest(self, packet: Packet) -> Packet:
        """Layer 1 alone: the word on what is not in it goes where that is what does not fit."""
        if packet.token_count > self._cap and "not_included" not in packet.edited:
            silent = replace(packet, not_included=())
            size = self._tools.count(to_prompt(silent))
            packet = replace(silent, token_count=size) if size <= self._cap else packet
        return replace(packet, over_budget=packet.token_count > self._cap)
