"""`holdfast context query`: answer a question from the recorded decisions."""

import click

from holdfast.core.view.questions.answer import answer_document, render_answer
from holdfast.packets.questions import context_query, project_decisions
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize_lines

EXAMPLE = """\b
Examples:
  holdfast context query "What authentication approach was decided?"
  holdfast context query "How long do tokens live?" --session 3ae3"""


@click.command(epilog=EXAMPLE)
@click.argument("question")
@session_options
def query(selection: Selection, question: str, as_json: bool) -> None:
    """Answer QUESTION with a recorded decision, rule or sentence, its author and its entry.

    All sessions of the project are searched, or only --session. For a replaced decision, its
    replacement is given. Exit code 1 if there is no answer.
    """
    if not question.strip():
        raise click.UsageError("the question is empty")
    session = selection.session()
    only = [session.name] if selection.name is not None else None
    answer = context_query(project_decisions(session.ledger), question, sessions=only)
    if as_json:
        print_json("context.query", answer_document(answer))
    else:
        echo(sanitize_lines(render_answer(answer)))
    raise click.exceptions.Exit(0 if answer.known else 1)
