import json
from pathlib import Path
from typing import cast

import apsw

from holdfast.errors import NotRecorded
from holdfast.stores.connection import Database
from tests.input.making import LEDGERLY, run
from tests.surfaces.cli.commands import document, done, invoke


def _damage(root: Path, sql: str) -> None:
    db = cast(Database, apsw.Connection(str(root / ".holdfast" / "ledger.db")))
    db.execute(sql)
    db.close()


def test_a_sound_ledger_ends_with_zero(project: Path) -> None:
    done("ingest", str(LEDGERLY))
    assert done("fsck") == "sound: 1 sessions, every byte as it was given\n"
    assert document("fsck") == {
        "schema": "holdfast.fsck/1",
        "path": str(project / ".holdfast" / "ledger.db"),
        "damage": [],
        "repaired": [],
    }


def test_lost_content_ends_with_its_own_exit_code(project: Path) -> None:
    run("ingest", str(LEDGERLY), cwd=project)
    _damage(project, "delete from blobs")
    ran = run("fsck", cwd=project)
    assert (ran.code, ran.err) == (74, "")
    assert ran.out.startswith("lost: ")
    assert invoke("fsck").exit_code == 74
    assert {damage["kind"] for damage in _document(project)["damage"]} == {"lost"}


def _document(project: Path) -> dict[str, list[dict[str, str]]]:
    return json.loads(run("fsck", "--json", cwd=project).out)


def test_a_project_without_a_ledger_is_refused(project: Path) -> None:
    result = invoke("fsck")
    assert isinstance(result.exception, NotRecorded)
    assert result.exception.where == str(project)
