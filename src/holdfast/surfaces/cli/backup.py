"""`holdfast backup`: copy the ledger to a file, also while agents write to it."""

from pathlib import Path

import click

from holdfast.errors import NotRecorded
from holdfast.stores.sqlite import SqliteStore
from holdfast.surfaces.cli.options import Selection, project_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize, short_count

EXAMPLE = """\b
Examples:
  holdfast backup /mnt/backup/ledger-2026-01-29.db
  mkdir -p elsewhere/.holdfast && chmod 700 elsewhere/.holdfast
  cp ledger-2026-01-29.db elsewhere/.holdfast/ledger.db && holdfast --root elsewhere fsck"""


@click.command(epilog=EXAMPLE)
@click.argument("path", type=click.Path(path_type=Path))
@project_options
def backup(selection: Selection, path: Path, as_json: bool) -> None:
    """Copy this project's ledger to PATH, a file that must not exist yet.

    The copy is a consistent snapshot, also while agents write. It contains everything, including
    secrets, and only its owner can read it. `holdfast purge` does not change copies.
    """
    project = selection.project
    if not project.has_ledger:
        raise NotRecorded("ledger", "", where=str(project.root))
    store = project.store
    assert isinstance(store, SqliteStore)
    size = store.copy_to(str(path))
    sessions = len(store.sessions())
    if as_json:
        print_json("backup", {"path": str(path), "bytes": size, "sessions": sessions})
        return
    echo(sanitize(f"{path}: {sessions} sessions, {short_count(size)}B"))
