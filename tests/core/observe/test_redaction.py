"""What is redacted: every secret, by value, wherever it stands, and nothing else."""

import json

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.entry import Compressed, Entry, Noted, Said, Step, ToolCalled
from holdfast.core.ledger.summary import Constraint, Fact, Intent, Quote, Summary
from holdfast.core.ledger.window import fold
from holdfast.core.observe.redaction import (
    KnownSecrets,
    learn_secrets,
    redact_entry,
    redact_summary,
    redact_text,
    redact_window,
)
from tests.core.building import answer, ask, back, bash, entries
from tests.secrets import NAMED, PLANTED, every_value, pem, planted_text

TOKEN, HIDDEN = PLANTED["github-token"], NAMED["secret"][0]


def known_from(*found: Entry) -> KnownSecrets:
    return learn_secrets(KnownSecrets(), found)


def test_a_secret_found_in_one_entry_is_redacted_in_another_that_only_holds_its_value() -> None:
    first, second = entries(ask(f"aws_secret_access_key = {HIDDEN}"), answer(f"I saw {HIDDEN}."))
    known = known_from(first, second)
    mark = f"[redacted:secret#{first.id[:12]}]"
    assert redact_entry(second, known).body == Said("assistant", f"I saw {mark}.")


def test_the_mark_names_the_first_entry_that_holds_it_whichever_is_redacted() -> None:
    found = entries(ask(f"use {TOKEN}"), answer("ok"), ask(f"again {TOKEN}"))
    known = known_from(*found)
    shown = [redact_entry(entry, known).body for entry in found]
    mark = f"[redacted:github-token#{found[0].id[:12]}]"
    assert shown == [ask(f"use {mark}"), answer("ok"), ask(f"again {mark}")]


def test_every_planted_secret_is_gone_and_everything_else_is_there() -> None:
    (entry,) = entries(ask(planted_text()))
    shown = redact_entry(entry, known_from(entry)).body
    assert isinstance(shown, Said)
    assert [value for value in every_value() if value in shown.text] == []
    assert shown.text.startswith("# settings\naws-key is [redacted:aws-key#")
    assert shown.text.endswith("\n# end")


def test_a_text_keeps_its_lines() -> None:
    text = planted_text()
    assert redact_text(text, KnownSecrets()).count("\n") == text.count("\n")


def test_redacting_twice_changes_nothing_more() -> None:
    (entry,) = entries(ask(planted_text()))
    known = known_from(entry)
    once = redact_entry(entry, known)
    assert redact_entry(once, known) == once


def test_arguments_stay_json_with_the_same_keys() -> None:
    call = ToolCalled("c1", "Write", json.dumps({"path": "id", "content": planted_text()}))
    (entry,) = entries(call)
    shown = redact_entry(entry, known_from(entry)).body
    assert isinstance(shown, ToolCalled)
    written = json.loads(shown.arguments)
    assert list(written) == ["path", "content"]
    assert [value for value in every_value() if value in written["content"]] == []


def test_a_pattern_that_cuts_through_json_leaves_json_behind() -> None:
    import re

    (entry,) = entries(bash("c1", "echo one two"))
    shown = redact_entry(entry, KnownSecrets((re.compile('"command.*'),))).body
    assert isinstance(shown, ToolCalled)
    assert json.loads(shown.arguments) == {"redacted": f"[redacted:pattern#{entry.id[:12]}]"}


def test_a_line_of_a_private_key_is_redacted_where_it_stands_alone() -> None:
    line = pem().split("\n")[5]
    whole, some = entries(back("c1", pem()), back("c2", f"6: {line}"))
    shown = redact_entry(some, known_from(whole, some)).body
    assert shown == back("c2", f"6: [redacted:private-key#{whole.id[:12]}]")


def test_a_summary_is_redacted_row_by_row_and_keeps_its_names() -> None:
    name = "0123456789abcdef0123456789abcdef"
    summary = Summary(
        intent=Intent(original=Quote(f"deploy with {TOKEN}", name)),
        constraints=(Constraint(f"never print {TOKEN}", name, lifted=name),),
        facts=(Fact(f"token {TOKEN}", name, source="Bash env"),),
    )
    mark = f"[redacted:github-token#{name[:12]}]"
    assert redact_summary(summary, KnownSecrets()) == Summary(
        intent=Intent(original=Quote(f"deploy with {mark}", name)),
        constraints=(Constraint(f"never print {mark}", name, lifted=name),),
        facts=(Fact(f"token {mark}", name, source="Bash env"),),
    )


def test_what_a_compression_and_a_note_quote_is_redacted_too() -> None:
    (said,) = entries(ask(f"use {TOKEN}"))
    known = known_from(said)
    mark = f"[redacted:github-token#{said.id[:12]}]"
    step = Step((said.id,), "old", Said("user", f"stands for {TOKEN}"))
    made = Entry("ab" * 16, said.id, Compressed((step,), 0, 1), 2)
    noted = Entry("cd" * 16, said.id, Noted("pinned", {"text": f"keep {TOKEN}"}), 3)
    shown = Step((said.id,), "old", Said("user", f"stands for {mark}"))
    assert redact_entry(made, known).body == Compressed((shown,), 0, 1)
    assert redact_entry(noted, known).body == Noted("pinned", {"text": f"keep {mark}"})


def test_a_window_keeps_every_name_and_an_entry_without_a_secret_is_the_very_same() -> None:
    found = entries(ask(f"use {TOKEN}"), answer("ok"))
    window = fold(found)
    known = known_from(*found)
    shown = redact_window(window, known, [redact_entry(entry, known) for entry in found])
    assert [item.entry.id for item in shown.items] == [entry.id for entry in found]
    assert shown.items[1] is window.items[1]
    assert (shown.end, shown.generation) == (window.end, window.generation)


def test_many_secrets_are_found_in_one_look() -> None:
    values = [f"{TOKEN[:34]}{at:06}" for at in range(200)]
    found = entries(*(ask(f"use {value}") for value in values))
    known = known_from(*found)
    assert len(known.marks) == 200
    shown = redact_text(" ".join(values), known)
    assert [value for value in values if value in shown] == []
    assert shown.count("[redacted:github-token#") == 200


@given(st.text(max_size=300))
def test_a_text_without_secrets_is_the_very_same(text: str) -> None:
    shown = redact_text(text, KnownSecrets())
    assert shown == text or "[redacted:" in shown


@given(
    st.lists(st.sampled_from([*every_value(), "words", "\n", " = ", '"', "x"]), max_size=8),
    st.randoms(use_true_random=False),
)
def test_no_known_secret_is_left_in_any_text_made_of_them(parts: list[str], draw: object) -> None:
    del draw
    (entry,) = entries(ask(planted_text()))
    known = known_from(entry)
    text = " ".join(parts)
    shown = redact_text(text, known)
    assert [value for value in known.marks if value in shown] == []
