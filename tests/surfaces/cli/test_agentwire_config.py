"""`~/.agentwire/config.yaml`: the block `context`, as one more settings file of the user's."""

from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import BadSetting
from tests.surfaces.cli.commands import document, invoke

SEED = """# In ~/.agentwire/config.yaml
tts: {voice: x}
context:
  # Default compression depth
  default_depth: "deep"  # minimal | standard | deep
  budgets:
    minimal: 90
    standard: 350
    deep: 700
  auto_generate: false
  track_efficiency: false
  auto_cleanup: false
  something_new: 3
"""


def values(project: Path, text: str) -> dict[str, Any]:
    path = project / "home" / ".agentwire" / "config.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    found = document("config", "show")["settings"]
    return {one["name"]: one["value"] for one in found if one["origin"] == str(path)}


@pytest.mark.seed("R302", "R303", "R304", "R305", "R306")
def test_the_block_of_the_protocol_sets_what_it_says(project: Path) -> None:
    assert values(project, SEED) == {
        "packets.depth": "deep",
        "packets.minimal": 90,
        "packets.standard": 350,
        "packets.deep": 700,
        "packets.generate": "off",
        "packets.track": "off",
        "packets.cleanup": "off",
    }


def test_the_users_own_file_of_ours_is_believed_first(project: Path) -> None:
    own = project / "home" / ".config" / "holdfast" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("packets.standard = 500\n")
    assert "packets.standard" not in values(project, SEED)


@pytest.mark.parametrize("text", ["", "tts: {voice: x}\n", "context:\n", "other: 1\n"])
def test_a_file_without_the_block_sets_nothing(project: Path, text: str) -> None:
    assert values(project, text) == {}


@pytest.mark.parametrize(
    "text",
    [
        "context: [1\n",
        "context: 3\n",
        "context: {auto_generate: maybe}\n",
        "context: {default_depth: abyss}\n",
        "context: {budgets: {deep: many}}\n",
        "context: {budgets: 3}\n",
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(project: Path, text: str) -> None:
    path = project / "home" / ".agentwire" / "config.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    result = invoke("config", "show")
    assert isinstance(result.exception, BadSetting)
    assert str(path) in str(result.exception)
