"""Sessions with something to compress: an agent that read large files, one after the other."""

import json
from pathlib import Path
from typing import Any

from holdfast.core.measure.models import UNKNOWN_MODEL
from holdfast.session.open import open as open_session
from tests.surfaces.cli.commands import done

FIRST = "Find out why the nightly export drops rows.\nDo not touch the schema."
LATEST = "Now fix it, and keep the log format."
NEEDLE = "retry_budget = 17"


def messages(reads: int = 12, lines: int = 120) -> list[dict[str, Any]]:
    """A request, large files that were read, an answer, and one more request."""
    found: list[dict[str, Any]] = [{"role": "user", "content": FIRST}]
    for at in range(reads):
        found += _read(at, lines)
    found.append({"role": "assistant", "content": "The export gives up after one retry."})
    found.append({"role": "user", "content": LATEST})
    found.append({"role": "assistant", "content": "I will start with the retry loop."})
    return found


def _read(at: int, lines: int) -> list[dict[str, Any]]:
    path = json.dumps({"path": f"src/export_{at}.py"})
    call = {"id": f"c{at}", "type": "function", "function": {"name": "read", "arguments": path}}
    body = [
        f"def step_{at}_{line}(rows): return rows[{line}:]  # part {line}" for line in range(lines)
    ]
    if at == 3:
        body[60] = f"    {NEEDLE}  # the limit of the export"
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{at}", "content": "\n".join(body)},
    ]


TURN = "Actually, use banker's rounding instead of rounding half up."
CHOICE = "I will keep the totals as decimals because floats lose cents."


def talk(turns: int = 100) -> list[dict[str, Any]]:
    """A long conversation whose words no tier but the third may take out of sight."""
    found: list[dict[str, Any]] = [{"role": "user", "content": FIRST}]
    found += _called("w", "Write", file_path="src/totals.py", content="def total():\n    pass\n")
    found.append({"role": "assistant", "content": CHOICE})
    found.append({"role": "user", "content": TURN})
    for at in range(turns):
        words = " ".join(f"remark_{at}_{word} about the rows" for word in range(20))
        found.append({"role": "assistant", "content": f"Looking at part {at}: {words}."})
        found.append({"role": "user", "content": f"Go on with part {at + 1}."})
    found.append({"role": "assistant", "content": "The parts are read."})
    found.append({"role": "user", "content": LATEST})
    found.append({"role": "assistant", "content": "I will start with the retry loop."})
    return found


def _called(name: str, tool: str, **arguments: str) -> list[dict[str, Any]]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": name, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": name, "content": "done"},
    ]


def talked(root: Path, name: str = "talk") -> str:
    """A session of this project that holds such a conversation."""
    with open_session(name, root=root) as session:
        session.extend(talk())
    return name


def recorded(root: Path, name: str = "live", reads: int = 12) -> str:
    """A session of this project that holds such a run."""
    with open_session(name, root=root) as session:
        session.extend(messages(reads))
    return name


def window_for(fraction: float, name: str = "live") -> str:
    """The window that a session fills to this part, as an option's value."""
    tokens = json.loads(done("status", "--session", name, "--json"))["usage"]["tokens"]
    return str(round(tokens / fraction) + UNKNOWN_MODEL.reserve)
