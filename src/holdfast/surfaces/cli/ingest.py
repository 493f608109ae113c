"""`holdfast ingest`: read session files into the ledger."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import click

from holdfast.errors import Erased, Unreadable
from holdfast.surfaces.cli.options import Project, json_option, project_of, project_option
from holdfast.surfaces.cli.output import echo, plain, print_json, short, styled
from holdfast.transcripts.find import Found, agent_sessions, session_files
from holdfast.transcripts.ingest import Ingested, Progress
from holdfast.transcripts.ingest import ingest as ingest_file
from holdfast.wire.detect import WIRES

SHOWN_FLAWS = 5
SLOW = 4 * 1024 * 1024
"""Bytes from which on a file gets a progress bar."""

EXAMPLE = """\b
Examples:
  holdfast ingest                     what agents kept of this project
  holdfast ingest session.jsonl       one file, its format found by looking
  holdfast ingest logs/ --json        every session file below a folder"""


@click.command(epilog=EXAMPLE)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--wire", type=click.Choice(WIRES), help="The format, when looking is not enough.")
@click.option("--session", "name", help="The session to read into; one file only.")
@click.option("--everything", is_flag=True, help="With no PATHS: sessions of all projects.")
@click.option("--again", is_flag=True, help="Read sessions too that were purged or have expired.")
@click.option("--quiet", "-q", is_flag=True, help="Say only what went wrong.")
@project_option
@json_option
@click.pass_context
def ingest(
    ctx: click.Context,
    paths: tuple[Path, ...],
    wire: str | None,
    name: str | None,
    everything: bool,
    again: bool,
    quiet: bool,
    root: str | None,
    as_json: bool,
) -> None:
    """Read session files into this project's ledger.

    What is known already is not added again: a file that grew adds its tail, one that was rewound
    becomes a branch. With no PATHS, the sessions that Claude Code, Codex, opencode and Gemini CLI
    keep of this project. A session that was purged or has expired is not read again unless you say
    so. When a file cannot be read, the others are, and the exit code is then not 0.
    """
    project = project_of(ctx, root)
    done: list[Ingested] = []
    failed: list[Unreadable] = []
    found = _found(project, paths, everything, failed)
    if name and len(found) > 1:
        raise click.UsageError(f"--session takes one file, and there are {len(found)}")
    for item in found:
        try:
            with _progress(item, hidden=quiet or as_json) as progress:
                one = ingest_file(
                    item.path,
                    project.store,
                    wire=wire or "",
                    session=name or "",
                    policy=project.settings.policy,
                    progress=progress,
                    again=again,
                )
        except Erased as error:
            _stays_away(item, error, failed if paths else None)
            continue
        except Unreadable as error:
            _fail(failed, error)
            continue
        done.append(one)
        _tell_flaws(one, asked=wire == "lines")
        if not quiet and not as_json:
            echo(_line(one))
    _finish(project, done, failed, as_json=as_json, quiet=quiet)


def _stays_away(item: Found, error: Erased, failed: list[Unreadable] | None) -> None:
    """Say that a session stays erased: a failure only where its file was asked for by name."""
    told = Unreadable(str(item.path), f"{error}; --again reads it anew")
    _fail(failed if failed is not None else [], told)


def _fail(failed: list[Unreadable], error: Unreadable) -> None:
    failed.append(error)
    echo(plain(f"holdfast: {error}"), err=True)


def _found(
    project: Project, paths: tuple[Path, ...], everything: bool, failed: list[Unreadable]
) -> list[Found]:
    if paths:
        return [found for path in paths for found in _below(path, failed)]
    sessions = agent_sessions(os.environ)
    mine = [item for item in sessions if everything or item.belongs_to(project.root)]
    if not mine:
        elsewhere = f"; {len(sessions)} of other projects: --everything" if sessions else ""
        reason = f"no sessions of agents in this project{elsewhere}; or name a file or a folder"
        raise Unreadable(str(project.root), reason)
    return mine


def _below(path: Path, failed: list[Unreadable]) -> list[Found]:
    try:
        return session_files(path)
    except Unreadable as error:
        _fail(failed, error)
        return []


@contextmanager
def _progress(item: Found, *, hidden: bool) -> Generator[Progress]:
    if hidden or item.size < SLOW or not sys.stderr.isatty():
        yield lambda _: None
        return
    # A compressed file is longer than its size says; the bar is then only a sign of life.
    with click.progressbar(length=item.size, label=item.path.name, file=sys.stderr) as bar:
        yield bar.update


def _tell_flaws(one: Ingested, *, asked: bool) -> None:
    path = plain(one.path)
    if one.wire == "lines" and not asked:
        reason = f"no format that is known here; kept as {one.pieces:,} opaque lines"
        echo(f"holdfast: {path}: {reason}", err=True)
    for flaw in one.flaws[:SHOWN_FLAWS]:
        kept = "read all the same" if flaw.read else "kept, not read"
        echo(f"holdfast: {path}, line {flaw.line}: {flaw.reason} ({kept})", err=True)
    more = len(one.flaws) - SHOWN_FLAWS
    if more > 0:
        echo(f"holdfast: {path}: and {more:,} more like these", err=True)


def _line(one: Ingested) -> str:
    what = "a branch, " if one.branched else ""
    added = f"{what}{one.added:,} entries added" if one.added else "nothing new"
    return f"{styled(plain(one.session), bold=True)}  {one.wire}, {one.pieces:,} pieces: {added}"


def _finish(
    project: Project,
    done: list[Ingested],
    failed: list[Unreadable],
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    if as_json:
        errors = [{"path": e.where, "line": e.line, "reason": e.reason} for e in failed]
        print_json("ingest", {"files": done, "errors": errors})
    if len(done) > 1 and not quiet and not as_json:
        added = sum(one.added for one in done)
        sessions = len({one.session for one in done})
        echo(f"{len(done)} files, {sessions} sessions, {short(added)} entries added")
    if failed:
        raise click.exceptions.Exit(failed[-1].exit_code)
