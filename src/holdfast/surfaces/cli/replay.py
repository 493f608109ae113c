"""`holdfast replay`: what compressing would have done to sessions that are over."""

import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NoReturn

import click
from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import attempt
from holdfast.core.ledger.head import Head
from holdfast.core.measure.frames import Report, reports_of, told_in
from holdfast.core.measure.models import Model, find
from holdfast.core.measure.usage import factor_of
from holdfast.core.plan.policy import Policy, for_model
from holdfast.core.view.replay import Bills, bills_document, render_bills, render_total, total_of
from holdfast.engine.replay import PREFIX
from holdfast.engine.replay import replay as run_replay
from holdfast.errors import HoldfastError, Unreadable
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.surfaces.cli.options import (
    Project,
    flags_of,
    json_option,
    policy_options,
    project_of,
    project_option,
)
from holdfast.surfaces.cli.output import columns, echo, plain, plain_lines, print_json
from holdfast.surfaces.install.plan import AGENTS
from holdfast.transcripts.find import Found, session_files
from holdfast.transcripts.ingest import ingest

EXAMPLE = """\b
Examples:
  holdfast replay session.jsonl --window 128000
  holdfast replay logs/ --profile lean --quiet          only the sums
  holdfast replay logs/ --prices 0.1,1.25 --json"""
LONG = 300
"""Entries from which on a replay gets a progress bar."""


def _two_prices(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[float, float] | None:
    """Cache read and cache write, as multiples of a fresh input token."""
    if value is None:
        return None
    try:
        read, write = (float(part) for part in value.split(","))
    except ValueError:
        read = write = -1.0
    if not (0 <= read < 1000 and 0 <= write < 1000):
        raise click.BadParameter(f"{value!r} is not two prices such as 0.1,1.25", ctx, param)
    return read, write


@click.command(epilog=EXAMPLE)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--prices",
    metavar="READ,WRITE",
    callback=_two_prices,
    help="What the cache costs, in fresh input tokens; the model's own if not given.",
)
@click.option(
    "--prefix",
    type=click.IntRange(min=0),
    default=PREFIX,
    show_default=True,
    help="Tokens of system prompt and tools, where no provider reported anything.",
)
@click.option("--quiet", "-q", is_flag=True, help="Only the sums, and what went wrong.")
@policy_options
@project_option
@json_option
@click.pass_context
def replay(
    ctx: click.Context,
    paths: tuple[Path, ...],
    prices: tuple[float, float] | None,
    prefix: int,
    quiet: bool,
    model: str | None,
    window: int | None,
    profile: str | None,
    role: str | None,
    root: str | None,
    as_json: bool,
) -> None:
    """Tell what compressing would have done to the sessions in PATHS, turn by turn.

    Counted is input alone, in fresh input tokens: a prefix that stands as it was sent is read from
    the cache, the rest is written to it. Something that left and is used again is a fetch, charged
    as one more request and the entry it stood in. `over` are requests larger than the window,
    `breaks` those that changed what was sent before. `met` says how many summaries reached every
    target of their probes; `recall`, which part of the names that stood in what left, and that the
    agent used again, was still in sight. Nothing is written to the ledger.

    Where a transcript holds what its provider reported, sizes are counted as the provider counts
    them, and the largest request that it reported is shown. A transcript of an agent is replayed
    with the profile that `holdfast install` brings to that agent, unless one is chosen. A file
    that cannot be read is skipped, and the exit code is then not 0.
    """
    project = project_of(ctx, root, flags_of(model, window, profile, role))
    failed: list[Skipped] = []
    done: list[Bills] = []
    found = list(_found(paths, failed))
    for number, item in enumerate(found, 1):
        label = None if quiet else f"{number}/{len(found)} {item.path.name}"
        run = partial(replayed, item.path, project, prices, prefix, label=label)
        try:
            one = attempt("replay", run, partial(_give_up, item.path))
        except HoldfastError as error:
            _skip(failed, item.path, error)
            continue
        done.append(one)
        if not quiet and not as_json:
            echo(plain_lines(render_bills(one, width=columns())) + "\n")
    _finish(done, failed, as_json=as_json, quiet=quiet)


class Skipped(Struct, frozen=True):
    """A file that was not replayed, and why."""

    path: str
    reason: str
    line: int | None = None
    code: int = 1


def _found(paths: tuple[Path, ...], failed: list[Skipped]) -> Iterator[Found]:
    for path in paths:
        try:
            yield from session_files(path)
        except HoldfastError as error:
            _skip(failed, path, error)


def _skip(failed: list[Skipped], path: Path, error: HoldfastError) -> None:
    """Note that a file is skipped, and say so in a line."""
    reason, line = str(error), None
    if isinstance(error, Unreadable):
        reason, line = error.reason, error.line
    where = f"{path}, line {line}" if line is not None else str(path)
    failed.append(Skipped(str(path), reason, line, error.exit_code))
    echo(plain(f"holdfast: {where}: {reason}; skipped"), err=True)


def _give_up(path: Path) -> NoReturn:
    """Refuse a file on which we failed, so that the others are still replayed."""
    raise Unreadable(str(path), "holdfast failed on it; set HOLDFAST_STRICT=1 to see where")


def replayed(
    path: Path,
    project: Project,
    prices: tuple[float, float] | None,
    prefix: int,
    *,
    label: str | None = None,
) -> Bills:
    """One session file, replayed.

    Raises:
        Unreadable: it cannot be read, or nobody speaks in it.
    """
    store = MemoryStore()
    read = ingest(path, store, policy=project.settings.policy)
    name, policy = read.session, project.settings_in(_host_of(read.wire)).policy
    session = _of_main(name, store, policy)
    # As in a live session: what is planned and summarised is what anyone may see.
    entries = session.ledger.redactor.entries(session.ledger.path())
    model = _priced(_model(store, name, policy), prices)
    told, reports = told_in(session.ledger.events()), _reports(session)
    # What the provider accepted fits into its window, whatever the table says of the model.
    window = policy.window or max(model.window, told.peak)
    with _progress(label, len(entries)) as progress:
        came = run_replay(
            name,
            entries,
            policy=for_model(policy, model.id),
            model=model,
            limit=max(session.ledger.limit(), 0 if policy.window else told.peak),
            prefix=prefix,
            window=window,
            reports=reports,
            factor=_factor(session, model) if reports else 1.0,
            progress=progress,
        )
    if not came.none.requests:
        raise Unreadable(str(path), "no agent speaks in it, so there is nothing to replay")
    return Bills(
        name=name,
        ours=came.ours,
        none=came.none,
        model=policy.model or (store.head(name) or Head()).model,
        window=window,
        compressions=came.compressions,
        postponed=came.postponed,
        scores=came.scores,
        used=came.used,
        seen=came.seen,
        tasks=came.tasks,
        profile=policy.profile,
        reported=told,
    )


def _host_of(wire: str) -> str:
    """The agent that keeps its sessions in a format; empty for messages of any agent."""
    return next((agent for agent, module in AGENTS.items() if module == wire), "")


def _reports(session: Session) -> list[Report]:
    """What the provider reported of the requests that lead to the session's end."""
    path = session.ledger.path()
    numbered = session.store.counts(session.name, session.ledger.head().vocabulary)
    counts = {entry.id: numbered.get(entry.seq, 0) for entry in path}
    return reports_of(path, session.ledger.events(), counts)


def _factor(session: Session, model: Model) -> float:
    """How many tokens of the provider's one of ours is, by what it reported."""
    return factor_of(model, session.ledger.head().lane(session.agent).calibration)


def _of_main(name: str, store: MemoryStore, policy: Policy) -> Session:
    """The main agent's part of a session; of a sub-agent's own file, the sub-agent's."""
    lanes = (store.head(name) or Head()).lanes
    agent = "" if "" in lanes or not lanes else next(iter(lanes))
    return Session(name, store, policy=policy, agent=agent, owns_store=False)


def _model(store: MemoryStore, name: str, policy: Policy) -> Model:
    return find(policy.model or (store.head(name) or Head()).model)


def _priced(model: Model, prices: tuple[float, float] | None) -> Model:
    if prices is None:
        return model
    return replace(model, cache=replace(model.cache, read=prices[0], write=prices[1]))


@contextmanager
def _progress(label: str | None, length: int) -> Generator[Callable[[int], None]]:
    if label is None or length < LONG or not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=length, label=plain(label)[-40:], file=sys.stderr) as bar:
        yield lambda number: bar.update(number - bar.pos)
        bar.update(length - bar.pos)


def _finish(done: list[Bills], failed: list[Skipped], *, as_json: bool, quiet: bool) -> None:
    if as_json:
        errors = [{"path": e.path, "line": e.line, "reason": e.reason} for e in failed]
        sessions = [bills_document(one) for one in done]
        total = bills_document(total_of(done)) if done else None
        print_json("replay", {"sessions": sessions, "total": total, "errors": errors})
    elif done and (quiet or len(done) > 1):
        echo(render_total(done))
    if failed:
        raise click.exceptions.Exit(failed[-1].code)
