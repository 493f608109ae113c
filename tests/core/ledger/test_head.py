import msgspec
import pytest

from holdfast.core.ledger.append import derived_entry
from holdfast.core.ledger.entry import (
    Body,
    Compacted,
    Compressed,
    Derived,
    Entry,
    Noted,
    Restored,
    Said,
    Source,
    Step,
    ToolCalled,
    ToolReturned,
    Unread,
    Used,
)
from holdfast.core.ledger.head import (
    FOLD_VERSION,
    UNCOUNTED,
    Calibration,
    Head,
    Lane,
    advance_head,
    apply_counts,
    calibrate,
)
from holdfast.core.ledger.size import byte_size


def entry(seq: int, body: Source, parent: str | None = None, **more: object) -> Entry:
    """A source entry whose name is its number."""
    given = {"message": seq, **more}
    return Entry(str(seq), parent, body, seq, **given)  # pyright: ignore[reportArgumentType]


def after(*bodies: Body, tokens: int = UNCOUNTED) -> Head:
    """The head after bodies, each at the end of the one lane."""
    head = Head()
    for body in bodies:
        end = head.lane("").end
        if isinstance(body, Derived):
            head = advance_head(head, derived_entry(head.seq + 1, body, parent=end))
        else:
            head = advance_head(head, entry(head.seq + 1, body, end), tokens)
    return head


def test_a_counted_entry_adds_its_tokens() -> None:
    head = after(Said("user", "hi there"), tokens=3)
    lane = Lane(end="1", tokens=3, messages=1, turns=1, message=1)
    assert head == Head(stamp=FOLD_VERSION, seq=1, counted=1, title="hi there", lanes={"": lane})


def test_an_entry_nobody_counted_adds_its_bytes() -> None:
    head = after(Said("user", "hé"), ToolCalled("c", "read", "{}"))
    lane = Lane(end="2", uncounted=3 + 6, messages=2, turns=1, steps=1, message=2)
    assert (head.counted, head.lane("")) == (0, lane)


def test_what_is_counted_stops_at_the_first_entry_that_is_not() -> None:
    head = advance_head(Head(), entry(1, Said("user", "a")), 1)
    head = advance_head(head, entry(2, Said("user", "b"), "1"))
    head = advance_head(head, entry(3, Said("user", "c"), "2"), 1)
    assert head.counted == 1


def test_derived_entries_need_no_count() -> None:
    assert after(Said("user", "a"), Noted("x"), tokens=1).counted == 2


def test_turns_are_requests_and_steps_are_assistant_messages() -> None:
    head = Head()
    bodies = [
        (Said("user", "go"), 1),
        (Said("assistant", "ok"), 2),
        (ToolCalled("c", "f", "{}"), 2),
        (ToolReturned("c", "out"), 4),
        (Said("user", "mind", "host"), 5),
        (Said("assistant", "done"), 6),
    ]
    for seq, (body, message) in enumerate(bodies, start=1):
        head = advance_head(head, entry(seq, body, head.lane("").end, message=message), 1)
    lane = head.lane("")
    assert (lane.messages, lane.turns, lane.steps) == (5, 1, 2)


def test_the_title_is_how_the_first_request_of_the_main_agent_begins() -> None:
    head = advance_head(Head(), entry(1, Said("user", "a sub-agent's"), lane="x"))
    head = advance_head(head, entry(2, Said("user", "  Fix\n the   bug " + "x" * 100)))
    head = advance_head(head, entry(3, Said("user", "later"), "2"))
    assert head.title == ("Fix the bug " + "x" * 100)[:80]


def test_the_time_is_that_of_the_last_entry_that_has_one() -> None:
    head = advance_head(Head(), entry(1, Said("user", "a"), at="early"))
    assert advance_head(head, entry(2, Said("user", "b"), "1")).at == "early"


def test_looking_after_a_session_makes_it_no_younger() -> None:
    noted = advance_head(Head(), derived_entry(1, Noted("x"), parent=None, at="first"))
    assert noted.at == "first"
    said = advance_head(noted, entry(2, Said("user", "a"), at="then"))
    assert advance_head(said, derived_entry(3, Noted("x"), parent="2", at="later")).at == "then"


@pytest.mark.parametrize(
    ("body", "tokens", "generation"),
    [
        (Compressed((Step(("1",), "x", before=60, after=10),), 0, 1), 50, 1),
        (Restored("c", 0, returns=30), 130, 1),
        (Compacted(), 0, 1),
        (Noted("x"), 100, 0),
        (Unread("dreamt", b""), 100, 0),
    ],
)
def test_what_changes_sight_changes_the_tokens_and_the_generation(
    body: Derived, tokens: int, generation: int
) -> None:
    lane = after(Said("user", "a"), body, tokens=100).lane("")
    assert (lane.tokens, lane.generation, lane.end) == (tokens, generation, "1")


@pytest.mark.parametrize(
    ("body", "stale"),
    [(Noted("switched"), True), (Compacted("auto", ("1",)), True), (Compacted("auto"), False)],
)
def test_what_makes_the_sums_wrong_makes_the_head_stale(body: Derived, stale: bool) -> None:
    assert after(Said("user", "a"), body, tokens=1).stale is stale


def test_an_entry_that_does_not_follow_the_end_makes_the_head_stale() -> None:
    head = after(Said("user", "a"), Said("user", "b"), tokens=1)
    assert advance_head(head, entry(3, Said("user", "c"), "1"), 1).stale


def test_a_switch_moves_the_end() -> None:
    head = after(Said("user", "a"), Said("user", "b"), tokens=1)
    moved = advance_head(head, derived_entry(3, Noted("switched"), parent="1"))
    assert (moved.lane("").end, moved.stale) == ("1", True)


@pytest.mark.parametrize(
    ("body", "model", "limit"),
    [
        (Used(5, model="m"), "m", 0),
        (Used(5), "", 0),
        (Noted("model", {"model": "n"}), "n", 0),
        (Noted("model"), "", 0),
        (Noted("limit", {"limit": "9000"}), "", 9000),
        (Noted("limit"), "", 0),
        (Noted("limit", {"limit": "12k"}), "", 0),
    ],
)
def test_the_model_and_the_limit_are_those_last_told(body: Derived, model: str, limit: int) -> None:
    head = after(Said("user", "a"), body)
    assert (head.model, head.limit) == (model, limit)


def test_the_first_report_is_where_calibration_starts() -> None:
    assert calibrate(Lane(tokens=100), Used(500, model="m", request="r")) == Calibration(
        "m", requests=1, size=500, raw=100, request="r"
    )


KNOWN = Calibration("m", requests=1, size=500, raw=100, request="r")


@pytest.mark.parametrize(
    ("tokens", "used", "known"),
    [
        (100, Used(520, model="m", request="r"), Calibration("m", 1, 520, 100, request="r")),
        (200, Used(650, model="m"), Calibration("m", 2, 650, 200, 100, 150)),
        (200, Used(650), Calibration("m", 2, 650, 200, 100, 150)),
        (50, Used(650, model="m"), Calibration("m", 2, 650, 50)),
        (200, Used(400, model="m"), Calibration("m", 2, 400, 200)),
        (200, Used(650, model="n"), Calibration("n", 1, 650, 200)),
    ],
    ids=["same request", "growth", "unnamed model", "shrunk window", "shrunk bill", "other model"],
)
def test_only_growth_between_two_requests_of_one_model_teaches(
    tokens: int, used: Used, known: Calibration
) -> None:
    assert calibrate(Lane(tokens=tokens, calibration=KNOWN), used) == known


HEARD = (Said("user", "abc"), Noted("x"), Said("user", "de"))


def entries_of(*bodies: Body) -> list[Entry]:
    """Bodies as entries, each at the end of the one lane."""
    made: list[Entry] = []
    for seq, body in enumerate(bodies, start=1):
        end = next((one.id for one in reversed(made) if not isinstance(one.body, Derived)), None)
        derive = isinstance(body, Derived)
        made.append(derived_entry(seq, body, parent=end) if derive else entry(seq, body, end))
    return made


def test_settling_turns_bytes_into_tokens() -> None:
    head = apply_counts(after(*HEARD), {1: 2, 3: 1}, entries_of(*HEARD))
    assert (head.lane("").tokens, head.lane("").uncounted, head.counted) == (3, 0, 3)


def test_settling_counts_only_what_was_counted() -> None:
    head = apply_counts(after(*HEARD), {3: 1}, entries_of(*HEARD))
    assert (head.lane("").tokens, head.lane("").uncounted, head.counted) == (1, 3, 0)


def test_a_report_waits_until_what_it_is_about_is_counted() -> None:
    bodies = (Said("user", "abc"), Used(50), Said("user", "de"))
    head = after(*bodies)
    assert (head.lane("").calibration, head.lane("").reported) == (Calibration(), 50)
    lane = apply_counts(head, {1: 2, 3: 1}, entries_of(*bodies)).lane("")
    known = lane.calibration
    assert (known.requests, known.size, known.raw, lane.reported) == (1, 50, 2, 0)


@pytest.mark.parametrize(
    ("body", "left"),
    [
        (Compressed((Step(("1",), "x", None, before=30),), 0, 2), 20),
        (Compressed((Step(("1",), "x", None, before=90),), 0, 2), 0),
        (Restored("1", 0, returns=7), 57),
        (Compacted("auto"), 0),
    ],
)
def test_what_leaves_while_a_report_waits_is_no_longer_in_it(body: Derived, left: int) -> None:
    assert after(Said("user", "abc"), Used(50), body).lane("").reported == left


def test_the_size_of_a_body_is_that_of_its_words_in_utf_8() -> None:
    assert [byte_size(Said("user", text)) for text in ("", "abc", "é", "\U0001f600")] == [
        0,
        3,
        2,
        4,
    ]


def test_an_agent_not_heard_of_stands_at_nothing() -> None:
    assert Head().lane("x") == Lane()


def test_a_head_that_does_not_say_which_fold_made_it_was_made_by_the_first() -> None:
    made = msgspec.msgpack.encode(after(Said("user", "a"), tokens=1))
    assert msgspec.msgpack.decode(made, type=Head).stamp == FOLD_VERSION
    assert msgspec.msgpack.decode(msgspec.msgpack.encode({"seq": 1}), type=Head).stamp == 1


def test_a_note_of_a_postponement_without_a_number_changes_nothing() -> None:
    said = Said("user", "hi")
    noted = after(said, Noted("postponed", {"raw": "many"})).lane("")
    assert noted == after(said, Noted("postponed", {})).lane("")
