"""Checkpoints: persisted, verified, announced; once for a state, and unasked when it counts."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import holdfast
from holdfast.core.ledger.entry import Checkpointed, Compressed, Entry
from holdfast.core.plan.policy import Policy
from holdfast.engine.checkpoints import MAX_PAGES, Checkpoint
from holdfast.errors import NotWritten
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from tests.surfaces.cli.working import CHOICE, FIRST, LATEST, messages, talk


def taken(session: Session) -> list[Entry]:
    return [*session.ledger.newest_checkpoints()][::-1]


def body_of(entry: Entry) -> Checkpointed:
    assert isinstance(entry.body, Checkpointed)
    return entry.body


@pytest.mark.seed("R201", "R206", "R298")
def test_a_checkpoint_is_in_the_ledger_and_on_disk_and_can_be_read_back(tmp_path: Path) -> None:
    with holdfast.open("s", root=tmp_path) as session:
        session.extend(talk(3))
        before = session.ledger.window()
        made = session.checkpoint()
        (entry,) = taken(session)
        assert made == Checkpoint(entry.id[:12], body_of(entry).file)
        assert session.ledger.find(made.ref) == entry
        assert session.ledger.window().items == before.items
    assert made.path.startswith(".holdfast/cache/checkpoints/")
    page = (tmp_path / made.path).read_text()
    for said in (*FIRST.split("\n"), LATEST, "src/totals.py", CHOICE.partition(" because")[0][7:]):
        assert said in page
    assert page.startswith("## Checkpoint — s\n")
    assert (tmp_path / made.path).stat().st_mode & 0o777 == 0o600


def test_the_same_state_is_put_down_once_and_another_state_again(tmp_path: Path) -> None:
    with holdfast.open("s", root=tmp_path) as session:
        session.extend(talk(3))
        first = session.checkpoint()
        assert session.checkpoint() == first
        session.append({"role": "user", "content": "Now write the report."})
        second = session.checkpoint()
        assert (second == first, len(taken(session))) == (False, 2)
        assert body_of(taken(session)[1]).summary.intent.current.text == "Now write the report."
    assert len(list((tmp_path / ".holdfast/cache/checkpoints").iterdir())) == 2


def test_a_session_without_a_folder_has_its_checkpoints_in_the_ledger_alone() -> None:
    session = Session("s", MemoryStore(), wire="openai_chat")
    session.extend(talk(2))
    assert session.checkpoint() == Checkpoint(taken(session)[0].id[:12], "")


TWO = """
import sys, time
import holdfast
with holdfast.open("s", root=sys.argv[1]) as session:
    session.ledger.window()
    while time.time() < float(sys.argv[2]):
        pass
    print(session.checkpoint().ref)
"""


def test_two_processes_that_put_the_same_state_down_at_once_get_one_checkpoint(
    tmp_path: Path,
) -> None:
    import time

    with holdfast.open("s", root=tmp_path) as session:
        session.extend(talk(10))
    start = str(time.time() + 1.5)
    running = [
        subprocess.Popen(
            [sys.executable, "-c", TWO, str(tmp_path), start], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    refs = {process.communicate(timeout=60)[0].strip() for process in running}
    with holdfast.open("s", root=tmp_path) as session:
        assert {entry.id[:12] for entry in taken(session)} == refs
        assert len(refs) == 1


@pytest.mark.seed("R038", "R202", "R204")
def test_a_summary_is_preceded_by_a_checkpoint_of_what_it_replaces(tmp_path: Path) -> None:
    with holdfast.open("s", root=tmp_path) as session:
        session.extend(talk())
        before = session.ledger.window().end
        outcome = session.compact(budget=session.status().tokens // 3)
        (entry,) = taken(session)
        (made,) = (e for e in session.store.read("s") if isinstance(e.body, Compressed))
        assert (entry.seq < made.seq, entry.parent) == (True, before)
        assert (body_of(entry).trigger, outcome.checkpoint) == ("before tier 3", entry.id[:12])
        assert FIRST in body_of(entry).summary.intent.original.text
        events = [(event.kind, event.ref) for event in session.log()]
    assert events == [("CHECKPOINT", entry.id[:12]), ("TIER_3", made.id[:12])]


def test_what_cannot_be_put_down_does_not_leave(tmp_path: Path) -> None:
    (tmp_path / ".holdfast" / "cache").mkdir(parents=True)
    (tmp_path / ".holdfast" / "cache" / "checkpoints").write_text("in the way")
    with holdfast.open("s", root=tmp_path) as session:
        session.extend(talk())
        before = session.ledger.window().items
        with pytest.raises(NotWritten):
            session.compact(budget=session.status().tokens // 3)
        with pytest.raises(NotWritten):
            session.checkpoint()
        assert (session.ledger.window().items, taken(session)) == (before, [])


def critical(made: Callable[[], list[dict[str, object]]], part: float) -> Session:
    """A session that fills its window to this part."""
    probe = Session("s", MemoryStore(), wire="openai_chat")
    probe.extend(made())
    policy = Policy(window=round(probe.status().tokens / part), reserve=1)
    session = Session("s", MemoryStore(), policy=policy, wire="openai_chat")
    session.extend(made())
    return session


@pytest.mark.seed("R028", "R039", "R203", "R221")
def test_a_window_that_becomes_critical_is_put_down_once_before_anything_leaves() -> None:
    session = critical(messages, 0.9)
    session.messages()
    (entry,) = taken(session)
    assert body_of(entry).trigger.startswith("critical: context at 9")
    assert body_of(entry).generation == 0
    session.messages()
    session.append({"role": "user", "content": "Go on."})
    session.messages()
    assert len(taken(session)) == 1


@pytest.mark.seed("R028", "R039", "R203", "R205", "R221")
def test_a_critical_window_that_nothing_may_leave_is_told_to_go_on_afresh_once() -> None:
    long: dict[str, object] = {"role": "system", "content": "Keep this in mind. " * 400}
    session = critical(lambda: [long], 0.95)
    for number in range(3):
        session.messages()
        session.append({"role": "assistant", "content": f"Kept {number}."})
        session.append({"role": "user", "content": "More of it. " * (number + 20)})
    kinds = [event.kind for event in session.log()]
    assert (kinds.count("CHECKPOINT"), kinds.count("ADVICE")) == (1, 1)
    assert kinds.index("CHECKPOINT") < kinds.index("ADVICE")


def test_pages_of_the_engines_checkpoints_are_bounded_and_those_asked_for_stay(
    tmp_path: Path,
) -> None:
    with holdfast.open("s", root=tmp_path) as session:
        session.extend(talk(3))
        asked = session.checkpoint()
        for number in range(MAX_PAGES + 5):
            session.append({"role": "user", "content": f"Do part {number}."})
            session.engine.checkpoint(f"critical: round {number}")
        files = [body_of(entry).file for entry in taken(session)]
    assert len(files) == MAX_PAGES + 6
    kept = sorted((asked.path, *files[-MAX_PAGES:]))
    folder = tmp_path / ".holdfast" / "cache" / "checkpoints"
    assert sorted(str(file.relative_to(tmp_path)) for file in folder.iterdir()) == kept


def test_a_window_below_critical_takes_no_checkpoint_by_itself() -> None:
    session = critical(messages, 0.6)
    session.messages()
    assert taken(session) == []
