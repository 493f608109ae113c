"""`holdfast export`: write the original bytes of a session."""

import sys
from contextlib import nullcontext
from pathlib import Path

import click

from holdfast.errors import NotRecorded, Unreadable
from holdfast.surfaces.cli.options import Selection, complete_session, project_options
from holdfast.surfaces.cli.output import echo, print_json
from holdfast.transcripts.export import document_names, export_document
from holdfast.transcripts.open import error_reason

EXAMPLE = """\b
Examples:
  holdfast export > session.jsonl             the newest session
  holdfast export 3ae3ab59 -o session.jsonl
  holdfast export 3ae3ab59 --source agent-a1  the file of a sub-agent"""


@click.command(epilog=EXAMPLE)
@click.argument("name", required=False, metavar="[SESSION]", shell_complete=complete_session)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="File to write; default: stdout."
)
@click.option(
    "--source", default="", help="Write another file of the session, such as a sub-agent's."
)
@project_options
def export(
    selection: Selection, name: str | None, output: Path | None, source: str, as_json: bool
) -> None:
    """Write the original bytes of SESSION, or of the newest session."""
    session = selection.project.session(name)
    sources = document_names(session.ledger)
    if source not in sources:
        raise NotRecorded("source", source, where=f"session {session.name!r}")
    if as_json and output is None:
        raise click.UsageError("--json reports on a file: give --output as well")
    size = 0
    try:
        with output.open("wb") if output else nullcontext(sys.stdout.buffer) as stream:
            for chunk in export_document(session.ledger, source):
                size += stream.write(chunk)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise Unreadable(str(output), error_reason(error)) from None
    others = [other for other in sources if other != source]
    if as_json:
        report = {"session": session.name, "path": str(output), "bytes": size, "sources": others}
        print_json("export", report)
    elif others:
        echo(f"holdfast: further files of this session: {', '.join(others)}", err=True)
