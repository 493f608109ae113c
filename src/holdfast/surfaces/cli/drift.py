"""`holdfast drift`: find where the agent drifted from its goal after a summary."""

import click

from holdfast.core.view.drift import drifts_document, render_drifts
from holdfast.engine.drift import review_session
from holdfast.surfaces.cli.options import Selection, agent_option, complete_session, project_options
from holdfast.surfaces.cli.output import columns, page, print_json, sanitize_lines

EXAMPLE = """\b
Examples:
  holdfast drift
  holdfast drift 3ae3 --steps 10 --json"""


@click.command(epilog=EXAMPLE)
@click.argument(
    "session_name", metavar="[SESSION]", required=False, shell_complete=complete_session
)
@agent_option
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    help="Check this many steps after each summary.  [drift.steps]",
)
@project_options
def drift(selection: Selection, steps: int | None, as_json: bool) -> None:
    """Check what the agent did after each summary of SESSION, by rules and without a model.

    Seven signs of drift are checked: a clarification asked at once, work declared done without
    evidence, an unrelated subtask, a contradicted decision, a violated constraint, names that
    nothing in the window explains, and repeated reads. Each sign is printed with its evidence and
    with the entries of the ledger that correct it. Exit code 1 if drift was found.
    """
    session = selection.session()
    flagged, judged = review_session(session.ledger, steps or 0)
    if as_json:
        print_json("drift", {"session": session.name, **drifts_document(flagged, judged)})
    else:
        head = f"## Drift [{session.name}]"
        page(sanitize_lines(f"{head}\n{render_drifts(flagged, judged, width=columns())}"))
    raise click.exceptions.Exit(1 if flagged else 0)
