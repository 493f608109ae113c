"""`holdfast context feedback`: record a worker's report on its packet, or list all reports."""

import os
from pathlib import Path
from typing import cast

import click
from msgspec import to_builtins
from msgspec.structs import replace

from holdfast.core.ledger.packet import Feedback, Outcome
from holdfast.errors import BadFeedback
from holdfast.packets.feedback import (
    MAX_FEEDBACK_BYTES,
    MORE,
    REFRESH,
    WorkerRequest,
    ask_for_more,
    collect_feedback,
    feedback_file,
    open_requests,
    parse_feedback,
    record_feedback,
    recorded_feedback,
    unreported,
    write_feedback,
)
from holdfast.packets.records import audience_of, packet_records, unread_packets
from holdfast.project.regular_files import read_regular
from holdfast.session.session import Session
from holdfast.surfaces.cli.context.options import pane_option, session_for
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import echo, page, print_json, sanitize_lines
from holdfast.surfaces.cli.stdin import read_stdin

EXAMPLE = """\b
Examples:
  holdfast context feedback --pane 1 --outcome done --gap "testing approach"
  holdfast context feedback --pane 1 --file report.md     YAML, front matter or Markdown
  holdfast context feedback --pane 1 --escalate "nothing says which API to call"
  holdfast context feedback --collect                     read the feedback files of workers
  holdfast context feedback                               list reports and open requests"""


@click.command(epilog=EXAMPLE)
@pane_option
@click.option("--gap", "gaps", multiple=True, help="Context that was missing; repeatable.")
@click.option("--unused", multiple=True, help="Context that you did not use; repeatable.")
@click.option(
    "--explored", multiple=True, help="Known context that you had to look up; repeatable."
)
@click.option(
    "--outcome", type=click.Choice(["done", "blocked", "failed"]), help="Result of the task."
)
@click.option("--tokens", type=click.IntRange(min=0), default=0, help="Tokens used for the task.")
@click.option(
    "--type", "task_type", default="", help="Type of the task, to correct the detected one."
)
@click.option("--note", default="", help="Any other remark.")
@click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help="Read the report from a file; `-` for stdin.",
)
@click.option(
    "--escalate", metavar="WHY", help="Ask for more context than the packet has, with the reason."
)
@click.option("--refresh", is_flag=True, help="Ask for an updated packet.")
@click.option("--collect", "collecting", is_flag=True, help="Read all feedback files of workers.")
@session_options
def feedback(
    selection: Selection,
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
    as_json: bool,
) -> None:
    """Report on your packet as its worker, or list the reports of all workers.

    A worker reports missing and unused context and the result of its task. The report is recorded
    with the packet and written to feedback/pane-N.md. Without report options, the recorded reports,
    unread packets and open requests of workers are listed.
    """
    audience = audience_of(pane, os.environ)
    session = session_for(selection, audience)
    given = Feedback(
        gaps=gaps,
        unused=unused,
        outcome=cast(Outcome, outcome or ""),
        tokens_used=tokens,
        task_type=task_type,
        explored=explored,
        note=note,
    )
    has_request = escalate is not None or refresh
    has_report = given != Feedback() or file is not None
    if (has_report or has_request) and not audience:
        raise click.UsageError("say which worker you are: --pane, or HOLDFAST_PANE")
    if collecting and (has_report or has_request):
        raise click.UsageError("--collect reads files of others; it takes no report")
    if has_request:
        kind = REFRESH if refresh and escalate is None else MORE
        _print_request(
            ask_for_more(session.ledger, audience, kind=kind, why=escalate or ""), as_json
        )
    if has_report:
        _record_feedback(session, replace(_merge_file(given, file), pane=audience), as_json)
    elif not has_request:
        _show(session, as_json, collecting=collecting)


def _merge_file(from_options: Feedback, file: Path | None) -> Feedback:
    """Merge the report of the options with that of a file; options win."""
    if file is None:
        return from_options
    from_file = parse_feedback(_text(file), str(file))
    options = {
        name: getattr(from_options, name)
        for name in from_options.__struct_fields__
        if getattr(from_options, name)
    }
    return replace(from_file, **options)


def _text(file: Path) -> str:
    """Read a report from stdin or from a file.

    Raises:
        BadFeedback: the file is not regular, is too large, or cannot be read.
    """
    if str(file) == "-":
        return read_stdin(MAX_FEEDBACK_BYTES).decode("utf-8", "replace")
    try:
        return read_regular(file, MAX_FEEDBACK_BYTES, links=True).decode("utf-8", "replace")
    except OSError as error:
        raise BadFeedback(str(file), (error.strerror or "it cannot be read").lower()) from None


def _record_feedback(session: Session, given: Feedback, as_json: bool) -> None:
    file = write_feedback(session.ledger, given)
    entry = record_feedback(session.ledger, given, file=file)
    if as_json:
        ref = entry.id[:12] if entry else ""
        print_json(
            "context.feedback",
            {"session": session.name, "ref": ref, "file": file, "feedback": to_builtins(given)},
        )
        return
    where = f"put on record in {session.name}" if entry else "not recorded: packets.track is off"
    gaps = f"gaps: {len(given.gaps)}" if given.gaps else "no context gaps"
    echo(sanitize_lines(f"{given.pane}: {given.outcome or 'no outcome'}, {gaps}; {where}"))


def _print_request(request: WorkerRequest, as_json: bool) -> None:
    if as_json:
        print_json("context.feedback", {"wanted": to_builtins(request)})
        return
    what = "a newer packet" if request.kind == REFRESH else "more than its packet"
    echo(sanitize_lines(f"{request.pane} asks for {what}; `holdfast context push` hands one over"))


def _show(session: Session, as_json: bool, *, collecting: bool) -> None:
    collected = collect_feedback(session.ledger) if collecting else []
    on_record, requests = recorded_feedback(session.ledger), open_requests(session.ledger)
    waiting, quiet = unread_packets(session.ledger), unreported(packet_records(session.ledger))
    if as_json:
        print_json(
            "context.feedback",
            {
                "session": session.name,
                "collected": to_builtins(collected),
                "reports": [to_builtins(worker_report) for _, worker_report in on_record],
                "unread": [record.packet.audience for record in waiting],
                "unreported": [record.packet.audience for record in quiet],
                "wanted": to_builtins(requests),
            },
        )
        return
    lines = [f"{'new' if file.new else file.flaw or 'known'}: {file.file}" for file in collected]
    for entry, worker_report in on_record:
        when = f" {entry.at}" if entry.at else ""
        lines.append(f"{worker_report.pane or '-'}{when}: {worker_report.outcome or 'no outcome'}")
        lines += [f"  gap: {gap}" for gap in worker_report.gaps]
        lines += [f"  unused: {part}" for part in worker_report.unused]
        lines += [f"  {worker_report.note}"] if worker_report.note else []
    layout = session.policy.layout
    lines += [
        f"not read yet: {record.packet.audience} v{record.packet.revision}; tell the worker:"
        f" Read your context packet first: {record.file}"
        for record in waiting
    ]
    lines += [
        f"no report yet: {record.packet.audience}; it writes to"
        f" {feedback_file(record.packet.audience, layout)}"
        for record in quiet
    ]
    lines += [
        f"{request.pane} asks for {request.kind}: {request.why or 'no reason given'}"
        for request in requests
    ]
    page(sanitize_lines("\n".join(lines or ["Nothing was reported yet."])))
