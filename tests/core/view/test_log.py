import pytest

from holdfast.core.ledger.entry import (
    Body,
    Compacted,
    Compressed,
    Entry,
    Noted,
    Restored,
    Said,
    Step,
)
from holdfast.core.ledger.summary import Ref, Summary
from holdfast.core.view.log import Event, events_of, render_log

AT, REF = "2026-01-29T14:25:30Z", "0123456789ab"
LARGE = Step(("a",), "a result of 20,000 tokens", tier=1, before=20_000, after=500,
             kind="offload", file="cache/offloaded/x.md")  # fmt: skip
READ = Step(("b",), "read again", tier=2, before=900, after=40, kind="read")


def event(body: Body) -> Event:
    (found,) = events_of([Entry(f"{REF}cdef", None, body, 1, at=AT)])
    return found


@pytest.mark.seed("R139", "R208", "R209", "R325")
def test_a_compression_is_an_event_with_the_fields_of_the_protocol() -> None:
    made = event(Compressed((LARGE, READ), 0, 9, trigger="context at 50%", before=60_000,
                            after=39_640))  # fmt: skip
    assert made == Event(
        at=AT,
        kind="TIER_2",
        trigger="context at 50%",
        before=60_000,
        after=39_640,
        saved=20_360,
        files=("cache/offloaded/x.md",),
        intent=True,
        steps=("offload: a result of 20,000 tokens", "read: read again"),
        ref=REF,
    )
    assert render_log([made]) == "\n".join(
        [
            "## Compression Event Log",
            "",
            "**Timestamp:** 2026-01-29T14:25:30Z",
            "**Event Type:** TIER_2",
            "**Trigger:** context at 50%",
            "**Tokens Before:** 60,000",
            "**Tokens After:** 39,640",
            "**Tokens Saved:** 20,360",
            "**Files Created:** cache/offloaded/x.md",
            "**Intent Preserved:** YES",
        ]
    )


@pytest.mark.seed("R064", "R208", "R209")
def test_a_summary_names_its_archive_and_its_quality_below_the_fields() -> None:
    rows = Summary(refs=(Ref("", "full conversation: cache/conversations/s_full.md"), Ref("a")))
    step = Step(("a",), "old", Said("user", "x"), tier=3, kind="summary")
    scores = {"accuracy": 3.25, "completeness": 4.0}
    made = event(Compressed((step,), 0, 9, summary=rows, quality=scores, mark="below_target"))
    assert (made.kind, made.files) == ("TIER_3", ("cache/conversations/s_full.md",))
    assert render_log([made]).splitlines()[-3:] == [
        "**Intent Preserved:** YES",
        "**Quality:** accuracy 3.2 (below 4.0), completeness 4.0",
        "**Mark:** below_target",
    ]


@pytest.mark.parametrize(
    ("tiers", "kind"),
    [((1,), "TIER_1"), ((2, 1), "TIER_2"), ((3,), "TIER_3"), ((0,), "TIER_1")],
)
def test_an_event_is_of_the_highest_tier_of_its_steps(tiers: tuple[int, ...], kind: str) -> None:
    steps = tuple(Step((str(tier),), "x", tier=tier) for tier in tiers)
    assert event(Compressed(steps, 0, 9)).kind == kind


def test_without_the_size_of_the_window_the_steps_tell_what_was_saved() -> None:
    assert event(Compressed((LARGE, READ), 0, 9)).saved == 19_500 + 860


@pytest.mark.seed("R208")
@pytest.mark.parametrize(
    ("body", "made"),
    [
        (Restored("ba9876543210fedc", 1), Event(AT, "UNDO", "undo of ba9876543210", ref=REF)),
        (Compacted("auto"), Event(AT, "HOST", "auto", intent=False, ref=REF)),
        (Compacted(), Event(AT, "HOST", "the agent's own program", intent=False, ref=REF)),
        (
            Noted("postponed", {"trigger": "context at 50%", "reason": "too little"}),
            Event(AT, "POSTPONED", "context at 50%: too little", ref=REF),
        ),
        (
            Compressed((Step(("a",), "x"),), 0, 9, by="host"),
            Event(
                AT,
                "HOST",
                "replaced by the agent's own program",
                steps=("replaced: x",),
                ref=REF,
            ),
        ),
    ],
)
def test_whatever_else_happened_to_a_window_is_an_event_too(body: Body, made: Event) -> None:
    assert event(body) == made


def test_what_changes_no_window_is_no_event() -> None:
    bodies: list[Body] = [Said("user", "Hello."), Noted("model", {"model": "x"})]
    assert events_of(Entry(str(n), None, body, n) for n, body in enumerate(bodies, 1)) == ()


@pytest.mark.seed("R209")
def test_an_event_that_may_have_lost_the_intent_asks_for_verification() -> None:
    shown = render_log([Event("", "HOST", "auto", intent=False)]).split("\n")
    assert (shown[2], shown[-2:]) == (
        "**Timestamp:** unknown",
        ["**Files Created:** None", "**Intent Preserved:** VERIFICATION_NEEDED"],
    )


def test_a_log_of_nothing_says_so() -> None:
    assert render_log([]) == "## Compression Event Log\n\nNone"
