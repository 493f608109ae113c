import pytest

from holdfast.core.ledger.entry import Entry, Noted
from holdfast.core.ledger.summary import Constraint
from holdfast.core.observe.requests.pins import matching_constraints
from holdfast.core.observe.scene import scene_of
from holdfast.core.shrink.summary.rows import rows_of_scene
from holdfast.core.view.summary import (
    SessionIntent,
    intent_document,
    render_intent,
    session_intent_of,
)
from tests.core.building import answer, ask, entries, named

SAID = entries(
    ask("Fix the parser.\nDo not touch the schema."), answer("Yes."), ask("Now test it.")
)


def read(*ledger: Entry) -> SessionIntent:
    return session_intent_of(rows_of_scene(scene_of(SAID)), SAID, ledger)


def noted(seq: int, what: str, **facts: str) -> Entry:
    return Entry(named(seq), SAID[-1].id, Noted(what, facts), seq, at=f"at {seq}")


@pytest.mark.seed("R068", "R081", "R215")
def test_requests_and_constraints_are_told_word_for_word_with_their_entries() -> None:
    asked = read(*SAID)
    assert asked.intent.original.text == "Fix the parser.\nDo not touch the schema."
    assert render_intent(asked).splitlines() == [
        "## Session Intent",
        "",
        f"**Original request** (ref {named(1)[:12]})",
        "Fix the parser.",
        "Do not touch the schema.",
        "",
        f"**Current request** (ref {named(3)[:12]})",
        "Now test it.",
        "",
        "### Constraints",
        f"- [{named(1)[:12]}] Do not touch the schema.",
    ]


def test_pins_are_constraints_and_what_is_lifted_says_by_what() -> None:
    pin, lifting = noted(4, "pinned", text="Key 77."), noted(5, "unpinned", pin=named(4))
    told = render_intent(read(*SAID, pin, lifting)).splitlines()
    assert told[-1] == f"- [{named(4)[:12]}] Key 77. (lifted by {named(5)[:12]})"
    document = intent_document(read(*SAID, pin))
    assert document["constraints"] == [
        {
            "text": "Do not touch the schema.",
            "ref": named(1)[:12],
            "by": "user",
            "negative": True,
            "lifted": None,
        },
        {
            "text": "Key 77.",
            "ref": named(4)[:12],
            "by": "user",
            "negative": False,
            "lifted": None,
        },
    ]


ROWS = (
    Constraint("Keep it.", "abcdef01"),
    Constraint("Drop it.", "abcdef01"),
    Constraint("abcdef01", "00000000"),
    Constraint("Gone.", "abcdef02", lifted="x"),
)


@pytest.mark.parametrize(
    ("pin", "texts"),
    [
        ("Keep it.", ["Keep it."]),
        ("ABCDEF", ["Keep it.", "Drop it."]),
        ("abcde", []),
        ("", []),
        ("abcdef01", ["abcdef01"]),
        ("Gone.", []),
        ("abcdef02", []),
    ],
)
def test_words_mean_a_constraint_before_names_do_and_what_is_lifted_is_not_meant(
    pin: str, texts: list[str]
) -> None:
    assert [one.text for one in matching_constraints(ROWS, pin)] == texts
