from pathlib import Path

import pytest

from holdfast.errors import NotRecorded
from holdfast.session.open import open as open_session
from tests.input.making import told
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.cli.working import FIRST, LATEST, TURN, recorded, talked


@pytest.mark.seed("R068", "R215")
def test_the_first_request_and_the_current_one_are_shown_word_for_word(project: Path) -> None:
    recorded(project)
    done("compress", "--budget", "8000")
    found = document("intent")
    assert (found["schema"], found["original"]["text"], found["current"]["text"]) == (
        "holdfast.intent/1",
        FIRST,
        LATEST,
    )
    out = done("intent")
    assert f"**Original request** (ref {found['original']['ref']}" in out
    assert f"**Current request** (ref {found['current']['ref']}" in out
    assert FIRST in out
    assert LATEST in out
    assert done("show", "--ref", found["original"]["ref"]) == FIRST + "\n"


@pytest.mark.seed("R081", "R089")
def test_changes_of_scope_and_constraints_are_shown_with_where_they_stand(project: Path) -> None:
    talked(project)
    before = document("intent")
    assert [one["text"] for one in before["scope_changes"]] == [TURN]
    rules = {one["text"]: one for one in before["constraints"]}
    kept = rules["Do not touch the schema."]
    assert (kept["by"], kept["negative"], kept["lifted"]) == ("user", True, None)
    assert kept["ref"] == before["original"]["ref"]
    done("compress", "--budget", "3000")
    assert document("intent") == before
    out = done("intent")
    assert f"- [{before['scope_changes'][0]['ref']}] {TURN}" in out.splitlines()
    assert f"- [{kept['ref']}] Do not touch the schema." in out.splitlines()


def test_the_words_that_ask_for_the_intent_show_the_same(project: Path) -> None:
    talked(project)
    assert done("run", "show", "session", "intent") == done("intent")


def test_a_single_request_is_shown_once(project: Path) -> None:
    (project / "s.jsonl").write_bytes(told("the only one") + told("yes", "assistant"))
    done("ingest", "s.jsonl")
    assert done("intent").count("the only one") == 1
    assert "Current request" not in done("intent")


def test_a_session_in_which_nobody_asked_has_no_intent(project: Path) -> None:
    with open_session("s", root=project) as session:
        session.append({"role": "assistant", "content": "hello"})
    assert done("intent") == "## Session Intent\n\nNone\n"
    found = document("intent")
    assert (found["original"], found["current"], found["constraints"]) == (None, None, [])


PIN = "The deploy key is 77-ALPHA."


def test_what_is_pinned_stands_in_every_summary_until_it_is_lifted(project: Path) -> None:
    talked(project)
    made = document("pin", PIN)
    assert (made["schema"], made["text"]) == ("holdfast.pin/1", PIN)
    assert PIN in done("intent")
    done("compress", "--budget", "3000")
    with open_session("talk", root=project) as session:
        assert any(PIN in str(message["content"]) for message in session.messages())
    lifted = document("unpin", made["pin"])["lifted"]
    assert lifted == [{"ref": made["pin"], "text": PIN}]
    assert f"- [{made['pin']}] {PIN} (lifted by " in done("intent")
    told = document("show", "--summary")
    assert PIN not in told["summary"]["intent"]["constraints"]
    (row,) = [row for row in told["rows"]["constraints"] if row["text"] == PIN]
    assert row["lifted"]
    assert PIN not in done("show", "--summary", "--form", "anchored")


def test_a_pin_is_lifted_by_its_words_and_so_is_a_constraint_that_was_said(project: Path) -> None:
    talked(project)
    done("pin", PIN)
    assert done("unpin", PIN).startswith("lifted ")
    assert done("unpin", "Do not touch the schema.").endswith(": Do not touch the schema.\n")
    standing = [one["text"] for one in document("intent")["constraints"] if not one["lifted"]]
    assert standing == [TURN, LATEST]
    assert isinstance(invoke("unpin", PIN).exception, NotRecorded)
    assert isinstance(invoke("unpin", "ffffff").exception, NotRecorded)
    assert isinstance(invoke("unpin", "").exception, NotRecorded)


def test_what_was_lifted_can_be_pinned_again(project: Path) -> None:
    talked(project)
    first = document("pin", PIN)["pin"]
    done("unpin", first)
    again = document("pin", PIN)["pin"]
    standing = [one for one in document("intent")["constraints"] if one["text"] == PIN]
    assert [(one["ref"], bool(one["lifted"])) for one in standing] == [
        (first, True),
        (again, False),
    ]


def test_all_that_an_entry_says_can_be_pinned_by_its_reference(project: Path) -> None:
    talked(project)
    ref = document("intent")["current"]["ref"]
    assert document("pin", "--ref", ref)["text"] == LATEST
    assert isinstance(invoke("pin", "--ref", "ffffff").exception, NotRecorded)


@pytest.mark.parametrize("arguments", [(), ("words", "--ref", "x"), (" ",)], ids=repr)
def test_a_pin_needs_words_or_a_reference(arguments: tuple[str, ...], project: Path) -> None:
    talked(project)
    assert invoke("pin", *arguments).exit_code == 2
