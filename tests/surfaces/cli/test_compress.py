import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import holdfast
from holdfast.errors import NothingToShrink, NotRecorded, NotWritten, Unreadable
from holdfast.surfaces.cli.main import cli
from tests.input.making import LEDGERLY, run, told, transcript
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.cli.test_ingest import BUNDLED
from tests.surfaces.cli.working import FIRST, LATEST, messages, recorded, window_for


@pytest.fixture
def live(project: Path) -> Path:
    """A project with a session that has something to compress."""
    recorded(project)
    return project


def _sent(root: Path) -> list[dict[str, Any]]:
    with holdfast.open("live", root=root, policy=holdfast.Policy()) as session:
        return [dict(message) for message in session.messages()]


def _texts(found: list[dict[str, Any]], role: str) -> list[str]:
    return [message["content"] for message in found if message["role"] == role]


@pytest.mark.seed("R106")
def test_a_dry_run_shows_what_would_be_compressed_and_changes_nothing(live: Path) -> None:
    before, window = _sent(live), window_for(0.9)
    plan = document("compress", "--dry-run", "--window", window)
    assert (plan["schema"], plan["session"], plan["dry_run"]) == (
        "holdfast.compress/1",
        "live",
        True,
    )
    assert (plan["plan"]["verdict"], bool(plan["plan"]["steps"])) == ("apply", True)
    assert plan["plan"]["after"]["tokens"] < plan["plan"]["before"]["tokens"]
    assert _sent(live) == before
    assert document("log")["events"] == []


@pytest.mark.usefixtures("live")
def test_a_plan_says_what_why_what_it_costs_and_what_stays() -> None:
    window = window_for(0.9)
    out = done("compress", "--dry-run", "--window", window)
    found = document("compress", "--dry-run", "--window", window)["plan"]
    lines = out.splitlines()
    assert lines[0] == "## Compression Plan: apply"
    first = max(found["steps"], key=lambda step: step["before"] - step["after"])
    row = next(line for line in lines if first["ref"] in line)
    assert (first["kind"] in row, f"{first['before']:,}" in row, ".py" in row) == (True,) * 3
    assert f"{found['requests']} further requests expected" in out
    assert f"{abs(found['gain']):,}" in out
    protected = lines[lines.index("### Protected") + 1 : lines.index("### Stays")]
    assert any("the user's words" in line for line in protected)
    assert max(len(line) for line in lines) <= 120


@pytest.mark.seed("R218")
@pytest.mark.usefixtures("live")
def test_a_dry_run_judges_the_gates_that_are_concerned() -> None:
    gates = document("compress", "--dry-run", "--window", window_for(0.9))["gates"]
    assert [(gate["gate"], gate["passed"], gate["outcome"]) for gate in gates] == [
        ("HOOK-CTX-001", True, "Apply Tier 1 offloading"),
        ("HOOK-CTX-002", False, "Skip to Tier 3 evaluation"),
        ("HOOK-CTX-003", False, "Skip Tier 3: Tiers 1 and 2 are enough"),
        ("HOOK-CTX-005", True, "Create checkpoint, recommend fresh session"),
    ]
    out = done("compress", "--dry-run", "--window", window_for(0.9))
    assert "  no   Old tool inputs exist to truncate" in out.splitlines()


@pytest.mark.seed("R104", "R212")
def test_compressing_does_what_the_planner_recommends(live: Path) -> None:
    window = window_for(0.9)
    planned = document("compress", "--dry-run", "--window", window)["plan"]
    made = document("compress", "--window", window)
    assert (made["applied"], made["plan"]) == (True, planned)
    found = _sent(live)
    assert _texts(found, "user") == [FIRST, LATEST]
    assert len(found) == len(messages())
    assert json.dumps(found) != json.dumps(messages())


@pytest.mark.seed("R212")
def test_what_would_not_pay_is_left_as_it_is(live: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_BATCH_REQUESTS", "1")
    out = done("compress", "--window", window_for(0.6))
    assert out.startswith("nothing was changed in live: ")
    assert document("compress", "--window", window_for(0.6))["applied"] is False
    assert _sent(live) == messages()


@pytest.mark.seed("R026")
@pytest.mark.usefixtures("live")
def test_a_window_that_is_half_full_is_compressed_when_that_pays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    window = window_for(0.6)
    monkeypatch.setenv("HOLDFAST_BATCH_REQUESTS", "1000")
    made = document("compress", "--window", window)
    assert made["applied"]
    assert made["plan"]["trigger"] == "context at 60%, tiers 1 and 2 from 50%"


@pytest.mark.usefixtures("live")
def test_a_batch_that_takes_out_too_little_is_postponed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_BATCH_REQUESTS", "1000")
    monkeypatch.setenv("HOLDFAST_BATCH_RECLAIM", "100")
    out = done("compress", "--dry-run", "--window", window_for(0.6))
    assert out.splitlines()[0] == "## Compression Plan: postpone"
    assert "less than 100%" in out.splitlines()[1]


def test_a_session_is_brought_under_a_budget(live: Path) -> None:
    made = document("compress", "--budget", "12000")
    assert (made["applied"], made["plan"]["after"]["tokens"] <= 12_000) == (True, True)
    said = "\n".join(_texts(_sent(live), "user"))
    assert all(words in said for words in (FIRST, LATEST))


@pytest.mark.parametrize("dry", [(), ("--dry-run",)], ids=["for real", "dry run"])
def test_a_budget_that_cannot_be_reached_changes_nothing(dry: tuple[str, ...], live: Path) -> None:
    result = invoke("compress", "--budget", "10", *dry)
    assert isinstance(result.exception, NothingToShrink)
    assert (result.exception.budget, result.stdout) == (10, "")
    assert _sent(live) == messages()


def test_a_transcript_is_compressed_in_the_ledger_and_its_program_is_not_told(
    project: Path,
) -> None:
    done("ingest", str(LEDGERLY))
    out = done("compress", "--window", window_for(0.95, BUNDLED), "--profile", "stress")
    assert out.startswith(f"compressed {BUNDLED}: ")
    assert "note: only the ledger changed" in out
    files = document("log")["events"][-1]["files"]
    assert files
    assert all((project / name).is_file() for name in files)


def test_messages_of_a_file_are_compressed_to_stdout(project: Path) -> None:
    (project / "in.json").write_text(json.dumps(messages()))
    result = invoke("compress", "in.json", "--budget", "12000")
    expected = holdfast.compress(messages(), 12_000)
    assert (result.exit_code, json.loads(result.stdout)) == (0, expected.messages)
    assert f"→ {expected.after.tokens:,} of 12,000 tokens" in result.stderr
    (kept,) = document("sessions")["sessions"]
    assert kept["session"].startswith("in-")


def test_messages_of_stdin_are_compressed_by_a_process_of_its_own(project: Path) -> None:
    (project / "in.jsonl").write_text("".join(json.dumps(one) + "\n" for one in messages()))
    ran = run("compress", "in.jsonl", "--budget", "12000", cwd=project)
    piped = CliRunner().invoke(
        cli, ["compress", "-", "--budget", "12000"], input=(project / "in.jsonl").read_bytes()
    )
    expected = holdfast.compress(messages(), 12_000).messages
    assert (ran.code, json.loads(ran.out), len(ran.err.splitlines())) == (0, expected, 1)
    assert json.loads(piped.stdout) == expected


def test_messages_within_the_budget_come_back_as_they_were(project: Path) -> None:
    (project / "in.json").write_text(json.dumps(messages()))
    result = invoke("compress", "in.json")
    assert json.loads(result.stdout) == messages()
    assert "within the budget of 56,000" in result.stderr
    assert (
        "within the budget of 84,000" in invoke("compress", "in.json", "--model", "claude").stderr
    )
    assert "within" in done("compress", "in.json", "--dry-run")


def test_the_rest_of_a_request_body_counts_too(project: Path) -> None:
    body = {"model": "claude-x", "system": "be kind " * 4_000, "messages": messages()}
    (project / "body.json").write_text(json.dumps(body))
    alone = document("compress", "body.json", "--budget", "1000000")["before"]["tokens"]
    (project / "in.json").write_text(json.dumps(messages()))
    bare = document("compress", "in.json", "--budget", "1000000")["before"]["tokens"]
    assert alone > bare + 4_000


def test_json_and_output_tell_of_messages_that_went_to_a_file(project: Path) -> None:
    (project / "in.json").write_text(json.dumps(messages()))
    found = document("compress", "in.json", "--budget", "12000", "-o", "less.json")
    expected = holdfast.compress(messages(), 12_000)
    assert (found["budget"], found["output"], "messages" in found) == (12_000, "less.json", False)
    assert json.loads((project / "less.json").read_text()) == expected.messages
    inline = document("compress", "in.json", "--budget", "12000")
    assert (inline["messages"], inline["output"]) == (expected.messages, None)
    dry = document("compress", "in.json", "--budget", "12000", "--dry-run")
    assert (dry["plan"]["verdict"], "messages" in dry) == ("apply", False)
    assert done("compress", "in.json", "--budget", "12000", "--dry-run").startswith(
        "## Compression Plan: apply"
    )


def test_a_budget_that_a_file_cannot_reach_prints_nothing(project: Path) -> None:
    (project / "in.json").write_text(json.dumps(messages()))
    ran = run("compress", "in.json", "--budget", "10", cwd=project)
    assert (ran.code, ran.out) == (73, "")
    assert ran.err.startswith("holdfast: the window cannot be brought under 10 tokens")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"".join(transcript(2)), "claude_code session"),
        (b"[]", "no messages"),
        (b"", "no messages"),
        (b"plain words\n", "no messages"),
        (told("one") + b"not JSON\n", ""),
        (b'[{"role": "user", "content": "1"}, {"role": ', ""),
    ],
)
def test_a_file_that_is_no_list_of_messages_is_refused(
    content: bytes, reason: str, project: Path
) -> None:
    (project / "in.json").write_bytes(content)
    result = invoke("compress", "in.json")
    assert isinstance(result.exception, Unreadable)
    assert (result.exception.where, result.stdout) == ("in.json", "")
    assert reason in result.exception.reason


def test_a_file_that_is_not_there_and_one_that_cannot_be_written_are_refused(
    project: Path,
) -> None:
    (project / "in.json").write_text(json.dumps(messages(1)))
    assert isinstance(invoke("compress", "missing.json").exception, Unreadable)
    result = invoke("compress", "in.json", "-o", "missing/out.json")
    assert isinstance(result.exception, NotWritten)
    assert (result.exception.path, result.stdout) == ("missing/out.json", "")


@pytest.mark.parametrize(
    "arguments",
    [("in.json", "--session", "s"), ("--output", "x.json"), ("--budget", "0")],
    ids=" ".join,
)
@pytest.mark.usefixtures("live")
def test_options_that_contradict_each_other_are_bad_usage(arguments: tuple[str, ...]) -> None:
    assert invoke("compress", *arguments).exit_code == 2


REF = re.compile(r"\*\*Ref:\*\* ([0-9a-f]{12})")


def test_every_reference_in_the_compressed_messages_of_a_file_opens(project: Path) -> None:
    (project / "in.json").write_text(json.dumps(messages()))
    found = document("compress", "in.json", "--budget", "12000")
    refs = REF.findall(json.dumps(found["messages"]))
    hidden = set(_texts(messages(), "tool"))
    assert len(refs) > 5
    for ref in refs:
        assert done("show", found["session"], "--ref", ref).removesuffix("\n") in hidden
        (excerpt,) = document("recover", "--ref", ref, "--budget", "100000")["excerpts"]
        assert excerpt["text"].strip() in {text.strip() for text in hidden}
    result = invoke("compress", "in.json", "--budget", "12000")
    (line,) = result.stderr.splitlines()
    assert line.endswith(f"stored in session {found['session']}: holdfast recover --ref {refs[0]}")


def test_a_reference_opens_when_other_sessions_are_newer(project: Path) -> None:
    (project / "in.json").write_text(json.dumps(messages()))
    found = document("compress", "in.json", "--budget", "12000")
    (ref, *_) = REF.findall(json.dumps(found["messages"]))
    with holdfast.open("newer", root=project) as session:
        session.append({"role": "user", "content": "Something else."})
    assert document("status")["session"] == "newer"
    assert document("recover", "--ref", ref)["session"] == found["session"]
    assert isinstance(invoke("recover", "--ref", "f" * 12).exception, NotRecorded)


def test_the_same_conversation_is_kept_once_and_another_one_beside_it(project: Path) -> None:
    def session(given: list[dict[str, Any]]) -> str:
        (project / "in.json").write_text(json.dumps(given))
        return document("compress", "in.json", "--budget", "12000")["session"]

    first = session(messages())
    entries = {row["session"]: row["entries"] for row in document("sessions")["sessions"]}
    assert session(messages()) == first
    again = {row["session"]: row["entries"] for row in document("sessions")["sessions"]}
    assert (list(entries), again) == ([first], entries)
    assert session([*messages(), {"role": "user", "content": "And now?"}]) == first
    other = session([{"role": "user", "content": "Another task."}, *messages()])
    assert other != first
    assert {row["session"] for row in document("sessions")["sessions"]} == {first, other}


@pytest.mark.parametrize(
    "options",
    [("--budget", "12000", "--no-store"), ("--budget", "12000", "--dry-run"), ()],
    ids=["no store", "dry run", "nothing hidden"],
)
def test_nothing_is_kept_where_that_is_asked_for_or_nothing_is_hidden(
    options: tuple[str, ...], project: Path
) -> None:
    (project / "in.json").write_text(json.dumps(messages()))
    result = invoke("compress", "in.json", *options)
    assert (result.exit_code, (project / ".holdfast").exists()) == (0, False)
    assert ("no reference in the output opens" in result.stderr) == ("--no-store" in options)
    assert document("compress", "in.json", *options).get("session", "") == ""


def test_keeping_nothing_is_an_option_for_the_messages_of_a_file(live: Path) -> None:
    assert live.is_dir()
    assert invoke("compress", "--no-store").exit_code == 2
