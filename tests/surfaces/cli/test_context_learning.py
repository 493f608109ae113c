"""`holdfast context feedback|query|graph|history|stats|tune`, as its users have it."""

import json
from pathlib import Path

import pytest

from holdfast.session.open import open as open_session
from tests.surfaces.cli.commands import document, done, invoke

TALK = (
    {"role": "user", "content": "Add login. Do NOT modify the registration flow."},
    {"role": "assistant", "content": "I decided to use session cookies for login."},
    {"role": "user", "content": "Use JWT instead of session cookies, the mobile app needs it."},
    {"role": "assistant", "content": "Going with RS256 for signing, because it needs no secret."},
    {"role": "user", "content": "Go on."},
)


@pytest.fixture
def work(project: Path) -> Path:
    with open_session("work", root=project) as session:
        session.extend(TALK)
        session.packet("Add JWT auth to login", pane=1)
    return project


@pytest.mark.seed("R353")
def test_a_question_is_answered_with_its_source(work: Path) -> None:
    lines = done("context", "query", "What authentication approach was decided?").split("\n")
    assert lines[0] == "Use JWT instead of session cookies, the mobile app needs it."
    assert lines[1].startswith("  decision by user, step 1, ")
    assert lines[2].startswith("  in place of: I decided to use session cookies for login.")


def test_what_is_not_known_ends_with_1(work: Path) -> None:
    result = invoke("context", "query", "Which colour has the logo?", "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["schema"], found["known"]) == (
        1,
        "holdfast.context.query/1",
        False,
    )


def test_without_a_ledger_there_is_one_sentence(project: Path) -> None:
    for command in (["query", "x"], ["graph"], ["history"], ["stats"], ["tune"], ["feedback"]):
        result = invoke("context", *command)
        assert result.exit_code != 0, command
        assert len(str(result.exception).split("\n")) == 1


@pytest.mark.seed("R022", "R346")
def test_an_unread_packet_is_listed_with_what_to_tell_its_worker(work: Path) -> None:
    page = done("context", "feedback")
    told = "Read your context packet first: .holdfast/context/pane-1.yaml"
    assert page == f"not read yet: pane-1 v1; tell the worker: {told}\n"
    done("context", "read", "--pane", "1")
    assert "no report yet: pane-1; it writes to .holdfast/feedback/pane-1.md" in done(
        "context", "feedback"
    )


@pytest.mark.seed("R261", "R262", "R263")
def test_a_worker_reports_and_the_orchestrator_sees_it(work: Path) -> None:
    told = done(
        *("context", "feedback", "--pane", "1", "--outcome", "blocked"),
        *("--gap", "Needed: testing approach", "--unused", "failed_attempts", "--tokens", "900"),
    )
    assert told == "pane-1: blocked, gaps: 1; put on record in work\n"
    file = work / ".holdfast" / "feedback" / "pane-1.md"
    assert file.read_text("utf-8").startswith('context_gaps:\n  - "Needed: testing approach"\n')
    found = document("context", "feedback")
    assert found["reports"][0]["gaps"] == ["Needed: testing approach"]
    assert found["reports"][0]["tokens_used"] == 900
    assert document("context", "feedback", "--collect")["collected"][0]["new"] is False


def test_a_report_may_come_from_a_file_or_from_what_is_typed(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "report.md").write_text("---\noutcome: failed\ngaps: [keys]\n---\nSorry.\n", "utf-8")
    monkeypatch.setenv("HOLDFAST_PANE", "1")
    done("context", "feedback", "--file", "report.md", "--outcome", "blocked")
    found = document("context", "feedback")["reports"]
    assert [(one["outcome"], one["gaps"], one["note"]) for one in found] == [
        ("blocked", ["keys"], "Sorry.")
    ]


@pytest.mark.seed("R341", "R344")
def test_a_worker_escalates_and_asks_for_a_newer_packet(work: Path) -> None:
    said = done("context", "feedback", "--pane", "1", "--escalate", "which key?")
    assert said.startswith("pane-1 asks for more than its packet")
    assert (
        document("context", "feedback", "--pane", "1", "--refresh")["wanted"]["kind"] == "refresh"
    )
    page = done("context", "feedback")
    assert "pane-1 asks for more: which key?" in page
    assert "pane-1 asks for refresh: no reason given" in page


@pytest.mark.parametrize(
    "arguments",
    [
        ["--gap", "x"],
        ["--refresh"],
        ["--collect", "--pane", "1", "--gap", "x"],
        ["--pane", "1", "--outcome", "perhaps"],
        ["--pane", "../../x", "--gap", "x"],
    ],
)
def test_what_cannot_be_meant_is_one_sentence(work: Path, arguments: list[str]) -> None:
    result = invoke("context", "feedback", *arguments)
    assert result.exit_code != 0
    assert "Traceback" not in result.output


@pytest.mark.seed("R355")
def test_the_graph_is_drawn_in_every_format(work: Path) -> None:
    with open_session("api", root=work) as session:
        session.append({"role": "user", "content": "Build the API, every route checks the JWT."})
    assert "superseded by" in done("context", "graph")
    assert done("context", "graph", "--format", "dot").startswith("digraph decisions {")
    assert done("context", "graph", "--format", "mermaid").startswith("graph LR\n")
    assert document("context", "graph") == json.loads(done("context", "graph", "--format", "json"))
    assert len(document("context", "graph", "--session", "api")["nodes"]) == 0
    assert invoke("context", "graph", "--format", "dot", "--json").exit_code == 2


@pytest.mark.seed("R356")
def test_history_tells_how_decisions_and_packets_evolved(work: Path) -> None:
    done("context", "feedback", "--pane", "1", "--outcome", "done", "--gap", "keys")
    page = done("context", "history")
    assert "  v1: Initial: I decided to use session cookies for login. (agent)" in page
    assert "  v2: Use JWT instead of session cookies, the mobile app needs it. (user)" in page
    assert "pane-1 v1 generate: Add JWT auth to login" in page
    assert "not read, done, cleared)" in page
    assert "    gap: keys" in page
    found = document("context", "history", "--pane", "2")
    assert (len(found["decisions"]), found["packets"]) == (1, [])
    assert len(document("context", "history", "--all")["decisions"]) == 2


@pytest.mark.seed("R269", "R277")
def test_stats_begin_with_the_protocols_three_lines(work: Path) -> None:
    done("context", "feedback", "--pane", "1", "--outcome", "done", "--gap", "testing approach")
    lines = done("context", "stats").split("\n")
    size = document("context", "history")["packets"][0]["tokens"]
    assert lines[:3] == [
        f"Average context size: {size} tokens",
        "Worker success rate: 100%",
        "Top context gaps: testing approach (100%)",
    ]
    assert "  worker success: - -> 100%, not enough yet" in lines
    found = document("context", "stats")
    assert [row["name"] for row in found["measures"]["rows"]] == [
        "worker success",
        "tokens per task",
        "looked up again",
        "context gaps",
        "written by hand",
    ]


def reported(root: Path) -> None:
    with open_session("work", root=root) as session:
        for number in range(2, 30):
            session.packet("Add JWT auth to login", pane=number)
    for number in range(2, 30):
        lacking = ["--gap", "error handling", "--outcome", "failed"]
        done(
            "context",
            "feedback",
            "--pane",
            str(number),
            *(lacking if number % 2 else ["--outcome", "done"]),
        )


def test_tuning_is_shown_applied_and_taken_back(work: Path) -> None:
    assert "nothing to apply; none is in force" in done("context", "tune")
    reported(work)
    shown = done("context", "tune", "--dry-run")
    assert "feature: depth = standard" in shown
    assert "because error handling was missing for" in shown
    assert not (work / ".holdfast" / "tuning.json").exists()
    made = document("context", "tune")
    assert (made["applied"], made["active"]) == (True, 1)
    assert document("context", "tune")["applied"] is False, "the same again is no news"
    assert done("context", "tune", "--undo") == "none is in force now\n"
    assert invoke("context", "tune", "--undo").exit_code != 0
    assert invoke("context", "tune", "--undo", "--dry-run").exit_code == 2
