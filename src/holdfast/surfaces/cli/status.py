"""`holdfast status`: how full a session's window is, and where the tokens went."""

import sys
from collections.abc import Callable
from time import sleep
from typing import NoReturn

import click
import msgspec
from msgspec.structs import asdict, replace

from holdfast.core.plan.policy import Plain
from holdfast.core.view.conversation import bar
from holdfast.core.view.status import Report, faults_noted, render
from holdfast.surfaces.cli.options import (
    complete_session,
    json_option,
    project_of,
    project_option,
)
from holdfast.surfaces.cli.output import (
    COLOURS,
    columns,
    echo,
    for_a_person,
    plain,
    print_json,
    short,
    styled,
)
from holdfast.surfaces.status import now_in, report_of

EXAMPLE = """\b
Examples:
  holdfast status                          the newest session of this project
  holdfast status --session 3ae3 --json
  holdfast status --window 200000          as if the model had that window
  holdfast status --watch                  while the agent works, until you stop it"""
SHOWN_SHARES = 8
EVERY = 2.0
"""Seconds between two looks at a session that is watched."""


@click.command(epilog=EXAMPLE)
@click.option("--session", "name", shell_complete=complete_session, help="Name or its beginning.")
@click.option("--agent", default="", help="A sub-agent, whose window is its own.")
@click.option("--model", help="The agent's model; found in the session when not given.")
@click.option("--window", type=click.IntRange(min=1), help="The model's window in tokens.")
@click.option("--report", is_flag=True, help="The Markdown report, on a terminal too.")
@click.option("--watch", is_flag=True, help="Look again and again, until you stop it.")
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=EVERY,
    show_default=True,
    help="With --watch: seconds between two looks.",
)
@project_option
@json_option
@click.pass_context
def status(
    ctx: click.Context,
    name: str | None,
    agent: str,
    model: str | None,
    window: int | None,
    report: bool,
    watch: bool,
    every: float,
    root: str | None,
    as_json: bool,
) -> None:
    """Show how full a session's window is, what was saved, and where the tokens are.

    With --watch it is shown again whenever something has changed: on a terminal in the same place,
    with --json as one document a line.
    """
    flags: dict[str, Plain] = {"model": model or "", "window": window or 0}

    def look() -> Report:
        project = project_of(ctx, root, flags)
        try:
            session = project.session(name, agent)
            return report_of(session, now_in(project.settings.policy.timezone))
        finally:
            project.close()

    if watch:
        _watch(look, every, as_json=as_json)
    made = look()
    if as_json:
        print_json("status", _document(made))
    else:
        echo(_shown(made, as_report=report))


def _shown(made: Report, *, as_report: bool = False) -> str:
    if for_a_person() and not as_report:
        return _picture(made)
    return "\n".join(plain(line) for line in render(made).split("\n"))


def _watch(look: Callable[[], Report], every: float, *, as_json: bool) -> NoReturn:
    """Show what has changed, until somebody stops it."""
    last: Report | None = None
    while True:
        made = look()
        if last is None or replace(made, at=last.at) != last:
            last = made
            _show_again(made, as_json=as_json)
        sleep(every)


def _show_again(made: Report, *, as_json: bool) -> None:
    if as_json:
        whole = {"schema": "holdfast.status/1", **_document(made)}
        click.echo(msgspec.json.encode(whole).decode())
    else:
        if for_a_person():
            click.clear()
        echo(_shown(made))
    sys.stdout.flush()


def _document(report: Report) -> dict[str, object]:
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


def _picture(report: Report) -> str:
    usage = report.usage
    colour, wide = COLOURS[usage.level.value], min(columns() - 4, 72)
    filled = bar(usage.tokens, usage.limit, wide)
    gauge = styled(filled, colour=colour) + styled("░" * (wide - len(filled)), dim=True)
    lines = [
        f"{styled(plain(report.session), bold=True)}   {report.turns} turns, {report.steps} steps",
        "",
        f"  {gauge}",
        f"  {styled(usage.level.value, colour=colour, bold=True)}  {usage.percent()}   "
        f"{usage.tokens:,} of {usage.limit:,} tokens ({usage.how})   {usage.action}",
        "",
        *_shares(report),
        *(f"  {styled('note', colour='yellow')} {warning}" for warning in report.warnings),
    ]
    if report.faults:
        lines.append(f"  {styled('note', colour='yellow')} {faults_noted(report.faults)}")
    saved = sum(one.saved for one in report.savings)
    if report.savings:
        many = "" if len(report.savings) == 1 else "s"
        lines.append(f"  {len(report.savings)} compression{many}, {saved:,} tokens saved")
    return "\n".join(lines).rstrip()


def _shares(report: Report) -> list[str]:
    rows = [(share.what, share.count, share.tokens) for share in report.shares[:SHOWN_SHARES]]
    rest = report.shares[SHOWN_SHARES:]
    if rest:
        rows.append(
            (f"{len(rest)} more kinds", sum(s.count for s in rest), sum(s.tokens for s in rest))
        )
    if report.overhead:
        rows.append(("system prompt, tools", 0, report.overhead))
    largest = max((tokens for _, _, tokens in rows), default=1)
    return [
        f"  {plain(what):28.28} {count or '':>5} {short(tokens):>7}  "
        + styled(bar(tokens, largest, 24), colour="cyan")
        for what, count, tokens in rows
    ]
