"""Ask the window questions about content that a summary replaced; render answers and scores."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Compressed, Entry, EntryId, text_of
from holdfast.core.ledger.summary import Fact, Summary
from holdfast.core.ledger.window import Window, in_force
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.moments.moment import Moment
from holdfast.core.observe.requests.pins import lift_unpinned
from holdfast.core.shrink.summary.choose import choose, words_of_moment
from holdfast.core.shrink.summary.fit import facts_of
from holdfast.core.shrink.summary.root import relative_moments
from holdfast.core.shrink.summary.rows import is_anchor
from holdfast.core.verify.answers import ProbeResult, answer_probes
from holdfast.core.verify.probes import make_probes
from holdfast.core.verify.quality import DIMENSIONS, Quality, score_quality
from holdfast.text.clip import clip_line

PROBE_KINDS = ("recall", "artifact", "continuation", "decision")


class ProbeReport(Struct, frozen=True):
    """Every probe with its answer, and the resulting scores."""

    answered: tuple[ProbeResult, ...]
    score: Quality
    of: str = ""
    """The compression whose summary was probed; empty when there was none."""

    @property
    def misses(self) -> tuple[ProbeResult, ...]:
        """Return the probes that the window does not answer."""
        return tuple(answer for answer in self.answered if not answer.found)


def newest_summary(window: Window) -> Entry | None:
    """Return the newest compression in force that placed a summary in the window."""
    for entry in reversed(in_force(window)):
        if isinstance(entry.body, Compressed) and entry.body.summary is not None:
            return entry
    return None


def probe_window(
    window: Window, compression: Entry, moments: Iterable[Moment], count: CountTokens, room: int
) -> ProbeReport:
    """Probe the window about the content that a compression's summary replaced.

    Asks for the `moments` of the hidden content that were worth `room` tokens, whether the summary
    shows them or not.
    """
    body = compression.body
    assert isinstance(body, Compressed)
    assert body.summary is not None
    rows = replace(
        body.summary,
        # Constraints that the user has lifted since are not asked for.
        constraints=lift_unpinned(body.summary.constraints, window.ledger),
        facts=_facts_to_ask_for(window, compression, moments, count, room),
    )
    text = "\n".join(text_of(item.body) for item in window.items)
    return probe_text(rows, text, of=compression.id[:12])


def _facts_to_ask_for(
    window: Window, compression: Entry, moments: Iterable[Moment], count: CountTokens, room: int
) -> tuple[Fact, ...]:
    """Return the moments hidden by a compression that were most worth keeping."""
    body = compression.body
    assert isinstance(body, Compressed)
    assert body.summary is not None
    hidden = _hidden_by(body)
    of_hidden = (moment for moment in moments if moment.entry in hidden)
    pool = relative_moments(of_hidden, body.summary.root)
    shown = _words_in_window(window, body.watermark)
    return facts_of(choose(pool, room, count=count, covered=shown))


def _words_in_window(window: Window, watermark: int) -> frozenset[str]:
    """Return the words that the window contained beside the summary when it was made."""
    then = (i for i in window.items if i.entry.seq <= watermark and not is_anchor(i))
    return frozenset[str]().union(*(words_of_moment(text_of(item.body)) for item in then))


def _hidden_by(body: Compressed) -> frozenset[EntryId]:
    """Return the entries that the summary of a compression replaces; empty without a summary."""
    summaries = (step for step in body.steps if step.kind == "summary")
    return frozenset(name for step in summaries for name in step.hides)


def probe_text(rows: Summary, text: str, *, of: str = "") -> ProbeReport:
    """Probe a text about the rows of a summary."""
    answered = answer_probes(make_probes(rows), text)
    return ProbeReport(answered, score_quality(answered, source=rows, candidate=rows), of)


def render_probe_report(report: ProbeReport, *, width: int = 100) -> str:
    """Render the scores, then the misses, then every question with the line that answers it."""
    scores = report.score.to_dict()
    found = len(report.answered) - len(report.misses)
    lines = [
        f"{found:,} of {len(report.answered):,} questions are answered by "
        + ("what is in sight" if report.of else "the summary; nothing was summarised yet"),
        "",
        "### Quality",
        *(
            f"{dimension.name:22}  {scores[dimension.key]:>4.2f}  target "
            f"{dimension.target:.1f}  "
            f"{'met' if scores[dimension.key] >= dimension.target else 'MISSED'}"
            for dimension in DIMENSIONS
        ),
        "",
        "### Misses",
        *(_miss_lines(report.misses, width) or ["None"]),
    ]
    for kind in PROBE_KINDS:
        rows = [row for row in report.answered if row.found and row.probe.kind == kind]
        if rows:
            lines += ["", f"### {kind.capitalize()}", *_answer_lines(rows, width)]
    return "\n".join(lines)


def _miss_lines(rows: Iterable[ProbeResult], width: int) -> list[str]:
    lines = list[str]()
    for row in rows:
        probe = row.probe
        lines += [
            f"[{probe.entry[:12] or '-'}] {probe.section}: {clip_line(probe.question, width - 30)}",
            f"  should say: {clip_line(probe.answer, width - 14)}",
        ]
    return lines


def _answer_lines(rows: Sequence[ProbeResult], width: int) -> list[str]:
    lines = list[str]()
    question = ""
    for row in rows:
        if row.probe.question != question:
            question = row.probe.question
            lines.append(clip_line(question, width))
        lines.append(f"  {clip_line(row.where, width - 2)}")
    return lines


def probe_report_document(report: ProbeReport) -> dict[str, object]:
    """Return a probe report as a JSON document."""
    scores = report.score.to_dict()
    return {
        "compression": report.of or None,
        "asked": len(report.answered),
        "answered": len(report.answered) - len(report.misses),
        "met": report.score.meets_targets,
        "quality": [
            {
                "dimension": dimension.key,
                "score": scores[dimension.key],
                "target": dimension.target,
                "met": scores[dimension.key] >= dimension.target,
                "measures": dimension.measures,
            }
            for dimension in DIMENSIONS
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
            for row in report.answered
        ],
    }
