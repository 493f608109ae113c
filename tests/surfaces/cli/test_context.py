"""`holdfast context`, as an orchestrator and its workers type it."""

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.errors import BadPacket, NotRecorded
from holdfast.packets.packet import Packet
from holdfast.session.open import open as open_session
from holdfast.surfaces.cli.context import COMMANDS
from holdfast.surfaces.cli.main import cli
from tests.packets.test_make_and_deliver import RULE, TALK, TASK
from tests.surfaces.cli.commands import document, done, invoke


@pytest.fixture
def talked(project: Path) -> Path:
    """A project whose newest session has talked about authentication."""
    with open_session("talk", root=project) as session:
        session.extend(TALK)
    return project


@pytest.mark.seed("R275", "R271", "R286")
def test_generate_prints_the_packet_and_writes_the_file_of_a_pane(talked: Path) -> None:
    printed = done("context", "generate", TASK, "--depth", "standard", "--pane", "1")
    path = talked / ".holdfast/context/pane-1.yaml"
    assert printed == path.read_text()
    assert Packet.from_yaml(printed).audience == "pane-1"


@pytest.mark.usefixtures("talked")
def test_generate_without_a_pane_changes_nothing() -> None:
    before = document("log")
    made = document("context", "generate", TASK)
    assert (made["schema"], made["audience"], made["ref"]) == (
        "holdfast.context.generate/1",
        "",
        "",
    )
    assert made["tokens"] <= 400
    assert document("log") == before
    assert isinstance(invoke("context", "read", "--pane", "1").exception, NotRecorded)


@pytest.mark.seed("R276")
def test_preview_shows_what_a_worker_would_get_and_records_nothing(talked: Path) -> None:
    done("context", "generate", TASK, "--pane", "1")
    told = done("context", "preview", "--pane", "1")
    assert told.startswith(f"# Goal\n{TASK}")
    assert RULE in told
    assert document("context", "preview", "--pane", "1")["reads"] == 0
    assert done("context", "preview", "Write the tests").startswith("# Goal\nWrite the tests")
    assert sorted(path.name for path in (talked / ".holdfast/context").iterdir()) == ["pane-1.yaml"]


@pytest.mark.seed("R351", "R346")
def test_a_worker_reads_its_packet_by_number_by_environment_or_as_the_only_one(
    talked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done("context", "generate", TASK, "--pane", "1")
    first = done("context", "read")
    assert first == done("context", "read", "--pane", "1")
    done("context", "generate", "Write the tests", "--pane", "2")
    several = invoke("context", "read")
    assert several.exit_code != 0
    assert "pane-1, pane-2" in str(several.exception)
    monkeypatch.setenv("HOLDFAST_PANE", "2")
    assert done("context", "read").startswith("# Goal\nWrite the tests")
    assert document("context", "preview", "--pane", "1")["reads"] == 2
    with open_session("later", root=talked) as session:
        session.append({"role": "user", "content": "Something else."})
    assert done("context", "read", "--pane", "1") == first, "the file says which session it is of"


@pytest.mark.seed("R354")
@pytest.mark.usefixtures("talked")
def test_layers_are_had_one_by_one() -> None:
    done("context", "generate", TASK, "--depth", "minimal", "--pane", "1")
    assert "Decided" not in done("context", "read")
    told = done("context", "read", "--layers", "2")
    assert told.startswith("## Decided")
    assert "RS256" in told
    for wrong in ("5", "x", "1,,2", ""):
        assert invoke("context", "read", "--layers", wrong).exit_code == 2


@pytest.mark.seed("R340", "R342", "R356")
def test_edit_push_and_diff_tell_how_a_packet_evolved(talked: Path) -> None:
    done("context", "generate", TASK, "--pane", "1")
    done("context", "edit", "--set", "goal=Only /login", "--why", "narrowed")
    with open_session("talk", root=talked) as session:
        session.append({"role": "user", "content": "You must sign with EdDSA instead of RS256."})
    done("context", "push", "--message", "Changed to EdDSA per user request")
    made = document("context", "preview")
    assert made["revision"] == 3
    assert made["packet"]["context"]["goal"] == "Only /login"
    changes = {one["part"]: one for one in document("context", "diff")["changes"]}
    assert changes["constraints"]["come"] == ["You must sign with EdDSA instead of RS256."]
    assert document("context", "diff", "1", "2")["changes"][0]["part"] == "goal"
    assert "v1 → v3" in done("context", "diff", "1", "3")
    assert isinstance(invoke("context", "diff", "1", "9").exception, NotRecorded)


def test_a_file_can_be_rewritten_and_handed_in(talked: Path) -> None:
    printed = done("context", "generate", TASK, "--pane", "1")
    copy = talked / "mine.yaml"
    copy.write_text(printed.replace("24 hours", "12 hours"))
    made = document("context", "edit", "--file", str(copy))
    assert "Token expiry must be 12 hours." in made["packet"]["context"]["constraints"]
    assert "12 hours" in (talked / ".holdfast/context/pane-1.yaml").read_text()


@pytest.mark.seed("R278", "R306")
def test_clear_takes_the_files_away_and_keeps_the_record(talked: Path) -> None:
    for pane in ("1", "2"):
        done("context", "generate", f"Task {pane}", "--pane", pane)
    (gone,) = document("context", "clear", "--pane", "1")["cleared"]
    assert gone["file"] == ".holdfast/context/pane-1.yaml"
    assert done("context", "read", "--pane", "1").startswith("# Goal\nTask 1")
    assert len(document("context", "clear", "--all")["cleared"]) == 1
    assert list((talked / ".holdfast/context").iterdir()) == []
    assert "no packets" in done("context", "clear", "--all")
    assert "no packets" in done("context", "push", "--all")


def test_a_packet_is_drawn_from_a_session_file_of_any_format(project: Path) -> None:
    file = project / "session.json"
    file.write_text(json.dumps(TALK))
    made = document("context", "generate", TASK, "--from", str(file))
    assert RULE in made["packet"]["context"]["constraints"]
    assert not (project / ".holdfast").exists()
    done("context", "generate", TASK, "--from", str(file), "--pane", "1")
    assert (project / ".holdfast/context/pane-1.yaml").is_file()


def test_a_scan_brings_files_that_git_does_not_ignore(talked: Path) -> None:
    (talked / "login.py").write_text("async def login(request):\n    ...\n")
    (talked / "login_old.py").write_text("def login_old(): ...\n")
    (talked / ".gitignore").write_text("login_old.py\n")
    subprocess.run(["git", "init", "-q"], cwd=talked, check=True)
    made = document("context", "generate", "Fix login in login.py", "--scan")
    paths = [one["path"] for one in made["packet"]["context"]["codebase"]["relevant_files"]]
    assert "login.py" in paths
    assert "login_old.py" not in paths


@pytest.mark.seed("R272", "R348")
def test_what_all_workers_share_needs_no_task(talked: Path) -> None:
    done("context", "generate", "--shared")
    assert RULE in done("context", "read", "--pane", "shared")
    assert (talked / ".holdfast/context/shared.yaml").is_file()
    assert invoke("context", "generate", "--shared", "--pane", "1").exit_code == 2


def test_a_file_that_was_changed_by_hand_is_refused_in_a_sentence(talked: Path) -> None:
    done("context", "generate", TASK, "--pane", "1")
    path = talked / ".holdfast/context/pane-1.yaml"
    path.write_text(path.read_text().replace("24 hours", "48 hours"))
    refused = invoke("context", "read", "--pane", "1")
    assert isinstance(refused.exception, BadPacket)
    assert refused.exception.reason.startswith("its checksum is sha256:")
    path.write_text("version: 9\ncontext: {}\n")
    refused = invoke("context", "read", "--pane", "1")
    assert isinstance(refused.exception, BadPacket)
    assert "version 9" in refused.exception.reason


@pytest.mark.parametrize(
    "arguments",
    [
        ("generate",),
        ("generate", "  "),
        ("generate", "x", "--depth", "abyss"),
        ("generate", "x", "--layers", "0"),
        ("generate", "x", "--budget", "0"),
        ("edit",),
        ("edit", "--set", "goal"),
        ("diff", "zero"),
    ],
)
def test_words_that_cannot_be_meant_are_wrong_usage(
    talked: Path, arguments: tuple[str, ...]
) -> None:
    del talked
    assert invoke("context", *arguments).exit_code == 2


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str) -> None:
    printed = done("context", name, "--help")
    assert "Example" in printed
    assert "--json" in printed


def test_a_task_can_be_piped_in(talked: Path) -> None:
    del talked
    words = ["context", "generate", "-", "--json"]
    result = CliRunner().invoke(cli, words, input="Fix the\nlogin\n")
    assert json.loads(result.stdout)["packet"]["target_task"] == "Fix the\nlogin"
