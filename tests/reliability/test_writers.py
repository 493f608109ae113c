"""Many processes write one ledger at once, and none is turned away: catalogue C01."""

import time
from pathlib import Path

from holdfast import Session
from tests.contracts.transcripts import assistant, jsonl, text, user
from tests.reliability.forks import Forks
from tests.reliability.ledgers import SESSION, bodies, ledger, said, sources, store_at

PROCESSES, MANY = 8, 200


def append_at_once(forks: Forks, root: Path, sessions: list[str]) -> None:
    children = [
        forks.start("append_some", str(root), session, f"{number}-", MANY)
        for number, session in enumerate(sessions)
    ]
    for child in children:
        assert child.hear() == ["ready"]
    begun = time.monotonic()
    for child in children:
        child.tell("begin")
    longest = 0
    for child in children:
        ((done, slowest),) = child.finish()
        assert done == "done"
        longest = max(longest, int(slowest))
    total = PROCESSES * MANY / (time.monotonic() - begun)
    print(f"{total:.0f} appends a second, the slowest took {longest} ms")


def test_processes_that_append_to_one_session_all_get_through(forks: Forks, tmp_path: Path) -> None:
    append_at_once(forks, tmp_path, ["s"] * PROCESSES)
    with store_at(ledger(str(tmp_path))) as store:
        entries = list(store.read("s"))
        assert [entry.seq for entry in entries] == list(range(1, PROCESSES * MANY + 1))
        ends = [None, *(entry.id for entry in entries)]
        assert [entry.parent for entry in entries] == ends[:-1]
        for number in range(PROCESSES):
            by = f"{number}-"
            assert [e.body for e in sources(entries) if says(e.body, by)] == said(MANY, by)
        assert list(store.check()) == []
        assert len(Session("s", store).ledger.path()) == PROCESSES * MANY


def says(body: object, by: str) -> bool:
    return getattr(body, "text", "").startswith(by)


def test_processes_that_append_to_sessions_of_their_own_all_get_through(
    forks: Forks, tmp_path: Path
) -> None:
    names = [f"s{number}" for number in range(PROCESSES)]
    append_at_once(forks, tmp_path, names)
    with store_at(ledger(str(tmp_path))) as store:
        found = {name: bodies(store, name) for name in names}
        assert found == {name: said(MANY, f"{at}-") for at, name in enumerate(names)}
        assert {listed.name for listed in store.sessions()} == set(names)
        assert list(store.check()) == []


def test_processes_that_make_a_store_at_once_make_one(forks: Forks, tmp_path: Path) -> None:
    for turn in range(10):
        root = tmp_path / str(turn)
        root.mkdir()
        children = [
            forks.start("append_some", str(root), "s", f"{at}-", 1) for at in range(PROCESSES)
        ]
        for child in children:
            assert child.hear() == ["ready"]
        for child in children:
            child.tell("begin")
        for child in children:
            child.finish()
        with store_at(ledger(str(root))) as store:
            found = sorted(str(body) for body in bodies(store))
            assert found == sorted(str(said(1, f"{at}-")[0]) for at in range(PROCESSES))
            assert list(store.check()) == []


def test_processes_that_follow_one_transcript_add_every_line_once(
    forks: Forks, tmp_path: Path
) -> None:
    path, lines = tmp_path / "s.jsonl", [user("u0", None, "Find the bug.")]
    path.touch()
    children = [forks.start("follow", str(tmp_path), str(path)) for _ in range(PROCESSES)]
    for child in children:
        assert child.hear() == ["ready"]
    for turn in range(1, 30):
        lines.append(assistant(f"a{turn}", f"u{turn - 1}", f"m{turn}", text(f"Looked {turn}.")))
        lines.append(user(f"u{turn}", f"a{turn}", f"Look once more, {turn}."))
        path.write_bytes(jsonl(*lines))
        for child in children:
            child.tell("more")
        for child in children:
            child.hear()
    for child in children:
        child.release()
    with store_at(ledger(str(tmp_path))) as store:
        assert len(sources(list(store.read(SESSION)))) == len(lines)
        seen = [sighting.raw for sighting in store.sightings(SESSION)]
        assert seen == jsonl(*lines).split(b"\n")
        assert list(store.check()) == []
