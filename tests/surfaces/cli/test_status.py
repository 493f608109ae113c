import re
from pathlib import Path

import pytest

from holdfast.core.ledger.entry import Compressed, Said, Step
from holdfast.core.measure.usage import ACTIONS, Level, Usage
from holdfast.errors import BadSetting, NotRecorded
from holdfast.session.open import open as open_session
from tests.input.making import LEDGERLY, chat, run
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.cli.test_ingest import BUNDLED


@pytest.fixture
def ledgerly(project: Path) -> Path:
    """A project that holds the bundled session."""
    done("ingest", str(LEDGERLY))
    return project


def _field(report: str, name: str) -> str:
    found = re.search(rf"^\*\*{name}:\*\* (.*)$", report, re.MULTILINE)
    assert found is not None
    return found[1]


def _section(report: str, title: str) -> list[str]:
    body = report.split(f"### {title}\n", 1)[1].split("\n### ", 1)[0]
    return body.strip().splitlines()


def _compressed(root: Path) -> None:
    """One compression of each tier."""
    with open_session("small", root=root) as session:
        for tier, at in ((1, 0), (2, 1), (3, 2)):
            entry = session.ledger.path()[at]
            step = Step((entry.id,), "a test", Said("user", "less"), tier, before=900, after=100)
            generation = session.ledger.head().lane("").generation
            session.ledger.commit(Compressed((step,), generation, session.ledger.head().seq))


@pytest.fixture
def small(project: Path) -> Path:
    """A project with a small session, one compression of each tier in it."""
    (project / "small.jsonl").write_bytes(b"".join(chat(6)))
    done("ingest", "small.jsonl")
    _compressed(project)
    return project


@pytest.mark.seed("R032")
def test_the_report_begins_with_when_how_full_and_which_level(ledgerly: Path) -> None:
    (ledgerly / "holdfast.toml").write_text('timezone = "Africa/Johannesburg"\n')
    report = done("status")
    usage = document("status")
    assert report.splitlines()[0] == "## Context Status Report"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d SAST", _field(report, "Timestamp"))
    told = Usage(usage["usage"]["tokens"], usage["usage"]["limit"], "")
    assert _field(report, "Estimated Usage") == told.percent()
    assert _field(report, "Level") == usage["level"]
    assert usage["level"] in {level.value for level in Level}


@pytest.mark.seed("R033")
@pytest.mark.usefixtures("small")
def test_the_report_counts_what_each_tier_did_and_saved() -> None:
    assert _section(done("status"), "Current State") == [
        "- Tool results offloaded: 1 (800 tokens saved)",
        "- Tool inputs truncated: 1 (800 tokens saved)",
        "- Summarisations performed: 1",
    ]


@pytest.mark.seed("R033")
@pytest.mark.usefixtures("ledgerly")
def test_the_report_of_a_session_never_compressed_counts_nothing() -> None:
    assert _section(done("status"), "Current State") == [
        "- Tool results offloaded: 0 (0 tokens saved)",
        "- Tool inputs truncated: 0 (0 tokens saved)",
        "- Summarisations performed: 0",
        "- Tokens per task: 391,577 sent for each request",
    ]


@pytest.mark.seed("R034")
@pytest.mark.usefixtures("ledgerly")
@pytest.mark.parametrize("window", [1_000_000, 300_000, 130_000, 110_000, 1_000])
def test_the_report_recommends_what_its_level_asks_for(window: int) -> None:
    report = done("status", "--window", str(window))
    level = Level(_field(report, "Level"))
    assert _section(report, "Recommendation") == [ACTIONS[level]]


@pytest.mark.seed("R035")
@pytest.mark.usefixtures("small")
def test_the_report_lists_every_compression_with_its_time_tier_and_saving() -> None:
    rows = _section(done("status"), "Compression History")
    assert rows[:2] == ["| Time | Type | Tokens Saved |", "|---|---|---|"]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]
    assert [cell[1:] for cell in cells] == [
        ["Tier 1 (offload)", "800"],
        ["Tier 2 (truncate)", "800"],
        ["Tier 3 (summary)", "800"],
    ]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", cell[0]) for cell in cells)


@pytest.mark.seed("R035")
@pytest.mark.usefixtures("ledgerly")
def test_the_report_of_a_session_never_compressed_lists_none() -> None:
    history = _section(done("status"), "Compression History")
    assert history[:2] == ["| Time | Type | Tokens Saved |", "|---|---|---|"]


@pytest.mark.usefixtures("ledgerly")
def test_json_says_the_same_for_a_program() -> None:
    found = document("status", "--session", BUNDLED[:6])
    assert sorted(found) == sorted(
        [
            "schema",
            "session",
            "at",
            "usage",
            "turns",
            "steps",
            "savings",
            "shares",
            "overhead",
            "warnings",
            "caused",
            "sent",
            "metrics",
            "faults",
            "level",
            "action",
        ]
    )
    assert (found["schema"], found["session"]) == ("holdfast.status/1", BUNDLED)
    assert sorted(found["usage"]) == ["fraction", "limit", "method", "tokens"]
    shared = sum(share["tokens"] for share in found["shares"]) + found["overhead"]
    assert shared == found["usage"]["tokens"]


@pytest.mark.usefixtures("ledgerly")
def test_flags_change_the_model_and_the_window() -> None:
    assert document("status", "--window", "100000")["usage"]["limit"] < 100_000
    assert document("status", "--model", "gpt-4.1")["usage"]["limit"] > 900_000
    (warning,) = document("status", "--model", "never heard of")["warnings"]
    assert "'never heard of' is not known" in warning


def test_a_request_that_the_provider_accepted_proves_the_limit(project: Path) -> None:
    with open_session("big", root=project, model="claude-opus-4-6") as session:
        session.append({"role": "user", "content": "Go."})
        session.report({"input_tokens": 534_000, "output_tokens": 859})
    found = document("status", "--session", "big")
    assert found["usage"]["limit"] == 534_859
    assert found["usage"]["fraction"] <= 1
    assert found["warnings"] == [
        "the provider accepted a request of 534,859 tokens, so the window takes at least that"
    ]
    assert _field(done("status", "--session", "big"), "Tokens").endswith(
        "of 534,859 (calibrated, limit learned)"
    )
    told = done("status", "--session", "big", "--window", "100000")
    assert _field(told, "Tokens").endswith("of 68,000 (calibrated, limit set)")


@pytest.mark.usefixtures("ledgerly")
def test_the_warning_names_the_model_that_was_given_and_not_that_of_the_session() -> None:
    (warning,) = document("status", "--model", "nobody-7")["warnings"]
    assert warning == (
        "model 'nobody-7' is not known; a window of 128,000 tokens is assumed (--window)"
    )
    sized = document("status", "--model", "nobody-7", "--window", "64000")
    assert sized["warnings"] == ["model 'nobody-7' is not known; its tokens are estimated"]
    assert document("status")["warnings"] == []


@pytest.mark.usefixtures("ledgerly")
@pytest.mark.parametrize(
    "command",
    [("compress", "--dry-run"), ("replay", str(LEDGERLY)), ("rules",), ("run", "context status")],
    ids=lambda words: words[0],
)
def test_every_command_that_takes_a_model_warns_of_one_that_is_not_known(
    command: tuple[str, ...],
) -> None:
    warned = invoke(*command, "--model", "nobody-7").stderr
    assert warned == (
        "holdfast: model 'nobody-7' is not known; a window of 128,000 tokens is assumed"
        " (--window)\n"
    )
    sized = invoke(*command, "--model", "nobody-7", "--window", "64000").stderr
    assert sized == "holdfast: model 'nobody-7' is not known; its tokens are estimated\n"
    assert invoke(*command, "--model", "gpt-4o").stderr == ""


def test_a_session_that_names_no_model_says_which_window_is_assumed(project: Path) -> None:
    (project / "plain.jsonl").write_bytes(b"".join(chat(4)))
    done("ingest", "plain.jsonl")
    (warning,) = document("status")["warnings"]
    assert warning == (
        "the session names no model; a window of 128,000 tokens is assumed (--model)"
    )
    assert document("status", "--window", "64000")["warnings"] == []


@pytest.mark.usefixtures("ledgerly")
def test_a_session_that_is_not_there_is_refused() -> None:
    result = invoke("status", "--session", "zzz")
    assert isinstance(result.exception, NotRecorded)
    assert result.exception.name == "zzz"


@pytest.mark.usefixtures("ledgerly")
@pytest.mark.parametrize("zone", ["Nowhere/Land", "../../etc/passwd", "/etc/passwd", "a\0b", "."])
def test_a_time_zone_that_is_none_is_refused(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "\0" in zone:
        Path("holdfast.toml").write_text('timezone = "a\\u0000b"\n')
    else:
        monkeypatch.setenv("HOLDFAST_TIMEZONE", zone)
    result = invoke("status")
    assert isinstance(result.exception, BadSetting)
    assert result.exception.name == "timezone"


def test_a_status_is_shown_by_a_process_of_its_own(ledgerly: Path) -> None:
    ran = run("status", cwd=ledgerly)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("## Context Status Report\n")
    assert _field(ran.out, "Session") == BUNDLED
