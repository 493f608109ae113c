"""Real transcripts with real damage, where they are at hand."""

import gzip
import os
from pathlib import Path

import pytest

from holdfast.session.open import open_store
from holdfast.session.session import Session
from tests.input.making import given_back, read_in, run

DATA = Path(os.environ.get("HOLDFAST_DATA") or Path(__file__).parents[3] / "shared" / "data")
BROKEN = sorted(path for path in (DATA / "broken").rglob("*.*") if path.suffix in (".gz", ".jsonl"))


@pytest.mark.skipif(not BROKEN, reason="no broken sessions: set HOLDFAST_DATA to the data folder")
@pytest.mark.parametrize("path", BROKEN, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_broken_session_comes_back_byte_for_byte_and_can_be_sent(
    path: Path, tmp_path: Path
) -> None:
    data = path.read_bytes()
    whole = gzip.decompress(data) if path.suffix == ".gz" else data
    done = read_in(path, tmp_path)
    with open_store(tmp_path) as store:
        session = Session(done.session, store, owns_store=False)
        sources = session.ledger.head().documents
        session.messages()
        session.status()
        assert list(store.check()) == []
    assert [given_back(tmp_path, done.session, source) for source in sources] == [whole]
    again = read_in(path, tmp_path)
    assert (again.added, again.branched, again.flaws) == (0, False, done.flaws)


@pytest.mark.skipif(not BROKEN, reason="no broken sessions: set HOLDFAST_DATA to the data folder")
def test_the_command_reads_all_broken_sessions_of_a_folder(tmp_path: Path) -> None:
    ran = run("ingest", str(DATA / "broken" / "native"), cwd=tmp_path)
    assert ran.code == 0
    assert run("fsck", cwd=tmp_path).code == 0
