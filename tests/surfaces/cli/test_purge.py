"""`holdfast purge` and `holdfast backup`: what goes, what is told, and what is refused."""

import json
import re
import shutil
from pathlib import Path

import pytest

from holdfast.core.plan.policy import Policy
from holdfast.engine.purge.retention import DAY_SECONDS, retain
from holdfast.engine.purge.rewrite import erase_session
from holdfast.errors import Erased, NotRecorded, StoreRefused
from holdfast.session.open import open as open_session
from holdfast.session.open import open_store
from holdfast.session.session import Session
from tests.input.making import line
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.cli.working import NEEDLE, recorded


def names() -> list[str]:
    return sorted(row["session"] for row in document("sessions")["sessions"])


def spoken(role: str, text: str, number: int) -> bytes:
    """A line of a Claude Code transcript, which repeats what it holds beside the message."""
    return line(
        {
            "type": role,
            "uuid": f"u{number}",
            "parentUuid": f"u{number - 1}" if number > 1 else None,
            "sessionId": "t",
            "timestamp": f"2026-01-01T00:00:0{number}Z",
            "message": {"role": role, "content": text},
            "toolUseResult": {"stdout": text},
        }
    )


def needle() -> str:
    """The reference of the result that holds the needle."""
    found = document("recover", NEEDLE, "--session", "live")["excerpts"]
    return str(found[0]["ref"])


def test_a_session_goes_once_it_was_agreed_to(project: Path) -> None:
    recorded(project)
    recorded(project, "other")
    told = done("purge", "live", "--yes")
    assert "live: 28 entries" in told
    assert "no trace of it is left" in told
    assert names() == ["other"]
    assert isinstance(invoke("status", "--session", "live").exception, Erased)
    assert done("fsck").startswith("sound: 1 sessions")


def test_without_asking_the_beginning_of_a_name_is_not_enough(project: Path) -> None:
    recorded(project)
    refused = invoke("purge", "li", "--yes")
    assert refused.exit_code == 2
    assert "--yes needs the full name of the session: live" in refused.output
    assert names() == ["live"]
    assert "live: 28 entries" in done("purge", "li", "--dry-run")


def test_a_dry_run_says_what_would_go_and_changes_nothing(project: Path) -> None:
    recorded(project)
    told = document("purge", "live", "--dry-run")
    assert (told["schema"], told["purged"]) == ("holdfast.purge/1", False)
    assert told["sessions"][0]["entries"] == 28
    assert told["bytes"] == told["sessions"][0]["size"] > 10_000
    assert names() == ["live"]


def test_sessions_that_go_on_from_it_are_named_and_lose_what_they_quote(project: Path) -> None:
    recorded(project)
    done("checkpoint", "--reset", "--as", "next")
    assert "nightly export" in done("show", "next", "--ref", "#2")
    told = done("purge", "live", "--dry-run")
    assert "  also its quotations in next" in told
    assert document("purge", "live", "--yes")["sessions"][0]["heirs"] == ["next"]
    assert done("show", "next", "--ref", "#2").startswith("[purged: ")
    assert "nightly export" not in done("intent", "--session", "next")
    assert done("fsck").startswith("sound")


def test_nothing_goes_when_nobody_is_there_to_agree(project: Path) -> None:
    recorded(project)
    result = invoke("purge", "live")
    assert (result.exit_code, names()) == (2, ["live"])
    assert "--yes" in result.stderr


@pytest.mark.parametrize(
    "words",
    [(), ("--ref", "abcdef"), ("live", "--before", "3d"), ("--before", "soon"), ("--retention",)],
)
def test_what_is_not_clear_is_refused_in_one_sentence(project: Path, words: tuple[str]) -> None:
    recorded(project)
    result = invoke("purge", *words, "--yes")
    assert (result.exit_code, names()) == (2, ["live"])


def test_one_message_goes_and_whoever_asks_for_it_is_told_what_to_run(project: Path) -> None:
    recorded(project)
    ref = needle()
    done("compress", "--budget", "9000", "--session", "live")
    done("purge", "live", "--ref", ref, "--yes")
    for words in (("show", "--ref", ref), ("recover", "--ref", ref)):
        told = invoke(*words).exception
        assert isinstance(told, Erased)
        assert (told.reason, told.again) == ("purged", "read `src/export_3.py`")
    assert NEEDLE not in invoke("recover", NEEDLE).stdout
    assert done("fsck").startswith("sound")
    assert len(document("show", "live")["entries"]) == 28


def test_sessions_that_were_left_longer_ago_go_the_oldest_first(project: Path) -> None:
    with open_store(project) as store:
        for name, at in (("old", "2001-01-01T00:00:00Z"), ("untimed", "")):
            told = Session(name, store, clock=lambda at=at: at, owns_store=False)
            told.append({"role": "user", "content": "hello"})
    recorded(project, "new")
    told = document("purge", "--before", "52w", "--yes")
    assert [one["session"] for one in told["sessions"]] == ["old"]
    assert names() == ["new", "untimed"]


def test_a_transcript_that_is_read_again_brings_no_purged_line_back(project: Path) -> None:
    words = "the host is ZEBRAQUUX7741"
    path = project / "session.jsonl"
    lines = [spoken("user", words, 1), spoken("assistant", "Seen.", 2)]
    path.write_bytes(b"".join(lines))
    done("ingest", str(path))
    (name,) = names()
    ref = document("show", name)["entries"][0]["ref"]
    done("purge", name, "--ref", str(ref), "--yes")
    path.write_bytes(b"".join([*lines, spoken("user", "Go on.", 3)]))
    done("ingest", str(path))
    rows = document("show", name)["entries"]
    assert [row["opening"] for row in rows] == [f"[purged: {len(words)} bytes]", "Seen.", "Go on."]
    assert b"ZEBRAQUUX7741" not in (project / ".holdfast" / "ledger.db").read_bytes()
    assert done("fsck").startswith("sound")


def transcript(project: Path, name: str = "session.jsonl") -> Path:
    path = project / name
    path.write_bytes(spoken("user", "the host is ZEBRAQUUX7741", 1))
    done("ingest", str(path))
    done("purge", *names(), "--yes")
    return path


def test_a_purged_session_is_not_read_again_unless_one_says_so(project: Path) -> None:
    path = transcript(project)
    refused = invoke("ingest", str(path))
    assert (refused.exit_code, names()) == (65, [])
    assert "was purged on 20" in refused.stderr
    assert refused.stderr.rstrip().endswith("--again reads it anew")
    assert b"ZEBRAQUUX7741" not in (project / ".holdfast" / "ledger.db").read_bytes()
    done("ingest", str(path), "--again")
    assert len(names()) == 1
    done("ingest", str(path))


def test_purged_sessions_are_passed_over_where_all_of_a_project_are_read(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = tmp_path / "claude" / "projects" / re.sub("[^A-Za-z0-9]", "-", str(project))
    kept.mkdir(parents=True)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    path = transcript(project)
    (kept / "session.jsonl").write_bytes(path.read_bytes())
    passed = invoke("ingest")
    assert (passed.exit_code, names()) == (0, [])
    assert "was purged" in passed.stderr


def test_a_session_that_expired_is_not_read_again_either(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project / "session.jsonl"
    path.write_bytes(spoken("user", "hello", 1))
    done("ingest", str(path))
    with open_store(project) as store:
        erase_session(store, names()[0], Policy(), reason="expired", at="2026-01-02T03:04:05Z")
    refused = invoke("ingest", str(path))
    assert "expired on 2026-01-02 (5 bytes); --again reads it anew" in refused.stderr


def test_what_the_settings_say_goes_by_itself_once_a_day(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(project, "old")
    recorded(project, "new")
    monkeypatch.setenv("HOLDFAST_RETENTION_DAYS", "5")
    assert "nothing to purge" in done("purge", "--retention")
    with open_store(project) as store:
        first = store.retention_checks()[0]
        for day in range(1, 5):
            policy = open_session("new", root=project, store=store).policy
            assert retain(store, policy, str(project), first.clock + day * DAY_SECONDS, at="") == []
        # As if the last look had been a day ago.
        store.add_retention_check(
            type(first)(first.touched, 4 * DAY_SECONDS, first.clock - DAY_SECONDS)
        )
    assert names() == ["new"]
    told = invoke("show", "old").exception
    assert isinstance(told, Erased)
    assert told.reason == "expired"


def test_a_copy_can_be_put_elsewhere(project: Path) -> None:
    recorded(project)
    ref, whole = needle(), done("export", "live")
    told = document("backup", "copy.db")
    assert (told["schema"], told["sessions"]) == ("holdfast.backup/1", 1)
    assert told["bytes"] == Path("copy.db").stat().st_size
    there = project / "elsewhere"
    (there / ".holdfast").mkdir(parents=True, mode=0o700)
    shutil.copy("copy.db", there / ".holdfast" / "ledger.db")
    assert done("--root", str(there), "fsck").startswith("sound: 1 sessions")
    assert done("--root", str(there), "export", "live") == whole
    assert NEEDLE in done("--root", str(there), "show", "--ref", ref)
    assert isinstance(invoke("backup", "copy.db").exception, StoreRefused)


def test_purging_and_copying_need_a_ledger(project: Path) -> None:
    for words in (("purge", "x", "--yes"), ("purge", "--before", "1d", "--yes"), ("backup", "y")):
        assert isinstance(invoke(*words).exception, NotRecorded)
    assert not (project / ".holdfast").exists()


def test_a_document_says_what_went(project: Path) -> None:
    recorded(project)
    done("compress", "--budget", "9000")
    told = json.loads(done("purge", "live", "--yes", "--json"))
    assert (told["purged"], told["sessions"][0]["session"]) == (True, "live")
    assert told["sessions"][0]["files"]
    assert [path for path in told["sessions"][0]["files"] if (project / path).exists()] == []
