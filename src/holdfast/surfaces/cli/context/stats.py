"""`holdfast context stats`: what packets were worth, and whether they got better."""

from datetime import datetime

import click

from holdfast.core.view.packet_stats.report import render_stats, stats_document
from holdfast.engine.redact import Redactor
from holdfast.packets.stats import compared, learned, records_in
from holdfast.packets.tuning import tunings_in
from holdfast.surfaces.cli.options import json_option, project_of, project_option
from holdfast.surfaces.cli.output import page, plain_lines, print_json

EXAMPLE = """\b
Examples:
  holdfast context stats
  holdfast context stats --since 2026-03-01        five measures before and after that day"""


def _moment(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """A day or a moment, as it was given."""
    try:
        if value:
            datetime.fromisoformat(value)
    except ValueError:
        told = f"{value!r} is no moment such as 2026-03-01 or 2026-03-01T12:00:00Z"
        raise click.BadParameter(told, ctx, param) from None
    return value


@click.command(epilog=EXAMPLE)
@click.option(
    "--since",
    default="",
    callback=_moment,
    metavar="MOMENT",
    help="Where before ends and after begins; else the newest tuning, or having a packet.",
)
@project_option
@json_option
@click.pass_context
def stats(ctx: click.Context, since: str, root: str | None, as_json: bool) -> None:
    """Show average context size, worker success rate and top context gaps, then what they mean.

    By kind of task: how little context was enough, what is usually unused, which gaps go with
    failures; each share with its bounds, and "not enough yet" where too few tasks tell. Then the
    five measures of success, before and after.
    """
    project = project_of(ctx, root)
    redactor = Redactor(project.settings.policy.redact)
    store = project.session(None).store
    records = records_in(store, redactor, tunings_in(project.root))
    known = learned(records)
    parted, found = compared(records, since=since)
    if as_json:
        print_json("context.stats", stats_document(known, parted, found))
    else:
        page(plain_lines(render_stats(known, parted, found)))
