"""`holdfast context generate`: make a packet for a task."""

from pathlib import Path

import click

from holdfast.core.ledger.packet import SHARED
from holdfast.core.view.packet.layers import DEPTHS, SAME
from holdfast.packets.codebase import scan
from holdfast.packets.questions import settled_for
from holdfast.packets.records import audience_of
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.surfaces.cli.context.options import (
    about,
    document,
    format_option,
    layers_of,
    pane_option,
    shown,
)
from holdfast.surfaces.cli.options import (
    Project,
    json_option,
    project_of,
    project_option,
    session_option,
)
from holdfast.surfaces.cli.output import echo, exact, plain, print_json
from holdfast.surfaces.cli.stdin import heard
from holdfast.surfaces.handoff import packet_for
from holdfast.transcripts.ingest import ingest

LONGEST = 1024 * 1024
"""Bytes of a task that is read from stdin."""
EXAMPLE = """\b
Examples:
  holdfast context generate "Add JWT auth" --depth standard
  holdfast context generate "Add JWT auth" --pane 1 --scan
  holdfast context generate - --from session.jsonl < task.md
  holdfast context generate --shared               what every worker should know"""


@click.command(epilog=EXAMPLE)
@click.argument("task", required=False)
@click.option("--depth", type=click.Choice([*DEPTHS, *SAME]), help="How much; `auto` decides.")
@click.option("--layers", metavar="1,3", help="Some layers only, whatever the depth.")
@click.option("--budget", type=click.IntRange(min=1), help="Tokens; else what the depth allows.")
@pane_option
@click.option("--shared", is_flag=True, help="For every worker of the project; needs no TASK.")
@click.option(
    "--from",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Draw it from this session file, of any format.",
)
@click.option("--scan", "scanned", is_flag=True, help="Look through the repository as well.")
@click.option("--continues", default="", metavar="SESSION", help="A session whose work goes on.")
@format_option
@session_option
@project_option
@json_option
@click.pass_context
def generate(
    ctx: click.Context,
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
    name: str | None,
    agent: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Make a packet for TASK (`-` reads it) from what a session came to.

    With --pane it is put on record, and its file is written for the worker to read. Constraints
    stand in it word for word; nothing that a tool printed becomes one.
    """
    if shared and pane is not None:
        raise click.UsageError("--shared is for every worker, --pane for one")
    words = heard(LONGEST).decode("utf-8", "replace") if task == "-" else task or ""
    if not words.strip() and not shared:
        raise click.UsageError("say what the worker is to do: TASK is empty")
    project = project_of(ctx, root)
    if continues:
        continues = project.session(continues).name
    audience = SHARED if shared else audience_of(pane)
    session = _session(project, file, name, agent, record=bool(audience))
    one = packet_for(
        session,
        settled_for(session.ledger),
        words,
        depth or "",
        layers=layers_of(layers) or ((1, 2, 3) if shared else ()),
        budget=budget or 0,
        audience=audience,
        codebase=scan(project.root) if scanned else None,
        continues=continues,
    )
    if as_json:
        print_json("context.generate", document(session, one))
        return
    echo(exact(shown(one.packet, form or "yaml")))
    echo(plain(f"holdfast: {about(session, one)}"), err=True)


def _session(
    project: Project, file: Path | None, name: str | None, agent: str, *, record: bool
) -> Session:
    """The session that a packet is drawn from: one of the ledger, or a file's."""
    if file is None:
        return project.session(name, agent)
    policy = project.settings.policy
    if record:
        done = ingest(file, project.store, session=name or "", policy=policy)
        return project.session(done.session, agent)
    store = MemoryStore()
    done = ingest(file, store, session=name or "", policy=policy)
    return Session(done.session, store, policy=policy, agent=agent)
