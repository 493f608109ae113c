"""`holdfast purge`: erase sessions or messages permanently."""

import sys
from time import time

import click
from msgspec import to_builtins

from holdfast.engine.purge.purge import Purge, apply_purge, plan_message_purge, plan_session_purge
from holdfast.engine.purge.retention import retain
from holdfast.errors import NotRecorded
from holdfast.project.clock import timestamp
from holdfast.surfaces.cli.options import Project, Selection, complete_session, project_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize, short_count
from holdfast.text.patterns import Pattern

EXAMPLE = """\b
Examples:
  holdfast purge 3ae3ab59                      one session, after confirmation
  holdfast purge 3ae3ab59 --ref 1f3a9c2b4d5e   one message of the session
  holdfast purge --before 90d --dry-run        sessions not used for 90 days
  holdfast purge --retention                   apply retention.days and retention.megabytes"""
AGE = Pattern(r"(\d{1,5})([hdw])")
MIN_UNIQUE_PREFIX = 8
"""With --yes, the beginning of a session's name must have at least this many characters."""
SECONDS_PER_UNIT = {"h": 3_600, "d": 86_400, "w": 7 * 86_400}


def _parse_age(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Return the seconds of `12h`, `90d` or `4w`."""
    if value is None:
        return None
    found = AGE.fullmatch(value)
    if found is None:
        raise click.BadParameter(f"{value!r} is no age such as 12h, 90d or 4w", ctx, param)
    return int(found[1]) * SECONDS_PER_UNIT[found[2]]


@click.command(epilog=EXAMPLE)
@click.argument("name", required=False, metavar="[SESSION]", shell_complete=complete_session)
@click.option("--ref", help="Erase only the message of this entry: its id or #NUMBER.")
@click.option(
    "--before",
    metavar="AGE",
    callback=_parse_age,
    help="Erase sessions not used for this long: 12h, 90d, 4w.",
)
@click.option(
    "--retention", is_flag=True, help="Erase what the retention settings allow to expire."
)
@click.option("--dry-run", is_flag=True, help="Show what would be erased; change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@project_options
def purge(
    selection: Selection,
    name: str | None,
    ref: str | None,
    before: int | None,
    retention: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Erase SESSION, one message of it, or old sessions permanently. There is no undo.

    Erased are rows, content that no other session uses, summaries and copies that quote it, the
    write-ahead log and free pages. A tombstone stays with the size and the date, and later requests
    for the content report it. Transcripts of agents and backups are not changed.
    """
    if sum((name is not None, before is not None, retention)) != 1:
        raise click.UsageError("give a SESSION, --before or --retention")
    if ref and name is None:
        raise click.UsageError("--ref goes with a SESSION")
    project = selection.project
    if retention:
        _purge_by_retention(project, dry=dry_run, as_json=as_json)
        return
    chosen = _select(project, name, ref, before)
    if yes and name is not None and len(name) < MIN_UNIQUE_PREFIX and chosen[0].session != name:
        whole_name = chosen[0].session
        raise click.UsageError(f"--yes needs the full name of the session: {whole_name}")
    if not as_json:
        _print_selection(chosen)
    done = bool(chosen) and not dry_run and _confirm(yes)
    if done:
        for purged in chosen:
            apply_purge(project.session(purged.session).ledger, purged, at=timestamp())
    _print_result(chosen, done=done, as_json=as_json)


def _select(project: Project, name: str | None, ref: str | None, before: int | None) -> list[Purge]:
    if before is None:
        session = project.session(name)
        return [
            plan_message_purge(session.ledger, ref) if ref else plan_session_purge(session.ledger)
        ]
    if not project.has_ledger:
        raise NotRecorded("ledger", "", where=str(project.root))
    # Times are compared as text; a session without a time is never old.
    limit = timestamp(max(time() - before, 0))
    old = [
        listed
        for listed in project.store.sessions()
        if listed.head.at and listed.head.at[:19] < limit[:19]
    ]
    return [plan_session_purge(project.session(listed.name).ledger) for listed in reversed(old)]


def _purge_by_retention(project: Project, *, dry: bool, as_json: bool) -> None:
    policy = project.settings.policy
    if not policy.retention.days and not policy.retention.megabytes:
        raise click.UsageError("set retention.days or retention.megabytes first")
    if not project.has_ledger:
        raise NotRecorded("ledger", "", where=str(project.root))
    expired = retain(project.store, policy, str(project.root), int(time()), at=timestamp(), dry=dry)
    if not as_json:
        _print_selection(expired)
    _print_result(expired, done=not dry and bool(expired), as_json=as_json)


def _confirm(yes: bool) -> bool:
    if yes:
        return True
    if not sys.stdin.isatty():
        raise click.UsageError(
            "stdin is not a terminal, so you cannot confirm: give --yes or --dry-run"
        )
    return click.confirm("erase this permanently?")


def _print_selection(chosen: list[Purge]) -> None:
    for purged in chosen:
        what = f"a message of {purged.session}" if purged.refs else purged.session
        when = f", last added to {purged.at[:16]}" if purged.at and not purged.refs else ""
        copies = f", {len(purged.files)} copies" if purged.files else ""
        entries = f"{purged.entries:,} {'entry' if purged.entries == 1 else 'entries'}"
        echo(sanitize(f"{what}: {entries}, {short_count(purged.size)}B{copies}{when}"))
        if purged.heirs:
            echo(sanitize(f"  also its quotations in {', '.join(purged.heirs)}"))
        if purged.title:
            echo(sanitize(f"  {purged.title}"))


def _print_result(chosen: list[Purge], *, done: bool, as_json: bool) -> None:
    size = sum(purged.size for purged in chosen)
    if as_json:
        print_json("purge", {"purged": done, "bytes": size, "sessions": to_builtins(chosen)})
    elif not chosen:
        echo("nothing to purge")
    elif done:
        echo(f"purged {short_count(size)}B; no trace of it is left in the ledger")
    else:
        echo(f"would purge {short_count(size)}B; nothing was changed")
