"""Hooks whose core raises: the agent's own compaction still gets requests and constraints."""

from pathlib import Path

import pytest

from tests.contracts.transcripts import assistant, jsonl, text, user
from tests.surfaces.hooks.hooking import SESSION, run

GOAL = "Write the export job. Never touch the billing schema."
LATEST = "Now write its tests, please."
BREAKING = """
import holdfast.core.faults as faults

def enter(self, rule):
    if rule.startswith({rules!r}):
        raise RuntimeError(rule)

faults.Faults.enter = enter
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / "home").mkdir()
    return root


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / f"{SESSION}.jsonl"
    lines = (
        user("u1", None, GOAL),
        assistant("a1", "u1", "m1", text("The job is written.")),
        user("u2", "a1", LATEST),
    )
    path.write_bytes(jsonl(*lines))
    return path


def broken(tmp_path: Path, *rules: str) -> str:
    """A folder that makes rules raise in every Python process that has it on its path."""
    folder = tmp_path / "breaking"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(BREAKING.format(rules=rules))
    return str(folder)


@pytest.mark.parametrize(
    ("event", "document"),
    [("PreCompact", {"trigger": "auto"}), ("SessionStart", {"source": "compact"})],
)
def test_a_hook_that_cannot_make_rows_gives_requests_and_constraints(
    tmp_path: Path, project: Path, transcript: Path, event: str, document: dict[str, str]
) -> None:
    path = broken(tmp_path, "engine.", "shrink.", "verify.", "hooks.archive", "hooks.checkpoint")
    done = run(project, event, {"transcript_path": str(transcript), **document}, PYTHONPATH=path)
    assert (done.code, done.err) == (0, "")
    for words in ("Write the export job.", "Never touch the billing schema.", LATEST):
        assert words in done.out


def test_a_hook_in_which_every_rule_raises_gives_the_requests(
    tmp_path: Path, project: Path, transcript: Path
) -> None:
    path = broken(tmp_path, "")
    document = {"transcript_path": str(transcript), "trigger": "auto"}
    done = run(project, "PreCompact", document, PYTHONPATH=path)
    assert (done.code, done.err) == (0, "")
    assert GOAL in done.out
    assert LATEST in done.out
