"""`holdfast context query`: what was decided, asked in a worker's own words."""

import click

from holdfast.core.view.questions.answer import answer_document, render_answer
from holdfast.packets.questions import context_query, settled_for
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.output import echo, plain_lines, print_json

EXAMPLE = """\b
Examples:
  holdfast context query "What authentication approach was decided?"
  holdfast context query "How long do tokens live?" --session 3ae3"""


@click.command(epilog=EXAMPLE)
@click.argument("question")
@session_option
@project_option
@json_option
@click.pass_context
def query(
    ctx: click.Context,
    question: str,
    name: str | None,
    agent: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Answer QUESTION with the decision, rule or sentence on record, who said it and where.

    All sessions of the project are asked, or the one --session names. What was replaced is
    answered with what replaced it. Exit code 1 when it is not known.
    """
    if not question.strip():
        raise click.UsageError("the question is empty")
    session = project_of(ctx, root).session(name, agent)
    only = [session.name] if name is not None else None
    answer = context_query(settled_for(session.ledger), question, sessions=only)
    if as_json:
        print_json("context.query", answer_document(answer))
    else:
        echo(plain_lines(render_answer(answer)))
    raise click.exceptions.Exit(0 if answer.known else 1)
