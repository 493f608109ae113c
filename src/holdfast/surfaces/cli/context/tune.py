"""`holdfast context tune`: change what packets are made of, by what workers reported."""

import click
from msgspec import to_builtins

from holdfast.core.ledger.packet_tuning import Recommendation, Tunings
from holdfast.core.view.packet_stats.recommend import in_words, recommend, says_the_same
from holdfast.engine.redact import Redactor
from holdfast.packets.stats import learned, records_in
from holdfast.packets.tuning import FILE, apply, tunings_in
from holdfast.packets.tuning import undo as take_back
from holdfast.surfaces.cli.options import json_option, project_of, project_option
from holdfast.surfaces.cli.output import echo, plain_lines, print_json

EXAMPLE = """\b
Examples:
  holdfast context tune --dry-run                  what would change, and why
  holdfast context tune                            put it in force as the next version
  holdfast context tune --undo"""


@click.command(epilog=EXAMPLE)
@click.option("--dry-run", is_flag=True, help="Show the recommendation; change nothing.")
@click.option("--undo", is_flag=True, help="Go back to the version before the one in force.")
@project_option
@json_option
@click.pass_context
def tune(ctx: click.Context, dry_run: bool, undo: bool, root: str | None, as_json: bool) -> None:
    """Make a recommendation from the records, and put it in force: depth, budget, order of parts.

    Nothing is recommended for a kind of task before enough workers reported on it. Every version
    says why, is kept in .holdfast/tuning.json, and can be taken back.
    """
    if dry_run and undo:
        raise click.UsageError("--dry-run and --undo exclude each other")
    project = project_of(ctx, root)
    if undo:
        _tell_active(take_back(str(project.root)), as_json)
        return
    session = project.session(None)
    known = tunings_in(project.root)
    redactor = Redactor(project.settings.policy.redact)
    made = recommend(learned(records_in(session.store, redactor, known)), known.now())
    news = bool(made.changes) and not says_the_same(made, known.now() or Recommendation())
    if news and not dry_run:
        known = apply(str(project.root), made, at=session.ledger.now())
    if as_json:
        state = {"applied": news and not dry_run, "news": news, "active": known.active}
        print_json("context.tune", {**state, "recommendation": to_builtins(made)})
        return
    echo(plain_lines(in_words(made)))
    echo(_said(news, dry_run, known))


def _said(news: bool, dry_run: bool, known: Tunings) -> str:
    if not news:
        force = f"version {known.active} is in force" if known.active else "none is in force"
        return f"nothing to apply; {force}"
    if dry_run:
        return "nothing was changed; without --dry-run it is put in force"
    return (
        f"version {known.active} is in force ({FILE}); take it back: holdfast context tune --undo"
    )


def _tell_active(known: Tunings, as_json: bool) -> None:
    if as_json:
        print_json("context.tune", {"applied": False, "news": False, "active": known.active})
        return
    told = f"version {known.active} is in force again" if known.active else "none is in force now"
    echo(told)
