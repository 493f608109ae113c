from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.entry import Said
from holdfast.core.ledger.summary import Constraint, Quote
from holdfast.core.observe.requests.constraints import MAX_CONSTRAINTS
from holdfast.core.observe.requests.intent import apply_overrides, read_intent
from tests.core.building import Told, answer, ask, named, scene


def rules(*messages: Told | str) -> list[Constraint]:
    told = [ask(one) if isinstance(one, str) else one for one in messages]
    return list(read_intent(scene(*told)).constraints)


def texts(*messages: Told | str) -> list[str]:
    return [one.text for one in rules(*messages)]


def lifted(*messages: Told | str) -> list[str]:
    return [one.text for one in rules(*messages) if one.lifted]


def binding(*messages: Told | str) -> list[str]:
    return [one.text for one in rules(*messages) if not one.lifted]


def test_a_lead_in_goes_on_in_the_line_below_it() -> None:
    text = "Add the three fields to the record and keep content:\n  str unchanged. It is text."
    assert texts("Hello.", text) == [
        "Add the three fields to the record and keep content:\n  str unchanged."
    ]


def test_an_exception_stays_with_its_rule() -> None:
    text = "Never use mocks. Except in contract tests. Thanks!"
    assert texts(text) == ["Never use mocks. Except in contract tests."]
    assert texts("Don't log, unless it fails.") == ["Don't log, unless it fails."]


def test_items_of_a_list_are_rules_of_their_own() -> None:
    text = "Constraints:\n- Python 3.11\n- no new dependencies\n\nIt is late."
    assert texts(text) == ["Python 3.11", "no new dependencies"]


def test_an_item_goes_on_over_its_indented_lines_and_not_into_code() -> None:
    text = "Rules:\n- one line\n  and a second\n  and a third\n- two:\n  ```\n  must obey\n  ```"
    assert texts(text) == ["one line\n  and a second\n  and a third", "two:"]


def test_an_abbreviation_ends_no_sentence() -> None:
    assert texts("Never use globals, e.g. a cache. Thanks.") == ["Never use globals, e.g. a cache."]


def test_a_list_that_is_too_long_stays_apart_from_its_words() -> None:
    rows = "\n".join(f"- part {n} of the thing, as it is" for n in range(40))
    assert texts(f"You must build:\n{rows}") == ["You must build:"]


def test_a_list_stays_with_the_words_that_forbid_it() -> None:
    text = "Do not:\n- edit tests\n- push\n\nThanks."
    assert texts(text) == ["Do not:\n- edit tests\n- push"]


def test_a_sentence_without_a_subject_stands_with_the_one_that_names_it() -> None:
    text = "What does the footer use? Should be dimmer."
    assert texts("Fix the colours.", text) == [text]


def test_a_sentence_that_an_editor_wrapped_is_one() -> None:
    text = "All of the public functions in this module, old or new,\nmust have a docstring."
    assert texts(text) == [text]


def test_of_a_sentence_that_runs_on_the_clause_is_kept() -> None:
    text = ", ".join([*["we looked at this and at that"] * 15, "never deploy on a friday"])
    assert texts("Hello.", text) == ["never deploy on a friday"]


def test_a_pasted_document_sets_the_hardest_few() -> None:
    soft = "\n\n".join(f"Part {n} should be short." for n in range(300))
    hard = "\n\n".join(f"Part {n} must be short." for n in range(300))
    assert texts(f"Build this.\n\n{soft}") == []
    found = texts(f"Build this.\n\n{hard}\n\nNever push.")
    assert len(found) == MAX_CONSTRAINTS
    assert found[0] == "Part 0 must be short."
    assert found == texts(f"Build this.\n\n{hard}\n\nNever push.")


def test_hard_words_go_before_soft_ones() -> None:
    soft = "\n\n".join(f"Part {n} should be short." for n in range(MAX_CONSTRAINTS))
    assert "Never push." in texts(f"{soft}\n\nNever push.")


def test_what_the_system_says_binds_and_the_user_does_not_lift_it() -> None:
    found = rules(Said("system", "Never edit tests."), "Hi.", "You may now edit tests.")
    assert found == [Constraint("Never edit tests.", named(1), "system", True)]


def test_what_was_said_twice_stands_once() -> None:
    assert texts("Never push.", "ok, and never  PUSH.", "never push.") == [
        "Never push.",
        "ok, and never  PUSH.",
    ]


def test_words_that_point_back_mean_what_was_said_right_before() -> None:
    told = ("Always answer in French.", "Now add a button.", "Ignore the earlier instruction.")
    assert lifted("Hello.", *told) == []


def test_a_decision_matters_once_it_is_overruled() -> None:
    first = "For Ana's launch, let's mail every customer."
    turn = (
        "Actually, wait — scratch that. Instead, let's call them. Ignore the earlier instruction."
    )
    assert texts(first) == []
    found = rules(first, answer("Shall I?"), turn)
    assert [(one.text, one.lifted) for one in found] == [
        (first, named(3)),
        ("Instead, let's call them.", ""),
    ]


def test_a_message_may_correct_itself() -> None:
    text = "Use port 8080. Actually, use port 9090."
    assert lifted("Hello.", text) == ["Use port 8080."]
    assert binding("Hello.", text) == ["Actually, use port 9090."]


def test_what_was_taken_back_may_be_set_again() -> None:
    told = ("Never use Redis.", "It's fine to use Redis now.", "Never use Redis.")
    found = rules("Hello.", *told)
    assert [(one.entry, one.lifted) for one in found] == [(named(2), named(3)), (named(4), "")]


def test_a_later_span_takes_back_what_an_earlier_one_set() -> None:
    known = (
        Constraint("Use port 8080.", "a"),
        Constraint("Never edit tests.", "b", negative=True),
        Constraint("Keep it under 100 lines.", "c"),
    )
    change = Quote("Actually, use port 9090 instead of 8080.", "x")
    new = (Constraint("keep it under 200 lines", "y"),)
    assert [one.lifted for one in apply_overrides(new, (change,), known)] == ["x", "", "y"]
    assert apply_overrides((), (), known) == known


def test_a_later_span_takes_nothing_back_by_pointing() -> None:
    known = (Constraint("Always answer in French.", "a"),)
    assert apply_overrides((), (Quote("Scratch that.", "x"),), known) == known


def test_what_the_system_set_and_what_was_lifted_stay_as_they_are() -> None:
    known = (
        Constraint("Never use Redis.", "a", "system", negative=True),
        Constraint("Never use Redis.", "b", negative=True, lifted="c"),
    )
    assert apply_overrides((), (Quote("It's fine to use Redis now.", "x"),), known) == known


def test_a_constraint_that_is_lifted_or_the_systems_lifts_nothing() -> None:
    known = (Constraint("Keep it under 100 lines.", "a"),)
    for row in (
        Constraint("Keep it under 200 lines.", "b", lifted="c"),
        Constraint("Keep it under 200 lines.", "b", "system"),
    ):
        assert apply_overrides((row,), (), known) == known


sayings = st.sampled_from(
    [
        "Use port 1.",
        "Use port 2.",
        "Never edit tests.",
        "Actually, you may edit tests.",
        "Hi.",
        "ok",
    ]
)


@given(st.lists(sayings, max_size=6), st.lists(sayings, max_size=6))
def test_to_take_back_adds_and_removes_no_row(first: list[str], later: list[str]) -> None:
    known = rules(*first)
    newer = read_intent(scene(*map(ask, later)))
    after = apply_overrides(newer.constraints, newer.intent.changes, known)
    assert [(one.text, one.entry) for one in after] == [(one.text, one.entry) for one in known]
    assert all(
        new.lifted == old.lifted for new, old in zip(after, known, strict=True) if old.lifted
    )


def test_a_new_order_that_begins_with_a_word_for_dropping_drops_what_it_points_back_at() -> None:
    turned = (
        "Actually, scratch that. Instead, let's ignore rate limits. Ignore the earlier instruction."
    )
    rows = read_intent(
        scene(ask("Let's use a strict quota."), answer("Fine."), ask(turned), answer("Done."))
    ).constraints
    lifted = [row.text for row in rows if row.lifted]
    assert lifted == ["Let's use a strict quota."]


def test_how_to_do_something_does_not_forbid_it() -> None:
    turned = "Scratch that. Instead, let's assume the cache is warm without probing it."
    rows = read_intent(
        scene(ask("Let's probe the cache."), answer("Fine."), ask(turned))
    ).constraints
    (row,) = [row for row in rows if not row.lifted]
    assert "warm" in row.text
    assert not row.negative


COPIED = """Review this plan for the media support.

  Current State

  The Document class has content: str and embed() calls
  embedder.embed(self.content), always text. The tests must
  not be slow, and the readers never see media.

  Proposed Plan

  Add image: Optional[Image] to Document. Keep content:
   str unchanged. For media, content must be a reference
  string. Never batch the media documents."""


def test_sentences_copied_from_a_terminal_set_no_constraints() -> None:
    assert texts(COPIED) == []


def test_typed_words_beside_a_copy_still_set_constraints() -> None:
    assert texts(f"Never touch the tests.\n{COPIED}") == ["Never touch the tests."]


def test_an_indented_list_of_rules_sets_constraints() -> None:
    listed = "\n".join(f"  - Never use the module x{n}." for n in range(8))
    assert len(texts(listed)) == 8
