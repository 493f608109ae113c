"""`holdfast context generate`: create a packet for a task."""

from pathlib import Path

import click

from holdfast.core.ledger.packet import SHARED
from holdfast.core.view.packet.layers import DEPTHS, SAME
from holdfast.packets.codebase import read_text_files
from holdfast.packets.questions import project_decisions
from holdfast.packets.records import audience_of
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.surfaces.cli.context.options import (
    format_option,
    packet_line,
    packet_with_state,
    pane_option,
    parse_layers,
    render_packet,
)
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize, sanitize_for_terminal
from holdfast.surfaces.cli.stdin import read_stdin
from holdfast.surfaces.handoff import packet_for
from holdfast.transcripts.ingest import ingest

MAX_TASK_BYTES = 1024 * 1024
"""Largest task that is read from stdin."""
EXAMPLE = """\b
Examples:
  holdfast context generate "Add JWT auth" --depth standard
  holdfast context generate "Add JWT auth" --pane 1 --scan
  holdfast context generate - --from session.jsonl < task.md
  holdfast context generate --shared               a packet for all workers"""


@click.command(epilog=EXAMPLE)
@click.argument("task", required=False)
@click.option(
    "--depth",
    type=click.Choice([*DEPTHS, *SAME]),
    help="How much context; `auto` decides by the task.",
)
@click.option("--layers", metavar="1,3", help="Include only these layers, at any depth.")
@click.option("--budget", type=click.IntRange(min=1), help="Maximum tokens; default: by depth.")
@pane_option
@click.option("--shared", is_flag=True, help="Create the packet for all workers; TASK is optional.")
@click.option(
    "--from",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Use this session file, in any known format.",
)
@click.option("--scan", "scanned", is_flag=True, help="Include facts about the repository.")
@click.option(
    "--continues", default="", metavar="SESSION", help="Session whose work the task continues."
)
@format_option
@session_options
def generate(
    selection: Selection,
    task: str | None,
    depth: str | None,
    layers: str | None,
    budget: int | None,
    pane: str | None,
    shared: bool,
    file: Path | None,
    scanned: bool,
    continues: str,
    form: str | None,
    as_json: bool,
) -> None:
    """Create a packet for TASK (`-` for stdin) from the content of a session.

    With --pane, the packet is recorded and written to the file that the worker reads. Constraints
    are included word for word; tool output never becomes a constraint.
    """
    if shared and pane is not None:
        raise click.UsageError("--shared is for every worker, --pane for one")
    words = read_stdin(MAX_TASK_BYTES).decode("utf-8", "replace") if task == "-" else task or ""
    if not words.strip() and not shared:
        raise click.UsageError("TASK is empty: say what the worker should do")
    project = selection.project
    if continues:
        continues = project.session(continues).name
    audience = SHARED if shared else audience_of(pane)
    session = _source_session(selection, file, record=bool(audience))
    record = packet_for(
        session,
        project_decisions(session.ledger),
        words,
        depth or "",
        layers=parse_layers(layers) or ((1, 2, 3) if shared else ()),
        budget=budget or 0,
        audience=audience,
        codebase=read_text_files(project.root) if scanned else None,
        continues=continues,
    )
    if as_json:
        print_json("context.generate", packet_with_state(session, record))
        return
    echo(sanitize_for_terminal(render_packet(record.packet, form or "yaml")))
    echo(sanitize(f"holdfast: {packet_line(session, record)}"), err=True)


def _source_session(selection: Selection, file: Path | None, *, record: bool) -> Session:
    """Return the session that the packet is made from: in the ledger, or of a file."""
    if file is None:
        return selection.session()
    project, name, agent = selection.project, selection.name or "", selection.agent
    policy = project.settings.policy
    if record:
        done = ingest(file, project.store, session=name, policy=policy)
        return project.session(done.session, agent)
    store = MemoryStore()
    done = ingest(file, store, session=name, policy=policy)
    return Session(done.session, store, policy=policy, agent=agent)
