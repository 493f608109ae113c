"""Every command, in process and now and then as a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import click
from click.testing import CliRunner

from holdfast.errors import HoldfastError
from holdfast.surfaces.cli.main import cli, main
from tests.gauntlet import texts
from tests.gauntlet.checks import sums_of
from tests.gauntlet.findings import Run


class Place(NamedTuple):
    """A project with one session in it."""

    root: Path
    document: Path
    session: str
    ref: str
    random: Random


def _all_errors(kind: type[HoldfastError]) -> Iterator[type[HoldfastError]]:
    yield kind
    for one in kind.__subclasses__():
        yield from _all_errors(one)


def exit_codes() -> set[int]:
    """The exit codes that the documents name."""
    return {0, 1, 2, 130} | {one.exit_code for one in _all_errors(HoldfastError)}


COMMANDS: dict[str, Callable[[Place], list[list[str]]]] = {
    "ingest": lambda p: [[str(p.document)], []],
    "sessions": lambda p: [[]],
    "status": lambda p: [["--session", p.session], ["--window", "9000", "--report"]],
    "compress": lambda p: [
        ["--dry-run"],
        ["--budget", str(p.random.choice((2_000, 15_000, 60_000)))],
        ["--profile", p.random.choice(("lean", "stress", "anchored"))],
        [str(p.document), "--budget", str(p.random.choice((1_500, 9_000)))],
    ],
    "log": lambda p: [["--all", "--limit", "0"]],
    "undo": lambda p: [[]],
    "recover": lambda p: [
        [texts.word(p.random)],
        ["--", texts.anything(p.random)[:300].replace("\0", "")],
        ["--ref", p.ref],
        ["--ref", p.ref, "--lines", "1-3"],
        ["--level", str(p.random.randrange(1, 4))],
        ["--full"],
        ["error", "--project"],
        ["error", "--all"],
    ],
    "intent": lambda p: [[]],
    "pin": lambda p: [["Never touch the billing schema."], ["--ref", p.ref]],
    "unpin": lambda p: [["Never touch the billing schema."]],
    "checkpoint": lambda p: [[], ["--reset", "--as", f"fresh-{p.random.random()}"]],
    "checkpoint list": lambda p: [[]],
    "checkpoint show": lambda p: [[]],
    "checkpoint diff": lambda p: [[]],
    "resume": lambda p: [[p.session], ["--budget", "300"]],
    "unattended start": lambda p: [["--plan", "plan-7"]],
    "unattended status": lambda p: [[]],
    "unattended stop": lambda p: [[]],
    "probe": lambda p: [["--session", p.session]],
    "drift": lambda p: [[p.session]],
    "context generate": lambda p: [
        ["Add JWT auth", "--pane", "1", "--session", p.session],
        [texts.prose(p.random).replace("\0", "") or "x", "--depth", "deep", "--scan"],
        ["Go on", "--from", str(p.document)],
        ["--shared"],
    ],
    "context preview": lambda p: [["--pane", "1"], ["Go on", "--format", "prompt"]],
    "context read": lambda p: [["--pane", "1"], ["--pane", "1", "--layers", "2"]],
    "context feedback": lambda p: [
        ["--pane", "1", "--outcome", "done", "--gap", texts.word(p.random)],
        ["--collect"],
        [],
    ],
    "context query": lambda p: [["What was decided?"], [texts.prose(p.random).replace("\0", "")]],
    "context edit": lambda p: [["--pane", "1", "--set", "goal=Only the login"]],
    "context push": lambda p: [["--pane", "1"], ["--all"]],
    "context diff": lambda p: [["--pane", "1"]],
    "context history": lambda p: [["--all"]],
    "context graph": lambda p: [[], ["--format", "mermaid"], ["--format", "dot"]],
    "context stats": lambda p: [[]],
    "context tune": lambda p: [["--dry-run"]],
    "context clear": lambda p: [["--all"]],
    "context roles": lambda p: [["worker", "--pane", "1"], ["--install", str(p.root / "NOTES.md")]],
    "rules": lambda p: [[], ["--format", "xml"]],
    "preserve": lambda p: [[], ["--create"]],
    "replay": lambda p: [
        [str(p.document), *p.random.choice(([], ["--window", "20000", "--quiet"]))]
    ],
    "mcp": lambda p: [],
    "install": lambda p: [[agent, "--project"] for agent in AGENTS],
    "doctor": lambda p: [],
    "uninstall": lambda p: [[agent, "--project"] for agent in AGENTS],
    "run": lambda p: [["context", "status"], ["show", "session", "intent"], ["nonsense"]],
    "show": lambda p: [
        [p.session, "--limit", "0"],
        ["--ref", p.ref],
        ["--summary"],
        ["--summary", "--form", p.random.choice(FORMS)],
        ["--summary", "--budget", "500"],
    ],
    "view": lambda p: [[p.session]],
    "export": lambda p: [[p.session]],
    "backup": lambda p: [[str(p.root / f"copy-{p.random.random()}.db")]],
    "fsck": lambda p: [[], ["--repair"]],
    "config show": lambda p: [["--origin"]],
    "completion": lambda p: [[shell] for shell in ("bash", "zsh", "fish")],
    "purge": lambda p: [
        [p.session, "--dry-run"],
        [p.session, "--ref", p.ref, "--yes"],
        ["--retention", "--yes"],
        [p.session, "--yes"],
    ],
}
"""The words that each command is run with, in an order in which each finds what it needs."""
AGENTS = ("claude-code", "codex", "opencode", "gemini")
FORMS = ("ctx-001", "lar-033", "anchored", "notes", "checkpoint", "research", "planning")
PLAIN = ("completion", "install", "uninstall", "export")
"""Commands that print what no JSON document holds, or that are tried once a way."""
APART = ("mcp", "doctor")
"""Commands that are exercised as processes, by `served` and `examined`."""
COSTLY = ("replay",)
"""Commands that go through a session turn by turn: run plain or as JSON, not both."""


def leaves() -> list[str]:
    """Every command that there is, with those below another."""
    found: list[str] = []
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        if not isinstance(command, click.Group):
            found.append(name)
            continue
        inner = click.Context(command, parent=context, info_name=name)
        found += [name] if command.invoke_without_command else []
        found += [f"{name} {one}" for one in command.list_commands(inner)]
    return found


class Said(NamedTuple):
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str


def called(words: list[str], typed: str = "") -> Said:
    """Run a command in this process, by its entry point."""
    with CliRunner().isolation(input=typed) as streams:
        code: Any = 0
        try:
            main(words)
        except SystemExit as end:
            code = end.code
        sys.stdout.flush()
        out, err = streams[0].getvalue(), streams[1].getvalue()
    return Said(int(code or 0), out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def apart(words: list[str], root: Path, typed: bytes = b"") -> Said:
    """Run a command as a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        cwd=root,
        env=os.environ,
        input=typed,
        capture_output=True,
        timeout=300,
        check=False,
    )
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    return Said(done.returncode, out, err)


def judged(run: Run, name: str, said: Said, *, as_json: bool) -> dict[str, Any] | None:
    """Hold what a command printed against its laws; the document that it printed."""
    operation = f"cli {name}"
    if said.code not in exit_codes():
        run.wrong("exception", operation, f"exit code {said.code}: {said.err[-400:]}")
    # Sessions hold traces of their own: only what stands in the error output is ours.
    if "Traceback (most recent" in said.err:
        run.wrong("exception", operation, f"a traceback was printed: {said.err[-600:]}")
    if "this should not have happened" in said.err:
        run.wrong("exception", operation, said.err[-400:])
    if not as_json or said.code not in (0, 1) or not said.out.strip():
        return None
    try:
        document = json.loads(said.out)
    except ValueError as error:
        run.wrong("other", operation, f"--json is no JSON: {error}: {said.out[:200]!r}")
        return None
    if not str(document.get("schema", "")).startswith("holdfast."):
        run.wrong("other", operation, f"--json has no schema: {said.out[:200]!r}")
    run.check("sum", operation, sums_of(document))
    return document


def exercise(run: Run, place: Place, names: list[str]) -> None:
    """Run commands, each with all its words, plain and as JSON."""
    for name in names:
        if name not in COMMANDS or not run.wants(f"cli {name}"):
            continue
        forms = (False,) if name in PLAIN else (False, True)
        forms = (place.random.choice(forms),) if name in COSTLY else forms
        for words in COMMANDS[name](place):
            for as_json in forms:
                once(run, place, name, words, as_json=as_json)


def once(run: Run, place: Place, name: str, words: list[str], *, as_json: bool) -> None:
    """Run a command once, in process or as a process."""
    group, _, command = name.partition(" ")
    flags = ["--json"] if as_json else []
    # Words behind `--` are no options.
    whole = ["--root", str(place.root), group, *([command] if command else []), *flags, *words]
    alone = place.random.randrange(100) == 0 and "\0" not in "".join(words)
    # No shell can type half a letter.
    typed = [one.encode("utf-8", "replace").decode() for one in whole]
    call = (lambda: apart(typed, place.root)) if alone else (lambda: called(typed))
    said = run.do(f"cli {name}", call)
    if said is not None:
        judged(run, name, said, as_json=as_json)


def examined(run: Run, place: Place, agents: Sequence[str]) -> None:
    """What `doctor` says of what was put into agents."""
    for agent in agents:
        if not run.wants("cli doctor"):
            return
        root = ["--root", str(place.root)]
        run.do("cli install", apart, [*root, "install", agent, "--project"], place.root)
        said = run.do(
            "cli doctor", apart, [*root, "doctor", agent, "--project", "--json"], place.root
        )
        if said is not None:
            judged(run, "doctor", said, as_json=True)
        run.do("cli uninstall", apart, [*root, "uninstall", agent, "--project"], place.root)


def served(run: Run, place: Place, frames: list[dict[str, Any]]) -> None:
    """The MCP server as a process: every request is answered, one after the other."""
    if not run.wants("cli mcp"):
        return
    words = [sys.executable, "-m", "holdfast", "--root", str(place.root), "mcp"]
    process = subprocess.Popen(
        words, cwd=place.root, env=os.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        for frame in frames:
            run.do("cli mcp", _asked, process, frame)
    finally:
        process.communicate(timeout=60)
    if process.returncode:
        run.wrong("exception", "cli mcp", f"the server ended with {process.returncode}")


def _asked(process: subprocess.Popen[bytes], frame: dict[str, Any]) -> None:
    """Ask a server, and read on until it has answered."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(frame).encode() + b"\n")
    process.stdin.flush()
    while True:
        line = process.stdout.readline()
        assert line, "the server ended"
        answer = json.loads(line)
        if answer.get("id") == frame["id"]:
            break
    assert "this should not have happened" not in str(answer)[:2_000], str(answer)[:400]
