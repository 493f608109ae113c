"""The gauntlet's own checks: each finds what it is there to find."""

from pathlib import Path
from random import Random

import pytest

from holdfast import Session
from holdfast.stores.memory import MemoryStore
from tests.gauntlet import sessions
from tests.gauntlet.checks import floor_of, recount, references, refused, sums_of, unopened
from tests.gauntlet.corpus import named, own
from tests.gauntlet.findings import Findings, Run, Variant
from tests.gauntlet.fuzz import smallest
from tests.gauntlet.running import Choice, variants_of

CALL = sessions.Call("Bash", {"command": "ls"}, "a.py\n" * 400)


def session(*turns: sessions.Turn) -> Session:
    made = Session("x", MemoryStore(), owns_store=False)
    made.extend(sessions.anthropic(list(turns)))
    return made


def test_an_exception_is_a_finding_with_its_place_and_the_command_that_repeats_it() -> None:
    findings = Findings()
    run = Run(Variant("own/anthropic-8-1", 3, "torn", 7), findings)
    assert run.do("read", session(sessions.Turn("Hi")).read, "ffffffff") is None
    (found,) = findings.found
    assert (found.kind, found.operation) == ("exception", "read")
    assert "references.py" in found.trace
    assert found.command == (
        "python -m tests.gauntlet --only own/anthropic-8-1 --cut 3 --mutation torn --seed 7 "
        "--operation 'read'"
    )


def test_an_error_that_an_operation_documents_is_none() -> None:
    findings = Findings()
    run = Run(Variant("x"), findings)
    assert run.may("read", (ZeroDivisionError,), lambda: 1 // 0) is None
    assert findings.found == []
    assert findings.operations["read"] == 1


def test_a_window_that_lost_a_result_is_refused() -> None:
    made = session(sessions.Turn("List it.", (CALL,), "Done."), sessions.Turn("And now?"))
    sent = made.messages()
    assert refused(made, sent) == []
    assert refused(made, [one for one in sent if "tool_result" not in str(one)]) != []


def test_a_reference_that_leads_nowhere_is_found_and_a_quoted_one_is_not_ours() -> None:
    made = session(sessions.Turn("Hi"))
    entry = made.ledger.path()[0].id
    text = f"## Tool Call: x\n**Ref:** {'f' * 12}\n- [{'e' * 8}] a row\n[holdfast {entry[:12]}"
    assert references(text) == sorted(("f" * 12, "e" * 8, entry[:12]))
    assert [one[:8] for one in unopened(made.read, text)] == ["e" * 8, "f" * 8]
    assert unopened(made.read, text, known=text.replace(entry[:12], "")) == []


@pytest.mark.parametrize(("overhead", "wrong"), [(10, 0), (9, 1)])
def test_a_status_whose_parts_are_not_its_total_is_found(overhead: int, wrong: int) -> None:
    shares = [{"what": "user", "count": 1, "tokens": 90}]
    status = {"usage": {"tokens": 100}, "shares": shares, "overhead": overhead}
    assert len(sums_of({"schema": "holdfast.status/1", **status})) == wrong


@pytest.mark.parametrize(("after", "wrong"), [(60, 0), (61, 1), (50, 2)])
def test_a_plan_that_is_told_smaller_than_its_parts_is_found(after: int, wrong: int) -> None:
    plan = {
        "before": {"tokens": 100, "method": "exact"},
        "after": {"tokens": after, "method": "exact"},
        "steps": [{"before": 50, "after": 10}],
        "kept": [{"tokens": 50}],
    }
    assert len(sums_of({"schema": "holdfast.compress/1", "plan": plan})) == wrong


def test_a_paste_is_no_floor_and_an_open_call_with_its_result_is() -> None:
    paste = "line of a log\n" * 4_000
    pasted = session(sessions.Turn(paste, (), "I see."), sessions.Turn("Go on."))
    called = session(sessions.Turn("Go on.", (sessions.Call("Bash", {}, "a b c d\n" * 300),)))
    assert floor_of(pasted) < 2_000
    assert floor_of(called) > recount(called.messages()) > 1_000


def test_the_smallest_text_that_fails_is_found() -> None:
    text = "one\ntwo three\nfour"
    assert smallest(text, lambda less: "two" in less and "four" in less) == "twofour"


def test_the_same_seed_names_the_same_variants_and_a_name_the_same_session() -> None:
    samples = own(5, 14)
    choice = Choice(cuts=3, mutations=2)
    for sample in samples:
        drawn = list(variants_of(sample, 9, choice))
        assert drawn == list(variants_of(sample, 9, choice))
        assert len(drawn) == 6
    again = named(samples[3].name, folder=Path("nowhere"))
    assert (again.name, again.load()) == (samples[3].name, samples[3].load())
    assert {sample.name.split("/")[1].split("-")[0] for sample in samples} == set(sessions.WIRES)
    assert sessions.turns(Random(4)) == sessions.turns(Random(4))
