"""Whose packet is meant: by what a worker says, its environment, what its client is called."""

from pathlib import Path

import pytest

from holdfast.core.ledger.packet import Feedback
from holdfast.core.ledger.packet_tuning import Recommendation
from holdfast.core.view.packet.layers import SECTIONS
from holdfast.core.view.packet_stats.recommend import recommend
from holdfast.engine.redact import Redactor
from holdfast.errors import Ambiguous, BadSetting, NotRecorded, Unreadable
from holdfast.packets.feedback import record_feedback
from holdfast.packets.questions import project_decisions
from holdfast.packets.stats import efficiency_of, records_in
from holdfast.packets.tuning import apply_recommendation, undo_recommendation
from holdfast.session.open import open as open_session
from holdfast.surfaces.handoff import (
    decisions_of_other_sessions,
    packet_for,
    packet_sessions,
    parse_layers,
    worker_of,
)
from holdfast.surfaces.project import Project
from tests.surfaces.cli.working import recorded

TASK = "Fix the retry loop of the export"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project whose orchestrator made packets for two panes, and that a worker spoke in since."""
    recorded(tmp_path, name="orchestrator", reads=2)
    with open_session("orchestrator", root=tmp_path) as session:
        for pane in (1, 2):
            session.packet(TASK, pane=pane)
    recorded(tmp_path, name="worker", reads=1)
    return tmp_path


@pytest.mark.seed("R289")
@pytest.mark.parametrize(
    ("given", "environment", "client", "wanted"),
    [
        (2, {"HOLDFAST_PANE": "1"}, "pane-1", "pane-2"),
        ("pane-2", {}, "", "pane-2"),
        (None, {"HOLDFAST_PANE": "1", "AGENTWIRE_PANE": "2"}, "pane-2", "pane-1"),
        (None, {"AGENTWIRE_PANE": "2"}, "", "pane-2"),
        (None, {"AGENTWIRE_PANE": "pane-2"}, "", "pane-2"),
        (None, {}, "agentwire-pane-2", "pane-2"),
        (None, {}, "Worker 1", "pane-1"),
    ],
)
def test_a_worker_is_known_by_what_it_says_then_its_environment_then_its_client(
    root: Path, given: int | str | None, environment: dict[str, str], client: str, wanted: str
) -> None:
    found = worker_of(Project(str(root)), given, environment=environment, client=client)
    assert found == ("orchestrator", wanted)


@pytest.mark.parametrize("client", ["", "claude-code", "pane", "japane-3x", "window-pane-x"])
def test_where_nothing_tells_which_worker_asks_all_of_them_are_listed(
    root: Path, client: str
) -> None:
    with pytest.raises(Ambiguous) as caught:
        worker_of(Project(str(root)), None, environment={}, client=client)
    assert caught.value.choices == ("pane-1", "pane-2")


def test_the_only_worker_there_is_needs_no_name(root: Path) -> None:
    (root / ".holdfast" / "context" / "pane-2.yaml").unlink()
    found = worker_of(Project(str(root)), None, environment={}, client="codex")
    assert found == ("orchestrator", "pane-1")


def test_a_packet_whose_file_is_gone_is_found_on_record(root: Path) -> None:
    for pane in (1, 2):
        (root / ".holdfast" / "context" / f"pane-{pane}.yaml").unlink()
    project = Project(str(root))
    assert packet_sessions(project) == {"pane-1": "orchestrator", "pane-2": "orchestrator"}
    assert worker_of(project, 2, environment={}) == ("orchestrator", "pane-2")


def test_a_session_that_is_named_is_the_only_one_that_is_looked_into(root: Path) -> None:
    project = Project(str(root))
    assert worker_of(project, 1, environment={}, session="orch") == ("orchestrator", "pane-1")
    with pytest.raises(NotRecorded):
        worker_of(project, 1, environment={}, session="worker")


@pytest.mark.parametrize("pane", [9, "nobody"])
def test_a_worker_without_a_packet_is_told_who_has_one(root: Path, pane: int | str) -> None:
    with pytest.raises(NotRecorded) as caught:
        worker_of(Project(str(root)), pane, environment={})
    assert "pane-1, pane-2" in str(caught.value)


def test_a_pane_that_is_no_name_is_refused(root: Path) -> None:
    with pytest.raises(BadSetting):
        worker_of(Project(str(root)), "../../etc/passwd", environment={})


def test_a_project_without_a_ledger_has_no_packets(tmp_path: Path) -> None:
    project = Project(str(tmp_path))
    assert packet_sessions(project) == {}
    with pytest.raises(NotRecorded):
        worker_of(project, None, environment={})


@pytest.mark.seed("R355")
def test_a_packet_holds_what_an_earlier_session_decided_about_its_task(tmp_path: Path) -> None:
    with open_session("january", root=tmp_path) as session:
        session.append({"role": "user", "content": "How should the invoices be numbered?"})
        session.append({"role": "assistant", "content": "Shall I use UUIDs or a counter?"})
        session.append(
            {"role": "user", "content": "Use UUIDv7 for invoice numbers, not a counter."}
        )
        session.append({"role": "assistant", "content": "Done."})
    with open_session("march", root=tmp_path) as session:
        session.append({"role": "user", "content": "Next: add credit notes to the invoices."})
        session.append({"role": "assistant", "content": "I will look at the invoice numbers."})
        one = packet_for(
            session, project_decisions(session.ledger), "Add invoice numbers to the credit notes"
        )
    assert "UUIDv7" in "\n".join(choice.choice for choice in one.packet.decisions)
    assert one.id == ""


@pytest.mark.parametrize("task", ["push", "Push the release notes", "Change the logo"])
def test_a_word_alone_brings_no_decision_of_another_session(tmp_path: Path, task: str) -> None:
    with open_session("january", root=tmp_path) as session:
        session.append({"role": "user", "content": "Rebase the export branch."})
        session.append({"role": "assistant", "content": "Shall I force-push the rebased branch?"})
        session.append({"role": "user", "content": "Yes, use force-push for this branch."})
        session.append({"role": "assistant", "content": "Done."})
    with open_session("march", root=tmp_path) as session:
        session.append({"role": "user", "content": task})
        assert (
            decisions_of_other_sessions(task, project_decisions(session.ledger), session.name) == []
        )


@pytest.mark.parametrize(
    ("told", "wanted"),
    [(None, ()), ("", ()), ("1", (1,)), (2, (2,)), ("3, 1", (1, 3)), ([4, 4], (4,)), ("L2", (2,))],
)
def test_layers_are_told_in_any_way(told: str | int | list[int] | None, wanted: object) -> None:
    assert parse_layers(told) == wanted


@pytest.mark.parametrize("told", ["5", 0, "all", [1, 9], "1;2"])
def test_what_names_no_layer_is_refused(told: str | int | list[int]) -> None:
    with pytest.raises(Unreadable):
        parse_layers(told)


CHOSEN = {
    "parser": "lark",
    "colours": "OKLCH",
    "calendar": "RRULE",
    "mailing": "Postmark",
    "search": "Typesense",
    "charts": "Vega",
    "locking": "advisory locks",
    "archive": "zstd",
    "spelling": "Hunspell",
    "printing": "CUPS",
}
TALKED = [
    {"role": "user", "content": "Add exports. Never touch billing.py."},
    *(
        {"role": role, "content": text}
        for what, chosen in CHOSEN.items()
        for role, text in (
            ("user", f"Go on with the {what}."),
            ("assistant", f"I'll go with {chosen} for the {what} because it is in {what}.py."),
        )
    ),
]


@pytest.mark.seed("R264", "R343")
def test_what_workers_reported_makes_the_next_packet_another_one(tmp_path: Path) -> None:
    task = "Add a filter to the exports"
    with open_session("work", root=tmp_path) as session:
        session.extend(TALKED)
        before = packet_for(session, project_decisions(session.ledger), task).packet
        for number in range(24):
            session.packet(task, pane=f"pane-{number}")
            gaps = ("Needed: error handling",) if number % 2 else ()
            outcome = "failed" if number % 2 else "done"
            record_feedback(session.ledger, Feedback(gaps, (), outcome, f"pane-{number}"))
        records = records_in(session.store, Redactor(session.policy.redact))
        # Nothing changes before somebody says so.
        assert (
            packet_for(session, project_decisions(session.ledger), task).packet.depth
            == before.depth
        )
        apply_recommendation(
            str(tmp_path), recommend(efficiency_of(records)), at="2026-01-01T00:00:00Z"
        )
        after = packet_for(session, project_decisions(session.ledger), task).packet
        asked = packet_for(session, project_decisions(session.ledger), task, "minimal").packet
        undo_recommendation(str(tmp_path))
        taken_back = packet_for(session, project_decisions(session.ledger), task).packet
    assert (before.depth, after.depth, asked.depth) == ("standard", "deep", "minimal")
    assert (before.layers, after.layers) == ((1, 2, 3), (1, 2, 3, 4))
    assert "went best with it" in after.changelog[0].what
    assert taken_back.depth == before.depth


@pytest.mark.seed("R264")
def test_what_nobody_needed_gets_less_room_and_what_was_missing_more(tmp_path: Path) -> None:
    working = [said_of(at) for at in range(60)]

    def decided(order: tuple[str, ...]) -> int:
        apply_recommendation(
            str(tmp_path), Recommendation(orders={"feature": order}), at="2026-01-01T00:00:00Z"
        )
        packet = packet_for(
            session, project_decisions(session.ledger), "Add a filter to the exports"
        ).packet
        assert "Never touch billing.py." in packet.constraints
        return len(packet.decisions)

    rest = tuple(part for part in SECTIONS if part != "decisions")
    with open_session("work", root=tmp_path) as session:
        session.extend([TALKED[0], *working, *TALKED[1:]])
        assert decided((*rest, "decisions")) < decided(SECTIONS) < decided(("decisions", *rest))


def said_of(at: int) -> dict[str, str]:
    """What fills any room that there is."""
    text = f"The export_{at} of table_{at} is written by write_rows_{at} to bucket_{at} in a batch."
    return {"role": "assistant" if at % 2 else "user", "content": text}


@pytest.mark.seed("R264", "R266")
def test_a_budget_that_was_enough_holds_for_packets_that_nobody_sized(tmp_path: Path) -> None:
    enough = Recommendation(depths={"feature": "standard"}, budgets={"feature": 150})
    apply_recommendation(str(tmp_path), enough, at="2026-01-01T00:00:00Z")
    with open_session("work", root=tmp_path) as session:
        session.extend(TALKED)
        settled, task = project_decisions(session.ledger), "Add a filter to the exports"
        assert packet_for(session, settled, task).packet.token_count <= 150
        assert packet_for(session, settled, task, "standard").packet.token_count > 150
        assert packet_for(session, settled, task, budget=200).packet.token_count > 150
