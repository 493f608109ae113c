"""No setting is dead: each one, changed, changes what a session sends, keeps or tells."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.config import SETTINGS, load
from holdfast.core.ledger.entry import Derived, text_of
from holdfast.errors import NothingToShrink
from holdfast.opening import open_store
from holdfast.session import Session
from tests.surfaces.cli.commands import done

BASE: dict[str, object] = {"model": "gpt-5", "window": 30_000, "reserve": 2_000}
SMALL: dict[str, object] = {**BASE, "window": 16_000}
UNPAID: dict[str, object] = {**BASE, "batch.margin": 100_000}
SLOW = "#!/bin/sh\ncat > /dev/null\nsleep 3\necho '{}'\n"
QUICK = """#!/usr/bin/env python3
import json, re, sys
asked = sys.stdin.read()
name = re.search(r"\\[([0-9a-f]{8})", asked)
row = {"choice": "Use tabs in every report.", "reason": "they line up", "entry": name[1]}
print(json.dumps({"decisions": [row]}))
"""
NOW = "2031-04-02T09:15:00Z"
SECRET = "hunter-2-is-no-password"

CHANGES: dict[str, tuple[object, dict[str, object]]] = {
    "profile": ("lean", BASE),
    "role": ("reviewer", BASE),
    "model": ("claude-sonnet-4-5", BASE),
    "window": (20_000, BASE),
    "reserve": (9_000, BASE),
    "timezone": ("Africa/Johannesburg", BASE),
    "layout": ("anchored", BASE),
    "summarizer": ("command:./quick", SMALL),
    "summarizer_deadline": (1, {**SMALL, "summarizer": "command:./slow"}),
    "summarizer_tokens": (1, {**SMALL, "summarizer": "command:./quick"}),
    "at.batch": (20, BASE),
    "at.summary": (55, SMALL),
    "at.critical": (55, UNPAID),
    "at.tokens": (9_000, BASE),
    "at.turns": (2, BASE),
    "at.events": (["task_done"], BASE),
    "offload.above": (500, BASE),
    "offload.share": (0, BASE),
    "offload.sweep": (100, SMALL),
    "offload.tools": (["Bash=300"], BASE),
    "offload.never": (["Bash"], BASE),
    "offload.lines": (2, BASE),
    "offload.width": (20, BASE),
    "offload.preview": (60, BASE),
    "offload.outline": (1, BASE),
    "truncate.above": (5_000, BASE),
    "tail.percent": (60, SMALL),
    "tail.steps": (30, SMALL),
    "summary.target": (60, {**BASE, "window": 9_000}),
    "summary.tail": (90, SMALL),
    "batch.reclaim": (90, SMALL),
    "batch.requests": (1, BASE),
    "batch.margin": (100_000, BASE),
    "never_store.tools": (["Vault"], BASE),
    "never_store.paths": (["docs/*"], BASE),
    "never_store.patterns": ([SECRET], BASE),
}


KNOWN: dict[str, list[object]] = {}
"""What was seen under settings that many tests start from."""


ELSEWHERE = {
    "search": "tests/test_searching.py",
    "preservation.enforcement": "tests/test_keeping.py",
    "preservation.create_missing": "tests/test_keeping.py",
    "preservation.notes": "tests/test_keeping.py",
    "preservation.trajectory_log": "tests/test_keeping.py",
    "preservation.checkpoint": "tests/test_keeping.py",
    "preservation.always": "tests/test_keeping.py",
    "preservation.unsafe_drop": "tests/surfaces/cli/test_preserve.py",
    "preservation.compactable": "tests/test_keeping.py",
    "drift.watch": "tests/test_drifting.py",
    "drift.steps": "tests/test_drifting.py",
    "redact.secrets": "tests/surfaces/cli/test_redaction.py",
    "redact.patterns": "tests/surfaces/cli/test_redaction.py",
    "retention.days": "tests/test_retaining.py",
    "retention.megabytes": "tests/test_retaining.py",
}
"""Settings that need more than a session to show, and where they are tried."""


def test_every_setting_is_tried() -> None:
    assert set(CHANGES) | set(ELSEWHERE) == set(SETTINGS)
    root = Path(__file__).parents[3]
    names = {name: name.rpartition(".")[2] for name in ELSEWHERE}
    assert [n for n, file in ELSEWHERE.items() if names[n] not in (root / file).read_text()] == []


@pytest.mark.usefixtures("project")
def test_the_same_settings_give_the_same_life(tmp_path: Path) -> None:
    assert lived(tmp_path / "one", BASE) == lived(tmp_path / "another", BASE)


@pytest.mark.parametrize("name", CHANGES)
def test_a_setting_that_is_changed_changes_what_happens(project: Path, name: str) -> None:
    value, base = CHANGES[name]
    key = json.dumps(base)
    if key not in KNOWN:
        KNOWN[key] = lived(project / "before", base)
    assert lived(project / "after", {**base, name: value}) != KNOWN[key]


def lived(root: Path, settings: dict[str, object]) -> list[object]:
    """All that can be seen of a session under some settings."""
    root.mkdir()
    for name, text in (("quick", QUICK), ("slow", SLOW)):
        (root / name).write_text(text)
        (root / name).chmod(0o755)
    personal = {key: settings[key] for key in ("summarizer",) if key in settings}
    config = Path.home() / ".config" / "holdfast"
    config.mkdir(parents=True, exist_ok=True)
    (config / "config.toml").write_text(toml(personal).replace("command:.", f"command:{root}"))
    rest = {key: value for key, value in settings.items() if key not in personal}
    (root / "holdfast.toml").write_text(toml(rest) + "[roles.reviewer]\ntail.steps = 30\n")
    policy = load(root, os.environ).policy
    store = open_store(root)
    with Session("s", store, policy=policy, root=str(root), clock=lambda: NOW) as session:
        seen: list[object] = list(sent(session, root))
        seen += [repr(event) for event in session.log()]
        seen.append(str(session.status()))
        seen.append([text_of(e.body) for e in session.path() if not isinstance(e.body, Derived)])
    zone = re.search(r"\d\d:\d\d:\d\d (\w+)", done("--root", str(root), "status", "--session", "s"))
    files = {str(path.relative_to(root)) for path in (root / ".holdfast").rglob("*.md")}
    return [*seen, zone[1] if zone else "", sorted(files)]


def toml(settings: dict[str, object]) -> str:
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())


def sent(session: Session, root: Path) -> Iterator[str]:
    """What is sent, turn by turn, of work that has something for every tier."""
    for number in range(9):
        for message in turn(number, root):
            session.append(message)
            if message["role"] == "tool":
                yield json.dumps(session.messages())
        yield str(session.plan())
    session.note("task_done")
    yield json.dumps(session.messages())
    try:
        yield str(session.compact(2_500).after)
    except NothingToShrink as error:
        yield str(error)
    yield json.dumps(session.messages())


def turn(number: int, root: Path) -> Iterator[dict[str, Any]]:
    path = f"report_{number}.txt"
    content = "\n".join(f"part {number}, line {at}" for at in range(150))
    (root / path).write_text(content)
    large = "\n".join(f"row {at} of {number}: {'value ' * 50}{at * 7}" for at in range(100))
    yield {"role": "user", "content": f"Report on part {number}."}
    yield from used(f"r{number}", "Read", large[:9_000], file_path=f"docs/{number}.md")
    yield from used(f"b{number}", "Bash", large if number % 4 == 1 else large[:2_500], command="x")
    yield from used(f"w{number}", "Write", "Written.", file_path=path, content=content)
    yield from used(f"v{number}", "Vault", f"the word is {SECRET}", word="first")
    yield {"role": "assistant", "content": f"Part {number} is reported in {path}."}


def used(name: str, tool: str, output: str, **arguments: str) -> Iterator[dict[str, Any]]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": name, "type": "function", "function": function}
    yield {"role": "assistant", "content": None, "tool_calls": [call]}
    yield {"role": "tool", "tool_call_id": name, "content": output}
