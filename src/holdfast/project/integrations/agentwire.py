"""Read the block `context` of `~/.agentwire/config.yaml` as settings of Holdfast.

The file belongs to another program, so unknown keys are ignored.
"""

from collections.abc import Mapping
from pathlib import Path

from holdfast.project.integrations.loa import as_switch, as_table, read_block

BLOCK = "context"
SWITCHES = {
    "auto_generate": "packets.generate",
    "track_efficiency": "packets.track",
    "auto_cleanup": "packets.cleanup",
}
DEPTHS = ("minimal", "standard", "deep")


def settings_in(path: Path) -> dict[str, object]:
    """Return the settings of the file, by dotted name.

    Raises:
        BadSetting: the file is not YAML, or a value is invalid.
    """
    origin = str(path)
    block = read_block(path, origin, BLOCK, links=True)
    budgets = as_table(block.get("budgets"), "budgets", origin)
    return {
        **({"packets.depth": block["default_depth"]} if "default_depth" in block else {}),
        **{f"packets.{depth}": budgets[depth] for depth in DEPTHS if depth in budgets},
        **_switches(block, origin),
    }


def _switches(block: Mapping[str, object], origin: str) -> dict[str, object]:
    return {
        ours: "on" if as_switch(theirs, block[theirs], origin) else "off"
        for theirs, ours in SWITCHES.items()
        if theirs in block
    }
