"""Nothing of ours drops another's locks on the ledger, and looking at it harms nobody: D07."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast.stores
from holdfast.project.paths import project_id
from holdfast.stores import connection
from tests.reliability.forks import PROJECT, Child, Forks
from tests.reliability.ledgers import bodies, ledger, said, store_at

STORES = Path(holdfast.stores.__file__).parent
OPENING = {
    "open",
    "fdopen",
    "openat",
    "read_bytes",
    "read_text",
    "write_bytes",
    "write_text",
    "copy",
    "copy2",
    "copyfile",
    "mmap",
}
"""Calls that open a file by themselves. Closing such a file drops every lock its process holds."""
ALLOWED = {
    ("connection.py", "prepare_place"),
    ("connection.py", "_sync_folder"),
    ("connection.py", "_write_gitignore"),
    ("connection.py", "_prepare_file"),
    ("backup.py", "copy_to"),
}
"""Folders, and files that were not there before: nobody can hold a lock on those."""


def openings(path: Path) -> Iterator[tuple[str, str]]:
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, ast.FunctionDef):
            called = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
            yield from ((path.name, function.name) for name in called if _name(name) in OPENING)


def _name(called: ast.expr) -> str:
    match called:
        case ast.Attribute():
            return called.attr
        case ast.Name():
            return called.id
        case _:
            return ""


def test_no_store_opens_the_ledger_as_a_plain_file() -> None:
    found = {place for path in sorted(STORES.rglob("*.py")) for place in openings(path)}
    assert found == ALLOWED


def test_a_plain_file_is_only_opened_where_none_was() -> None:
    trees = [ast.parse((STORES / name).read_text()) for name in {file for file, _ in ALLOWED}]
    opened = [
        {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
        | {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _name(node.func) == "open"
    ]
    # A copy is synced through a second opening; nobody knows of it yet, so nobody locks it.
    plain = [flags for flags in opened if not flags & {"O_DIRECTORY", "CREATE_FLAGS"}]
    assert plain == [{"O_RDONLY", "os", "open", "path"}]
    assert connection.CREATE_FLAGS & (os.O_CREAT | os.O_EXCL) == os.O_CREAT | os.O_EXCL
    assert len(opened) - len(plain) == len(ALLOWED)


SESSIONS, FIRST = 4, 1_200
PACE = 0.01
"""Seconds between two appends: quicker than any agent, and not a race against a loop."""


def begin_writing(forks: Forks, root: Path) -> Child:
    child = forks.start("append_when_told", str(root), project_id(root), SESSIONS, FIRST)
    assert child.hear() == [FIRST]
    return child


def run_beside(writer: Child, root: Path, *words: str) -> tuple[int, str]:
    """Run a command while a writer writes; how the command ended, and what it said if badly."""
    command = [sys.executable, "-m", "holdfast", "--root", str(root), *words]
    process = subprocess.Popen(
        command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    while process.poll() is None:
        append_one(writer)
        writer.has_more(PACE)
    output, _ = process.communicate()
    return process.returncode, output if process.returncode else ""


def append_one(writer: Child) -> int:
    """Have a writer write; how much it has written."""
    writer.tell("again")
    heard = writer.hear()
    assert heard is not None
    return int(heard[0])


def check_all_is_there(path: str, root: Path, written: int) -> None:
    with store_at(path, project=project_id(root)) as store:
        found = {f"s{number}": bodies(store, f"s{number}") for number in range(SESSIONS)}
        shares = [len(range(number, written, SESSIONS)) for number in range(SESSIONS)]
        assert found == {f"s{number}": said(share) for number, share in enumerate(shares)}
        assert list(store.check()) == []


@pytest.mark.parametrize("command", ["sessions", "fsck"])
def test_a_command_beside_a_writer_succeeds_and_costs_it_nothing(
    command: str, forks: Forks, tmp_path: Path
) -> None:
    writer = begin_writing(forks, tmp_path)
    ends = [run_beside(writer, tmp_path, command) for _ in range(6)]
    written = append_one(writer)
    writer.kill()
    print(f"{written - FIRST} appends beside 6 runs of {command}")
    check_all_is_there(ledger(str(tmp_path)), tmp_path, written)
    assert ends == [(0, "")] * 6


def test_a_copy_made_beside_a_writer_is_whole_and_costs_it_nothing(
    forks: Forks, tmp_path: Path
) -> None:
    writer, written = begin_writing(forks, tmp_path), 0
    for turn in range(5):
        folder = tmp_path / f"copy{turn}"
        folder.mkdir(mode=0o700)
        copy = forks.start("copy", ledger(str(tmp_path)), str(folder / "ledger.db"))
        written = append_one(writer)
        assert copy.finish() == [["copied"]]
        with store_at(str(folder / "ledger.db"), project=project_id(tmp_path)) as store:
            copied = sum(listed.head.seq for listed in store.sessions())
        assert written - 1 <= copied <= written
        check_all_is_there(str(folder / "ledger.db"), tmp_path, copied)
    writer.kill()
    check_all_is_there(ledger(str(tmp_path)), tmp_path, written)
