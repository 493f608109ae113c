"""`holdfast compress`: shrink a session's window, or the messages of a file."""

import sys
from io import BytesIO
from pathlib import Path

import click
from msgspec import Struct, to_builtins
from msgspec.structs import asdict

from holdfast.core.compress import Candidate
from holdfast.core.plan.policy import Policy
from holdfast.core.shrink.step import ref_of
from holdfast.core.view.plan import (
    plan_document,
    render_outcome,
    render_plan,
    render_sizes,
    render_steps_by_kind,
    usage_document,
)
from holdfast.core.view.rules import render_phases
from holdfast.engine.engine import Outcome
from holdfast.errors import NotWritten, Unreadable
from holdfast.session.compress import compress as compress_messages
from holdfast.session.open import open as open_session
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.surfaces.actions import (
    compact,
    notes_after_compression,
    phases_of,
    summary_of,
    verdicts_of,
)
from holdfast.surfaces.cli.options import (
    Project,
    Selection,
    policy_options,
    project_options,
    session_option,
)
from holdfast.surfaces.cli.output import columns, echo, page, print_json, sanitize, sanitize_lines
from holdfast.surfaces.cli.stdin import read_stdin
from holdfast.text.jsontext import Json, NotJson, as_object, as_text, encode, parse
from holdfast.transcripts.ingest import stem_of
from holdfast.transcripts.open import error_reason, open_session_file
from holdfast.wire.detect import MESSAGE_WIRES, TRANSCRIPT_WIRES
from holdfast.wire.documents import open_document

EXAMPLE = """\b
Examples:
  holdfast compress --dry-run                 show the plan for the newest session
  holdfast compress                           apply the plan if it pays
  holdfast compress messages.json > less.json --window 200000
  cat messages.jsonl | holdfast compress - --budget 20000 -o less.json
  holdfast compress messages.json --budget 20000 --no-store    store nothing"""

MAX_INPUT_BYTES = 256 * 1024 * 1024
"""Largest file or stdin that is read."""


class InputMessages(Struct, frozen=True):
    """The messages of a file, with model, system prompt and tools if it is a request body."""

    messages: list[bytes]
    wire: str
    model: str = ""
    system: Json = None
    tools: Json = None


@click.command(epilog=EXAMPLE)
@click.argument("file", required=False, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--dry-run", is_flag=True, help="Print the plan; change nothing.")
@click.option("--budget", type=click.IntRange(min=1), help="Shrink to at most this many tokens.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="With FILE: write the messages to this file; default: stdout.",
)
@click.option(
    "--no-store",
    is_flag=True,
    help="With FILE: store nothing; references in the output cannot be opened.",
)
@session_option
@policy_options
@project_options
def compress(
    selection: Selection,
    file: Path | None,
    dry_run: bool,
    budget: int | None,
    output: Path | None,
    no_store: bool,
    as_json: bool,
) -> None:
    """Shrink the window of a session, or the messages in FILE.

    FILE (`-` for stdin) is a JSON array or JSON lines of messages in any provider's format. The
    shorter messages are written to stdout, the report to stderr. If something is hidden, the
    original messages are stored in the project's ledger as a new session, so that
    `holdfast recover --ref` opens every reference in the output; with --no-store nothing is stored.
    The default budget is the size at which batches begin (at.batch, in percent of the window less
    the reserve). No summarizer is asked.

    Without FILE, the newest session is planned, and the plan is applied if it pays. If the budget
    cannot be reached, nothing is changed and the exit code is 73.
    """
    project = selection.project
    if file is None:
        if output is not None or no_store:
            option = "--output" if output is not None else "--no-store"
            raise click.UsageError(f"{option} is for the messages of a FILE")
        _compress_session(selection.session(), budget, dry_run=dry_run, as_json=as_json)
        return
    if selection.name or selection.agent:
        raise click.UsageError("give a FILE or a --session, not both")
    _compress_file(
        project, file, budget, output, dry_run=dry_run, store=not no_store, as_json=as_json
    )


def _compress_session(
    session: Session, budget: int | None, *, dry_run: bool, as_json: bool
) -> None:
    if dry_run:
        _show_plan(session, _plan(session, budget), as_json=as_json)
        return
    outcome, summary = compact(session, budget)
    assert outcome.plan is not None
    applied = bool(outcome.steps)
    notes = notes_after_compression(session) if applied else []
    if as_json:
        document = {"session": session.name, "dry_run": False, "applied": applied, "notes": notes}
        plan = plan_document(outcome.plan)
        print_json("compress", {**document, "plan": plan, "summary": to_builtins(summary)})
        return
    echo(
        sanitize_lines(render_outcome(session.name, outcome.plan, applied=applied, summary=summary))
    )
    if summary is not None:
        echo("read it: holdfast show --summary; test it: holdfast probe; lift it: holdfast undo")
    for note in notes:
        echo(f"note: {note}")


def _plan(session: Session, budget: int | None) -> Candidate:
    """Return the plan for a session without applying it.

    Raises:
        NothingToShrink: a budget was given and cannot be reached.
    """
    candidate = session.engine.candidate(budget)
    if budget is not None and candidate.plan.after.tokens > budget:
        raise session.engine.nothing_to_shrink(candidate, session.engine.state(), budget)
    return candidate


def _show_plan(session: Session, candidate: Candidate, *, as_json: bool) -> None:
    verdicts = verdicts_of(session, candidate)
    summary = summary_of(session, candidate)
    phases = phases_of(session, candidate)
    if as_json:
        document = {"session": session.name, "dry_run": True, "applied": False}
        gates = [asdict(verdict) for verdict in verdicts]
        plan = {"plan": plan_document(candidate.plan), "summary": to_builtins(summary)}
        print_json("compress", {**document, **plan, "gates": gates, "phases": to_builtins(phases)})
        return
    shown = render_plan(candidate.plan, verdicts, summary=summary, width=columns())
    page(sanitize_lines("\n".join([shown, "", "### Phases", *render_phases(phases)])))


def _compress_file(
    project: Project,
    file: Path,
    budget: int | None,
    output: Path | None,
    *,
    dry_run: bool,
    store: bool,
    as_json: bool,
) -> None:
    given = read_messages(file)
    policy = project.settings.policy
    model = policy.model or given.model
    target = budget or batch_threshold(policy, model)
    outcome = compress_messages(
        given.messages,
        target,
        system=given.system,
        tools=given.tools,
        model=model,
        policy=policy,
        wire=given.wire,
    )
    if dry_run:
        _show_file_plan(outcome, target, as_json=as_json)
        return
    stored_as = _store_messages(project, file, given, model) if store and outcome.steps else ""
    if as_json:
        destination: dict[str, object] = {
            "output": str(output) if output else None,
            "session": stored_as,
        }
        document = {**_figures(outcome, target), **destination}
        print_json("compress", document if output else {**document, "messages": outcome.messages})
    if output is not None or not as_json:
        _write(output, outcome)
    if not as_json:
        echo(sanitize(_report(outcome, target) + _where_stored(outcome, stored_as)), err=True)


def _store_messages(project: Project, file: Path, given: InputMessages, model: str) -> str:
    """Store the messages in the project's ledger and return the name of their session.

    The name is made from the file's name and its first message: the same conversation stays one
    session when it grows, and another conversation in a file of that name gets its own.
    """
    stem = "stdin" if str(file) == "-" else stem_of(file)
    first = Session("compress", MemoryStore(), policy=project.settings.policy, wire=given.wire)
    first.extend(given.messages[:1])
    name = f"{stem}-{first.ledger.path()[0].id[:8]}"
    policy = project.settings.policy
    with open_session(name, root=project.root, policy=policy, model=model or None) as session:
        session.sync(given.messages)
    return name


def _where_stored(outcome: Outcome, session: str) -> str:
    """Return the part of the report that says how to read hidden messages."""
    if not outcome.steps:
        return ""
    if not session:
        return "; nothing was stored (--no-store), so no reference in the output opens"
    ref = ref_of(outcome.steps[0].hides[0])
    return f"; the originals are stored in session {session}: holdfast recover --ref {ref}"


def batch_threshold(policy: Policy, model: str) -> int:
    """Return the number of tokens at which a batch is planned: the default budget."""
    from msgspec.structs import replace

    named = replace(policy, model=model)
    limit = Session("compress", MemoryStore(), policy=named).ledger.limit()
    return max(limit * policy.at.batch // 100, 1)


def _show_file_plan(outcome: Outcome, budget: int, *, as_json: bool) -> None:
    if as_json:
        print_json("compress", _figures(outcome, budget))
    elif outcome.plan is None:
        echo(_report(outcome, budget))
    else:
        page(sanitize_lines(render_plan(outcome.plan, width=columns())))


def _figures(outcome: Outcome, budget: int) -> dict[str, object]:
    return {
        "budget": budget,
        "before": usage_document(outcome.before),
        "after": usage_document(outcome.after),
        "plan": plan_document(outcome.plan) if outcome.plan is not None else None,
    }


def _report(outcome: Outcome, budget: int) -> str:
    if outcome.plan is None:
        return (
            f"holdfast: {outcome.before.tokens:,} tokens are within the budget of {budget:,}; the "
            "messages are as they were"
        )
    plan = outcome.plan
    return f"holdfast: {render_sizes(plan.before, plan.after)}; {render_steps_by_kind(plan.steps)}"


def _write(output: Path | None, outcome: Outcome) -> None:
    """Write the messages as one JSON array, one message per line."""
    lines = b",\n".join(encode(message) for message in outcome.messages)
    data = b"[\n" + lines + b"\n]\n" if outcome.messages else b"[]\n"
    if output is None:
        sys.stdout.buffer.write(data)
        return
    try:
        output.write_bytes(data)
    except OSError as error:
        raise NotWritten(str(output), error_reason(error)) from None


def read_messages(file: Path) -> InputMessages:
    """Read the messages of a file, or of stdin if the file is `-`.

    Raises:
        Unreadable: it cannot be read, or does not contain messages.
    """
    where = "stdin" if str(file) == "-" else str(file)
    data = read_stdin(MAX_INPUT_BYTES) if where == "stdin" else _read_bytes(file)
    document = open_document(BytesIO(data))
    # A piece without a value and without a flaw is the JSON around the messages.
    pieces = [piece for piece in document.pieces if piece.value is not None or piece.flaw]
    if document.wire in TRANSCRIPT_WIRES:
        hint = "`holdfast ingest` reads it, then `holdfast compress` works on it"
        raise Unreadable(where, f"this is a {document.wire} session, not messages; {hint}")
    if document.wire not in MESSAGE_WIRES or not pieces:
        raise Unreadable(where, "there are no messages in it")
    for piece in pieces:
        if piece.value is None:
            raise Unreadable(where, piece.flaw, line=piece.line or None)
    return _with_body(data, InputMessages([piece.raw for piece in pieces], document.wire))


def _read_bytes(file: Path) -> bytes:
    with open_session_file(file) as stream:
        try:
            data = stream.read(MAX_INPUT_BYTES + 1)
        except (OSError, EOFError) as error:
            raise Unreadable(str(file), error_reason(error)) from None
    if len(data) > MAX_INPUT_BYTES:
        raise Unreadable(str(file), f"it has more than {MAX_INPUT_BYTES // 1024**2} MB")
    return data


def _with_body(data: bytes, given: InputMessages) -> InputMessages:
    """Add model, system prompt and tools if the data is a request body: they use tokens too."""
    if data.lstrip()[:1] != b"{":
        return given
    try:
        body = as_object(parse(data)[0])
    except NotJson:
        return given
    system = body.get("system") or body.get("instructions")
    return InputMessages(
        given.messages, given.wire, as_text(body.get("model")), system, body.get("tools")
    )
