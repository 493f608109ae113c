import pytest

from holdfast.core.ledger.append import Arrival, Draft, append_arrivals, derived_entry
from holdfast.core.ledger.entry import (
    Attached,
    Compacted,
    Compressed,
    Media,
    Opaque,
    Said,
    Source,
    Step,
    Thought,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.window import Item
from holdfast.core.measure.sizes import raw_sizes
from holdfast.core.measure.usage import Usage
from holdfast.core.view.status import (
    Saving,
    StatusReport,
    WindowShare,
    name_kind,
    render_status,
    savings_of,
    shares_of,
)


def step(tier: int, before: int, after: int) -> Step:
    return Step(("a",), "x", tier=tier, before=before, after=after)


def test_every_compression_is_listed_with_what_it_saved() -> None:
    bodies = [
        Compressed((step(1, 90, 10), step(1, 50, 10)), 0, 1),
        Compressed((step(2, 30, 10),), 1, 1),
        Compressed((step(3, 900, 100),), 2, 1),
        Compressed((step(0, 30, 40),), 3, 1, by="host"),
        Compressed((step(0, 7, 0),), 4, 1),
        Compacted("auto"),
        Said("user", "hi"),
    ]
    entries = [
        derived_entry(at, body, parent=None, at=f"t{at}")
        if not isinstance(body, Said)
        else append_arrivals(Head(seq=at), [Arrival(b"", (Draft(body),))]).entries[0]
        for at, body in enumerate(bodies)
    ]
    assert savings_of(entries) == (
        Saving("t0", "Tier 1 (offload)", 1, 2, 120, results=2, results_saved=120),
        Saving("t1", "Tier 2 (truncate)", 2, 1, 20, inputs=1, inputs_saved=20),
        Saving("t2", "Tier 3 (summary)", 3, 1, 800),
        Saving("t3", "Replaced by host", 0, 1, -10),
        Saving("t4", "Other", 0, 1, 7),
        Saving("t5", "Host compaction", 0, 1, 0),
    )


def test_shares_are_listed_by_size_with_results_under_their_tool() -> None:
    bodies: list[Source] = [
        Said("user", "go"),
        ToolCalled("c1", "read", "{}"),
        ToolReturned("c1", "out"),
        ToolReturned("c9", "out"),
        Said("user", "on"),
    ]
    entries = append_arrivals(Head(), [Arrival(b"", (Draft(body),)) for body in bodies]).entries
    assert shares_of([Item(entry) for entry in entries], [5, 7, 400, 5, 1]) == (
        WindowShare("read results", 1, 400),
        WindowShare("read calls", 1, 7),
        WindowShare("user", 2, 6),
        WindowShare("unknown tool results", 1, 5),
    )


def test_what_stands_in_is_counted_as_it_is_and_the_summary_has_its_own_share() -> None:
    bodies: list[Source] = [Said("user", "go"), ToolCalled("c1", "read", "{}")]
    entries = append_arrivals(Head(), [Arrival(b"", (Draft(body),)) for body in bodies]).entries
    first, second = entries
    cut = Step((second.id,), "x", ToolCalled("c1", "read", "{…}"), after=3)
    stands = Step((first.id,), "x", Said("user", "all", by="holdfast"), after=40)
    items = [
        Item(first, stands.hides, stands.stand_in),
        Item(second, cut.hides, cut.stand_in),
    ]
    raws = raw_sizes(items, {1: 900, 2: 500}, len)
    assert shares_of(items, raws) == (WindowShare("read calls", 1, 7), WindowShare("summary", 1, 3))


def test_what_a_host_saved_is_told_by_the_window_before_and_after_it() -> None:
    pruned = derived_entry(1, Compressed((step(0, 30, 10),), 0, 1, by="host"), parent=None, at="t1")
    dropped = derived_entry(2, Compacted("auto"), parent=None, at="t2")
    sizes = {pruned.id: (500, 470), dropped.id: (900, 200)}
    assert savings_of([pruned, dropped], sizes) == (
        Saving("t1", "Replaced by host", 0, 1, 30),
        Saving("t2", "Host compaction", 0, 1, 700),
    )


def test_what_results_and_inputs_saved_adds_up_in_the_tokens_of_the_window() -> None:
    cut = Step(("b",), "x", ToolCalled("c", "t", "{}"), tier=2, before=20, after=10)
    made = Compressed((step(1, 60, 40), cut), 0, 1, before=1_045, after=1_000)
    assert savings_of([derived_entry(1, made, parent=None, at="t1")]) == (
        Saving("t1", "Tier 2 (truncate)", 2, 2, 45, 1, 30, 1, 15),
    )


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (Said("system", "x"), "system"),
        (Said("user", "x", "host"), "injected text"),
        (Said("user", "x", "summary"), "summary"),
        (Thought("x"), "thinking"),
        (ToolCalled("c", "read", "{}"), "read calls"),
        (ToolReturned("c", "x"), "unknown tool results"),
        (Attached("user", Media("image")), "image"),
        (Opaque("user", "odd", "{}"), "odd"),
        (Opaque("user", "", "{}"), "opaque"),
    ],
)
def test_everything_has_a_name_a_person_would_use(body: Source, what: str) -> None:
    assert name_kind(body, {}) == what


REPORT = StatusReport(
    session="s",
    at="2026-03-01 10:00 SAST",
    usage=Usage(60_000, 100_000, "calibrated", overhead=21_000),
    turns=3,
    steps=9,
    savings=(
        Saving("10:01", "Tier 1 (offload)", 1, 2, 12_000, results=2, results_saved=12_000),
        Saving("", "Tier 2 (truncate)", 2, 1, 300, inputs=1, inputs_saved=300),
        Saving("10:05", "Tier 3 (summary)", 3, 1, 40_000),
    ),
    shares=(WindowShare("read results", 4, 39_000),),
    overhead=21_000,
    warnings=("the model is not known",),
)


@pytest.mark.seed("R033", "R034", "R035")
def test_a_report_says_what_was_done_what_to_do_and_what_it_saved() -> None:
    assert render_status(REPORT).splitlines() == [
        "## Context Status Report",
        "",
        "**Timestamp:** 2026-03-01 10:00 SAST",
        "**Estimated Usage:** 60.0%",
        "**Level:** ORANGE",
        "**Session:** s",
        "**Tokens:** 60,000 of 100,000 (calibrated)",
        "",
        "### Current State",
        "- Tool results offloaded: 2 (12,000 tokens saved)",
        "- Tool inputs truncated: 1 (300 tokens saved)",
        "- Summarisations performed: 1",
        "",
        "### Recommendation",
        "Apply Tier 1 & 2",
        "Note: the model is not known",
        "",
        "### Compression History",
        "| Time | Type | Tokens Saved |",
        "|---|---|---|",
        "| 10:01 | Tier 1 (offload) | 12,000 |",
        "| unknown | Tier 2 (truncate) | 300 |",
        "| 10:05 | Tier 3 (summary) | 40,000 |",
        "",
        "### Where the Tokens Are",
        "| What | Count | Tokens |",
        "|---|---|---|",
        "| read results | 4 | 39,000 |",
        "| not in the session (system prompt, tools) | | 21,000 |",
    ]


def test_a_report_of_a_session_nothing_was_done_to_says_none() -> None:
    plain = StatusReport("s", "now", Usage(1, 100, "exact"), 1, 0, (), (), 0)
    lines = render_status(plain).splitlines()
    assert lines[lines.index("### Compression History") + 3] == "| None | | |"
    assert lines[-2:] == ["| What | Count | Tokens |", "|---|---|---|"]
