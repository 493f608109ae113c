import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from holdfast.errors import Unreadable
from tests.input.making import LEDGERLY, chat, coded, given_back, line, run, told, transcript
from tests.surfaces.cli.commands import document, done, invoke

BUNDLED = "f3e72b5f-7d12-59b6-a4b1-8abc36dbce45"


def _sessions() -> list[str]:
    return sorted(row["session"] for row in document("sessions")["sessions"])


def _keep(home: Path, folder: str, name: str, lines: list[bytes]) -> Path:
    file = home / ".claude" / "projects" / folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(lines))
    return file


def _rollout(home: Path, cwd: Path, name: str) -> bytes:
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}
    values: list[dict[str, Any]] = [
        {"timestamp": "t1", "type": "session_meta", "payload": {"id": name, "cwd": str(cwd)}},
        {"timestamp": "t2", "type": "response_item", "payload": item},
    ]
    file = home / ".codex" / "sessions" / "2026" / "03" / f"rollout-2026-03-02-{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(line(value) for value in values))
    return file.read_bytes()


def _spelled(folder: Path) -> str:
    return "".join(char if char.isascii() and char.isalnum() else "-" for char in str(folder))


def test_a_file_is_read_and_every_byte_of_it_comes_back(project: Path) -> None:
    out = done("ingest", str(LEDGERLY))
    assert out.startswith(f"{BUNDLED}  claude_code, 229 pieces: ")
    assert given_back(project, BUNDLED) == LEDGERLY.read_bytes()


def test_a_file_is_read_by_a_process_of_its_own(project: Path) -> None:
    ran = run("ingest", str(LEDGERLY), cwd=project)
    assert (ran.code, ran.err) == (0, "")
    assert given_back(project, BUNDLED) == LEDGERLY.read_bytes()


def test_json_tells_of_each_file_and_each_error(project: Path) -> None:
    (project / "good.jsonl").write_bytes(b"".join(chat(2)) + b"not JSON\n")
    (project / "empty.jsonl").write_bytes(b"")
    result = invoke("ingest", "good.jsonl", "empty.jsonl", "--json")
    assert result.exit_code == Unreadable.exit_code
    found = json.loads(result.stdout)
    (flaw,) = found["files"][0].pop("flaws")
    (error,) = found["errors"]
    assert found == {
        "schema": "holdfast.ingest/1",
        "files": [
            {
                "path": "good.jsonl",
                "session": "good",
                "wire": "openai_chat",
                "pieces": 3,
                "added": 2,
                "branched": False,
            }
        ],
        "errors": [error],
    }
    assert (flaw["line"], flaw["read"], bool(flaw["reason"])) == (3, False, True)
    assert (error["path"], error["line"], bool(error["reason"])) == ("empty.jsonl", None, True)


def test_quiet_says_only_what_went_wrong(project: Path) -> None:
    (project / "good.jsonl").write_bytes(b"".join(chat(2)) + b"not JSON\n")
    result = invoke("ingest", "good.jsonl", "--quiet")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("holdfast: good.jsonl, line 3: ")


def test_many_flaws_are_told_of_in_a_few_lines(project: Path) -> None:
    (project / "bad.jsonl").write_bytes(b"".join(chat(2)) + b"not JSON\n" * 100)
    told_of = invoke("ingest", "bad.jsonl").stderr.splitlines()
    assert len(told_of) == 6
    assert "95 more" in told_of[-1]


def test_a_folder_is_read_with_every_session_file_below_it(project: Path) -> None:
    (project / "logs" / "deep").mkdir(parents=True)
    (project / "logs" / "one.jsonl").write_bytes(told("one"))
    (project / "logs" / "deep" / "two.json").write_bytes(b'[{"role":"user","content":"two"}]')
    (project / "logs" / "notes.txt").write_bytes(b"not a session")
    out = done("ingest", "logs")
    assert out.splitlines()[-1] == "2 files, 2 sessions, 2 entries added"
    assert _sessions() == ["one", "two"]


def test_a_folder_without_session_files_is_refused(project: Path) -> None:
    (project / "logs").mkdir()
    result = invoke("ingest", "logs")
    assert result.exit_code == Unreadable.exit_code
    assert result.stderr.startswith("holdfast: logs: ")


def _utf16() -> bytes:
    return b"".join(transcript(3)).decode().encode("utf-16")


NO_SESSIONS = {
    "random bytes": Random(1).randbytes(5_000),
    "a few random bytes": Random(2).randbytes(64),
    "a picture": b"\x89PNG\r\n\x1a\n" + Random(3).randbytes(2_000),
    "a program": b"\x7fELF" + b"\0" * 60 + b".text\0.data\0" * 20,
    "another encoding": _utf16(),
    "nothing": b"",
    "white space": b"\n \n",
    "a compressed file of random bytes": gzip.compress(Random(4).randbytes(500)),
    "what only begins like a compressed file": b"\x1f\x8b" + Random(5).randbytes(300),
}


@pytest.mark.parametrize("kind", NO_SESSIONS)
def test_what_is_no_session_costs_one_sentence_and_is_not_stored(kind: str, project: Path) -> None:
    (project / "odd.jsonl").write_bytes(NO_SESSIONS[kind])
    result = invoke("ingest", "odd.jsonl")
    assert (result.exit_code, result.stdout) == (Unreadable.exit_code, "")
    assert result.stderr.startswith("holdfast: odd.jsonl: ")
    assert result.stderr.count("\n") == 1
    assert _sessions() == []
    told_of = json.loads(invoke("ingest", "odd.jsonl", "--json").stdout)
    assert [(one["path"], bool(one["reason"])) for one in told_of["errors"]] == [
        ("odd.jsonl", True)
    ]


def test_bytes_that_are_no_text_are_kept_when_that_is_asked_for(project: Path) -> None:
    data = NO_SESSIONS["random bytes"]
    (project / "odd.bin").write_bytes(data)
    done("ingest", "odd.bin", "--wire", "lines")
    assert given_back(project, "odd.bin") == data


def test_text_with_a_few_bytes_of_another_encoding_is_still_text(project: Path) -> None:
    data = "Wir lösen das Rätsel später auf.\n".encode("latin-1") * 20
    (project / "notes.log").write_bytes(data)
    result = invoke("ingest", "notes.log")
    assert (result.exit_code, "20 opaque lines" in result.stderr) == (0, True)
    assert given_back(project, "notes.log") == data


def test_without_paths_the_sessions_of_this_project_are_read(project: Path) -> None:
    home = project / "home"
    other = project.parent / "other"
    _keep(home, _spelled(project), "main.jsonl", transcript(3, session="main"))
    side = {**coded("aside", 0, session="main"), "isSidechain": True, "agentId": "a1"}
    _keep(home, _spelled(project), "main/subagents/agent-a1.jsonl", [line(side)])
    _keep(home, _spelled(other), "other.jsonl", transcript(3, session="other"))
    rollout = _rollout(home, project / "src", "codex-mine")
    _rollout(home, other, "codex-other")
    done("ingest")
    assert _sessions() == ["codex-mine", "main"]
    assert given_back(project, "codex-mine") == rollout
    assert given_back(project, "main") == b"".join(transcript(3, session="main"))
    assert given_back(project, "main", "agent-a1") == line(side)


def test_everything_means_the_sessions_of_all_projects(project: Path) -> None:
    home = project / "home"
    other = project.parent / "other"
    _keep(home, _spelled(other), "other.jsonl", transcript(3, session="other"))
    _rollout(home, other, "codex-other")
    result = invoke("ingest")
    assert isinstance(result.exception, Unreadable)
    assert result.exception.where == str(project)
    done("ingest", "--everything")
    assert _sessions() == ["codex-other", "other"]


def test_a_home_without_sessions_is_told_of(project: Path) -> None:
    ran = run("ingest", cwd=project)
    assert (ran.code, ran.out) == (Unreadable.exit_code, "")
    assert ran.err.startswith(f"holdfast: {project}: ")


def test_the_sessions_of_agents_are_found_where_the_environment_says(
    project: Path, tmp_path: Path
) -> None:
    _keep(tmp_path / "moved", _spelled(project), "main.jsonl", transcript(2, session="main"))
    _rollout(tmp_path / "moved", project, "codex")
    ran = run(
        "ingest",
        cwd=project,
        CLAUDE_CONFIG_DIR=str(tmp_path / "moved" / ".claude"),
        CODEX_HOME=str(tmp_path / "moved" / ".codex"),
    )
    assert ran.code == 0
    assert _sessions() == ["codex", "main"]


def test_a_dangling_link_among_the_sessions_of_agents_stops_nothing(project: Path) -> None:
    file = _keep(project / "home", _spelled(project), "main.jsonl", transcript(2, session="main"))
    (file.parent / "gone.jsonl").symlink_to(project / "nowhere")
    assert invoke("ingest").exit_code == 0
    assert _sessions() == ["main"]


def test_a_session_can_be_named(project: Path) -> None:
    (project / "a.jsonl").write_bytes(told("hello"))
    done("ingest", "a.jsonl", "--session", "my own name")
    assert _sessions() == ["my own name"]


def test_a_name_for_several_files_is_bad_usage(project: Path) -> None:
    for name in ("a", "b"):
        (project / f"{name}.jsonl").write_bytes(told(name))
    result = invoke("ingest", "a.jsonl", "b.jsonl", "--session", "both")
    assert result.exit_code == 2
    assert _sessions() == []


def test_a_format_can_be_named(project: Path) -> None:
    (project / "a.jsonl").write_bytes(told("hello"))
    assert document("ingest", "a.jsonl", "--wire", "anthropic")["files"][0]["wire"] == "anthropic"
    (project / "b.jsonl").write_bytes(told("hello"))
    assert document("ingest", "b.jsonl", "--wire", "lines")["files"][0]["wire"] == "lines"


def test_a_file_that_grew_adds_its_tail(project: Path) -> None:
    lines = transcript(6)
    (project / "a.jsonl").write_bytes(b"".join(lines[:4]))
    first = document("ingest", "a.jsonl")["files"][0]
    (project / "a.jsonl").write_bytes(b"".join(lines))
    second = document("ingest", "a.jsonl")["files"][0]
    third = document("ingest", "a.jsonl")["files"][0]
    assert [(one["added"], one["branched"]) for one in (first, second, third)] == [
        (4, False),
        (2, False),
        (0, False),
    ]
    assert given_back(project, first["session"]) == b"".join(lines)


def test_a_file_that_was_rewound_becomes_a_branch(project: Path) -> None:
    lines = transcript(6)
    (project / "a.jsonl").write_bytes(b"".join(lines))
    first = document("ingest", "a.jsonl")["files"][0]
    rewound = [*lines[:4], line(coded("another way", 4, uuid="x4"))]
    (project / "a.jsonl").write_bytes(b"".join(rewound))
    second = document("ingest", "a.jsonl")["files"][0]
    assert (second["added"], second["branched"]) == (1, True)
    rows = document("show", first["session"])["entries"]
    assert [row["opening"] for row in rows] == [
        *(f"message {at}" for at in range(4)),
        "another way",
    ]


def test_a_file_that_was_cut_short_takes_nothing_away(project: Path) -> None:
    lines = transcript(6)
    (project / "a.jsonl").write_bytes(b"".join(lines))
    session = document("ingest", "a.jsonl")["files"][0]["session"]
    (project / "a.jsonl").write_bytes(b"".join(lines[:4]))
    cut = document("ingest", "a.jsonl")["files"][0]
    assert (cut["added"], cut["branched"]) == (0, False)
    assert given_back(project, session) == b"".join(lines)


def test_a_file_that_was_rewound_to_fewer_lines_comes_back_as_it_is_now(project: Path) -> None:
    lines = transcript(8)
    (project / "a.jsonl").write_bytes(b"".join(lines))
    session = document("ingest", "a.jsonl")["files"][0]["session"]
    rewound = [*lines[:3], line(coded("another way", 3, uuid="x3"))]
    (project / "a.jsonl").write_bytes(b"".join(rewound))
    done("ingest", "a.jsonl")
    assert given_back(project, session) == b"".join(rewound)
