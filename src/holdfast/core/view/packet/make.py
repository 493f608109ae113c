"""Make a packet from the record: layer by layer, within its cap, with a note on what is left out.

Layer 1 is always complete. The remaining room goes to decisions, then to code and the state of the
work, then to history. If the result is too large, rows are removed from layer 4, then 3, then 2.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from msgspec.structs import replace

from holdfast.core.faults import rule, rule_keeping, rule_or
from holdfast.core.ledger.packet import Change, Choice, Codebase, Packet
from holdfast.core.observe.moments.state import BRANCH, LAST_RUN, command_of_run, state_key
from holdfast.core.shrink.summary.choose import words_of_moment
from holdfast.core.shrink.summary.root import relative_path
from holdfast.core.view.packet.code import extract_patterns, is_named_in, relevant_files
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
    without_decided,
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
from holdfast.core.view.packet.moments import MomentChoice, PacketAim, PacketSelection
from holdfast.core.view.packet.prompt import (
    is_bound,
    render_decision,
    render_failed_attempt,
    render_pivot,
    to_prompt,
)
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
MIN_BELOW_ROOT = 3
"""Files below the common directory that make their paths relative to it."""
PATHS_BELOW = "Paths are below "


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
        self._files, self._named = self._ranked_files()
        self._root = "" if material.codebase else self._common_root()
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

    def _ranked_files(self) -> tuple[list[str], list[str]]:
        """The files that the session wrote, then named ones, then others; and the named ones."""
        steps = (f"{one.step}\n" for one in self._rows.next)
        text = "\n".join((self._wish.task, *self._first.constraints, *steps))
        named = [path for path in self._record.files if is_named_in(path, text)]
        written = {file.path for file in self._rows.files if file.action != "read"}
        order = (written, {*named} - written)
        ranked = sorted(self._record.files, key=lambda path: [path not in one for one in order])
        return ranked, named

    def _common_root(self) -> str:
        """The directory that paths are relative to, if that makes enough of them shorter."""
        root = self._rows.root
        below = sum(path.startswith(f"{root}/") for path in self._record.files)
        return root if root and below >= MIN_BELOW_ROOT else ""

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
        files = [
            path
            for path in self._files
            if path not in shown and relative_path(path, self._root) not in shown
        ]
        bound = "\n".join(packet.constraints)
        untold = [one for one in self._decisions if not is_bound(one, bound)]
        return LeftOut(
            task=self._rest,
            decisions=tuple(one.choice for one in untold if one not in packet.decisions),
            tags=self._tags,
            files=tuple(path.rpartition("/")[2] for path in files),
            steps=tuple(one.step for one in self._rows.next[1:]),
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
        """Fill what is left with moments of the record, as nearly as can be counted."""
        packet = self._with_plan(packet)
        base = self._finished(packet)
        best = base
        room, step = self._cap - base.token_count, 1
        choice = self._choice(base)
        for _ in range(TRIES):
            if room < SLACK:
                break
            made = self._finished(self._composed(packet, choice.fill(room)))
            over = made.token_count - self._cap
            if over <= 0 and made.token_count > best.token_count:
                best = made
            if -SLACK <= over <= 0:
                break
            # What rows cost together is known only once they are rendered; the same rows that are
            # too much by a token would be chosen again for a token less.
            room -= max(over, ROW) * step if over > 0 else over * 3 // 4
            step = step * 2 if over > 0 else 1
        return self._with_more_decisions(best)

    def _choice(self, base: Packet) -> MomentChoice:
        # The words of the task are shown too, and wanted all the same.
        shown = to_prompt(replace(base, goal="", not_included=()))
        aim = PacketAim(
            task=self._wish.task,
            layers=base.layers,
            covered=words_of_moment(shown),
            named=self._named,
            ranks={path: rank for rank, path in enumerate(self._files)},
            root=self._root,
            shown=to_prompt(replace(base, not_included=())),
            names=self._record.names,
        )
        failed = tuple(one.approach.removesuffix("…") for one in base.failed_attempts)
        undecided = without_decided(self._record.moments, self._rows)
        moments = [one for one in undecided if not one.text.startswith(failed)]
        return MomentChoice(moments, aim)

    @rule_keeping(1)
    def _with_plan(self, packet: Packet) -> Packet:
        if 2 not in packet.layers:
            return packet
        rows = self._rows
        plan = [one.text for one in rows.state[:1] if state_key(one) == BRANCH]
        plan += [f"Next: {one.step}" for one in rows.next[:1]]
        plan += [f"Working on: {rows.progress.phase}"] if rows.progress.phase else []
        plan += [f"Tests: {rows.progress.tests}{self._tested()}"] if rows.progress.tests else []
        return replace(packet, state=tuple(plan))

    def _tested(self) -> str:
        """The command by which the last check was run."""
        runs = [row for row in self._rows.state if row.text.startswith(LAST_RUN)]
        return f" (`{command_of_run(runs[-1])}`)" if runs else ""

    def _composed(self, packet: Packet, found: PacketSelection) -> Packet:
        code = packet.codebase
        known = {file.path for file in code.relevant_files}
        files = tuple(file for file in found.files if file.path not in known)
        root = (f"{PATHS_BELOW}{self._root}",) if self._root and found.files else ()
        packet = replace(packet, state=(*root, *packet.state, *found.state))
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
                made = self._finished(replace(packet, decisions=(*packet.decisions, one)))
                packet = made if made.token_count <= self._cap else packet
        return packet

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
