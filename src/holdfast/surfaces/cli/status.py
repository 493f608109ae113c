"""`holdfast status`: show how full a session's window is and what uses the tokens."""

import sys
from collections.abc import Callable
from time import sleep
from typing import NoReturn

import click
import msgspec
from msgspec.structs import asdict, replace

from holdfast.core.view.conversation import bar
from holdfast.core.view.status import StatusReport, describe_faults, render_status
from holdfast.surfaces.cli.options import Selection, project_options, session_option
from holdfast.surfaces.cli.output import (
    COLOURS,
    columns,
    echo,
    is_interactive,
    print_json,
    sanitize,
    short_count,
    styled,
)
from holdfast.surfaces.status import current_time, status_report

EXAMPLE = """\b
Examples:
  holdfast status                          the newest session of this project
  holdfast status --session 3ae3 --json
  holdfast status --window 200000          assume a window of this size
  holdfast status --watch                  update until you stop it"""
MAX_SHARES_SHOWN = 8
WATCH_SECONDS = 2.0
"""Default number of seconds between two updates of --watch."""


@click.command(epilog=EXAMPLE)
@session_option
@click.option("--model", help="The agent's model; default: the session's.")
@click.option("--window", type=click.IntRange(min=1), help="Size of the model's window in tokens.")
@click.option("--report", is_flag=True, help="Print the Markdown report also on a terminal.")
@click.option(
    "--watch", is_flag=True, help="Print again whenever something changes, until you stop it."
)
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=WATCH_SECONDS,
    show_default=True,
    help="With --watch: seconds between two checks.",
)
@project_options
def status(selection: Selection, report: bool, watch: bool, every: float, as_json: bool) -> None:
    """Show how full a session's window is, what uses the tokens, and how many were saved.

    With --watch, the status is printed again whenever it changes: on a terminal in place, with
    --json as one document per line.
    """

    def read_report() -> StatusReport:
        project = selection.open_project()
        try:
            session = project.session(selection.name, selection.agent)
            return status_report(session, current_time(project.settings.policy.timezone))
        finally:
            project.close()

    if watch:
        _watch(read_report, every, as_json=as_json)
    current = read_report()
    if as_json:
        print_json("status", _document(current))
    else:
        echo(_render(current, as_report=report))


def _render(report: StatusReport, *, as_report: bool = False) -> str:
    if is_interactive() and not as_report:
        return _render_for_terminal(report)
    return "\n".join(sanitize(line) for line in render_status(report).split("\n"))


def _watch(read_report: Callable[[], StatusReport], every: float, *, as_json: bool) -> NoReturn:
    """Print the status whenever it changes; runs until it is interrupted."""
    last: StatusReport | None = None
    while True:
        report = read_report()
        if last is None or replace(report, at=last.at) != last:
            last = report
            _print_update(report, as_json=as_json)
        sleep(every)


def _print_update(report: StatusReport, *, as_json: bool) -> None:
    if as_json:
        whole = {"schema": "holdfast.status/1", **_document(report)}
        click.echo(msgspec.json.encode(whole).decode())
    else:
        if is_interactive():
            click.clear()
        echo(_render(report))
    sys.stdout.flush()


def _document(report: StatusReport) -> dict[str, object]:
    usage = report.usage
    return {
        **asdict(report),
        "usage": {
            "tokens": usage.tokens,
            "limit": usage.limit,
            "fraction": round(usage.fraction, 4),
            "method": usage.method,
        },
        "level": usage.level.value,
        "action": usage.action,
    }


def _render_for_terminal(report: StatusReport) -> str:
    usage = report.usage
    colour, width = COLOURS[usage.level.value], min(columns() - 4, 72)
    filled = bar(usage.tokens, usage.limit, width)
    gauge = styled(filled, colour=colour) + styled("░" * (width - len(filled)), dim=True)
    name = styled(sanitize(report.session), bold=True)
    lines = [
        f"{name}   {report.turns} turns, {report.steps} steps",
        "",
        f"  {gauge}",
        f"  {styled(usage.level.value, colour=colour, bold=True)}  {usage.percent()}   "
        f"{usage.tokens:,} of {usage.limit:,} tokens ({usage.how})   {usage.action}",
        "",
        *_shares(report),
        *(f"  {styled('note', colour='yellow')} {warning}" for warning in report.warnings),
    ]
    if report.faults:
        lines.append(f"  {styled('note', colour='yellow')} {describe_faults(report.faults)}")
    saved = sum(saving.saved for saving in report.savings)
    if report.savings:
        many = "" if len(report.savings) == 1 else "s"
        lines.append(f"  {len(report.savings)} compression{many}, {saved:,} tokens saved")
    return "\n".join(lines).rstrip()


def _shares(report: StatusReport) -> list[str]:
    rows = [(share.what, share.count, share.tokens) for share in report.shares[:MAX_SHARES_SHOWN]]
    rest = report.shares[MAX_SHARES_SHOWN:]
    if rest:
        rows.append(
            (f"{len(rest)} more kinds", sum(s.count for s in rest), sum(s.tokens for s in rest))
        )
    if report.overhead:
        rows.append(("system prompt, tools", 0, report.overhead))
    largest = max((tokens for _, _, tokens in rows), default=1)
    return [
        f"  {sanitize(what):28.28} {count or '':>5} {short_count(tokens):>7}  "
        + styled(bar(tokens, largest, 24), colour="cyan")
        for what, count, tokens in rows
    ]
