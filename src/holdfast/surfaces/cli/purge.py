"""`holdfast purge`: let go of what is not to be kept, everywhere."""

import re
import sys
from time import gmtime, strftime, time

import click
from msgspec import to_builtins

from holdfast.engine.purge.purge import Purge, carry_out, part, whole
from holdfast.engine.purge.retention import retain
from holdfast.errors import NotRecorded
from holdfast.surfaces.cli.options import (
    Project,
    complete_session,
    json_option,
    project_of,
    project_option,
)
from holdfast.surfaces.cli.output import echo, plain, print_json, short

EXAMPLE = """\b
Examples:
  holdfast purge 3ae3ab59                      a session, after asking
  holdfast purge 3ae3ab59 --ref 1f3a9c2b4d5e   one message of it
  holdfast purge --before 90d --dry-run        what was left more than 90 days ago
  holdfast purge --retention                   what retention.days and .megabytes say"""
AGE = re.compile(r"(\d{1,5})([hdw])")
SURE = 8
"""Characters of a session's name from which nobody hits another one by chance."""
SECONDS = {"h": 3_600, "d": 86_400, "w": 7 * 86_400}


def _age(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Seconds of `12h`, `90d` or `4w`."""
    if value is None:
        return None
    found = AGE.fullmatch(value)
    if found is None:
        raise click.BadParameter(f"{value!r} is no age such as 12h, 90d or 4w", ctx, param)
    return int(found[1]) * SECONDS[found[2]]


@click.command(epilog=EXAMPLE)
@click.argument("name", required=False, metavar="[SESSION]", shell_complete=complete_session)
@click.option("--ref", help="Only the message that this entry came in: its reference or #NUMBER.")
@click.option("--before", metavar="AGE", callback=_age, help="Sessions left longer ago: 12h, 90d.")
@click.option("--retention", is_flag=True, help="What the retention settings say.")
@click.option("--dry-run", is_flag=True, help="Say what would go; change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@project_option
@json_option
@click.pass_context
def purge(
    ctx: click.Context,
    name: str | None,
    ref: str | None,
    before: int | None,
    retention: bool,
    dry_run: bool,
    yes: bool,
    root: str | None,
    as_json: bool,
) -> None:
    """Erase a session, one message of it, or the sessions left long ago. There is no undo.

    Every trace goes: rows, content nobody else refers to, summaries and copies that quote it, the
    write-ahead log and free pages. What stays is that there was something, how large, and when it
    went; whoever asks for it is told. The agent's own transcript and backups are not touched.
    """
    if sum((name is not None, before is not None, retention)) != 1:
        raise click.UsageError("give a SESSION, --before or --retention")
    if ref and name is None:
        raise click.UsageError("--ref goes with a SESSION")
    project = project_of(ctx, root)
    if retention:
        _by_retention(project, dry=dry_run, as_json=as_json)
        return
    chosen = _chosen(project, name, ref, before)
    if yes and name is not None and len(name) < SURE and chosen[0].session != name:
        whole_name = chosen[0].session
        raise click.UsageError(f"--yes asks nobody: name the session as it is called, {whole_name}")
    if not as_json:
        _list(chosen)
    done = bool(chosen) and not dry_run and _agreed(yes)
    if done:
        for one in chosen:
            carry_out(project.session(one.session).ledger, one, at=_now())
    _tell(chosen, done=done, as_json=as_json)


def _chosen(project: Project, name: str | None, ref: str | None, before: int | None) -> list[Purge]:
    if before is None:
        session = project.session(name)
        return [part(session.ledger, ref) if ref else whole(session.ledger)]
    if not project.has_ledger:
        raise NotRecorded("ledger", "", where=str(project.root))
    # Times are compared as they are written; what nobody timed is never old.
    limit = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(max(time() - before, 0)))
    old = [one for one in project.store.sessions() if one.head.at and one.head.at[:19] < limit[:19]]
    return [whole(project.session(one.name).ledger) for one in reversed(old)]


def _by_retention(project: Project, *, dry: bool, as_json: bool) -> None:
    policy = project.settings.policy
    if not policy.retention.days and not policy.retention.megabytes:
        raise click.UsageError("set retention.days or retention.megabytes first")
    if not project.has_ledger:
        raise NotRecorded("ledger", "", where=str(project.root))
    gone = retain(project.store, policy, str(project.root), int(time()), at=_now(), dry=dry)
    if not as_json:
        _list(gone)
    _tell(gone, done=not dry and bool(gone), as_json=as_json)


def _agreed(yes: bool) -> bool:
    if yes:
        return True
    if not sys.stdin.isatty():
        raise click.UsageError("nobody is there to be asked: say --yes, or --dry-run to look")
    return click.confirm("erase this for good?")


def _list(chosen: list[Purge]) -> None:
    for one in chosen:
        what = f"a message of {one.session}" if one.refs else one.session
        when = f", last added to {one.at[:16]}" if one.at and not one.refs else ""
        copies = f", {len(one.files)} copies" if one.files else ""
        entries = f"{one.entries:,} {'entry' if one.entries == 1 else 'entries'}"
        echo(plain(f"{what}: {entries}, {short(one.size)}B{copies}{when}"))
        if one.heirs:
            echo(plain(f"  and what is quoted of it in {', '.join(one.heirs)}"))
        if one.title:
            echo(plain(f"  {one.title}"))


def _tell(chosen: list[Purge], *, done: bool, as_json: bool) -> None:
    size = sum(one.size for one in chosen)
    if as_json:
        print_json("purge", {"purged": done, "bytes": size, "sessions": to_builtins(chosen)})
    elif not chosen:
        echo("nothing to purge")
    elif done:
        echo(f"purged {short(size)}B; no trace of it is left in the ledger")
    else:
        echo(f"would purge {short(size)}B; nothing was changed")


def _now() -> str:
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
