"""Every rule is made to raise, one after the other: it costs its own result and nothing else."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.core.faults import Faults
from holdfast.engine.fault_log import faults_in
from holdfast.errors import BadCompression, NothingToShrink
from holdfast.session.session import Session
from holdfast.surfaces.cli.main import cli
from tests.faults.breaking import OPERATIONS, Breaking, Recording, example_session

FAIL_CLOSED = ("observe.redaction.redact_text",)
"""A text that could not be searched for secrets is not shown at all."""
SHARDS = 4
FEW = 2
"""Operations that each rule is broken in here; the slow test breaks it in all."""


def operations_by_rule() -> dict[str, list[str]]:
    """The rules that run on the example, each with the operations that run it."""
    faults = Recording()
    session = example_session(faults)
    found: dict[str, list[str]] = {}
    for name, act in OPERATIONS.items():
        faults.names.clear()
        act(session)
        for rule in faults.names:
            found.setdefault(rule, []).append(name)
    return dict(sorted(found.items()))


@pytest.fixture(scope="module")
def rules() -> dict[str, list[str]]:
    return operations_by_rule()


def test_the_example_runs_most_rules(rules: dict[str, list[str]]) -> None:
    kinds = {rule.partition(".")[0] for rule in rules}
    assert {"observe", "plan", "shrink", "verify", "view", "engine", "wire", "compress"} <= kinds
    assert len(rules) > 140


@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_rule_that_raises_costs_its_own_result_and_is_counted(
    rules: dict[str, list[str]], shard: int
) -> None:
    some = list(rules)[shard::SHARDS]
    assert [text for rule in some for text in complaints(rule, rules[rule][:FEW])] == []


@pytest.mark.slow
def test_a_rule_that_raises_stops_no_operation(rules: dict[str, list[str]]) -> None:
    assert [text for rule in rules for text in complaints(rule, list(OPERATIONS))] == []


def complaints(rule: str, operations: Sequence[str]) -> list[str]:
    """What goes wrong when one rule always raises; `messages` is checked by a strict provider."""
    faults = Breaking(rule)
    session = example_session(faults)
    errors = errors_of(session, ("messages", *operations))
    found = [f"{rule}: {name}: {error!r}" for name, error in errors.items()]
    if not faults.broke:
        return [*found, f"{rule}: it was not run"]
    if rule not in {fault.rule for fault in session.faults()}:
        found.append(f"{rule}: no fault is on record")
    return found + missing_from_summary(rule, session)


def errors_of(session: Session, operations: Sequence[str]) -> dict[str, Exception]:
    found: dict[str, Exception] = {}
    for name in operations:
        try:
            OPERATIONS[name](session)
        except (NothingToShrink, BadCompression):
            # A compression that could not be checked is refused; nothing was changed.
            continue
        except Exception as error:  # noqa: BLE001  Whatever it is, it is what this looks for.
            found[name] = error
    return found


def missing_from_summary(rule: str, session: Session) -> list[str]:
    if rule in FAIL_CLOSED:
        return []
    text = str(session.summary())
    return [] if "Finance says our EUR values" in text else [f"{rule}: the request is missing"]


def test_the_same_fault_is_written_once() -> None:
    session = example_session(Breaking("observe.files.changes.files_of"))
    for _ in range(3):
        session.summary()
        session.level(2)
    assert [fault.rule for fault in session.faults()] == ["observe.files.changes.files_of"]


def test_a_fault_is_in_the_outcome_the_log_and_the_status() -> None:
    from holdfast.surfaces.status import status_report  # the status is a surface

    session = example_session(Breaking("observe.files.changes.files_of"))
    outcome = session.compact(3_000)
    assert [fault.rule for fault in outcome.faults] == ["observe.files.changes.files_of"]
    assert [event.kind for event in session.log()].count("FAULT") == 1
    assert status_report(session, "now").faults == 1


def test_a_strict_collector_raises_the_error_of_the_rule() -> None:
    class Strict(Breaking):
        def __init__(self) -> None:
            super().__init__("observe.files.changes.files_of")
            self.strict = True

    from tests.faults.breaking import Broken

    with pytest.raises(Broken):
        example_session(Strict()).summary()


def test_a_failing_summary_leaves_tiers_one_and_two() -> None:
    session = example_session(Breaking("compress.summarize"))
    before = session.status().tokens
    assert session.compact(before * 3 // 4).after.tokens < before


def test_a_failing_plan_leaves_the_window_as_it_was() -> None:
    session = example_session(Breaking("engine.batch"))
    whole = example_session(Faults())
    assert len(session.messages()) >= len(whole.messages())
    assert [fault.rule for fault in faults_in(session.ledger.events())] == ["engine.batch"]


def test_the_secret_in_an_error_message_is_redacted() -> None:
    secret = "sk-ant-api03-" + "a1B2c3D4" * 8

    class Leaking(Breaking):
        def enter(self, rule: str) -> None:
            if rule == self.rule:
                raise ValueError(f"cannot read {secret}")

    session = example_session(Leaking("observe.files.changes.files_of"))
    session.summary()
    assert [secret in fault.error for fault in session.faults()] == [False]


def test_doctor_counts_the_faults_of_a_project(tmp_path: Path) -> None:
    import holdfast

    with holdfast.open("work", root=tmp_path) as session:
        session.ledger.collector = Breaking("observe.files.changes.files_of")
        session.append({"role": "user", "content": "Add a test for the parser, please."})
        session.summary()
    words = ["--root", str(tmp_path), "doctor", "codex", "--json"]
    done = CliRunner().invoke(cli, words)
    assert json.loads(done.stdout)["faults"] == {"work": 1}
