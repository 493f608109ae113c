"""`holdfast fsck`: check the ledger for damage, and rebuild damaged caches."""

import click
from msgspec.structs import asdict

from holdfast.errors import NotRecorded, StoreDamaged
from holdfast.project.paths import ledger_path
from holdfast.stores.sqlite import SqliteStore
from holdfast.surfaces.cli.options import Selection, project_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize, styled

EXAMPLE = """\b
Examples:
  holdfast fsck
  holdfast fsck --repair      rebuild caches; content is never changed"""
LOST = 74


@click.command(epilog=EXAMPLE)
@click.option("--repair", "repairs", is_flag=True, help="Rebuild caches from the entries.")
@project_options
def fsck(selection: Selection, repairs: bool, as_json: bool) -> None:
    """Check every byte of this project's ledger and list the damage.

    Exit code 0 if there is none, 1 if only caches are damaged, 74 if content was lost.
    """
    project = selection.project
    if not project.has_ledger:
        raise NotRecorded("ledger", "", where=str(project.root))
    path = ledger_path(project.root)
    if path.is_file() and path.stat().st_size == 0:
        raise StoreDamaged(str(path), "it is empty: nothing of what was written is there")
    store = project.store
    assert isinstance(store, SqliteStore)
    done = store.repair() if repairs else []
    damages = list(store.check())
    lost = [damage for damage in damages if damage.kind == "lost"]
    stale = [damage for damage in damages if damage.kind == "cache"]
    if as_json:
        found = [asdict(damage) for damage in damages]
        print_json(
            "fsck", {"path": str(ledger_path(project.root)), "damage": found, "repaired": done}
        )
    else:
        for line in done:
            echo(f"repaired: {line}")
        for damage in damages:
            echo(sanitize(f"{damage.kind}: {damage.where}: {damage.what}"))
        sessions = len(store.sessions()) if not lost else 0
        if not lost and not stale:
            echo(styled(f"sound: {sessions} sessions, every byte as it was given", colour="green"))
    raise click.exceptions.Exit(LOST if lost else 1 if stale else 0)
