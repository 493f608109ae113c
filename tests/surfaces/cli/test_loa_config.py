"""`.loa.config.yaml`: the block `context_management`, as one more settings file of a project."""

from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import BadSetting
from tests.surfaces.cli.commands import document, invoke

pytest.importorskip("ryaml")

SEED = """# .loa.config.yaml
other: {x: [1, 2]}
context_management:
  client_compaction: true          # Enable/disable compaction
  preserve_notes_md: true          # Always preserve NOTES.md
  simplified_checkpoint: true      # Use 3-step checkpoint
  auto_trajectory_log: true        # Auto-log thinking blocks

  # Preservation rules (customizable)
  preservation_rules:
    always_preserve:
      - notes_session_continuity
      - notes_decision_log
      - trajectory_entries
      - active_beads
    compactable:
      - tool_results
      - thinking_blocks
      - verbose_debug
      - redundant_file_reads
      - intermediate_outputs
"""


def values(project: Path, text: str) -> dict[str, Any]:
    (project / ".loa.config.yaml").write_text(text)
    found = document("config", "show")["settings"]
    origin = str(project / ".loa.config.yaml")
    return {one["name"]: one["value"] for one in found if one["origin"] == origin}


@pytest.mark.seed("R296", "R297", "R298", "R299", "R300", "R301")
def test_the_block_as_the_document_has_it(project: Path) -> None:
    assert values(project, SEED) == {
        "preservation.notes": "on",
        "preservation.checkpoint": "simple",
        "preservation.trajectory_log": "on",
        "preservation.compactable": [
            "tool_results",
            "thinking_blocks",
            "verbose_debug",
            "redundant_file_reads",
            "intermediate_outputs",
        ],
    }
    # Four are listed there: the other two of the six are preserved all the same.
    assert len(document("rules")["always_preserve"]) == 6


@pytest.mark.seed("R296", "R297", "R299")
def test_switches_that_are_off(project: Path) -> None:
    text = SEED.replace(": true", ": false")
    found = values(project, text)
    assert found["preservation.notes"] == "off"
    assert found["preservation.checkpoint"] == "full"
    assert found["preservation.trajectory_log"] == "off"
    assert found["at.batch"] == found["at.summary"] == found["offload.above"] == 1_000_000_000


def test_what_it_preserves_besides_is_added(project: Path) -> None:
    text = SEED.replace("- active_beads", "- active_beads\n      - docs/plan.md")
    assert values(project, text)["preservation.always"] == ["docs/plan.md"]


def test_our_own_file_is_believed_before_it(project: Path) -> None:
    (project / "holdfast.toml").write_text('[preservation]\ncheckpoint = "full"\n')
    assert "preservation.checkpoint" not in values(project, SEED)
    found = {one["name"]: one["value"] for one in document("config", "show")["settings"]}
    assert found["preservation.checkpoint"] == "full"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "other: 1\n",
        "context_management:\n",
        "context_management: {}\n",
        "context_management: {unknown: {deeply: 1}}\n",
        "context_management: {unsafe_drop: [active_beads], summarizer: 'command:rm'}\n",
    ],
)
def test_what_it_does_not_say_or_may_not_say_changes_nothing(project: Path, text: str) -> None:
    assert values(project, text) == {}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("context_management: [", "file"),
        ("context_management: 7\n", "context_management"),
        ("- context_management\n", "file"),
        ("context_management: {client_compaction: no}\n", "client_compaction"),
        ("context_management: {preserve_notes_md: 'true'}\n", "preserve_notes_md"),
        ("context_management: {preservation_rules: 7}\n", "preservation_rules"),
        (
            "context_management: {preservation_rules: {always_preserve: [7]}}\n",
            "always_preserve",
        ),
        ("# context_management\n" + "x" * 1_100_000, "file"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(
    project: Path, text: str, name: str
) -> None:
    (project / ".loa.config.yaml").write_text(text)
    result = invoke("config", "show")
    assert isinstance(result.exception, BadSetting)
    assert (result.exception.name, result.exception.exit_code) == (name, 78)
    assert "\n" not in str(result.exception)


def test_a_bomb_of_references_is_refused_at_once(project: Path) -> None:
    rows = ["context_management: 1", "a: &a [x,x,x,x,x,x,x,x,x]"]
    for at in range(1, 9):
        one, other = chr(97 + at), chr(96 + at)
        rows.append(f"{one}: &{one} [{','.join([f'*{other}'] * 9)}]")
    (project / ".loa.config.yaml").write_text("\n".join(rows))
    assert isinstance(invoke("config", "show").exception, BadSetting)
