"""`holdfast context roles`: printed, put into a file once, and taken out again."""

from pathlib import Path

import pytest

from holdfast.errors import HoldfastError
from tests.surfaces.cli.commands import document, done, invoke

OWN = "# Our rules\n\nTabs, not spaces.\n"


@pytest.mark.seed("R290", "R291")
def test_both_texts_are_printed_with_the_paths_of_the_layout(project: Path) -> None:
    (project / "holdfast.toml").write_text('layout = "agentwire"\n')
    told = done("context", "roles")
    assert told.index("## Context Handoff") < told.index("## Context Protocol")
    assert ".agentwire/context/pane-1.yaml" in told
    assert ".agentwire/feedback/pane-{N}.md" in told


def test_a_text_is_put_into_a_file_and_taken_out_again(project: Path) -> None:
    file = project / "AGENTS.md"
    file.write_text(OWN)
    first = document("context", "roles", "worker", "--install", "AGENTS.md")
    assert (first["schema"], first["changed"]) == ("holdfast.context.roles/1", True)
    made = file.read_text()
    assert made.startswith(OWN)
    assert made.count("## Context Protocol") == 1
    assert document("context", "roles", "worker", "--install", "AGENTS.md")["changed"] is False
    assert "nothing to change" in done("context", "roles", "worker", "--install", "AGENTS.md")
    assert file.read_text() == made
    done("context", "roles", "worker", "--remove", "AGENTS.md")
    assert file.read_text() == OWN


def test_a_pane_and_a_prefix_are_spelled_in_the_text(project: Path) -> None:
    told = done("context", "roles", "worker", "--pane", "3", "--prefix", "agentwire_")
    assert "pane-3.yaml" in told
    assert "agentwire_context_read()" in told


def test_a_file_that_is_not_there_is_made(project: Path) -> None:
    done("context", "roles", "orchestrator", "--install", "notes/CLAUDE.md")
    assert "## Context Handoff" in (project / "notes" / "CLAUDE.md").read_text()


@pytest.mark.parametrize(
    "words",
    [
        ("spectator",),
        ("worker", "--install", "a.md", "--remove", "a.md"),
        ("worker", "--install", "."),
        ("worker", "--install", "holdfast.toml/AGENTS.md"),
    ],
)
def test_what_cannot_be_done_is_said_without_a_trace(project: Path, words: tuple[str, ...]) -> None:
    (project / "holdfast.toml").write_text("")
    result = invoke("context", "roles", *words)
    assert result.exit_code != 0
    assert isinstance(result.exception, SystemExit | HoldfastError)
