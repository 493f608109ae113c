"""`holdfast compress`: make a session's window smaller, or a list of messages."""

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
    by_kind,
    plan_document,
    render_outcome,
    render_plan,
    sizes,
    usage_document,
)
from holdfast.core.view.rules import render_phases
from holdfast.engine.engine import Outcome
from holdfast.errors import NotWritten, Unreadable
from holdfast.session.compress import compress as compress_messages
from holdfast.session.open import open as open_session
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.surfaces.actions import compacted, phases_of, summary_of, told_elsewhere, verdicts_of
from holdfast.surfaces.cli.options import (
    Project,
    flags_of,
    json_option,
    policy_options,
    project_of,
    project_option,
    session_option,
)
from holdfast.surfaces.cli.output import columns, echo, page, plain, plain_lines, print_json
from holdfast.surfaces.cli.stdin import heard
from holdfast.text.jsontext import Json, NotJson, as_object, as_text, encode, parse
from holdfast.transcripts.ingest import stem_of
from holdfast.transcripts.open import opened, reason_of
from holdfast.wire.detect import MESSAGE_WIRES, TRANSCRIPT_WIRES
from holdfast.wire.documents import open_document

EXAMPLE = """\b
Examples:
  holdfast compress --dry-run                 what would leave the newest session's window, and why
  holdfast compress                           do what the planner recommends
  holdfast compress messages.json > less.json --window 200000
  cat messages.jsonl | holdfast compress - --budget 20000 -o less.json
  holdfast compress messages.json --budget 20000 --no-store    keep nothing in the ledger"""

LARGEST = 256 * 1024 * 1024
"""Bytes of messages that are read at once."""


class Given(Struct, frozen=True):
    """The messages of a file, and what a request body says beside them."""

    messages: list[bytes]
    wire: str
    model: str = ""
    system: Json = None
    tools: Json = None


@click.command(epilog=EXAMPLE)
@click.argument("file", required=False, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--dry-run", is_flag=True, help="Print the plan; change nothing.")
@click.option("--budget", type=click.IntRange(min=1), help="Tokens to come down to.")
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="With FILE: where messages go."
)
@click.option(
    "--no-store", is_flag=True, help="With FILE: keep nothing; no reference in the output opens."
)
@session_option
@policy_options
@project_option
@json_option
@click.pass_context
def compress(
    ctx: click.Context,
    file: Path | None,
    dry_run: bool,
    budget: int | None,
    output: Path | None,
    no_store: bool,
    name: str | None,
    agent: str,
    model: str | None,
    window: int | None,
    profile: str | None,
    role: str | None,
    root: str | None,
    as_json: bool,
) -> None:
    """Make a window smaller: of a session, or of the messages in FILE.

    With FILE (`-` for stdin), a JSON array or lines of messages in any provider's format, the
    messages to send instead go to stdout and the report to stderr. Unless it is given, the budget
    is where batches begin: half of the window, less what is kept free for the answer. When
    something is hidden, the messages are kept in the project's ledger, as a session of their own,
    so that every reference in the output opens with `holdfast recover --ref`; with --no-store
    nothing is kept.

    Without FILE, the newest session is planned for, and what pays is done. A budget that cannot be
    reached changes nothing and ends with 73.
    """
    project = project_of(ctx, root, flags_of(model, window, profile, role))
    if file is None:
        if output is not None or no_store:
            option = "--output" if output is not None else "--no-store"
            raise click.UsageError(f"{option} is for the messages of a FILE")
        _session(project.session(name, agent), budget, dry_run=dry_run, as_json=as_json)
        return
    if name or agent:
        raise click.UsageError("give a FILE or a --session, not both")
    _file(project, file, budget, output, dry_run=dry_run, store=not no_store, as_json=as_json)


def _session(session: Session, budget: int | None, *, dry_run: bool, as_json: bool) -> None:
    if dry_run:
        _show_plan(session, _planned(session, budget), as_json=as_json)
        return
    made, summary = compacted(session, budget)
    assert made.plan is not None
    applied = bool(made.steps)
    notes = told_elsewhere(session) if applied else []
    if as_json:
        document = {"session": session.name, "dry_run": False, "applied": applied, "notes": notes}
        plan = plan_document(made.plan)
        print_json("compress", {**document, "plan": plan, "summary": to_builtins(summary)})
        return
    echo(plain_lines(render_outcome(session.name, made.plan, applied=applied, summary=summary)))
    if summary is not None:
        echo("read it: holdfast show --summary; test it: holdfast probe; lift it: holdfast undo")
    for note in notes:
        echo(f"note: {note}")


def _planned(session: Session, budget: int | None) -> Candidate:
    """What would be done.

    Raises:
        NothingToShrink: a budget was given, and cannot be reached.
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
    page(plain_lines("\n".join([shown, "", "### Phases", *render_phases(phases)])))


def _file(
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
    bound = budget or batch_threshold(policy, model)
    made = compress_messages(
        given.messages,
        bound,
        system=given.system,
        tools=given.tools,
        model=model,
        policy=policy,
        wire=given.wire,
    )
    if dry_run:
        _show_dry(made, bound, as_json=as_json)
        return
    kept = _keep(project, file, given, model) if store and made.steps else ""
    if as_json:
        told: dict[str, object] = {"output": str(output) if output else None, "session": kept}
        document = {**_figures(made, bound), **told}
        print_json("compress", document if output else {**document, "messages": made.messages})
    if output is not None or not as_json:
        _write(output, made)
    if not as_json:
        echo(plain(_report(made, bound) + _whereabouts(made, kept)), err=True)


def _keep(project: Project, file: Path, given: Given, model: str) -> str:
    """Put the messages into the project's ledger; the session's name.

    It is called after the file and its first message: the same conversation, grown or not, stays
    one session, and another one in a file of that name becomes another.
    """
    stem = "stdin" if str(file) == "-" else stem_of(file)
    first = Session("compress", MemoryStore(), policy=project.settings.policy, wire=given.wire)
    first.extend(given.messages[:1])
    name = f"{stem}-{first.ledger.path()[0].id[:8]}"
    policy = project.settings.policy
    with open_session(name, root=project.root, policy=policy, model=model or None) as session:
        session.sync(given.messages)
    return name


def _whereabouts(made: Outcome, kept: str) -> str:
    """Where what is hidden can be read."""
    if not made.steps:
        return ""
    if not kept:
        return "; nothing was kept, so no reference in the output opens (--no-store)"
    ref = ref_of(made.steps[0].hides[0])
    return f"; what left is kept in session {kept}: holdfast recover --ref {ref}"


def batch_threshold(policy: Policy, model: str) -> int:
    """Tokens from which a batch is weighed: the budget when none is given."""
    from msgspec.structs import replace

    named = replace(policy, model=model)
    limit = Session("compress", MemoryStore(), policy=named).ledger.limit()
    return max(limit * policy.at.batch // 100, 1)


def _show_dry(made: Outcome, budget: int, *, as_json: bool) -> None:
    if as_json:
        print_json("compress", _figures(made, budget))
    elif made.plan is None:
        echo(_report(made, budget))
    else:
        page(plain_lines(render_plan(made.plan, width=columns())))


def _figures(made: Outcome, budget: int) -> dict[str, object]:
    return {
        "budget": budget,
        "before": usage_document(made.before),
        "after": usage_document(made.after),
        "plan": plan_document(made.plan) if made.plan is not None else None,
    }


def _report(made: Outcome, budget: int) -> str:
    if made.plan is None:
        return (
            f"holdfast: {made.before.tokens:,} tokens are within the budget of {budget:,}; "
            "the messages are as they were"
        )
    plan = made.plan
    return f"holdfast: {sizes(plan.before, plan.after)}; {by_kind(plan.steps)}"


def _write(output: Path | None, made: Outcome) -> None:
    """The messages as one array, a message a line: easy to read, and to compare."""
    lines = b",\n".join(encode(message) for message in made.messages)
    data = b"[\n" + lines + b"\n]\n" if made.messages else b"[]\n"
    if output is None:
        sys.stdout.buffer.write(data)
        return
    try:
        output.write_bytes(data)
    except OSError as error:
        raise NotWritten(str(output), reason_of(error)) from None


def read_messages(file: Path) -> Given:
    """The messages of a file or of stdin.

    Raises:
        Unreadable: it cannot be read, or holds something else than messages.
    """
    where = "stdin" if str(file) == "-" else str(file)
    data = heard(LARGEST) if where == "stdin" else _bytes(file)
    document = open_document(BytesIO(data))
    # A piece that says nothing and has no flaw is the frame around the messages.
    pieces = [piece for piece in document.pieces if piece.value is not None or piece.flaw]
    if document.wire in TRANSCRIPT_WIRES:
        hint = "`holdfast ingest` reads it, then `holdfast compress` works on it"
        raise Unreadable(where, f"this is a {document.wire} session, not messages; {hint}")
    if document.wire not in MESSAGE_WIRES or not pieces:
        raise Unreadable(where, "there are no messages in it")
    for piece in pieces:
        if piece.value is None:
            raise Unreadable(where, piece.flaw, line=piece.line or None)
    return _with_body(data, Given([piece.raw for piece in pieces], document.wire))


def _bytes(file: Path) -> bytes:
    with opened(file) as stream:
        try:
            data = stream.read(LARGEST + 1)
        except (OSError, EOFError) as error:
            raise Unreadable(str(file), reason_of(error)) from None
    if len(data) > LARGEST:
        raise Unreadable(str(file), f"it has more than {LARGEST // 1024**2} MB")
    return data


def _with_body(data: bytes, given: Given) -> Given:
    """What a request body says beside its messages: it stands in the window too."""
    if data.lstrip()[:1] != b"{":
        return given
    try:
        body = as_object(parse(data)[0])
    except NotJson:
        return given
    system = body.get("system") or body.get("instructions")
    return Given(given.messages, given.wire, as_text(body.get("model")), system, body.get("tools"))
