"""`holdfast context feedback`: a worker says what was missing; the orchestrator sees it."""

import os
from pathlib import Path
from typing import cast

import click
from msgspec import to_builtins
from msgspec.structs import replace

from holdfast.core.ledger.packet import Feedback, Outcome
from holdfast.errors import BadFeedback
from holdfast.packets.feedback import (
    LARGEST,
    MORE,
    REFRESH,
    Wanted,
    ask_for_more,
    collect,
    feedback_file,
    parsed,
    report,
    reports,
    silent,
    wanted,
    write_feedback,
)
from holdfast.packets.records import audience_of, handed, unread
from holdfast.project.regular_files import read_regular
from holdfast.session.session import Session
from holdfast.surfaces.cli.context.options import pane_option, session_for
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.output import echo, page, plain_lines, print_json
from holdfast.surfaces.cli.stdin import heard

EXAMPLE = """\b
Examples:
  holdfast context feedback --pane 1 --outcome done --gap "testing approach"
  holdfast context feedback --pane 1 --file report.md     YAML, front matter or Markdown
  holdfast context feedback --pane 1 --escalate "nothing says which API to call"
  holdfast context feedback --collect                     read what workers wrote to files
  holdfast context feedback                               what was reported, what is missing"""


@click.command(epilog=EXAMPLE)
@pane_option
@click.option("--gap", "gaps", multiple=True, help="What you needed and did not have.")
@click.option("--unused", multiple=True, help="What you were given and did not need.")
@click.option("--explored", multiple=True, help="What you had to look up although it was known.")
@click.option("--outcome", type=click.Choice(["done", "blocked", "failed"]), help="How it ended.")
@click.option("--tokens", type=click.IntRange(min=0), default=0, help="Tokens the task took.")
@click.option("--type", "task_type", default="", help="The kind of task, if the rule is wrong.")
@click.option("--note", default="", help="Anything else.")
@click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help="Read all of it from a file; `-` for what is typed.",
)
@click.option("--escalate", metavar="WHY", help="Your packet is not enough: say what is missing.")
@click.option("--refresh", is_flag=True, help="Your packet is old: ask for a newer one.")
@click.option("--collect", "collecting", is_flag=True, help="Read every file of feedback.")
@session_option
@project_option
@json_option
@click.pass_context
def feedback(
    ctx: click.Context,
    pane: str | None,
    gaps: tuple[str, ...],
    unused: tuple[str, ...],
    explored: tuple[str, ...],
    outcome: str | None,
    tokens: int,
    task_type: str,
    note: str,
    file: Path | None,
    escalate: str | None,
    refresh: bool,
    collecting: bool,
    name: str | None,
    agent: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Report on your packet as its worker, or see what workers reported.

    A worker tells gaps, what it did not need, and how its task ended; it is put on record with the
    packet and written to feedback/pane-N.md. Without anything to tell, what is on record is shown:
    reports, packets that nobody read, and what workers asked for.
    """
    audience = audience_of(pane, os.environ)
    project = project_of(ctx, root)
    session = session_for(project, name, agent, audience)
    told = Feedback(
        gaps=gaps,
        unused=unused,
        outcome=cast(Outcome, outcome or ""),
        tokens_used=tokens,
        task_type=task_type,
        explored=explored,
        note=note,
    )
    asks = escalate is not None or refresh
    tells = told != Feedback() or file is not None
    if (tells or asks) and not audience:
        raise click.UsageError("say which worker you are: --pane, or HOLDFAST_PANE")
    if collecting and (tells or asks):
        raise click.UsageError("--collect reads files of others; it takes no report")
    if asks:
        kind = REFRESH if refresh and escalate is None else MORE
        _asked(ask_for_more(session.ledger, audience, kind=kind, why=escalate or ""), as_json)
    if tells:
        _tell(session, replace(_merged(told, file), pane=audience), as_json)
    elif not asks:
        _show(session, as_json, collecting=collecting)


def _merged(told: Feedback, file: Path | None) -> Feedback:
    """What the options say, over what the file says."""
    if file is None:
        return told
    said = parsed(_text(file), str(file))
    given = {name: getattr(told, name) for name in told.__struct_fields__ if getattr(told, name)}
    return replace(said, **given)


def _text(file: Path) -> str:
    """The words of a report, read from stdin or from a file that the user names.

    Raises:
        BadFeedback: it is no regular file, too large, or cannot be read.
    """
    if str(file) == "-":
        return heard(LARGEST).decode("utf-8", "replace")
    try:
        return read_regular(file, LARGEST, links=True).decode("utf-8", "replace")
    except OSError as error:
        raise BadFeedback(str(file), (error.strerror or "it cannot be read").lower()) from None


def _tell(session: Session, told: Feedback, as_json: bool) -> None:
    file = write_feedback(session.ledger, told)
    entry = report(session.ledger, told, file=file)
    if as_json:
        ref = entry.id[:12] if entry else ""
        print_json(
            "context.feedback",
            {"session": session.name, "ref": ref, "file": file, "feedback": to_builtins(told)},
        )
        return
    kept = f"put on record in {session.name}" if entry else "not recorded: packets.track is off"
    gaps = f"gaps: {len(told.gaps)}" if told.gaps else "no context gaps"
    echo(plain_lines(f"{told.pane}: {told.outcome or 'no outcome'}, {gaps}; {kept}"))


def _asked(made: Wanted, as_json: bool) -> None:
    if as_json:
        print_json("context.feedback", {"wanted": to_builtins(made)})
        return
    what = "a newer packet" if made.kind == REFRESH else "more than its packet"
    echo(plain_lines(f"{made.pane} asks for {what}; `holdfast context push` hands one over"))


def _show(session: Session, as_json: bool, *, collecting: bool) -> None:
    found = collect(session.ledger) if collecting else []
    told, asked = reports(session.ledger), wanted(session.ledger)
    waiting, quiet = unread(session.ledger), silent(handed(session.ledger))
    if as_json:
        print_json(
            "context.feedback",
            {
                "session": session.name,
                "collected": to_builtins(found),
                "reports": [to_builtins(one) for _, one in told],
                "unread": [one.packet.audience for one in waiting],
                "unreported": [one.packet.audience for one in quiet],
                "wanted": to_builtins(asked),
            },
        )
        return
    lines = [f"{'new' if one.new else one.flaw or 'known'}: {one.file}" for one in found]
    for entry, one in told:
        when = f" {entry.at}" if entry.at else ""
        lines.append(f"{one.pane or '-'}{when}: {one.outcome or 'no outcome'}")
        lines += [f"  gap: {gap}" for gap in one.gaps]
        lines += [f"  unused: {part}" for part in one.unused]
        lines += [f"  {one.note}"] if one.note else []
    layout = session.policy.layout
    lines += [
        f"not read yet: {one.packet.audience} v{one.packet.revision}; tell the worker:"
        f" Read your context packet first: {one.file}"
        for one in waiting
    ]
    lines += [
        f"no report yet: {one.packet.audience}; it writes to"
        f" {feedback_file(one.packet.audience, layout)}"
        for one in quiet
    ]
    lines += [f"{one.pane} asks for {one.kind}: {one.why or 'no reason given'}" for one in asked]
    page(plain_lines("\n".join(lines or ["Nothing was reported yet."])))
