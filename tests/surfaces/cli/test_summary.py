"""The summary at the command line: made, shown, probed, logged, taken back."""

import json
from pathlib import Path

import pytest

from holdfast.core.ledger.entry import Compressed, Said, Step
from holdfast.core.verify.quality import DIMENSIONS
from holdfast.core.view.forms import FORMS
from holdfast.session.open import open as open_session
from holdfast.session.session import Session
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.cli.working import CHOICE, FIRST, LATEST, TURN, talked, window_for

BUDGET = "3000"
KEYS = [
    "session_id",
    "generated",
    "intent",
    "artifacts",
    "decisions",
    "progress",
    "next_steps",
    "recovery_refs",
]
SECTIONS = [
    "### Session Intent",
    "### Artifacts Created",
    "### Key Decisions",
    "### Current Progress",
    "### Critical Facts",
    "### Next Steps",
    "### Recovery References",
]


@pytest.fixture
def talk(project: Path) -> Path:
    """A project with a long conversation."""
    talked(project)
    return project


@pytest.fixture
def summarized(talk: Path) -> Path:
    """The same once a summary stands for what is old."""
    done("compress", "--budget", BUDGET)
    return talk


@pytest.mark.seed("R063", "R065")
def test_compressing_tells_what_leaves_what_stays_and_how_good_the_summary_is(talk: Path) -> None:
    planned = document("compress", "--budget", BUDGET, "--dry-run")
    out = done("compress", "--budget", BUDGET)
    event = document("log")["events"][-1]
    assert (event["kind"], set(event["quality"])) == ("TIER_3", {each.key for each in DIMENSIONS})
    found = planned["summary"]
    assert planned["plan"]["steps"][0]["tier"] == 3
    left = sum(one["count"] for one in found["leaves"])
    kept = sum(one["count"] for one in found["stays"])
    with open_session("talk", root=talk) as session:
        assert (left + kept, len(session.ledger.window().items)) == (
            len(session.ledger.path()),
            kept + 1,
        )
    lines = dict(line.split(": ", 1) for line in out.splitlines() if ": " in line)
    assert lines["leaves"].startswith(f"{left:,} entries, ")
    assert lines["stays"].startswith(f"{kept:,} entries, ")
    assert lines["summary"].startswith(f"{found['tokens']:,} tokens; ")
    assert "files changed 1" in lines["summary"]
    assert f"artifact trail {event['quality']['artifact_trail']:.1f}" in lines["quality"]
    assert ("mark" in lines) == bool(event["mark"])


@pytest.mark.usefixtures("talk")
def test_a_dry_run_shows_the_summary_as_a_step_and_what_would_leave() -> None:
    lines = done("compress", "--budget", BUDGET, "--dry-run").splitlines()
    titles = [line for line in lines if line.startswith("### ")]
    assert titles[:4] == ["### Steps", "### Leaves", "### Stays", "### In Its Place"]
    assert any(line.startswith("summary ") for line in lines)
    assert document("log")["events"] == []


@pytest.mark.seed("R062", "R219")
@pytest.mark.usefixtures("talk")
def test_the_gate_of_the_summary_is_passed_where_only_a_summary_helps() -> None:
    found = document("compress", "--dry-run", "--window", window_for(0.9, "talk"))
    (gate,) = [one for one in found["gates"] if one["gate"] == "HOOK-CTX-003"]
    assert (gate["passed"], gate["outcome"]) == (True, "Apply Tier 3 summarisation")
    assert gate["checks"] == [
        ["Tier 1 and 2 exhausted or insufficient", True],
        ["Session intent captured", True],
        ["Artifacts documented", True],
    ]


@pytest.mark.seed("R064", "R066", "R208", "R209")
def test_the_log_names_the_archive_and_the_quality_below_the_fields_of_the_protocol(
    summarized: Path,
) -> None:
    event = document("log")["events"][-1]
    (archive,) = event["files"]
    page = (summarized / archive).read_text()
    assert archive.endswith("conversations/talk_full.md")
    assert all(words in page for words in (FIRST, TURN, CHOICE, LATEST))
    lines = done("log", "--limit", "1").splitlines()
    intent = lines.index("**Intent Preserved:** YES")
    assert lines[intent + 1].startswith("**Quality:** accuracy ")
    mark = [f"**Mark:** {event['mark']}"] if event["mark"] else []
    assert lines[intent + 2 : -2] == mark
    assert lines[-2] == f"**Size:** {event['ratio']:.0%} of before (target below 50%: met)"
    names = "Pre-Check, Preservation, Compaction, Verification"
    assert lines[-1] == f"**Phases:** {names}: 7 of 7 preserved"


@pytest.mark.seed("R067", "R070", "R071", "R072", "R073", "R074", "R078")
@pytest.mark.usefixtures("summarized")
def test_the_summary_is_shown_in_the_form_of_the_protocol() -> None:
    lines = done("show", "--summary").splitlines()
    assert lines[0] == "## Session Summary [talk]"
    assert [line for line in lines if line in SECTIONS] == SECTIONS
    assert FIRST.splitlines()[0] in lines
    assert (
        f"- **Scope change:** [{document('intent')['scope_changes'][0]['ref'][:8]}] {TURN}" in lines
    )


@pytest.mark.seed("R069", "R080", "R082", "R083", "R084", "R085", "R086", "R087", "R196")
@pytest.mark.usefixtures("summarized")
def test_the_summary_is_shown_in_any_of_its_forms() -> None:
    shown = {form: done("show", "--summary", "--form", form) for form in FORMS}
    asked = [form for form, text in shown.items() if FIRST.splitlines()[0] in text]
    assert [form for form in FORMS if form not in asked] == ["planning"]
    assert len(set(shown.values())) == len(FORMS)
    anchored = shown["anchored"].splitlines()
    assert anchored[0] == "## Session Summary — talk"
    assert "| src/totals.py | created | total(); +2 |" in anchored
    assert "### Decisions Made" in anchored
    assert invoke("show", "--summary", "--form", "poem").exit_code == 2


@pytest.mark.seed("R076")
@pytest.mark.usefixtures("talk")
def test_a_program_gets_the_object_of_the_protocol_and_every_row() -> None:
    found = document("show", "--summary", "--form", "notes")
    assert (found["schema"], found["form"]) == ("holdfast.show/1", "notes")
    assert list(found["summary"]) == KEYS
    assert found["summary"]["intent"]["original"] == FIRST
    assert found["rows"]["intent"]["original"]["text"] == FIRST
    assert [row["path"] for row in found["rows"]["files"]] == ["src/totals.py"]
    assert found["text"] == done("show", "--summary", "--form", "notes").removesuffix("\n")


@pytest.mark.usefixtures("talk")
def test_a_smaller_budget_shows_less_and_nothing_is_changed_for_it() -> None:
    wide, narrow = (done("show", "--summary", "--budget", tokens) for tokens in ("3000", "400"))
    assert len(narrow) < len(wide)
    assert document("log")["events"] == []
    assert "no compressions" not in wide


@pytest.mark.parametrize(
    "arguments",
    [
        ("--form", "notes"),
        ("--budget", "100"),
        ("--summary", "--limit", "3"),
        ("--summary", "--ref", "#1"),
        ("--summary", "--budget", "0"),
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("talk")
def test_options_of_a_summary_that_contradict_each_other_are_bad_usage(
    arguments: tuple[str, ...],
) -> None:
    assert invoke("show", *arguments).exit_code == 2


@pytest.mark.seed("R095", "R178", "R179", "R180", "R181", "R182")
@pytest.mark.usefixtures("summarized")
def test_probes_ask_the_window_about_what_left_and_show_the_lines_that_answer() -> None:
    result = invoke("probe", "--json")
    found = json.loads(result.stdout)
    event = document("log")["events"][-1]
    assert found["compression"] == event["ref"]
    assert {row["dimension"]: row["score"] for row in found["quality"]} == event["quality"]
    assert (result.exit_code == 0) == found["met"] == (event["mark"] == "")
    kinds = {probe["kind"] for probe in found["probes"]}
    assert kinds == {"recall", "artifact", "continuation", "decision"}
    file = next(probe for probe in found["probes"] if probe["kind"] == "artifact")
    assert file["question"].startswith("Was src/totals.py created")
    assert (file["found"], file["where"].startswith("src/totals.py | created")) == (True, True)
    assert found["answered"] == sum(probe["found"] for probe in found["probes"])


@pytest.mark.seed("R183", "R184", "R185", "R186", "R187", "R188")
@pytest.mark.usefixtures("summarized")
def test_a_person_sees_the_six_dimensions_with_their_targets_and_what_is_missed() -> None:
    result = invoke("probe")
    lines = result.stdout.splitlines()
    at = lines.index("### Quality")
    rows = [line.split("  ") for line in lines[at + 1 : at + 7]]
    assert [row[0] for row in rows] == [each.name for each in DIMENSIONS]
    assert [line.split("target ")[1][:3] for line in lines[at + 1 : at + 7]] == [
        "4.0",
        "4.0",
        "3.5",
        "3.5",
        "4.0",
        "4.0",
    ]
    missed = any(line.endswith("MISSED") for line in lines[at + 1 : at + 7])
    assert result.exit_code == int(missed)


def test_a_probe_that_nothing_in_sight_answers_misses_its_target_and_ends_with_one(
    summarized: Path,
) -> None:
    before = json.loads(invoke("probe", "--json").stdout)
    # A compression that hides the summary itself leaves nobody who could answer.
    with open_session("talk", root=summarized) as session:
        hide_all_but_the_end(session)
    result = invoke("probe", "--json")
    after = json.loads(result.stdout)
    assert (result.exit_code, after["met"]) == (1, False)
    assert after["answered"] < before["answered"]
    assert "MISSED" in invoke("probe").stdout


def hide_all_but_the_end(session: Session) -> None:
    window = session.ledger.window()
    hides = tuple(name for item in window.items[:-1] for name in item.shows)
    gone = Step(hides, "by hand", Said("user", "nothing"), tier=1)
    session.ledger.commit(Compressed((gone,), window.generation, session.ledger.head().seq))


@pytest.mark.usefixtures("talk")
def test_without_a_summary_in_sight_the_one_that_would_be_shown_is_asked() -> None:
    result = invoke("probe", "--json")
    found = json.loads(result.stdout)
    assert (found["compression"], found["asked"] > 0) == (None, True)
    assert "nothing was summarised yet" in invoke("probe").stdout


def test_undoing_brings_back_every_word(talk: Path) -> None:
    with open_session("talk", root=talk) as session:
        before = session.wire()
    done("compress", "--budget", BUDGET)
    out = done("undo")
    assert "back in the window: " in out
    with open_session("talk", root=talk) as session:
        assert session.wire() == before


@pytest.mark.usefixtures("summarized")
def test_the_status_counts_the_summary_as_what_it_is_now() -> None:
    report = document("status")
    (summary,) = [share for share in report["shares"] if share["what"] == "summary"]
    assert summary["count"] == 1
    assert 0 < summary["tokens"] <= int(BUDGET)
    total = sum(share["tokens"] for share in report["shares"])
    assert total <= report["usage"]["tokens"]
