"""`holdfast ingest`: read session files into the ledger."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import click

from holdfast.errors import Erased, Unreadable
from holdfast.surfaces.cli.options import Project, Selection, project_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize, short_count, styled
from holdfast.transcripts.find import SessionFile, agent_sessions, session_files
from holdfast.transcripts.ingest import ByteProgress, Ingested
from holdfast.transcripts.ingest import ingest as ingest_file
from holdfast.wire.detect import WIRES

MAX_FLAWS_SHOWN = 5
MIN_BYTES_FOR_PROGRESS = 4 * 1024 * 1024
"""Show a progress bar for files of at least this size."""

EXAMPLE = """\b
Examples:
  holdfast ingest                     all sessions that agents recorded for this project
  holdfast ingest session.jsonl       one file; its format is detected
  holdfast ingest logs/ --json        every session file below a folder"""


@click.command(epilog=EXAMPLE)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--wire", type=click.Choice(WIRES), help="Format of the files; default: detected.")
@click.option("--session", "name", help="Name of the session to read into; for one file only.")
@click.option(
    "--everything", is_flag=True, help="Without PATHS: read the sessions of all projects."
)
@click.option("--again", is_flag=True, help="Also read sessions that were purged or have expired.")
@click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
@project_options
def ingest(
    selection: Selection,
    paths: tuple[Path, ...],
    wire: str | None,
    name: str | None,
    everything: bool,
    again: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Read session files into this project's ledger.

    Only new content is added: of a file that grew, its new lines; a file that was rewound becomes a
    branch. Without PATHS, the sessions are read that Claude Code, Codex, opencode and Gemini CLI
    recorded for this project. A session that was purged or has expired is skipped unless --again
    is given. If a file cannot be read, the others are still read, and the exit code is not 0.
    """
    project = selection.project
    done: list[Ingested] = []
    failed: list[Unreadable] = []
    found = _files_to_read(project, paths, everything, failed)
    if name and len(found) > 1:
        raise click.UsageError(f"--session takes one file, and there are {len(found)}")
    for item in found:
        try:
            with _progress(item, hidden=quiet or as_json) as progress:
                result = ingest_file(
                    item.path,
                    project.store,
                    wire=wire or "",
                    session=name or "",
                    policy=project.settings.policy,
                    progress=progress,
                    again=again,
                )
        except Erased as error:
            _report_erased(item, error, failed if paths else None)
            continue
        except Unreadable as error:
            _report_failure(failed, error)
            continue
        done.append(result)
        _print_flaws(result, asked=wire == "lines")
        if not quiet and not as_json:
            echo(_result_line(result))
    _finish(project, done, failed, as_json=as_json, quiet=quiet)


def _report_erased(item: SessionFile, error: Erased, failed: list[Unreadable] | None) -> None:
    """Report that an erased session is skipped; count a failure only if its file was named."""
    unreadable = Unreadable(str(item.path), f"{error}; --again reads it anew")
    _report_failure(failed if failed is not None else [], unreadable)


def _report_failure(failed: list[Unreadable], error: Unreadable) -> None:
    failed.append(error)
    echo(sanitize(f"holdfast: {error}"), err=True)


def _files_to_read(
    project: Project, paths: tuple[Path, ...], everything: bool, failed: list[Unreadable]
) -> list[SessionFile]:
    if paths:
        return [found for path in paths for found in _session_files(path, failed)]
    sessions = agent_sessions(os.environ)
    mine = [item for item in sessions if everything or item.belongs_to(project.root)]
    if not mine:
        elsewhere = f"; {len(sessions)} of other projects: --everything" if sessions else ""
        reason = f"no sessions of agents in this project{elsewhere}; or name a file or a folder"
        raise Unreadable(str(project.root), reason)
    return mine


def _session_files(path: Path, failed: list[Unreadable]) -> list[SessionFile]:
    try:
        return session_files(path)
    except Unreadable as error:
        _report_failure(failed, error)
        return []


@contextmanager
def _progress(item: SessionFile, *, hidden: bool) -> Generator[ByteProgress]:
    if hidden or item.size < MIN_BYTES_FOR_PROGRESS or not sys.stderr.isatty():
        yield lambda _: None
        return
    # A compressed file has more bytes than its size: the bar then only shows that work goes on.
    with click.progressbar(length=item.size, label=item.path.name, file=sys.stderr) as bar:
        yield bar.update


def _print_flaws(result: Ingested, *, asked: bool) -> None:
    path = sanitize(result.path)
    if result.wire == "lines" and not asked:
        reason = f"unknown format; stored as {result.pieces:,} opaque lines"
        echo(f"holdfast: {path}: {reason}", err=True)
    for flaw in result.flaws[:MAX_FLAWS_SHOWN]:
        status = "read anyway" if flaw.read else "stored, not read"
        echo(f"holdfast: {path}, line {flaw.line}: {flaw.reason} ({status})", err=True)
    more = len(result.flaws) - MAX_FLAWS_SHOWN
    if more > 0:
        echo(f"holdfast: {path}: and {more:,} more like these", err=True)


def _result_line(result: Ingested) -> str:
    what = "a branch, " if result.branched else ""
    added = f"{what}{result.added:,} entries added" if result.added else "nothing new"
    name = styled(sanitize(result.session), bold=True)
    return f"{name}  {result.wire}, {result.pieces:,} pieces: {added}"


def _finish(
    project: Project, done: list[Ingested], failed: list[Unreadable], *, as_json: bool, quiet: bool
) -> None:
    if as_json:
        errors = [{"path": e.where, "line": e.line, "reason": e.reason} for e in failed]
        print_json("ingest", {"files": done, "errors": errors})
    if len(done) > 1 and not quiet and not as_json:
        added = sum(result.added for result in done)
        sessions = len({result.session for result in done})
        echo(f"{len(done)} files, {sessions} sessions, {short_count(added)} entries added")
    if failed:
        raise click.exceptions.Exit(failed[-1].exit_code)
