"""Whatever the umask, what the store makes is for its owner alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.input.making import LEDGERLY

CHILD = """
import json, os, stat, sys
os.umask(int(sys.argv[1], 8))
from holdfast.session.open import open as open_session, open_store
from holdfast.transcripts.ingest import ingest
root = sys.argv[2]
with open_store(__import__("pathlib").Path(root)) as store:
    ingest(sys.argv[3], store)
    with open_session("s", root=root) as session:
        session.append({"role": "user", "content": "x" * 5000})
        session.status()
        found = {}
        for name in (".", *os.listdir(root + "/.holdfast")):
            found[name] = stat.S_IMODE(os.lstat(f"{root}/.holdfast/{name}").st_mode)
print(json.dumps(found))
"""


def _modes(umask: str, root: Path) -> dict[str, int]:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, umask, str(root), str(LEDGERLY)],
        capture_output=True,
        check=True,
        cwd=root,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("umask", ["000", "022", "027", "077"])
def test_every_file_of_a_store_is_for_its_owner_alone(umask: str, tmp_path: Path) -> None:
    assert _modes(umask, tmp_path) == {
        ".": 0o700,
        ".gitignore": 0o600,
        "ledger.db": 0o600,
        "ledger.db-wal": 0o600,
        "ledger.db-shm": 0o600,
    }


def test_a_umask_that_takes_everything_still_leaves_a_store_its_owner_can_use(
    tmp_path: Path,
) -> None:
    assert {name: mode & 0o077 for name, mode in _modes("777", tmp_path).items()} == {
        ".": 0,
        ".gitignore": 0,
        "ledger.db": 0,
        "ledger.db-wal": 0,
        "ledger.db-shm": 0,
    }


def test_a_ledger_that_others_could_read_is_closed_when_it_is_opened(tmp_path: Path) -> None:
    _modes("077", tmp_path)
    (tmp_path / ".holdfast" / "ledger.db").chmod(0o644)
    assert _modes("000", tmp_path)["ledger.db"] == 0o600
