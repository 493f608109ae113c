"""`holdfast replay`: simulate compression on recorded sessions and report the cost."""

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
from holdfast.core.measure.frames import Report, reported_totals, reports_of
from holdfast.core.measure.models import Model, find_model
from holdfast.core.measure.usage import factor_of
from holdfast.core.plan.policy import Policy, for_model
from holdfast.core.view.replay import (
    ReplayCosts,
    render_replay_costs,
    render_total,
    replay_costs_document,
    total_costs,
)
from holdfast.engine.replay import PREFIX_TOKENS
from holdfast.engine.replay import replay as run_replay
from holdfast.errors import HoldfastError, Unreadable
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.surfaces.cli.options import Project, Selection, policy_options, project_options
from holdfast.surfaces.cli.output import columns, echo, print_json, sanitize, sanitize_lines
from holdfast.surfaces.install.plan import AGENT_MODULES
from holdfast.transcripts.find import SessionFile, session_files
from holdfast.transcripts.ingest import ingest

EXAMPLE = """\b
Examples:
  holdfast replay session.jsonl --window 128000
  holdfast replay logs/ --profile lean --quiet          print only the totals
  holdfast replay logs/ --prices 0.1,1.25 --json"""
MIN_ENTRIES_FOR_PROGRESS = 300
"""Show a progress bar for sessions with at least this many entries."""


def _parse_prices(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[float, float] | None:
    """Parse `--prices`: cache read and cache write, as multiples of an input token."""
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
    callback=_parse_prices,
    help="Cache prices as multiples of an input token; default: the model's.",
)
@click.option(
    "--prefix",
    type=click.IntRange(min=0),
    default=PREFIX_TOKENS,
    show_default=True,
    help="Tokens of system prompt and tools, if the provider reported none.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print only totals and errors.")
@policy_options
@project_options
def replay(
    selection: Selection,
    paths: tuple[Path, ...],
    prices: tuple[float, float] | None,
    prefix: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Simulate compression on the sessions in PATHS, request by request, and report the cost.

    Only input is counted, in uncached input tokens: an unchanged prefix is read from the cache, the
    rest is written to it. If the agent uses hidden content again, that is a fetch and costs one
    more request plus its entry. `over`: requests larger than the window. `breaks`: requests that
    changed the prefix. `met`: summaries that reached all targets of their probes. `recall`: of the
    names in hidden content that the agent used again, the share that was still in the window.
    Nothing is written to the ledger.

    If a transcript contains sizes that the provider reported, sizes are scaled to them and the
    largest reported request is shown. A transcript of an agent is replayed with the profile that
    `holdfast install` sets for that agent, unless --profile is given. A file that cannot be read is
    skipped, and the exit code is not 0.
    """
    project = selection.project
    failed: list[SkippedFile] = []
    done: list[ReplayCosts] = []
    found = list(_session_files(paths, failed))
    for number, item in enumerate(found, 1):
        label = None if quiet else f"{number}/{len(found)} {item.path.name}"
        run = partial(replay_file, item.path, project, prices, prefix, label=label)
        try:
            bills = attempt("replay", run, partial(_give_up, item.path))
        except HoldfastError as error:
            _skip(failed, item.path, error)
            continue
        done.append(bills)
        if not quiet and not as_json:
            echo(sanitize_lines(render_replay_costs(bills, width=columns())) + "\n")
    _finish(done, failed, as_json=as_json, quiet=quiet)


class SkippedFile(Struct, frozen=True):
    """A file that was not replayed, with the reason."""

    path: str
    reason: str
    line: int | None = None
    code: int = 1


def _session_files(paths: tuple[Path, ...], failed: list[SkippedFile]) -> Iterator[SessionFile]:
    for path in paths:
        try:
            yield from session_files(path)
        except HoldfastError as error:
            _skip(failed, path, error)


def _skip(failed: list[SkippedFile], path: Path, error: HoldfastError) -> None:
    """Record and print that a file is skipped."""
    reason, line = str(error), None
    if isinstance(error, Unreadable):
        reason, line = error.reason, error.line
    where = f"{path}, line {line}" if line is not None else str(path)
    failed.append(SkippedFile(str(path), reason, line, error.exit_code))
    echo(sanitize(f"holdfast: {where}: {reason}; skipped"), err=True)


def _give_up(path: Path) -> NoReturn:
    """Raise Unreadable for a file on which a rule failed, so that the others are still replayed."""
    raise Unreadable(str(path), "holdfast failed on it; set HOLDFAST_STRICT=1 to see where")


def replay_file(
    path: Path,
    project: Project,
    prices: tuple[float, float] | None,
    prefix: int,
    *,
    label: str | None = None,
) -> ReplayCosts:
    """Replay one session file.

    Raises:
        Unreadable: it cannot be read, or has no message of an agent.
    """
    store = MemoryStore()
    read = ingest(path, store, policy=project.settings.policy)
    name, policy = read.session, project.settings_in(_host_of(read.wire)).policy
    session = _main_session(name, store, policy)
    # As in a live session, plans and summaries are made from redacted entries.
    entries = session.ledger.redactor.entries(session.ledger.path())
    model = _with_prices(_model(store, name, policy), prices)
    reported, reports = reported_totals(session.ledger.events()), _reports(session)
    # A request that the provider accepted fits its window, even if the table says otherwise.
    window = policy.window or max(model.window, reported.peak)
    with _progress(label, len(entries)) as progress:
        result = run_replay(
            name,
            entries,
            policy=for_model(policy, model.id),
            model=model,
            limit=max(session.ledger.limit(), 0 if policy.window else reported.peak),
            prefix=prefix,
            window=window,
            reports=reports,
            factor=_factor(session, model) if reports else 1.0,
            progress=progress,
        )
    if not result.none.requests:
        raise Unreadable(str(path), "no agent speaks in it, so there is nothing to replay")
    return replace(
        result,
        model=policy.model or (store.head(name) or Head()).model,
        window=window,
        profile=policy.profile,
        reported=reported,
    )


def _host_of(wire: str) -> str:
    """Return the agent that records its sessions in a format, or an empty text if none does."""
    return next((agent for agent, module in AGENT_MODULES.items() if module == wire), "")


def _reports(session: Session) -> list[Report]:
    """Return the sizes that the provider reported for the requests of the session."""
    path = session.ledger.path()
    numbered = session.store.counts(session.name, session.ledger.head().vocabulary)
    counts = {entry.id: numbered.get(entry.seq, 0) for entry in path}
    return reports_of(path, session.ledger.events(), counts)


def _factor(session: Session, model: Model) -> float:
    """Return how many tokens the provider counts for one that we count."""
    return factor_of(model, session.ledger.head().lane(session.agent).calibration)


def _main_session(name: str, store: MemoryStore, policy: Policy) -> Session:
    """Open the lane of the main agent, or the only lane of a sub-agent's file."""
    lanes = (store.head(name) or Head()).lanes
    agent = "" if "" in lanes or not lanes else next(iter(lanes))
    return Session(name, store, policy=policy, agent=agent, owns_store=False)


def _model(store: MemoryStore, name: str, policy: Policy) -> Model:
    return find_model(policy.model or (store.head(name) or Head()).model)


def _with_prices(model: Model, prices: tuple[float, float] | None) -> Model:
    if prices is None:
        return model
    return replace(model, cache=replace(model.cache, read=prices[0], write=prices[1]))


@contextmanager
def _progress(label: str | None, length: int) -> Generator[Callable[[int], None]]:
    if label is None or length < MIN_ENTRIES_FOR_PROGRESS or not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=length, label=sanitize(label)[-40:], file=sys.stderr) as bar:
        yield lambda number: bar.update(number - bar.pos)
        bar.update(length - bar.pos)


def _finish(
    done: list[ReplayCosts], failed: list[SkippedFile], *, as_json: bool, quiet: bool
) -> None:
    if as_json:
        errors = [{"path": e.path, "line": e.line, "reason": e.reason} for e in failed]
        sessions = [replay_costs_document(bills) for bills in done]
        total = replay_costs_document(total_costs(done)) if done else None
        print_json("replay", {"sessions": sessions, "total": total, "errors": errors})
    elif done and (quiet or len(done) > 1):
        echo(render_total(done))
    if failed:
        raise click.exceptions.Exit(failed[-1].code)
