"""The block `context` of `~/.agentwire/config.yaml`, as settings of ours.

The file belongs to another program: what we do not know in it is none of our business.
"""

from collections.abc import Mapping
from pathlib import Path

from holdfast.project.integrations.loa import block_in, switch_of, table_of

BLOCK = "context"
SWITCHES = {
    "auto_generate": "packets.generate",
    "track_efficiency": "packets.track",
    "auto_cleanup": "packets.cleanup",
}
DEPTHS = ("minimal", "standard", "deep")


def settings_in(path: Path) -> dict[str, object]:
    """By dotted name: the values that the file sets.

    Raises:
        BadSetting: it is no YAML, or a value of it cannot be meant.
    """
    origin = str(path)
    block = block_in(path, origin, BLOCK, links=True)
    budgets = table_of(block.get("budgets"), "budgets", origin)
    return {
        **({"packets.depth": block["default_depth"]} if "default_depth" in block else {}),
        **{f"packets.{depth}": budgets[depth] for depth in DEPTHS if depth in budgets},
        **_switched(block, origin),
    }


def _switched(block: Mapping[str, object], origin: str) -> dict[str, object]:
    return {
        ours: "on" if switch_of(theirs, block[theirs], origin) else "off"
        for theirs, ours in SWITCHES.items()
        if theirs in block
    }
