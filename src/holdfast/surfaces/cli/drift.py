"""`holdfast drift`: where did the agent leave its goal after a summary?"""

import click

from holdfast.core.view.drift import drifts_document, render_drifts
from holdfast.engine.drift import reviewed
from holdfast.surfaces.cli.options import complete_session, json_option, project_of, project_option
from holdfast.surfaces.cli.output import columns, page, plain_lines, print_json

EXAMPLE = """\b
Examples:
  holdfast drift
  holdfast drift 3ae3 --steps 10 --json"""


@click.command(epilog=EXAMPLE)
@click.argument("name", metavar="[SESSION]", required=False, shell_complete=complete_session)
@click.option("--agent", default="", help="A sub-agent, whose window is its own.")
@click.option(
    "--steps", type=click.IntRange(min=1), help="Steps to judge after each summary.  [drift.steps]"
)
@project_option
@json_option
@click.pass_context
def drift(
    ctx: click.Context,
    name: str | None,
    agent: str,
    steps: int | None,
    root: str | None,
    as_json: bool,
) -> None:
    """Judge what the agent did after each summary of SESSION, by rule and without a model.

    Seven signs are looked for: a clarification asked at once, work declared done with nothing to
    show, an unrelated subtask, a contradicted decision, a violated constraint, names that nothing
    in sight explains, and repeated reads. Each is shown with its evidence and with what the ledger
    has to set it right. Exit code 0 when all is well, 1 when drift was found.
    """
    session = project_of(ctx, root).session(name, agent)
    flagged, judged = reviewed(session.ledger, steps or 0)
    if as_json:
        print_json("drift", {"session": session.name, **drifts_document(flagged, judged)})
    else:
        head = f"## Drift [{session.name}]"
        page(plain_lines(f"{head}\n{render_drifts(flagged, judged, width=columns())}"))
    raise click.exceptions.Exit(1 if flagged else 0)
