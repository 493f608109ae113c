import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from holdfast.core.faults import Faults, collecting
from holdfast.core.view.replay import sparkline
from holdfast.errors import Unreadable
from tests.input.making import LEDGERLY, chat, coded, line, run, told
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.cli.working import messages


@pytest.fixture
def sessions(project: Path) -> Path:
    """A folder with two sessions: a long one and a short one."""
    folder = project / "logs"
    folder.mkdir()
    for name, reads in (("long", 40), ("short", 2)):
        lines = "".join(json.dumps(message) + "\n" for message in messages(reads))
        (folder / f"{name}.jsonl").write_text(lines)
    return project


@pytest.mark.usefixtures("sessions")
def test_a_session_is_replayed_with_compression_and_without() -> None:
    found = document("replay", "logs/long.jsonl", "--window", "64000")
    (one,) = found["sessions"]
    assert (found["schema"], one["session"], one["window"]) == ("holdfast.replay/1", "long", 64_000)
    assert one["compressions"] > 0
    assert one["ours"]["peak"] < one["without"]["peak"]
    assert (one["ours"]["over"], one["without"]["over"] > 0) == (0, True)
    assert len(one["without"]["sizes"]) == 42
    assert one["ratio"] == round(one["ours"]["billed"] / one["without"]["billed"], 4)
    assert found["errors"] == []


@pytest.mark.usefixtures("sessions")
def test_a_folder_is_walked_and_summed_up() -> None:
    found = document("replay", "logs", "--window", "64000")
    assert [one["session"] for one in found["sessions"]] == ["long", "short"]
    for side in ("ours", "without"):
        sides = [one[side] for one in found["sessions"]]
        assert found["total"][side]["billed"] == pytest.approx(
            sum(side["billed"] for side in sides), abs=2
        )
        assert found["total"][side]["requests"] == sum(side["requests"] for side in sides)
        assert found["total"][side]["peak"] == max(side["peak"] for side in sides)


@pytest.mark.usefixtures("sessions")
def test_a_person_sees_rows_curves_and_a_total() -> None:
    out = done("replay", "logs", "--window", "64000")
    lines = out.splitlines()
    assert lines[0] == "long  (unknown model, window 64,000)"
    assert [line.split()[0] for line in lines[2:4]] == ["holdfast", "without"]
    assert lines[6].split()[1].strip("▁▂▃▄▅▆▇█") == ""
    assert lines[6].endswith("█")
    assert "total of 2 sessions" in lines
    assert max(len(line) for line in lines) <= 120
    quiet = done("replay", "logs", "--window", "64000", "--quiet").splitlines()
    assert quiet[0] == "total of 2 sessions"
    assert "total" not in done("replay", "logs/short.jsonl")


@pytest.mark.usefixtures("sessions")
def test_prices_and_the_prefix_change_the_bill() -> None:
    def billed(*options: str) -> int:
        found = document("replay", "logs/short.jsonl", *options)
        return found["sessions"][0]["without"]["billed"]

    sizes = document("replay", "logs/short.jsonl")["sessions"][0]["without"]["sizes"]
    assert billed("--prices", "1,1") == sum(sizes)
    assert billed("--prices", "0,0") == 0
    assert billed("--prices", "0,1", "--prefix", "0") == sizes[-1] - 20_000


@pytest.mark.usefixtures("sessions")
@pytest.mark.parametrize("prices", ["1", "a,b", "-1,1", "1,2,3", "nan,1"])
def test_what_are_no_prices_is_bad_usage(prices: str) -> None:
    assert invoke("replay", "logs", "--prices", prices).exit_code == 2


def test_a_file_that_cannot_be_read_costs_a_sentence_and_the_others_still_run(
    sessions: Path,
) -> None:
    (sessions / "logs" / "empty.jsonl").write_bytes(b"")
    (sessions / "silent.jsonl").write_bytes(told("nobody answers"))
    ran = run("replay", "missing.jsonl", "logs", "silent.jsonl", cwd=sessions)
    assert (ran.code, "total of 2 sessions" in ran.out) == (65, True)
    assert [row.split(":")[1].strip() for row in ran.err.splitlines()] == [
        "missing.jsonl",
        "logs/empty.jsonl",
        "silent.jsonl",
    ]
    result = invoke("replay", "nowhere", "--json")
    assert (result.exit_code, json.loads(result.stdout)["total"]) == (65, None)
    (sessions / "nothing").mkdir()
    assert invoke("replay", "nothing").exit_code == 65


def test_a_skipped_file_is_named_with_its_reason_in_one_line_and_in_json(sessions: Path) -> None:
    (sessions / "logs" / "noise.jsonl").write_bytes(Random(1).randbytes(2_000))
    (sessions / "logs" / "torn.jsonl.gz").write_bytes(b"\x1f\x8b" + Random(2).randbytes(200))
    (sessions / "logs" / "gone.jsonl").symlink_to(sessions / "nowhere")
    ran = run("replay", "logs", cwd=sessions)
    assert (ran.code, "total of 2 sessions" in ran.out) == (Unreadable.exit_code, True)
    skipped = ("logs/gone.jsonl", "logs/noise.jsonl", "logs/torn.jsonl.gz")
    assert [row.split(": ")[1] for row in ran.err.splitlines()] == list(skipped)
    assert all(row.endswith("; skipped") for row in ran.err.splitlines())
    result = invoke("replay", "logs", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == Unreadable.exit_code
    assert [one["session"] for one in found["sessions"]] == ["long", "short"]
    assert [(one["path"], bool(one["reason"])) for one in found["errors"]] == [
        (name, True) for name in skipped
    ]


@pytest.mark.usefixtures("sessions")
def test_a_fault_of_ours_costs_its_own_file() -> None:
    class BreakingFirst(Faults):
        """Makes the first replay raise."""

        count = 0

        def enter(self, rule: str) -> None:
            self.count += rule == "replay"
            if rule == "replay" and self.count == 1:
                raise ValueError(rule)

    with collecting(BreakingFirst()):
        shown = invoke("replay", "logs")
    assert shown.exit_code == Unreadable.exit_code
    assert ("short" in shown.stdout, "logs/long.jsonl" in shown.stderr) == (True, True)


def _reported(sizes: list[int]) -> bytes:
    """A Claude Code transcript whose provider reported a size for each request."""
    rows: list[dict[str, Any]] = []
    for at in range(len(sizes) * 2):
        row = coded(f"message {at}", at)
        if at % 2:
            usage = {"input_tokens": 5, "cache_read_input_tokens": sizes[at // 2] - 5}
            said = {"role": "assistant", "content": f"message {at}", "model": "claude-opus-4-5"}
            row = {
                **row,
                "requestId": f"r{at}",
                "message": {**said, "id": f"m{at}", "usage": usage},
            }
        rows.append(row)
    return b"".join(line(row) for row in rows)


def test_sizes_are_what_the_provider_reported(project: Path) -> None:
    sizes = [31_000, 32_500, 327_692, 40_000]
    (project / "a.jsonl").write_bytes(_reported(sizes))
    (one,) = document("replay", "a.jsonl")["sessions"]
    assert one["without"]["sizes"] == sizes
    assert (one["without"]["peak"], one["reported"]) == (
        327_692,
        {"requests": 4, "peak": 327_692},
    )
    # The provider accepted it: so its window is at least that large.
    assert (one["window"], one["without"]["over"]) == (327_692, 0)
    shown = done("replay", "a.jsonl")
    assert "the provider reported 4 requests, the largest of 327,692 tokens" in shown
    total = document("replay", "a.jsonl", "a.jsonl")["total"]
    assert total["reported"] == {"requests": 8, "peak": 327_692}


def test_where_nothing_was_reported_the_prefix_stands_before_every_request(project: Path) -> None:
    (project / "a.jsonl").write_bytes(b"".join(line(coded("one", at)) for at in range(4)))
    (one,) = document("replay", "a.jsonl", "--prefix", "5000")["sessions"]
    assert one["reported"] == {"requests": 0, "peak": 0}
    assert [size // 1000 for size in one["without"]["sizes"]] == [5, 5]
    assert "reported" not in done("replay", "a.jsonl")


def test_a_transcript_is_replayed_with_the_profile_that_install_brings(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "claude.jsonl").write_bytes(b"".join(line(coded("one", at)) for at in range(4)))
    words = [{"type": "output_text", "text": "done"}]
    payload = {"type": "message", "role": "assistant", "content": words}
    rollout = [
        {"timestamp": "t1", "type": "session_meta", "payload": {"id": "c", "cwd": "/x"}},
        {"timestamp": "t2", "type": "response_item", "payload": payload},
    ]
    (project / "codex.jsonl").write_bytes(b"".join(line(row) for row in rollout))
    (project / "plain.jsonl").write_bytes(b"".join(chat(4)))

    def profiles(*options: str) -> list[str]:
        found = document("replay", "claude.jsonl", "codex.jsonl", "plain.jsonl", *options)
        return [one["profile"] for one in found["sessions"]]

    assert profiles() == ["claude-code", "codex", "ctx-001"]
    assert profiles("--profile", "lean") == ["lean"] * 3
    (project / "holdfast.toml").write_text('profile = "anchored"\n')
    assert profiles() == ["anchored"] * 3
    monkeypatch.setenv("HOLDFAST_PROFILE", "off")
    assert profiles() == ["off"] * 3


def test_the_model_is_the_one_named_else_the_one_of_the_session(project: Path) -> None:
    (one,) = document("replay", str(LEDGERLY))["sessions"]
    assert (one["model"], one["window"]) == ("claude-sonnet-4-5-20250929", 200_000)
    (named,) = document("replay", str(LEDGERLY), "--model", "gpt-4o")["sessions"]
    assert (named["model"], named["window"]) == ("gpt-4o", 128_000)
    assert not (project / ".holdfast").exists()


def test_the_file_of_a_sub_agent_is_replayed_as_its_own(project: Path) -> None:
    rows = [{**coded(f"message {at}", at), "isSidechain": True, "agentId": "a1"} for at in range(4)]
    (project / "agent-a1.jsonl").write_bytes(b"".join(line(row) for row in rows))
    (one,) = document("replay", "agent-a1.jsonl")["sessions"]
    assert one["without"]["requests"] == 2


def test_a_curve_has_the_largest_of_what_each_block_stands_for() -> None:
    assert sparkline([0, 4, 8], top=8, width=10) == "▁▄█"
    assert sparkline([1, 8, 1, 1], top=8, width=2) == "█▁"
    assert sparkline([], top=8, width=2) == ""
