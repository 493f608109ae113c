"""Does the trail of files say what the agents' own programs recorded?

Claude Code writes beside every result which file it read, made or changed and with which lines;
Codex and OpenCode write down which changes their patches made. None of that reaches a ledger: the
trail is read off calls and results alone, as they came to the model. Here the two are compared,
file by file.

What a shell command did is in no such record. Rows that only a shell or a search made are left out
of the comparison, and counted.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.data import native_sessions, unpacked
from benchmarks.table import print_table
from holdfast.core.ledger.entry import Derived, Entry, ToolCalled
from holdfast.core.ledger.summary import File
from holdfast.core.ledger.window import Item
from holdfast.core.observe.files.changes import files_of
from holdfast.core.observe.files.touch import SEARCH_TOOLS, SHELL_TOOLS, bare_tool_name
from holdfast.core.observe.scene import read_scene
from holdfast.stores.sqlite import SqliteStore
from holdfast.text.jsontext import Json, as_count, as_list, as_object, as_text
from holdfast.transcripts.ingest import ingest

SHOWN = 10
"""Misses that are printed; all of them when HOLDFAST_VERBOSE is set."""

READ_HEADER = ("read", "P", "R", "F1", "shell")

_COUNTS = re.compile(r"(?:^|; )(?:\+(\d+))?(?: ?−(\d+))?(?:;|$)")


class Score(NamedTuple):
    """How many rows both have, only ours, only theirs."""

    both: int = 0
    ours: int = 0
    theirs: int = 0

    @property
    def precision(self) -> float:
        """The share of our rows that are right."""
        return self.both / (self.both + self.ours) if self.both + self.ours else 1.0

    @property
    def recall(self) -> float:
        """The share of their rows that we have."""
        return self.both / (self.both + self.theirs) if self.both + self.theirs else 1.0

    @property
    def f1(self) -> float:
        """Both in one."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


class Compared(NamedTuple):
    """One session, or several: the scores, and what is not the same."""

    changed: Score
    actions: Score
    read: Score
    lines: Score
    """Files whose lines added and taken away are as recorded."""
    shell: int
    misses: list[str]
    beyond: list[str]
    """What a shell did afterwards to files that are in the record: to be read, not scored."""


class Claim(NamedTuple):
    """What a program recorded of one file."""

    action: str
    added: int = 0
    removed: int = 0


def run() -> None:
    """Print the tables."""
    names = ("claude-*", "codex-*", "opencode-*")
    paths = [path for name in names for path in native_sessions(name)]
    if not paths:
        print("artifacts: no real sessions here (set HOLDFAST_DATA)")
        return
    results = {path.name.partition(".")[0]: compared(path) for path in paths}
    told = {name: result for name, result in results.items() if any(map(sum, result[:3]))}
    misses = [f"{name}: {miss}" for name, result in told.items() for miss in result.misses]
    print_table(
        f"Files of {len(told)} sessions, against what the agents' programs recorded",
        (*("session", "changed", "P", "R", "F1", "and action F1", "same lines"), *READ_HEADER),
        [_row(name, result) for name, result in (*told.items(), ("all", _sum(told.values())))],
    )
    shown = None if os.environ.get("HOLDFAST_VERBOSE") else SHOWN
    print_table(f"Misses ({len(misses)})", ("what",), [(miss,) for miss in misses[:shown]])
    beyond = [f"{name}: {row}" for name, result in told.items() for row in result.beyond]
    title = f"Recorded files that a shell changed afterwards, which no record tells ({len(beyond)})"
    print_table(title, ("what",), [(row,) for row in beyond[:shown]])


def _sum(results: Iterable[Compared]) -> Compared:
    all_ = list(results)
    scores = [
        Score(*map(sum, zip(*scores, strict=True)))
        for scores in zip(*(result[:4] for result in all_), strict=True)
    ]
    changed, actions, read, lines = scores
    return Compared(changed, actions, read, lines, sum(result.shell for result in all_), [], [])


def _row(name: str, result: Compared) -> tuple[object, ...]:
    changed, read = result.changed, result.read
    return (
        name,
        changed.both + changed.theirs,
        *(f"{value:.3f}" for value in (changed.precision, changed.recall, changed.f1)),
        f"{result.actions.f1:.3f}",
        f"{result.lines.both}/{result.lines.both + result.lines.ours}",
        read.both + read.theirs,
        *(f"{value:.3f}" for value in (read.precision, read.recall, read.f1)),
        result.shell,
    )


def compared(path: Path) -> Compared:
    """One session, ours against theirs."""
    entries = entries_of(_readable(path))
    tools = {entry.id: entry.body.tool for entry in entries if isinstance(entry.body, ToolCalled)}
    rows = [
        row for row in files_of(read_scene([Item(entry) for entry in entries])) if _named(row.path)
    ]
    recorded = {name: claim for name, claim in _recorded(path).items() if _named(name)}
    shell = [row for row in rows if row.path not in recorded and _by_shell(tools.get(row.entry))]
    ours = {row.path: row for row in rows if row not in shell}
    mine = {name: row.action for name, row in ours.items() if row.action != "read"}
    beyond = {row.path: row for row in rows if _beyond(row, tools)}
    moved = {row.was for row in beyond.values()}
    their = {
        name: beyond[name].action if name in beyond else claim.action
        for name, claim in recorded.items()
        if claim.action != "read" and name not in moved
    }
    read = {name: "" for name, row in ours.items() if row.action == "read"}
    their_read = {
        name: ""
        for name, claim in recorded.items()
        if claim.action == "read" and name not in moved | beyond.keys()
    }
    agreed = [name for name in mine.keys() & their.keys() if _counts(ours[name]) is not None]
    same = [name for name in agreed if _counts(ours[name]) == recorded[name][1:]]
    return Compared(
        _score(set(mine), set(their)),
        _score(set(mine.items()), set(their.items())),
        # OpenCode does not record what it read.
        _score(set(read), set(their_read)) if their_read else Score(),
        Score(len(same), len(agreed) - len(same)),
        len(shell),
        [
            *_differences("", mine, their),
            *(_differences("read, ", read, their_read) if their_read else ()),
        ],
        [
            f"{row.action} {row.path} {row.change}"
            for row in beyond.values()
            if {row.path, row.was} & recorded.keys()
        ],
    )


def _named(path: str) -> bool:
    """Whether a path was published; the name of some was blanked out before."""
    return not path.rpartition("/")[2].startswith("REDACTED")


def _beyond(row: File, tools: dict[str, str]) -> bool:
    """Whether a shell moved a file, or did the last thing to it: no record says so."""
    last = row.action != "read" and _by_shell(tools.get(row.entry))
    return bool(row.was) or last


def _differences(kind: str, ours: dict[str, str], theirs: dict[str, str]) -> Iterator[str]:
    """What is only in one of two sets of files, or has two actions."""
    yield from (f"{kind}not found: {name}" for name in sorted(theirs.keys() - ours.keys()))
    yield from (f"{kind}not recorded: {name}" for name in sorted(ours.keys() - theirs.keys()))
    for name in sorted(theirs.keys() & ours.keys()):
        if ours[name] != theirs[name]:
            yield f"{name}: {ours[name]}, recorded as {theirs[name]}"


def _score(ours: set[Any], theirs: set[Any]) -> Score:
    return Score(len(ours & theirs), len(ours - theirs), len(theirs - ours))


def _by_shell(tool: str | None) -> bool:
    return tool is None or bare_tool_name(tool) in SHELL_TOOLS | SEARCH_TOOLS


def _counts(row: File) -> tuple[int, int] | None:
    """The lines added and taken away, as a row tells them; none when a shell had a part in it."""
    found = [match for match in _COUNTS.finditer(row.change) if match[1] or match[2]]
    return (int(found[0][1] or 0), int(found[0][2] or 0)) if found else None


def _readable(path: Path) -> Path:
    """The session in a form that Holdfast reads: as it is, or in the normal form."""
    if not path.name.startswith("opencode-"):
        return path
    return path.parents[1] / "trajectories" / path.name


def entries_of(path: Path) -> list[Entry]:
    """The main agent's entries of a session file, as Holdfast reads them."""
    with TemporaryDirectory() as folder, SqliteStore(f"{folder}/s/ledger.db") as store:
        session = ingest(path, store).session
        return [
            entry
            for entry in store.read(session)
            if not entry.lane and not isinstance(entry.body, Derived)
        ]


def _recorded(path: Path) -> dict[str, Claim]:
    """What the agent's own program wrote down, one claim per file."""
    made: dict[str, Claim] = {}
    for name, claim in _claims(path):
        known = made.get(name, Claim("read"))
        if claim.action == "read":
            made.setdefault(name, claim)
            continue
        action = "created" if known.action == "created" and claim.action == "modified" else ""
        made[name] = Claim(
            action or claim.action, known.added + claim.added, known.removed + claim.removed
        )
    return made


def _claims(path: Path) -> Iterator[tuple[str, Claim]]:
    data = unpacked(path)
    if path.name.startswith("opencode-"):
        yield from _of_opencode(as_object(json.loads(data)))
        return
    for line in data.splitlines():
        try:
            value = as_object(json.loads(line))
        except ValueError:
            continue
        if not value.get("isSidechain"):
            yield from _of_claude(as_object(value.get("toolUseResult")))
            yield from _of_codex(as_object(value.get("payload")))


def _of_claude(result: dict[str, Json]) -> Iterator[tuple[str, Claim]]:
    read = as_text(as_object(result.get("file")).get("filePath"))
    if read:
        yield read, Claim("read")
    elif "structuredPatch" in result:
        hunks = [as_object(hunk) for hunk in as_list(result["structuredPatch"])]
        lines = [as_text(line)[:1] for hunk in hunks for line in as_list(hunk.get("lines"))]
        added, removed = lines.count("+"), lines.count("-")
        if result.get("type") == "create":
            added = len(as_text(result.get("content")).splitlines())
        action = "created" if result.get("type") == "create" else "modified"
        yield as_text(result.get("filePath")), Claim(action, added, removed)


_KINDS = {"add": "created", "delete": "deleted", "move": "renamed"}


def _of_codex(payload: dict[str, Json]) -> Iterator[tuple[str, Claim]]:
    if payload.get("type") == "patch_apply_end" and payload.get("success"):
        for name, change in as_object(payload.get("changes")).items():
            yield name, Claim(_KINDS.get(next(iter(as_object(change)), ""), "modified"))


def _of_opencode(document: dict[str, Json]) -> Iterator[tuple[str, Claim]]:
    for message in as_list(document.get("messages")):
        for part in as_list(as_object(message).get("parts")):
            state = as_object(as_object(part).get("state"))
            for file in as_list(as_object(state.get("metadata")).get("files")):
                yield _opencode_claim(as_object(file))


def _opencode_claim(file: dict[str, Json]) -> tuple[str, Claim]:
    action = _KINDS.get(as_text(file.get("type")), "modified")
    counts = as_count(file.get("additions")), as_count(file.get("deletions"))
    return as_text(file.get("movePath")) or as_text(file.get("filePath")), Claim(action, *counts)
