"""Counts add up in every recorded session: as it was read, compressed, undone and compressed again.

Whatever a number is printed next to, it is the same number: what is sent, counted anew.
"""

import gzip
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import NothingToShrink
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.transcripts.ingest import ingest
from holdfast.wire.opaque_lines import NAME as LINES
from tests.properties.test_counts import (
    broken_counts,
    compressed_to_a_part,
    lanes_of,
    undone,
)
from tests.real.data import DATA, names, needs_data, normal

pytestmark = [needs_data, pytest.mark.slow]

NATIVE = sorted((*DATA.glob("dev/native/*"), *DATA.glob("broken/native/*")))


@pytest.mark.parametrize("path", NATIVE, ids=[path.name for path in NATIVE])
def test_counts_add_up_in_a_session_as_its_agent_wrote_it(path: Path, tmp_path: Path) -> None:
    plain = tmp_path / path.name.removesuffix(".gz")
    plain.write_bytes(gzip.decompress(path.read_bytes()))
    store = MemoryStore()
    done = ingest(plain, store)
    if done.wire == LINES:
        pytest.skip("no agent's format: nothing of it is ever sent")
    for session in lanes_of(Session(done.session, store)):
        worn(session)


@pytest.mark.parametrize("name", names())
def test_counts_add_up_in_a_session_in_the_normal_form(name: str) -> None:
    session, messages = Session("n", MemoryStore()), normal(name)["messages"]
    session.extend(messages)
    worn(session)
    whole = holdfast.compress(messages, 10**9)
    try:
        made = holdfast.compress(messages, whole.before.tokens // 3)
    except NothingToShrink as error:
        made = error.outcome
        assert isinstance(made, holdfast.Outcome)
    again = holdfast.compress(made.messages, 10**9)
    assert made.before.tokens == whole.before.tokens
    assert made.after.tokens == again.before.tokens


def worn(session: Session) -> None:
    """A session that is compressed, undone and compressed again, looked at after each."""
    assert broken_counts(session) == []
    for percent in (60, 25):
        compressed_to_a_part(session, percent)
        assert broken_counts(session) == []
    undone(session)
    assert broken_counts(session) == []
    compressed_to_a_part(session, 15)
    assert broken_counts(session) == []
