"""What a reader would ask of what left, asked of what is in sight."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Compressed, Entry, EntryId, text_of
from holdfast.core.ledger.summary import Fact, Summary
from holdfast.core.ledger.window import Item, Window, in_force, path_to
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.requests.pins import lift
from holdfast.core.observe.scene import read_scene
from holdfast.core.observe.worth import Likely, hold, telling_names
from holdfast.core.shrink.summary.facts import lines_of, pick
from holdfast.core.shrink.summary.rows import is_anchor
from holdfast.core.verify.answers import Answered, ask
from holdfast.core.verify.probes import draw
from holdfast.core.verify.quality import DIMENSIONS, Quality, quality
from holdfast.core.view.conversation import opening

KINDS = ("recall", "artifact", "continuation", "decision")


class Probed(Struct, frozen=True):
    """Every question, its answer, and what that comes to."""

    answered: tuple[Answered, ...]
    score: Quality
    of: str = ""
    """The compression whose summary was asked about; empty when there was none."""

    @property
    def misses(self) -> tuple[Answered, ...]:
        """The questions that nobody can answer."""
        return tuple(one for one in self.answered if not one.found)


def newest_summary(window: Window) -> Entry | None:
    """The newest compression in force that put a summary in sight."""
    for entry in reversed(in_force(window)):
        if isinstance(entry.body, Compressed) and entry.body.summary is not None:
            return entry
    return None


def probe_window(window: Window, made: Entry, count: CountTokens, room: int) -> Probed:
    """Ask the window about what a compression's summary stands for.

    The facts asked for are those that were worth `room` tokens of what it took out of sight,
    whether the summary shows them or not.
    """
    body = made.body
    assert isinstance(body, Compressed)
    assert body.summary is not None
    rows = replace(
        body.summary,
        # What the user has lifted since is not asked for any more.
        constraints=lift(body.summary.constraints, window.ledger),
        facts=_sought(window, made, body, count, room),
    )
    text = "\n".join(text_of(item.body) for item in window.items)
    return probed(rows, text, of=made.id[:12])


def _sought(
    window: Window, made: Entry, body: Compressed, count: CountTokens, room: int
) -> tuple[Fact, ...]:
    """The lines of what a compression took out of sight that were most worth asking for."""
    older = frozenset[EntryId]().union(
        *(
            _hides(entry.body)
            for entry in in_force(window)
            if isinstance(entry.body, Compressed) and entry.seq < made.seq
        )
    )
    leaves = _hides(body) - older
    seen = leaves | ({name for item in window.items for name in item.shows} - older)
    path = [Item(entry) for entry in path_to(window.end, window.ledger)]
    hidden = read_scene([item for item in path if item.entry.id in leaves])
    # What was in sight when it was made: how likely a name is needed was told from that.
    known = read_scene(
        [item for item in path if item.entry.seq <= body.watermark and item.entry.id in seen]
    )
    likely = Likely(known, hold(known.items, {}))
    pool = tuple(lines_of(hidden, count))
    return pick(pool, room, weigh=likely, count=count, covered=_covered(window, body.watermark))


def _covered(window: Window, watermark: int) -> frozenset[str]:
    """Names that stayed in sight beside the summary when it was made."""
    then = (i for i in window.items if i.entry.seq <= watermark and not is_anchor(i))
    return frozenset[str]().union(*(telling_names(text_of(item.body)) for item in then))


def _hides(body: Compressed) -> frozenset[EntryId]:
    """What the summary of a compression stands for; nothing when it has none."""
    summaries = (step for step in body.steps if step.kind == "summary")
    return frozenset(name for step in summaries for name in step.hides)


def probed(rows: Summary, text: str, *, of: str = "") -> Probed:
    """Ask a text about rows."""
    answered = ask(draw(rows), text)
    return Probed(answered, quality(answered, seen=rows, candidate=rows), of)


def render_probed(one: Probed, *, width: int = 100) -> str:
    """The scores, then the misses, then every question with the line that answers it."""
    scores = one.score.to_dict()
    found = len(one.answered) - len(one.misses)
    lines = [
        f"{found:,} of {len(one.answered):,} questions are answered by "
        + ("what is in sight" if one.of else "the summary; nothing was summarised yet"),
        "",
        "### Quality",
        *(
            f"{each.name:22}  {scores[each.key]:>4.2f}  target {each.target:.1f}  "
            f"{'met' if scores[each.key] >= each.target else 'MISSED'}"
            for each in DIMENSIONS
        ),
        "",
        "### Misses",
        *(_missed(one.misses, width) or ["None"]),
    ]
    for kind in KINDS:
        rows = [row for row in one.answered if row.found and row.probe.kind == kind]
        if rows:
            lines += ["", f"### {kind.capitalize()}", *_answers(rows, width)]
    return "\n".join(lines)


def _missed(rows: Iterable[Answered], width: int) -> list[str]:
    lines = list[str]()
    for row in rows:
        probe = row.probe
        lines += [
            f"[{probe.entry[:12] or '-'}] {probe.section}: {opening(probe.question, width - 30)}",
            f"  should say: {opening(probe.answer, width - 14)}",
        ]
    return lines


def _answers(rows: Sequence[Answered], width: int) -> list[str]:
    lines = list[str]()
    asked = ""
    for row in rows:
        if row.probe.question != asked:
            asked = row.probe.question
            lines.append(opening(asked, width))
        lines.append(f"  {opening(row.where, width - 2)}")
    return lines


def probed_document(one: Probed) -> dict[str, object]:
    """The same for a program."""
    scores = one.score.to_dict()
    return {
        "compression": one.of or None,
        "asked": len(one.answered),
        "answered": len(one.answered) - len(one.misses),
        "met": one.score.met,
        "quality": [
            {
                "dimension": each.key,
                "score": scores[each.key],
                "target": each.target,
                "met": scores[each.key] >= each.target,
                "measures": each.measures,
            }
            for each in DIMENSIONS
        ],
        "probes": [
            {
                "kind": row.probe.kind,
                "section": row.probe.section,
                "question": row.probe.question,
                "answer": row.probe.answer,
                "ref": row.probe.entry[:12],
                "found": row.found,
                "where": row.where,
            }
            for row in one.answered
        ],
    }
