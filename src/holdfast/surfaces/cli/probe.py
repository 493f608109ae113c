"""`holdfast probe`: can what is in sight still answer what a reader would ask?"""

import click

from holdfast.core.verify.widen import PROBED
from holdfast.core.view.probes import (
    Probed,
    newest_summary,
    probe_window,
    probed,
    probed_document,
    render_probed,
)
from holdfast.models.tokenizers import counter
from holdfast.session.session import Session
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.output import columns, page, plain_lines, print_json

EXAMPLE = """\b
Examples:
  holdfast probe
  holdfast probe --session 3ae3 --json"""


@click.command(epilog=EXAMPLE)
@session_option
@project_option
@json_option
@click.pass_context
def probe(
    ctx: click.Context, name: str | None, agent: str, root: str | None, as_json: bool
) -> None:
    """Ask the window about what the newest summary stands for, by rule and without a model.

    Questions are drawn from every row that the summary is made of: requests, constraints, files,
    decisions, errors, next steps, facts. Each is answered by the line in sight that says it. Six
    dimensions sum that up, from 0 to 5. Without a summary in sight, the one that
    `holdfast show --summary` gives is asked. Exit code 1 when a dimension misses its target.
    """
    session = project_of(ctx, root).session(name, agent)
    came = asked_again(session)
    if as_json:
        print_json("probe", {"session": session.name, **probed_document(came)})
    else:
        head = f"## Probes [{session.name}]"
        page(plain_lines(f"{head}\n{render_probed(came, width=columns())}"))
    raise click.exceptions.Exit(0 if came.score.met else 1)


def asked_again(session: Session) -> Probed:
    """The probes of the newest summary; without one, those of the summary that would be given."""
    window = session.ledger.redactor.window(session.ledger.sight.window(whole=True))
    made = newest_summary(window)
    if made is not None:
        return probe_window(window, made, counter(session.ledger.head().vocabulary), PROBED)
    account = session.summary()
    return probed(account.rows, str(account))
