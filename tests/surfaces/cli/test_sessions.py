from pathlib import Path

from tests.input.making import LEDGERLY, chat, coded, line, run, told
from tests.surfaces.cli.commands import document, done
from tests.surfaces.cli.test_ingest import BUNDLED


def test_a_project_without_a_ledger_has_no_sessions_and_gets_none(project: Path) -> None:
    assert done("sessions").startswith(f"no sessions in {project}")
    assert document("sessions") == {
        "schema": "holdfast.sessions/1",
        "root": str(project),
        "sessions": [],
    }
    assert not (project / ".holdfast").exists()


def test_the_newest_session_comes_first(project: Path) -> None:
    for name in ("one", "two", "three"):
        (project / f"{name}.jsonl").write_bytes(told(name))
        done("ingest", f"{name}.jsonl")
    assert [row["session"] for row in document("sessions")["sessions"]] == ["three", "two", "one"]
    limited = document("sessions", "--limit", "2")["sessions"]
    assert [row["session"] for row in limited] == ["three", "two"]
    assert len(document("sessions", "--limit", "0")["sessions"]) == 3


def test_the_session_spoken_in_last_is_listed_first_whatever_was_read_last(project: Path) -> None:
    for name, hour in (("late", 12), ("later", 13), ("early", 9)):
        said = {**coded(name, 0, session=name), "timestamp": f"2026-03-02T{hour:02}:00:00.000Z"}
        (project / f"{name}.jsonl").write_bytes(line(said))
        done("ingest", f"{name}.jsonl")
    (project / "untimed.jsonl").write_bytes(told("no time"))
    done("ingest", "untimed.jsonl")
    listed = [row["session"] for row in document("sessions")["sessions"]]
    assert listed == ["later", "late", "early", "untimed"]
    assert document("status")["session"] == listed[0]


def test_a_session_is_listed_with_what_it_is(project: Path) -> None:
    done("ingest", str(LEDGERLY))
    (row,) = document("sessions")["sessions"]
    assert {key: row[key] for key in ("session", "wire", "model", "known_model", "level")} == {
        "session": BUNDLED,
        "wire": "claude_code",
        "model": "claude-sonnet-4-5-20250929",
        "known_model": True,
        "level": row["level"],
    }
    assert row["level"] in ("GREEN", "YELLOW", "ORANGE", "RED", "CRITICAL")
    assert row["title"].startswith("Finance says our EUR values")
    name, facts, title = done("sessions").splitlines()
    assert name == BUNDLED
    assert row["level"] in facts
    assert title.strip().startswith("Finance says our EUR values")


def test_sessions_are_listed_by_a_process_of_its_own(project: Path) -> None:
    (project / "a.jsonl").write_bytes(b"".join(chat(4)))
    done("ingest", "a.jsonl")
    ran = run("sessions", cwd=project)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0] == "a"
