"""`holdfast context stats`: show statistics of packets and task results, before and after."""

from datetime import datetime

import click

from holdfast.core.view.packet_stats.report import render_stats, stats_document
from holdfast.engine.redact import Redactor
from holdfast.packets.stats import compare_around, efficiency_of, records_in
from holdfast.packets.tuning import read_tunings
from holdfast.surfaces.cli.options import Selection, project_options
from holdfast.surfaces.cli.output import page, print_json, sanitize_lines

EXAMPLE = """\b
Examples:
  holdfast context stats
  holdfast context stats --since 2026-03-01        compare before and after that day"""


def _check_time(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Check that `--since` is a date or a time."""
    try:
        if value:
            datetime.fromisoformat(value)
    except ValueError:
        problem = f"{value!r} is no moment such as 2026-03-01 or 2026-03-01T12:00:00Z"
        raise click.BadParameter(problem, ctx, param) from None
    return value


@click.command(epilog=EXAMPLE)
@click.option(
    "--since",
    default="",
    callback=_check_time,
    metavar="MOMENT",
    help="Compare before and after this time; default: the newest tuning, else packet or none.",
)
@project_options
def stats(selection: Selection, since: str, as_json: bool) -> None:
    """Show average context size, worker success rate, top context gaps, and what follows.

    For each type of task: the smallest sufficient context, context that is usually unused, and gaps
    that go with failures. Shares have confidence bounds; "not enough yet" means too few tasks.
    Then the five measures of success, before and after.
    """
    project = selection.project
    redactor = Redactor(project.settings.policy.redact)
    store = project.session(None).store
    records = records_in(store, redactor, read_tunings(project.root))
    statistics = efficiency_of(records)
    parted, found = compare_around(records, since=since)
    if as_json:
        print_json("context.stats", stats_document(statistics, parted, found))
    else:
        page(sanitize_lines(render_stats(statistics, parted, found)))
