"""`holdfast export`: a session's bytes, as they came."""

import sys
from contextlib import nullcontext
from pathlib import Path

import click

from holdfast.errors import NotRecorded, Unreadable
from holdfast.surfaces.cli.options import (
    complete_session,
    json_option,
    project_of,
    project_option,
)
from holdfast.surfaces.cli.output import echo, print_json
from holdfast.transcripts.export import exported, sources_of
from holdfast.transcripts.open import reason_of

EXAMPLE = """\b
Examples:
  holdfast export > session.jsonl             the newest session, byte for byte
  holdfast export 3ae3ab59 -o session.jsonl
  holdfast export 3ae3ab59 --source agent-a1  a sub-agent's own file"""


@click.command(epilog=EXAMPLE)
@click.argument("name", required=False, metavar="[SESSION]", shell_complete=complete_session)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="A file; stdout if not given."
)
@click.option("--source", default="", help="One of the session's further files.")
@project_option
@json_option
@click.pass_context
def export(
    ctx: click.Context,
    name: str | None,
    output: Path | None,
    source: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Give a session's bytes back exactly as they came."""
    session = project_of(ctx, root).session(name)
    sources = sources_of(session.ledger)
    if source not in sources:
        raise NotRecorded("source", source, where=f"session {session.name!r}")
    if as_json and output is None:
        raise click.UsageError("--json reports on a file: give --output as well")
    size = 0
    try:
        with output.open("wb") if output else nullcontext(sys.stdout.buffer) as stream:
            for chunk in exported(session.ledger, source):
                size += stream.write(chunk)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise Unreadable(str(output), reason_of(error)) from None
    others = [other for other in sources if other != source]
    if as_json:
        report = {"session": session.name, "path": str(output), "bytes": size, "sources": others}
        print_json("export", report)
    elif others:
        echo(f"holdfast: further files of this session: {', '.join(others)}", err=True)
