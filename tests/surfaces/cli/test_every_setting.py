"""No setting is dead: each one, changed, changes what a session sends, keeps or tells."""

import json
import os
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from holdfast.core.ledger.entry import Derived, text_of
from holdfast.errors import HoldfastError, NothingToShrink
from holdfast.project.settings import SETTINGS, load
from holdfast.session.open import open_store
from holdfast.session.session import Session
from tests.secrets import PLANTED
from tests.surfaces.cli.commands import done, invoke

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
TOKEN = PLANTED["github-token"]

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
    "offload.form": ("ctx-001", BASE),
    "truncate.above": (5_000, BASE),
    "truncate.form": ("ctx-001", BASE),
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


TOLD: dict[str, object] = {
    "search": "strong",
    "preservation.enforcement": "strict",
    "preservation.create_missing": "auto",
    "preservation.notes": "off",
    "preservation.trajectory_log": "off",
    "preservation.checkpoint": "simple",
    "preservation.always": ["PLAN.md#Goal"],
    "preservation.unsafe_drop": ["active_beads"],
    "preservation.compactable": ["thinking_blocks"],
    "drift.watch": 0,
    "drift.steps": 0,
    "redact.secrets": "off",
    "redact.patterns": ["CUST-[0-9]{6}"],
    "retention.days": 5,
    "retention.megabytes": 1,
    "packets.depth": "minimal",
    "packets.minimal": 20,
    "packets.standard": 150,
    "packets.deep": 200,
    "packets.generate": "off",
    "packets.track": "off",
    "packets.cleanup": "off",
    "packets.stale": 0,
    "packets.key_file": "./NOTES.md",
}
"""Settings that take a project with notes, a trajectory and a drifting agent to show."""
OWN = ("summarizer", "redact.secrets", "preservation.unsafe_drop", "packets.key_file")
"""Settings that only the user's own file may hold."""


def test_every_setting_is_tried() -> None:
    assert [*CHANGES, *TOLD] == [name for name in (*CHANGES, *TOLD) if name in SETTINGS]
    assert CHANGES.keys() | TOLD.keys() == set(SETTINGS)


@pytest.mark.usefixtures("project")
def test_the_same_settings_give_the_same_life(tmp_path: Path) -> None:
    assert list(lived(tmp_path / "one", BASE)) == list(lived(tmp_path / "another", BASE))


@pytest.mark.parametrize("name", CHANGES)
def test_a_setting_that_is_changed_changes_what_happens(project: Path, name: str) -> None:
    value, base = CHANGES[name]
    key = json.dumps(base)
    if key not in KNOWN:
        KNOWN[key] = list(lived(project / "before", base))
    # A life is only lived until it goes another way.
    pairs = zip_longest(lived(project / "after", {**base, name: value}), KNOWN[key])
    assert any(after != before for after, before in pairs)


def lived(root: Path, settings: dict[str, object]) -> Iterator[object]:
    """All that can be seen of a session under some settings, in the order in which it is."""
    root.mkdir()
    for name, text in (("quick", QUICK), ("slow", SLOW)):
        (root / name).write_text(text)
        (root / name).chmod(0o755)
    configure(root, settings)
    policy = load(root, os.environ).policy
    store = open_store(root)
    with Session("s", store, policy=policy, root=str(root), clock=lambda: NOW) as session:
        yield from sent(session, root)
        yield [repr(event) for event in session.log()]
        yield str(session.status())
        yield [text_of(e.body) for e in session.ledger.path() if not isinstance(e.body, Derived)]
    zone = re.search(r"\d\d:\d\d:\d\d (\w+)", done("--root", str(root), "status", "--session", "s"))
    yield zone[1] if zone else ""
    yield sorted(str(path.relative_to(root)) for path in (root / ".holdfast").rglob("*.md"))


def configure(root: Path, settings: dict[str, object]) -> None:
    """Write settings where they may stand: the user's own file, or the project's."""
    personal = {key: settings[key] for key in OWN if key in settings}
    config = Path.home() / ".config" / "holdfast"
    config.mkdir(parents=True, exist_ok=True)
    said = toml(personal).replace("command:.", f"command:{root}").replace('"./', f'"{root}/')
    (config / "config.toml").write_text(said)
    rest = {key: value for key, value in settings.items() if key not in personal}
    (root / "holdfast.toml").write_text(toml(rest) + "[roles.reviewer]\ntail.steps = 30\n")


@pytest.mark.usefixtures("project")
def test_the_same_settings_are_told_alike(tmp_path: Path) -> None:
    assert told(tmp_path / "one", {}) == told(tmp_path / "another", {})


@pytest.mark.parametrize("name", TOLD)
def test_a_setting_that_is_changed_changes_what_is_told(project: Path, name: str) -> None:
    if "told" not in KNOWN:
        KNOWN["told"] = told(project / "before", {})
    assert told(project / "after", {name: TOLD[name]}) != KNOWN["told"]


COMMANDS = (
    ("recover", "partner"),
    ("preserve",),
    ("rules",),
    ("compress", "--dry-run", "--budget", "6000"),
    ("compress", "--budget", "3000"),
    ("intent",),
    ("context", "generate", "Refund the partner", "--pane", "1"),
    ("context", "generate", "Refund the partner", "--depth", "minimal"),
    ("context", "generate", "Refund the partner", "--depth", "standard"),
    ("context", "generate", "Refund the partner", "--depth", "deep"),
    ("context", "read", "--pane", "1"),
    ("context", "feedback", "--pane", "1", "--outcome", "done", "--gap", "the tests"),
    ("context", "stats"),
    ("purge", "--retention"),
    ("log",),
)
TIMES = re.compile(r"\d{4}-\d\d-\d\d[T ]?[\d:]{0,8}Z?|[0-9a-f]{12,64}")
"""What differs from one run to the next, names and sums that are made of it included."""


def told(root: Path, settings: dict[str, object]) -> list[object]:
    """All that the command line tells of a project under some settings."""
    root.mkdir()
    configure(root, {**BASE, "window": 200_000, **settings})
    (root / "NOTES.md").write_text("# Notes\n\n## Session Continuity\n\nWorking.\n")
    (root / "PLAN.md").write_text("# Goal\n\nShip it.\n")
    trajectory = root / "grimoires" / "loa" / "a2a" / "trajectory"
    trajectory.mkdir(parents=True)
    (trajectory / "agent-2026-01-01.jsonl").write_text("{}\n")
    seen: list[object] = []
    policy = load(root, os.environ).policy
    with Session("s", open_store(root), policy=policy, root=str(root), clock=lambda: NOW) as one:
        one.extend(drifting())
        seen.append(_compacted(one))
        one.extend(used("e", "Edit", "Updated.", file_path="src/billing.py", new_string="x"))
        seen += [json.dumps(message) for message in one.messages()]
        one.note("spawn", task="Refund the partner", pane="2")
    for words in COMMANDS:
        result = invoke("--root", str(root), *words)
        seen.append((words, result.exit_code, result.stdout, str(result.exception)))
    files = {
        str(path.relative_to(root)): path.read_text(errors="replace")
        for path in sorted(root.rglob("*"))
        if path.suffix in (".md", ".jsonl", ".yaml")
    }
    return [TIMES.sub("", repr(part).replace(str(root), "")) for part in (*seen, files)]


def _compacted(session: Session) -> str:
    try:
        return str(session.compact(4_000).after)
    except HoldfastError as error:
        return str(error)


def drifting() -> list[dict[str, Any]]:
    """Work with thinking, a key and a customer in it."""
    request = f"Refund CUST-123456 for the partner with {TOKEN}. Never touch src/billing.py."
    found: list[dict[str, Any]] = [{"role": "user", "content": request}]
    for at in range(12):
        rows = "\n".join(f"row {line} of {at}, value {line * 7}" for line in range(120))
        steps = list(used(f"r{at}", "Read", rows, file_path=f"docs/{at}.md"))
        steps[0]["reasoning_content"] = f"I think about part {at}."
        found += steps
    return found


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
