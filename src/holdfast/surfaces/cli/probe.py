"""`holdfast probe`: test whether the window still answers questions about hidden content."""

import click

from holdfast.core.verify.widen import PROBED_FACT_TOKENS
from holdfast.core.view.probes import (
    ProbeReport,
    newest_summary,
    probe_report_document,
    probe_text,
    probe_window,
    render_probe_report,
)
from holdfast.models.tokenizers import counter
from holdfast.session.session import Session
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import columns, page, print_json, sanitize_lines

EXAMPLE = """\b
Examples:
  holdfast probe
  holdfast probe --session 3ae3 --json"""


@click.command(epilog=EXAMPLE)
@session_options
def probe(selection: Selection, as_json: bool) -> None:
    """Test how much of the content behind the newest summary the window still answers.

    Questions are made by rules, without a model, from each row of the summary: requests,
    constraints, files, decisions, errors, next steps, facts. A question is answered if a line of
    the window contains the answer. Six dimensions score the result from 0 to 5. If the window has
    no summary, the summary of `holdfast show --summary` is tested. Exit code 1 if a dimension
    misses its target.
    """
    session = selection.session()
    result = probe_session(session)
    if as_json:
        print_json("probe", {"session": session.name, **probe_report_document(result)})
    else:
        head = f"## Probes [{session.name}]"
        page(sanitize_lines(f"{head}\n{render_probe_report(result, width=columns())}"))
    raise click.exceptions.Exit(0 if result.score.meets_targets else 1)


def probe_session(session: Session) -> ProbeReport:
    """Probe the newest summary of a session, or one made now if there is none."""
    window = session.ledger.redactor.window(session.ledger.whole_window())
    newest = newest_summary(window)
    if newest is not None:
        count = counter(session.ledger.head().vocabulary)
        moments = session.engine.content().moments
        return probe_window(window, newest, moments, count, PROBED_FACT_TOKENS)
    account = session.summary()
    return probe_text(account.rows, str(account))
