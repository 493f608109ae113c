"""Purging leaves no byte behind, whatever the store was doing: catalogue X05."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from holdfast.core.ledger.entry import Entry, ToolReturned
from holdfast.core.ledger.window import Item
from holdfast.core.verify.drift.evidence import RecordReader
from holdfast.engine.originals import OriginalFacts, original_note, original_ref
from holdfast.engine.purge.purge import apply_purge, plan_message_purge, plan_session_purge
from holdfast.errors import Conflict, Erased, NotWritten
from holdfast.packets.questions import project_decisions
from holdfast.project.layout import copy_path
from holdfast.project.remove import copy_paths
from holdfast.project.write import write_copy
from holdfast.session.open import open as open_session
from holdfast.session.resume import resume
from holdfast.session.session import Session
from tests.reliability.forks import Forks
from tests.reliability.traces import packed, traces
from tests.secrets import drawn
from tests.surfaces.cli.working import talk

AT = "2026-02-03T04:05:06Z"
INLINE, PACKED, SAID = "CANARYINLINE5512", "CANARYPACKED8834", "CANARYSAID9017"
WORDS = (INLINE, PACKED, SAID)


def history(word: str = PACKED) -> list[dict[str, Any]]:
    """A session with something small, something large and words of the user that are to go."""
    found = talk(60)
    found.insert(5, {"role": "user", "content": f"Always call {SAID} over the tunnel."})
    for name, text in (("i", f"host {INLINE}"), ("p", f"{word}\n" + filler())):
        found += looked(name, text)
    return found


def looked(name: str, text: str) -> list[dict[str, Any]]:
    function = {"name": "Bash", "arguments": json.dumps({"command": f"cat {name}.txt"})}
    call = {"id": name, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": name, "content": text},
    ]


def filler() -> str:
    drawn = Random(3)
    return "\n".join(drawn.randbytes(40).hex() for _ in range(400))


def made(root: Path) -> Session:
    """Such a session, compressed, undone and compressed again, with copies on disk."""
    session = open_session("s", root=root)
    session.extend(history())
    session.pin(f"the tunnel to {SAID}")
    session.compact(5_000)
    session.undo()
    session.compact(4_000)
    session.messages()
    project_decisions(session.ledger).all_statements()
    session.ledger.redactor.learn()
    return session


def test_a_search_finds_what_is_there_compressed_or_not(tmp_path: Path) -> None:
    session = made(tmp_path)
    found = traces(tmp_path, *WORDS)
    here = {hit.rpartition(": ")[2] for hit in found if "ledger.db" in hit}
    assert here == {INLINE, SAID}
    assert any("_full.md" in hit for hit in found)
    slices = packed(tmp_path)
    assert len({hit.rpartition(": ")[2] for hit in traces(tmp_path, *slices)}) == len(slices) > 4
    session.close()


@pytest.mark.parametrize("live", [True, False])
def test_nothing_of_a_purged_session_is_left_in_any_file(tmp_path: Path, live: bool) -> None:
    session = made(tmp_path)
    if not live:
        session.close()
        session = open_session("s", root=tmp_path)
    slices = packed(tmp_path)
    apply_purge(session.ledger, plan_session_purge(session.ledger), at=AT)
    assert traces(tmp_path, *WORDS, *slices) == []
    session.close()
    assert traces(tmp_path, *WORDS, *slices, "nightly export", "remark_3_4", "cat p.txt") == []


def test_the_page_of_a_task_goes_with_its_session(tmp_path: Path) -> None:
    with open_session("s", root=tmp_path, task="Nightly export") as session:
        session.extend(history())
        session.compact(4_000)
        pages = list(tmp_path.rglob("session-summary-nightly_export-*.md"))
        assert len(pages) == 1
        apply_purge(session.ledger, plan_session_purge(session.ledger), at=AT)
    assert list(tmp_path.rglob("session-summary-*.md")) == []


def test_nothing_of_purged_messages_is_left_and_the_rest_is_there(tmp_path: Path) -> None:
    session = made(tmp_path)
    held = [e.id for e in session.ledger.path() if any(word in repr(e.body) for word in WORDS)]
    assert len(held) == 3
    before = packed(tmp_path)
    for name in held:
        apply_purge(session.ledger, plan_message_purge(session.ledger, name), at=AT)
    gone = [piece for piece in before if piece not in packed(tmp_path)]
    assert len(gone) >= 4
    assert traces(tmp_path, *WORDS, *gone) == []
    assert list(session.store.check()) == []
    archive = tmp_path / ".holdfast" / "cache" / "conversations" / "s_full.md"
    assert "nightly export" in archive.read_text()
    assert "[purged: " in archive.read_text()
    for name in held:
        with pytest.raises(Erased):
            session.read(name)
    session.undo()
    assert len(session.messages()) == len(history())
    session.close()


def test_content_that_another_session_refers_to_stays(tmp_path: Path) -> None:
    first, second = open_session("a", root=tmp_path), open_session("b", root=tmp_path)
    # Of the agent: a paste of the user's would be cut before it is sent.
    large = {"role": "assistant", "content": f"{PACKED} {filler()}"}
    first.append(large)
    second.append(large)
    apply_purge(first.ledger, plan_session_purge(first.ledger), at=AT)
    assert second.messages() == [large]
    slices = packed(tmp_path)
    assert len(traces(tmp_path, *slices)) == len(slices) >= 2
    apply_purge(second.ledger, plan_session_purge(second.ledger), at=AT)
    assert traces(tmp_path, *slices) == []
    first.close()
    second.close()


def test_what_was_deleted_before_anyone_purged_is_gone_as_well(tmp_path: Path) -> None:
    """Free pages of rows that were replaced long ago hold what they held."""
    session = made(tmp_path)
    for budget in (4_100, 4_200, 4_300):
        session.undo()
        session.compact(budget)
    slices = packed(tmp_path)
    apply_purge(session.ledger, plan_session_purge(session.ledger), at=AT)
    assert traces(tmp_path, *WORDS, *slices) == []
    session.close()


def test_a_purge_beside_writers_gets_through_and_they_lose_nothing(
    forks: Forks, tmp_path: Path
) -> None:
    session = made(tmp_path)
    children = [forks.start("append_some", str(tmp_path), f"w{n}", f"{n}-", 150) for n in range(4)]
    for child in children:
        assert child.hear() == ["ready"]
    for child in children:
        child.tell("begin")
    apply_purge(session.ledger, plan_session_purge(session.ledger), at=AT)
    for child in children:
        ((word, _),) = child.finish()
        assert word == "done"
    assert traces(tmp_path, *WORDS) == []
    assert list(session.store.check()) == []
    session.close()


def test_a_process_that_has_the_session_open_sees_it_gone(tmp_path: Path) -> None:
    session = made(tmp_path)
    code = (
        "import sys, holdfast\n"
        "from holdfast.engine.purge.purge import apply_purge, plan_session_purge\n"
        "with holdfast.open('s', root=sys.argv[1]) as s:\n"
        "    apply_purge(s.ledger, plan_session_purge(s.ledger), at='')\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert session.messages() == []
    assert traces(tmp_path, *WORDS) == []
    session.close()


def handed_on(root: Path) -> None:
    """Such a session that was gone on from twice, with summaries and pages of its heirs."""
    with made(root) as old, resume(old, as_="heir") as heir:
        heir.extend(talk(40))
        heir.compact(3_000)
        heir.checkpoint()
        with resume(heir, as_="second") as second:
            second.extend(talk(4))


@pytest.mark.parametrize("name", ["heir", "second"])
def test_a_session_that_goes_on_from_another_quotes_it(tmp_path: Path, name: str) -> None:
    handed_on(tmp_path)
    with open_session(name, root=tmp_path) as heir:
        assert SAID in str([entry.body for entry in heir.store.read(name)])


def test_nothing_of_a_purged_session_is_left_in_those_that_go_on_from_it(tmp_path: Path) -> None:
    handed_on(tmp_path)
    with open_session("s", root=tmp_path) as session:
        slices = packed(tmp_path)
        apply_purge(session.ledger, plan_session_purge(session.ledger), at=AT)
    assert traces(tmp_path, *WORDS, *slices) == []
    for name in ("heir", "second"):
        with open_session(name, root=tmp_path) as heir:
            assert list(heir.store.check()) == []
            assert len(heir.messages()) >= 4


def test_a_purged_message_is_not_left_in_sessions_that_go_on_from_its_own(tmp_path: Path) -> None:
    handed_on(tmp_path)
    with open_session("s", root=tmp_path) as session:
        found = [e for e in session.ledger.path() if SAID in str(e.body)]
        for entry in found:
            apply_purge(session.ledger, plan_message_purge(session.ledger, entry.id), at=AT)
    assert traces(tmp_path, SAID) == []
    with open_session("heir", root=tmp_path) as heir:
        assert list(heir.store.check()) == []
        assert "nightly export" in str(heir.messages())


def test_what_a_drifting_agent_was_told_loses_what_is_purged(tmp_path: Path) -> None:
    with open_session("s", root=tmp_path, window=200_000) as session:
        session.extend(history())
        session.compact(5_000)
        session.append({"role": "assistant", "content": "Could you remind me what we work on?"})
        session.append({"role": "user", "content": "go on"})
        session.messages()
        session.ledger.append_own_message(f"Holdfast wrote this: call {SAID} over the tunnel.")
        found = [e for e in session.ledger.path() if SAID in str(e.body)]
        apply_purge(session.ledger, plan_message_purge(session.ledger, found[0].id), at=AT)
        assert traces(tmp_path, SAID) == []
        assert "[purged]" in str(session.messages())
        assert list(session.store.check()) == []


def refused(root: Path, word: str = PACKED) -> None:
    """Such a session whose compression wrote its copies and was then refused."""
    with open_session("s", root=root) as session, open_session("s", root=root) as other:
        session.extend([*looked("q", filler()), *history(word)])
        state, candidate = session.engine.state(), session.engine.candidate(5_000)
        other.compact(state.usage.tokens - 600)
        with pytest.raises(Conflict):
            session.engine.write(candidate, state)


def killed(root: Path) -> None:
    """Such a session whose process was ended while it wrote its copies, each time a bit later."""
    with open_session("s", root=root) as session:
        session.extend(history())
    code = (
        "import os, sys, holdfast\n"
        "left, rename = [int(sys.argv[2])], os.rename\n"
        "def last(*names, **where):\n"
        "    left[0] -= 1\n"
        "    os.kill(os.getpid(), 9) if left[0] < 0 else rename(*names, **where)\n"
        "os.rename = last\n"
        "with holdfast.open('s', root=sys.argv[1]) as s:\n"
        "    s.compact(4_000)\n"
    )
    for after in range(3):
        run = subprocess.run([sys.executable, "-c", code, str(root), str(after)], check=False)
        assert run.returncode == -9


@pytest.mark.parametrize("cut", [refused, killed])
def test_copies_that_no_compression_names_go_with_a_purged_session(
    tmp_path: Path, cut: Callable[[Path], None]
) -> None:
    cut(tmp_path)
    cache = tmp_path / ".holdfast" / "cache"
    assert any(PACKED in file.read_text() for file in cache.rglob("*") if file.is_file())
    with open_session("s", root=tmp_path) as session:
        slices = packed(tmp_path)
        apply_purge(session.ledger, plan_session_purge(session.ledger), at=AT)
    assert traces(tmp_path, *WORDS, *slices) == []


@pytest.mark.parametrize("cut", [refused, killed])
def test_copies_that_no_compression_names_go_with_a_purged_message(
    tmp_path: Path, cut: Callable[[Path], None]
) -> None:
    cut(tmp_path)
    with open_session("s", root=tmp_path) as session:
        session.checkpoint()
        for entry in [e for e in session.ledger.path() if any(w in repr(e.body) for w in WORDS)]:
            apply_purge(session.ledger, plan_message_purge(session.ledger, entry.id), at=AT)
        assert traces(tmp_path, *WORDS) == []


def test_a_purge_leaves_the_files_of_other_sessions(tmp_path: Path) -> None:
    refused(tmp_path)
    with open_session("S", root=tmp_path) as other:
        other.extend(talk(60))
        other.compact(2_000)
        other.checkpoint()
        mine = copy_paths(other.store.read("S"))
    with open_session("s", root=tmp_path) as session:
        apply_purge(session.ledger, plan_session_purge(session.ledger), at=AT)
    assert len(mine) == 2
    assert [path for path in mine if not (tmp_path / path).is_file()] == []


def test_a_secret_that_is_learned_late_leaves_copies_that_nothing_names(tmp_path: Path) -> None:
    secret, cache = drawn(41, 24), tmp_path / ".holdfast" / "cache"
    refused(tmp_path, secret)
    assert traces(cache, secret) != []
    with open_session("s", root=tmp_path) as session:
        session.append({"role": "user", "content": f"export API_TOKEN={secret}"})
        session.engine.plan()
    assert traces(cache, secret) == []


def test_a_purge_leaves_the_copies_that_a_fork_of_the_session_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.session.open.timestamp", lambda: AT)
    with open_session("original", root=tmp_path) as first, open_session("fork", root=tmp_path) as b:
        for one in (first, b):
            one.extend([*looked("q", filler()), *history()])
        b.compact(b.engine.state().usage.tokens - 600)
        mine = copy_paths(b.store.read("fork"))
        assert mine
        apply_purge(first.ledger, plan_session_purge(first.ledger), at=AT)
        assert [path for path in mine if not (tmp_path / path).is_file()] == []
        assert list(b.store.check()) == []


def test_the_copy_of_a_hook_goes_with_the_result_that_it_repeats(tmp_path: Path) -> None:
    output = f"{PACKED}\n{filler()}"
    body = ToolReturned("p", output)
    ref = original_ref("s", "", body)
    with open_session("s", root=tmp_path) as session:
        entry = Entry(ref, None, body, 0, at=session.ledger.now())
        file = copy_path(entry, "offload", "Bash", "holdfast")
        session.ledger.derive(original_note(body, OriginalFacts("Bash", ref, 900, 100, file)))
        write_copy(str(tmp_path), file, output.encode())
        session.extend([{"role": "user", "content": "Look."}, *looked("p", output)])
        (found,) = [one for one in session.ledger.path() if isinstance(one.body, ToolReturned)]
        apply_purge(session.ledger, plan_message_purge(session.ledger, found.id), at=AT)
    assert traces(tmp_path, PACKED) == []


def test_a_file_of_a_persons_own_is_not_taken_for_a_checkpoint(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "scratch" / "cache" / "checkpoints"
    folder.mkdir(parents=True)
    (folder / "main-1a2b3c4d.md").write_text("What I want to remember of this commit.")
    with open_session("main", root=tmp_path) as session:
        session.extend(history())
        apply_purge(
            session.ledger, plan_message_purge(session.ledger, session.ledger.path()[0].id), at=AT
        )
        apply_purge(session.ledger, plan_session_purge(session.ledger), at=AT)
    assert (folder / "main-1a2b3c4d.md").is_file()


def test_a_folder_that_may_not_be_looked_into_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused(tmp_path)

    def unlisted(folder: int) -> list[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.listdir", unlisted)
    with open_session("s", root=tmp_path) as session, pytest.raises(NotWritten, match="permission"):
        plan_session_purge(session.ledger)


def test_a_watch_that_looked_before_a_purge_knows_nothing_of_what_went(tmp_path: Path) -> None:
    with open_session("s", root=tmp_path) as session:
        session.extend(history())
        reader, whole = RecordReader(), RecordReader()
        reader.advance([Item(one) for one in session.ledger.path()])
        found = [one for one in session.ledger.path() if SAID in str(one.body)]
        assert SAID in reader.names
        apply_purge(session.ledger, plan_message_purge(session.ledger, found[0].id), at=AT)
        record = [Item(one) for one in session.ledger.path()]
        reader.advance(record)
        assert SAID not in reader.names | reader.words
        whole.advance(record)
        assert (reader.names, reader.words) == (whole.names, whole.words)
