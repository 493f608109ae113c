import pytest

from holdfast.core.ledger.head import Calibration, Lane
from holdfast.core.measure.models import UNKNOWN_MODEL, Model, find_model
from holdfast.core.measure.usage import (
    Level,
    Usage,
    estimate_size,
    factor_of,
    level_of,
    measure,
    measure_at_most,
)

OPUS, GPT = find_model("claude-opus-4"), find_model("gpt-4o")


@pytest.mark.seed("R024")
@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.2499999])
def test_below_a_quarter_is_green_and_work_goes_on(fraction: float) -> None:
    assert (level_of(fraction), level_of(fraction).action) == (Level.GREEN, "Continue normally")


@pytest.mark.seed("R025")
@pytest.mark.parametrize("fraction", [0.25, 0.3, 0.4999999])
def test_from_a_quarter_to_a_half_is_yellow_and_asks_to_watch(fraction: float) -> None:
    level = level_of(fraction)
    assert (level, level.action) == (Level.YELLOW, "Monitor, prepare compression")


@pytest.mark.parametrize(
    ("fraction", "level"),
    [
        (0.50, Level.ORANGE),
        (0.7499999, Level.ORANGE),
        (0.75, Level.RED),
        (0.8499999, Level.RED),
        (0.85, Level.CRITICAL),
        (1.0, Level.CRITICAL),
        (7.5, Level.CRITICAL),
    ],
)
def test_a_value_on_a_bound_belongs_to_the_higher_level(fraction: float, level: Level) -> None:
    assert level_of(fraction) is level


@pytest.mark.seed("R030")
def test_each_level_asks_for_its_action_in_the_words_of_the_protocol() -> None:
    assert {level.value: level.action for level in Level} == {
        "GREEN": "Continue normally",
        "YELLOW": "Monitor, prepare compression",
        "ORANGE": "Apply Tier 1 & 2",
        "RED": "Apply Tier 3 summarisation",
        "CRITICAL": "Checkpoint + fresh session",
    }


@pytest.mark.parametrize(
    ("tokens", "limit", "fraction", "level"),
    [
        (0, 100, 0.0, Level.GREEN),
        (25, 100, 0.25, Level.YELLOW),
        (50, 100, 0.5, Level.ORANGE),
        (75, 100, 0.75, Level.RED),
        (85, 100, 0.85, Level.CRITICAL),
        (0, 0, 1.0, Level.CRITICAL),
    ],
)
def test_usage_is_a_part_of_the_effective_window(
    tokens: int, limit: int, fraction: float, level: Level
) -> None:
    usage = Usage(tokens, limit, "exact")
    assert (usage.fraction, usage.level, usage.action) == (fraction, level, level.action)


@pytest.mark.parametrize(
    ("known", "factor"),
    [
        (Calibration(), 1.2),
        (Calibration(requests=2, grown=2_000, billed=4_000), (1.2 * 2_000 + 4_000) / 4_000),
        (Calibration(requests=2, grown=10, billed=10**6), 3.0),
        (Calibration(requests=2, grown=10**6, billed=10), 0.5),
    ],
    ids=["table", "reported", "too high", "too low"],
)
def test_the_factor_is_the_tables_outweighed_by_what_was_reported(
    known: Calibration, factor: float
) -> None:
    assert factor_of(OPUS, known) == factor


@pytest.mark.parametrize(
    ("model", "known", "tokens"),
    [
        (GPT, Calibration(), 1_000),
        (OPUS, Calibration(), 1_200),
        (UNKNOWN_MODEL, Calibration(), 1_000),
        (OPUS, Calibration(requests=1, size=30_000, raw=900), 30_120),
        (OPUS, Calibration(requests=1, size=30_000, raw=1_100), 29_880),
        (OPUS, Calibration(requests=1, size=10, raw=9_000), 1_200),
        (GPT, Calibration(requests=9, size=3_000, raw=900, grown=100, billed=400), 3_100),
    ],
    ids=[
        "exact",
        "by factor",
        "unknown",
        "grown since",
        "shrunk since",
        "never below the messages",
        "a model's own vocabulary needs no factor",
    ],
)
def test_only_what_changed_since_the_last_report_is_estimated(
    model: Model, known: Calibration, tokens: int
) -> None:
    assert estimate_size(1_000, model, known) == tokens


@pytest.mark.parametrize(
    ("lane", "model", "usage"),
    [
        (Lane(tokens=1_000), GPT, Usage(1_000, 5_000, "exact")),
        (Lane(tokens=1_000), OPUS, Usage(1_200, 5_000, "estimated")),
        (Lane(tokens=1_000, uncounted=700), GPT, Usage(1_200, 5_000, "estimated")),
        (
            Lane(tokens=1_000, calibration=Calibration(requests=1, size=3_000, raw=1_000)),
            OPUS,
            Usage(3_000, 5_000, "calibrated", overhead=1_800),
        ),
    ],
    ids=["exact", "estimated", "uncounted", "calibrated"],
)
def test_every_count_says_how_it_was_found(lane: Lane, model: Model, usage: Usage) -> None:
    assert measure(lane, model, 5_000) == usage


def test_the_most_a_window_can_hold_takes_every_uncounted_byte_for_a_token() -> None:
    lane = Lane(tokens=1_000, uncounted=700)
    assert measure_at_most(lane, GPT, 5_000) == Usage(1_700, 5_000, "estimated")


@pytest.mark.parametrize(
    ("tokens", "told", "whole"),
    [
        (74_999, "74.9%", "74%"),
        (75_000, "75.0%", "75%"),
        (0, "0.0%", "0%"),
        (57_000, "57.0%", "57%"),
    ],
)
def test_how_full_it_is_never_says_more_than_its_level(tokens: int, told: str, whole: str) -> None:
    usage = Usage(tokens, 100_000, "exact")
    assert (usage.percent(), usage.percent(0)) == (told, whole)
    assert Usage(5, 0, "exact").percent() == "100.0%"


def test_a_report_that_waits_for_the_counts_is_the_least_that_is_in_sight() -> None:
    lane = Lane(tokens=10, uncounted=400, reported=9_000)
    assert measure(lane, GPT, 10_000).tokens == 9_000
    assert measure_at_most(lane, GPT, 10_000).tokens == 9_400
