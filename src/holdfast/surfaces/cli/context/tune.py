"""`holdfast context tune`: adjust depth, budget and order of packets to workers' reports."""

import click
from msgspec import to_builtins

from holdfast.core.ledger.packet_tuning import Recommendation, Tunings
from holdfast.core.view.packet_stats.recommend import (
    is_same_recommendation,
    recommend,
    render_recommendation,
)
from holdfast.engine.redact import Redactor
from holdfast.packets.stats import efficiency_of, records_in
from holdfast.packets.tuning import TUNING_FILE, apply_recommendation, read_tunings
from holdfast.packets.tuning import undo_recommendation as take_back
from holdfast.surfaces.cli.options import Selection, project_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize_lines

EXAMPLE = """\b
Examples:
  holdfast context tune --dry-run                  show the recommendation and its reasons
  holdfast context tune                            apply it as the next version
  holdfast context tune --undo"""


@click.command(epilog=EXAMPLE)
@click.option("--dry-run", is_flag=True, help="Show the recommendation; change nothing.")
@click.option("--undo", is_flag=True, help="Return to the previous version.")
@project_options
def tune(selection: Selection, dry_run: bool, undo: bool, as_json: bool) -> None:
    """Recommend depth, budget and order of packet parts from workers' reports, and apply it.

    A type of task gets a recommendation only after enough reports. Each version is stored with its
    reasons in .holdfast/tuning.json and can be undone.
    """
    if dry_run and undo:
        raise click.UsageError("--dry-run and --undo exclude each other")
    project = selection.project
    if undo:
        _print_active(take_back(str(project.root)), as_json)
        return
    session = project.session(None)
    tunings = read_tunings(project.root)
    redactor = Redactor(project.settings.policy.redact)
    recommendation = recommend(
        efficiency_of(records_in(session.store, redactor, tunings)), tunings.in_force()
    )
    is_new = bool(recommendation.changes) and not is_same_recommendation(
        recommendation, tunings.in_force() or Recommendation()
    )
    if is_new and not dry_run:
        tunings = apply_recommendation(str(project.root), recommendation, at=session.ledger.now())
    if as_json:
        state = {"applied": is_new and not dry_run, "news": is_new, "active": tunings.active}
        print_json("context.tune", {**state, "recommendation": to_builtins(recommendation)})
        return
    echo(sanitize_lines(render_recommendation(recommendation)))
    echo(_outcome_line(is_new, dry_run, tunings))


def _outcome_line(is_new: bool, dry_run: bool, tunings: Tunings) -> str:
    if not is_new:
        force = f"version {tunings.active} is in force" if tunings.active else "none is in force"
        return f"nothing to apply; {force}"
    if dry_run:
        return "nothing was changed; without --dry-run it is put in force"
    undo = "holdfast context tune --undo"
    return f"version {tunings.active} is in force ({TUNING_FILE}); take it back: {undo}"


def _print_active(tunings: Tunings, as_json: bool) -> None:
    if as_json:
        print_json("context.tune", {"applied": False, "news": False, "active": tunings.active})
        return
    line = (
        f"version {tunings.active} is in force again" if tunings.active else "none is in force now"
    )
    echo(line)
