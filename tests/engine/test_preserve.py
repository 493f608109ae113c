"""What survives a compression: the six, and what a project adds, through every tier."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.core.ledger.entry import Compressed, Noted, Step, text_of
from holdfast.core.measure.usage import Level
from holdfast.core.plan.policy import BatchRules, DueAt, Policy, Preservation, Tail
from holdfast.errors import Blocked, Unreadable
from holdfast.session.compress import compress
from holdfast.session.open import open as open_session
from holdfast.session.session import Session
from tests.project.integrations.test_trackers import PLAN, STATE
from tests.surfaces.cli.working import CHOICE, FIRST, LATEST, messages, talk

NOTES = """# Working memory

## Session Continuity
mine, by hand

## Decision Log
- we keep SQLite

## Blockers
none
"""
TRAJECTORY = "grimoires/loa/a2a/trajectory"
BEAD = {"id": "bd-7", "title": "Export drops rows", "status": "in_progress"}
FILES = {
    "NOTES.md": NOTES,
    f"{TRAJECTORY}/agent-2026-01-01.jsonl": '{"action": "thinking"}\n',
    ".beads/issues.jsonl": json.dumps(BEAD) + "\n",
    "grimoires/loa/sprint.md": PLAN,
    ".run/sprint-plan-state.json": json.dumps(STATE),
    "docs/plan.md": "# Plan\n## Now\nship it\n",
}
ITEMS = {
    "session_continuity": "session continuity: NOTES.md, section Session Continuity",
    "decision_log": "decision log: NOTES.md, section Decision Log",
    "trajectory_entries": f"trajectory: 1 file in {TRAJECTORY}/",
    "active_beads": "active beads: bd-7 Export drops rows (.beads/issues.jsonl)",
    "sprint_context": "sprint: Sprint 2: Exports, 1 of 2 boxes ticked (grimoires/loa/sprint.md)",
    "run_mode_state": "run mode: RUNNING, current sprint-2, plan plan-1, "
    "last activity 2026-01-19T14:30:00Z (.run/sprint-plan-state.json)",
    "docs/plan.md#Now": "preserved: docs/plan.md, section Now",
}
READ = {
    "session_continuity": "NOTES.md",
    "decision_log": "NOTES.md",
    "trajectory_entries": f"{TRAJECTORY}/agent-2026-01-01.jsonl",
    "active_beads": ".beads/issues.jsonl",
    "sprint_context": "grimoires/loa/sprint.md",
    "run_mode_state": ".run/sprint-plan-state.json",
}
"""What an agent reads each of the six from."""
FORCED = DueAt(batch=1, summary=99, critical=1)
"""Tiers 1 and 2 are made whatever they win, and tier 3 is not."""
ADDED = Preservation(always=("docs/plan.md#Now",))
STRICT = Preservation(enforcement="strict")


def kinds(session: Session) -> list[str]:
    """What happened, besides the checkpoints that were taken on the way."""
    return [event.kind for event in session.log() if event.kind != "CHECKPOINT"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def opened(root: Path, rules: Preservation = ADDED, **values: Any) -> Session:
    return open_session("s", root=root, policy=Policy(preservation=rules, **values))


def read_of(path: str, at: int, text: str) -> list[dict[str, Any]]:
    function = {"name": "read", "arguments": json.dumps({"path": path})}
    call = {"id": f"r{at}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"r{at}", "content": text},
    ]


def having_read(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A run whose agent read every file of the six before anything else."""
    reads = [one for at, row in enumerate(FILES.items()) for one in read_of(row[0], at, row[1])]
    return [parts[0], *reads, *parts[1:]]


def shown(session: Session) -> str:
    return "\n".join(str(message.get("content")) for message in session.messages())


def bodies(session: Session) -> Iterator[Compressed]:
    for entry in session.store.read(session.name):
        if isinstance(entry.body, Compressed):
            yield entry.body


def notes_of(session: Session, what: str) -> list[dict[str, str]]:
    entries = session.store.read(session.name)
    return [e.body.facts for e in entries if isinstance(e.body, Noted) and e.body.what == what]


def unchanged(root: Path) -> bool:
    """Whether all words that others wrote are where they were."""
    lines = NOTES.splitlines()
    kept = [line for line in (root / "NOTES.md").read_text().splitlines() if line in lines]
    others = [
        (root / path).read_text() == text for path, text in FILES.items() if path != "NOTES.md"
    ]
    return kept == lines and all(others)


@pytest.mark.seed("R108", "R109", "R110", "R111", "R112", "R113", "R114", "R328")
@pytest.mark.parametrize("item", ITEMS)
@pytest.mark.parametrize("tier", [1, 2, 3])
def test_no_tier_loses_an_item_that_is_always_preserved(
    project: Path, item: str, tier: int
) -> None:
    with opened(project, at=FORCED, batch=BatchRules(reclaim=1), window=200_000) as session:
        if tier == 1:
            session.extend(
                having_read([*messages(2), *read_of("big.log", 99, "line of a log\n" * 30_000)])
            )
            session.messages()
        elif tier == 2:
            session.extend(having_read(messages()))
            session.compact()
        else:
            session.extend(having_read(talk()))
            session.compact(3_000)
        tiers = {step.tier for body in bodies(session) for step in body.steps}
        assert tier in tiers
        assert unchanged(project)
        if tier == 3:
            assert ITEMS[item] in shown(session)
        elif item in READ:
            assert FILES[READ[item]] in shown(session)


@pytest.mark.seed("R108", "R137")
def test_a_second_summary_carries_what_is_true_by_then_and_not_what_was(project: Path) -> None:
    with opened(project) as session:
        session.extend(talk())
        session.compact(3_000)
        (project / ".run/sprint-plan-state.json").write_text('{"state": "HALTED"}')
        session.extend(talk()[1:])
        session.compact(3_000)
        text = shown(session)
        assert "run mode: HALTED (.run/sprint-plan-state.json)" in text
        assert "run mode: RUNNING" not in text
        assert text.count("active beads: ") == 1


@pytest.mark.seed("R108")
def test_what_a_window_carries_stays_where_there_is_no_project_to_look_at(project: Path) -> None:
    with opened(project) as session:
        session.extend(talk())
        session.compact(3_000)
        window = session.messages()
    made = compress([*window, *talk()[1:]], 3_000)
    assert made.steps != ()
    text = "\n".join(str(message.get("content")) for message in made.messages)
    assert [line for line in ITEMS.values() if line not in text] == []


def test_an_item_that_is_gone_leaves_no_line_behind(project: Path) -> None:
    with opened(project) as session:
        session.extend(talk())
        session.compact(3_000)
        (project / ".beads/issues.jsonl").unlink()
        session.extend(talk()[1:])
        session.compact(3_000)
        assert "active beads: " not in shown(session)
        assert ITEMS["run_mode_state"] in shown(session)


@pytest.mark.seed("R126", "R127", "R130", "R131", "R132", "R137", "R138", "R139", "R211")
def test_a_summary_goes_through_four_phases_and_the_event_has_them(project: Path) -> None:
    with opened(project) as session:
        session.extend(talk())
        session.compact(3_000)
        event = session.log()[-1]
        assert [phase.name for phase in event.phases] == [
            "Pre-Check",
            "Preservation",
            "Compaction",
            "Verification",
        ]
        assert [check.what for check in event.phases[0].checks] == list(ITEMS)
        assert all(check.holds for phase in event.phases for check in phase.checks)
        details = {check.what: check.detail for phase in event.phases for check in phase.checks}
        assert details["session_continuity"].endswith("; up to date")
        assert details["decision_log"].endswith("; 2 added")
        assert details["preserved items intact"] == "7 of 7 lines stand in the window"
        assert details["recovery possible"] == "196 of 196 hidden entries read back"


@pytest.mark.seed("R133", "R134", "R135", "R136")
def test_what_leaves_is_told_by_kind(project: Path) -> None:
    with opened(project) as session:
        again = read_of("src/export_0.py", 70, "def step(rows): return rows\n" * 400)
        session.extend([*messages(6), *again, *talk()[1:]])
        session.compact(2_500)
        event = session.log()[-1]
        kinds = {check.what: check.detail for check in event.phases[2].checks}
        assert list(kinds)[:5] == [
            "tool_results",
            "thinking_blocks",
            "verbose_debug",
            "redundant_file_reads",
            "intermediate_outputs",
        ]
        assert kinds["redundant_file_reads"].startswith("1 (")
        assert int(kinds["intermediate_outputs"].split(" ")[0]) >= 5


@pytest.mark.seed("R109", "R110", "R122", "R126", "R127")
def test_notes_that_are_there_are_kept_up_to_date_and_stay_small(project: Path) -> None:
    with opened(project) as session:
        session.extend(talk())
        session.compact(3_000)
        session.extend(talk()[1:])
        session.compact(3_000)
    text = (project / "NOTES.md").read_text()
    assert unchanged(project)
    assert text.count("holdfast:begin") == 1
    assert "- **Session:** s, revision 2" in text
    assert f"- **Request:** {' '.join(FIRST.split())}" in text
    assert f"- **Now:** {LATEST}" in text
    assert text.count(CHOICE.split(" because")[0]) == 1
    assert len(text) < len(NOTES) + 4_000


def test_a_project_without_notes_never_gets_them(tmp_path: Path) -> None:
    for rules in (ADDED, STRICT, Preservation(create_missing="auto"), Preservation()):
        root = tmp_path / rules.create_missing / rules.enforcement / str(len(rules.always))
        root.mkdir(parents=True)
        with opened(root, replace_always(rules)) as session:
            session.extend(talk())
            session.compact(3_000)
        assert sorted(path.name for path in root.iterdir()) == [".holdfast"]


def replace_always(rules: Preservation) -> Preservation:
    return Preservation(enforcement=rules.enforcement, create_missing=rules.create_missing)


def test_notes_that_are_switched_off_are_not_touched(project: Path) -> None:
    with opened(project, Preservation(notes="off")) as session:
        session.extend(talk())
        session.compact(3_000)
        assert "NOTES.md" not in shown(session)
    assert (project / "NOTES.md").read_text() == NOTES


@pytest.mark.seed("R316")
def test_a_missing_section_is_warned_of_once_and_the_summary_is_made(
    project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (project / "NOTES.md").write_text("## Session Continuity\n")
    with opened(project) as session:
        session.extend(talk())
        session.compact(3_000)
        session.extend(talk()[1:])
        session.compact(3_000)
        *_, event = session.log()
        assert (event.mark or "unpreserved") in ("unpreserved", "below_target")
        held = {check.what: check.holds for check in event.phases[0].checks}
        assert held["decision_log"] is False
        assert held["session_continuity"] is True
    (warning,) = [record.getMessage() for record in caplog.records]
    assert warning.endswith("`holdfast preserve --create` makes it")


@pytest.mark.seed("R317")
def test_strict_mode_blocks_a_summary_once_says_how_to_go_on_and_then_goes_on(
    project: Path,
) -> None:
    (project / "NOTES.md").write_text("## Session Continuity\n")
    with opened(project, STRICT) as session:
        session.extend(talk())
        before = session.ledger.window().items
        with pytest.raises(Blocked) as caught:
            session.compact(3_000)
        assert "holdfast preserve --create" in str(caught.value)
        assert list(session.ledger.window().items) == list(before)
        assert (project / "NOTES.md").read_text() == "## Session Continuity\n"
        assert session.compact(3_000).steps != ()
        assert kinds(session) == ["BLOCKED", "TIER_3"]
        session.extend(talk()[1:])
        with pytest.raises(Blocked):
            session.compact(3_000)


@pytest.mark.seed("R317")
def test_strict_mode_never_keeps_an_agent_from_going_on(
    project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (project / "NOTES.md").write_text("## Session Continuity\n")
    with opened(project, STRICT, window=40_000, reserve=20_000) as session:
        session.extend(talk())
        with caplog.at_level(logging.WARNING):
            first = session.messages()
        assert len(first) == len(talk())
        assert len(session.messages()) < len(first)
    assert any("holdfast preserve --create" in record.getMessage() for record in caplog.records)


@pytest.mark.seed("R205", "R219")
def test_a_summary_that_is_refused_puts_the_work_down_and_advises_a_fresh_session_once(
    project: Path,
) -> None:
    (project / "NOTES.md").write_text("## Session Continuity\n")
    with opened(project, STRICT) as session:
        session.extend(talk())
        limit = round(session.status().tokens / 0.8)
    with opened(project, STRICT, window=limit, reserve=1) as session:
        assert session.status().level is Level.RED
        assert len(session.messages()) == len(talk())
        told = ["BLOCKED", "CHECKPOINT", "ADVICE"]
        assert [event.kind for event in session.log()] == told
        session.append({"role": "user", "content": "Go on."})
        session.messages()
        assert [event.kind for event in session.log()][:4] == [*told, "CHECKPOINT"]


@pytest.mark.seed("R318")
def test_a_missing_section_is_made_where_that_is_automatic(project: Path) -> None:
    (project / "NOTES.md").write_text("words\n")
    with opened(project, Preservation(enforcement="strict", create_missing="auto")) as session:
        session.extend(talk())
        session.compact(3_000)
        event = session.log()[-1]
        assert all(check.holds for check in event.phases[0].checks)
    text = (project / "NOTES.md").read_text()
    assert text.startswith("words\n\n## Session Continuity\n<!-- holdfast:begin")
    assert CHOICE.split(" because")[0] in text.partition("## Decision Log")[2]


def test_the_layout_of_the_framework_expects_notes_and_a_trajectory(tmp_path: Path) -> None:
    rules = Preservation(create_missing="auto")
    with opened(tmp_path, rules, layout="loa") as session:
        session.extend(talk())
        session.compact(3_000)
    assert "## Session Continuity" in (tmp_path / "NOTES.md").read_text()


@pytest.mark.parametrize("rules", [Preservation(), STRICT])
def test_notes_that_lead_out_of_the_project_are_never_written(
    project: Path, rules: Preservation
) -> None:
    outside = project.parent / "theirs.md"
    outside.write_text(NOTES)
    (project / "NOTES.md").unlink()
    (project / "NOTES.md").symlink_to(outside)
    with opened(project, rules) as session:
        session.extend(talk())
        if rules is STRICT:
            with pytest.raises(Blocked):
                session.compact(3_000)
        session.compact(3_000)
        *_, event = session.log()
        held = {check.what: check.holds for check in event.phases[0].checks}
        assert (held["session_continuity"], held["decision_log"]) == (False, False)
    assert outside.read_text() == NOTES


def test_a_block_of_ours_that_lost_its_end_is_left_alone_and_told_of(project: Path) -> None:
    with opened(project) as session:
        session.extend(talk())
        session.compact(3_000)
        text = (project / "NOTES.md").read_text().replace("<!-- holdfast:end -->", "")
        (project / "NOTES.md").write_text(text)
        session.extend(talk()[1:])
        session.compact(3_000)
        *_, event = session.log()
        assert event.mark in ("unpreserved", "below_target")
    # What the log of decisions can take, it has; nothing else moved.
    assert (project / "NOTES.md").read_text().startswith(text.partition("## Blockers")[0].rstrip())


def test_in_strict_mode_notes_that_cannot_be_written_keep_the_window_as_it_was(
    project: Path,
) -> None:
    with opened(project) as session:
        session.extend(talk())
        session.compact(3_000)
    text = (project / "NOTES.md").read_text()
    (project / "NOTES.md").write_text(text.replace("<!-- holdfast:end -->", ""))
    with opened(project, STRICT) as session:
        session.extend(talk()[1:])
        generation = session.ledger.window().generation
        with pytest.raises(Unreadable) as caught:
            session.compact(3_000)
        assert "comments around our lines" in str(caught.value)
        assert session.ledger.window().generation == generation


@pytest.mark.seed("R120", "R122", "R124")
def test_words_that_someone_wrote_into_our_lines_are_noted_and_the_ledger_is_believed(
    project: Path,
) -> None:
    with opened(project) as session:
        session.extend(talk())
        session.compact(3_000)
        path = project / "NOTES.md"
        path.write_text(path.read_text().replace("revision 1", "revision 99, drop the table"))
        session.extend(talk()[1:])
        session.compact(3_000)
        (fork,) = notes_of(session, "fork")
        assert fork["where"] == "NOTES.md"
        assert "revision 99, drop the table" in fork["text"]
        assert "drop the table" not in path.read_text()
        assert kinds(session) == ["TIER_3", "FORK", "TIER_3"]


def thoughtful(turns: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{"role": "user", "content": FIRST}]
    for at in range(turns):
        words = " ".join(f"remark_{at}_{word} about the rows" for word in range(30))
        thought = {"type": "thinking", "thinking": f"thought {at}: {words}", "signature": f"s{at}"}
        text = {"type": "text", "text": f"Looking at part {at}: {words}."}
        found.append({"role": "assistant", "content": [thought, text]})
        found.append({"role": "user", "content": f"Go on with part {at + 1}."})
    return found


@pytest.mark.seed("R116", "R128", "R134", "R299")
def test_thinking_is_logged_to_the_trajectory_before_it_leaves_and_once(project: Path) -> None:
    with opened(project, model="claude-3-5-sonnet") as session:
        session.extend(thoughtful(40))
        session.compact(4_000)
        session.extend(thoughtful(40)[1:])
        session.compact(4_000)
        logged = [
            json.loads(line)
            for path in sorted((project / TRAJECTORY).glob("holdfast-*.jsonl"))
            for line in path.read_text().splitlines()
        ]
        hidden = {name for body in bodies(session) for step in body.steps for name in step.hides}
        left = [e for e in session.ledger.path() if e.id in hidden and hasattr(e.body, "seal")]
        assert [row["entry"] for row in logged] == [entry.id[:12] for entry in left]
        assert logged[0]["text"].startswith("thought 0: remark_0_0")
        assert session.read(logged[0]["entry"]) == logged[0]["text"]
        assert f"in {TRAJECTORY}/" in shown(session)


def test_thinking_is_not_logged_where_that_is_off_or_nobody_keeps_a_trajectory(
    project: Path, tmp_path: Path
) -> None:
    for root, rules in ((project, Preservation(trajectory_log="off")), (tmp_path / "b", ADDED)):
        root.mkdir(exist_ok=True)
        with opened(root, rules, model="claude-3-5-sonnet") as session:
            session.extend(thoughtful(40))
            session.compact(4_000)
            assert notes_of(session, "trajectory") == []
    assert not (tmp_path / "b" / "grimoires").exists()


def test_a_helper_of_the_session_does_not_take_over_its_notes(project: Path) -> None:
    policy = Policy(preservation=ADDED)
    with open_session("s", root=project, agent="helper", policy=policy) as session:
        session.extend(talk())
        session.compact(3_000)
        assert ITEMS["active_beads"] in shown(session)
    assert (project / "NOTES.md").read_text() == NOTES


@pytest.mark.seed("R298")
def test_a_simple_checkpoint_looks_at_three_and_carries_all(project: Path) -> None:
    with opened(project, Preservation(checkpoint="simple")) as session:
        session.extend(talk())
        session.compact(3_000)
        event = session.log()[-1]
        names = [check.what for check in event.phases[0].checks]
        assert names == ["session_continuity", "decision_log", "active_beads"]
        assert "run mode: RUNNING" in shown(session)


@pytest.mark.seed("R325", "R326", "R327", "R328")
def test_metrics_say_what_size_recovery_and_preservation_came_to(project: Path) -> None:
    from holdfast.core.view.rules import metrics_of

    with opened(project) as session:
        session.extend(talk())
        session.compact(3_000)
        found = metrics_of(session.store.read(session.name))
        event = session.log()[-1]
        assert (found.summaries, found.halved, found.failures) == (1, 1, 0)
        assert (found.before, found.after) == (event.before, event.after)
        assert found.ratio == event.ratio == round(event.after / event.before, 4)
        assert (found.recovery, found.preservation) == (1.0, 1.0)
        assert session.engine.preserver is not None
        session.engine.preserver.log_failure("entry abc")
        found = metrics_of(session.store.read(session.name))
        assert (found.recovery, found.failures) == (0.5, 1)
    last = sorted((project / TRAJECTORY).glob("holdfast-*.jsonl"))[-1]
    assert json.loads(last.read_text().splitlines()[-1])["action"] == "recovery_failed"


def block(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


def called(at: int, tool: str, output: str, *, failed: bool = False, **arguments: Any) -> list[Any]:
    """A call and its result, with a thought before it, as a provider has them."""
    use = block("tool_use", id=f"t{at}", name=tool, input=arguments)
    answer = block("tool_result", tool_use_id=f"t{at}", content=output, is_error=failed)
    thought = block("thinking", thinking=f"a thought before call {at} " * 20, signature=f"s{at}")
    return [
        {"role": "assistant", "content": [thought, use]},
        {"role": "user", "content": [answer]},
    ]


def every_kind() -> list[Any]:
    """A run in which something of each of the five kinds is old."""
    source = "\n".join(f"def step_{line}(rows): return rows[{line}:]" for line in range(150))
    trace = "\n".join(f'File "a.py", line {line}, in step' for line in range(60))
    first = [
        {"role": "user", "content": FIRST},
        *called(1, "Read", source, file_path="a.py"),
        *called(2, "Bash", f"{trace}\nValueError: row 7", failed=True, command="pytest -q"),
        *called(3, "Read", source, file_path="a.py"),
        *called(4, "Bash", "12 passed in 0.3s", command="pytest -q"),
        {"role": "assistant", "content": "The export gives up after one retry."},
        {"role": "user", "content": "Look at the log as well."},
        *called(
            5, "Bash", "\n".join(f"row {at} dropped" for at in range(3_000)), command="cat x.log"
        ),
    ]
    for at in range(6, 12):
        first += called(at, "Bash", "ok", command=f"true {at}")
    return first


KINDS = {
    "tool_results": ("offload", "**Path:** .holdfast/cache/offloaded/"),
    "thinking_blocks": ("thinking", None),
    "verbose_debug": ("debug", "resolved: the same command went well later"),
    "redundant_file_reads": ("read", "a.py read; read or written again later"),
    "intermediate_outputs": ("intermediate", "Read result out of sight: Python code, 150 lines"),
}
"""How a plan calls each kind, and what its stand-in says or names."""


@pytest.mark.seed("R115", "R116", "R117", "R118", "R119", "R125", "R301")
@pytest.mark.parametrize("kind", KINDS)
def test_each_of_the_five_kinds_leaves_for_what_the_protocol_names_and_only_if_it_may(
    tmp_path: Path, kind: str
) -> None:
    def steps(allowed: tuple[str, ...]) -> list[Step]:
        rules = Preservation(compactable=allowed)
        values = {"at": FORCED, "batch": BatchRules(reclaim=1), "tail": Tail(percent=1, steps=2)}
        root = tmp_path / str(len(allowed))
        with opened(root, rules, model="claude-3-5-sonnet", **values) as session:
            session.extend(every_kind())
            session.compact()
            return [one for body in bodies(session) for one in body.steps]

    name, said = KINDS[kind]
    every = Preservation().compactable
    left = [step for step in steps(every) if step.kind == name]
    texts = [text_of(step.stand_in) for step in left if step.stand_in is not None]
    assert left != []
    assert texts == [] if said is None else any(said in text for text in texts)
    rest = steps(tuple(one for one in every if one != kind))
    assert [step.kind for step in rest if step.kind == name] == []


@pytest.mark.seed("R120")
def test_a_summary_that_comes_back_otherwise_is_noted_once_and_the_window_is_the_ledgers(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as session:
        session.extend(talk())
        session.compact(3_000)
        given = session.messages()
        edited = [dict(message) for message in given]
        edited[0]["content"] = str(given[0]["content"]).replace("as decimals", "as floats")
        assert edited != given
        edited.append({"role": "user", "content": "Go on, please."})
        synced = session.sync(edited)
        assert (synced.added, synced.branched) == (1, False)
        assert session.messages() == [*given, edited[-1]]
        session.sync(edited)
        (fork,) = notes_of(session, "fork")
        assert "as floats" in fork["text"]
        session.extend(talk()[1:])
        session.compact(3_000)
        assert "as floats" not in shown(session)
        assert "as decimals" in shown(session)


def test_a_summary_that_comes_back_as_it_was_given_is_no_fork(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        session.extend(talk())
        session.compact(3_000)
        first = session.messages()
        session.extend(talk()[1:])
        session.compact(3_000)
        for history in (first, session.messages()):
            spaced = [dict(message) for message in history]
            spaced[0]["content"] = f"{history[0]['content']}\n"
            session.sync(spaced)
        assert notes_of(session, "fork") == []


def test_a_summary_of_another_session_is_just_what_someone_said(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        session.extend(talk())
        session.compact(3_000)
        text = str(session.messages()[0]["content"])
        other = text.replace("## Session Summary [s]", "## Session Summary [other]")
        session.sync([*session.messages(), {"role": "user", "content": other}])
        assert notes_of(session, "fork") == []
        assert session.messages()[-1]["content"] == other
