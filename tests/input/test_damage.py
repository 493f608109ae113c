"""Damaged transcripts: every valid record is read, every byte comes back, every damage is told."""

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import Struct

from holdfast.core.ledger.entry import ToolCalled, ToolReturned
from holdfast.errors import Unreadable
from holdfast.session.open import open_store
from tests.input.making import (
    chat,
    coded,
    given_back,
    line,
    read_in,
    run,
    sent,
    texts_of,
    told,
    transcript,
)

COUNT = 12
BAD = 5
"""The line that is damaged, counted from one."""


class Damage(Struct, frozen=True):
    """A damaged transcript, and what has to come of it."""

    data: bytes
    texts: tuple[str, ...]
    """What its valid records say."""
    flaws: tuple[tuple[int, bool], ...] = ()
    """The lines to be told of, and whether something can be made of each."""


def _texts(*lost: int) -> tuple[str, ...]:
    return tuple(f"message {at}" for at in range(COUNT) if at + 1 not in lost)


def _with_line(new: bytes, *, at: int = BAD) -> bytes:
    lines = transcript(COUNT)
    lines[at - 1] = new
    return b"".join(lines)


def _original(at: int = BAD) -> bytes:
    return transcript(COUNT)[at - 1]


def torn_tail() -> Damage:
    return Damage(b"".join(transcript(COUNT))[:-40], _texts(COUNT), ((COUNT, False),))


def torn_tail_inside_a_character() -> Damage:
    last = line(coded("é" * 50, COUNT - 1))
    data = _with_line(last[: last.index("é".encode()) + 21], at=COUNT)
    return Damage(data, _texts(COUNT), ((COUNT, False),))


def torn_line_with_the_next_behind_it() -> Damage:
    lines = transcript(COUNT)
    lines[BAD - 1 : BAD + 1] = [lines[BAD - 1][:70] + lines[BAD]]
    return Damage(b"".join(lines), _texts(BAD), ((BAD, True),))


def torn_line_of_many_objects_with_the_next_behind_it() -> Damage:
    lines = transcript(COUNT)
    many = line({**coded("message 4", 4), "toolUseResult": [{"line": at} for at in range(100)]})
    lines[BAD - 1 : BAD + 1] = [many[:-20] + lines[BAD]]
    return Damage(b"".join(lines), _texts(BAD), ((BAD, True),))


def two_whole_records_on_one_line() -> Damage:
    lines = transcript(COUNT)
    lines[BAD - 1] = lines[BAD - 1].rstrip(b"\n")
    return Damage(b"".join(lines), _texts(), ((BAD, True),))


def nul_run_before_a_line() -> Damage:
    return Damage(_with_line(b"\0" * 300 + _original()), _texts(), ((BAD, True),))


def nul_run_alone() -> Damage:
    lines = transcript(COUNT)
    lines.insert(BAD - 1, b"\0" * 300 + b"\n")
    return Damage(b"".join(lines), _texts(), ((BAD, False),))


def nul_run_behind_a_line() -> Damage:
    new = _original().rstrip(b"\n") + b"\0" * 300 + b"\n"
    return Damage(_with_line(new), _texts(), ((BAD, True),))


def nul_run_at_the_end_of_the_file() -> Damage:
    data = b"".join(transcript(COUNT)) + b"\0" * 4096
    return Damage(data, _texts(), ((COUNT + 1, False),))


def nul_run_over_the_middle_of_a_line() -> Damage:
    whole = _original()
    return Damage(_with_line(whole[:60] + b"\0" * 80 + whole[140:]), _texts(BAD), ((BAD, False),))


def byte_order_mark() -> Damage:
    return Damage(b"\xef\xbb\xbf" + b"".join(transcript(COUNT)), _texts(), ((1, True),))


def carriage_returns() -> Damage:
    return Damage(b"".join(transcript(COUNT)).replace(b"\n", b"\r\n"), _texts())


def blank_lines() -> Damage:
    lines = transcript(COUNT)
    return Damage(b"\n\n" + b"  \n".join(lines) + b"\n\r\n", _texts())


def no_newline_at_the_end() -> Damage:
    return Damage(b"".join(transcript(COUNT)).rstrip(b"\n"), _texts())


def bytes_that_are_not_utf8() -> Damage:
    whole = _original().replace(b"message 4", b"message \xff\xfe4")
    texts = list(_texts())
    texts[BAD - 1] = "message \ufffd\ufffd4"
    return Damage(_with_line(whole), tuple(texts), ((BAD, True),))


def lone_surrogate() -> Damage:
    whole = _original().replace(b"message 4", b"message \\ud8004")
    texts = list(_texts())
    texts[BAD - 1] = "message \ufffd4"
    return Damage(_with_line(whole), tuple(texts), ((BAD, True),))


def not_json() -> Damage:
    return Damage(_with_line(b"!!! the disk was full here\n"), _texts(BAD), ((BAD, False),))


def json_that_is_no_object() -> Damage:
    return Damage(_with_line(b'["message 4"]\n'), _texts(BAD), ((BAD, False),))


def depth_bomb() -> Damage:
    bomb = b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n"
    return Damage(_with_line(bomb), _texts(BAD), ((BAD, False),))


def depth_bomb_of_arrays_that_never_closes() -> Damage:
    bomb = b'{"type":"user","uuid":"u","message":' + b"[" * 100_000 + b"\n"
    return Damage(_with_line(bomb), _texts(BAD), ((BAD, False),))


def number_of_ten_thousand_digits() -> Damage:
    whole = _original().replace(b'"isSidechain"', b'"n": ' + b"9" * 10_000 + b', "isSidechain"')
    return Damage(_with_line(whole), _texts(BAD), ((BAD, False),))


def nothing_left_but_one_line() -> Damage:
    lines = [*[b"\0" * 100 + b"\n"] * 3, transcript(1)[0], b'{"type":"user","mess']
    flaws = ((1, False), (2, False), (3, False), (5, False))
    return Damage(b"".join(lines), ("message 0",), flaws)


KINDS: tuple[Callable[[], Damage], ...] = (
    torn_tail,
    torn_tail_inside_a_character,
    torn_line_with_the_next_behind_it,
    torn_line_of_many_objects_with_the_next_behind_it,
    two_whole_records_on_one_line,
    nul_run_before_a_line,
    nul_run_alone,
    nul_run_behind_a_line,
    nul_run_at_the_end_of_the_file,
    nul_run_over_the_middle_of_a_line,
    byte_order_mark,
    carriage_returns,
    blank_lines,
    no_newline_at_the_end,
    bytes_that_are_not_utf8,
    lone_surrogate,
    not_json,
    json_that_is_no_object,
    depth_bomb,
    depth_bomb_of_arrays_that_never_closes,
    number_of_ten_thousand_digits,
    nothing_left_but_one_line,
)
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@each_kind
def test_every_valid_record_is_read_every_byte_kept_and_every_damage_told(
    kind: Callable[[], Damage], tmp_path: Path
) -> None:
    damage = kind()
    file = tmp_path / "damaged.jsonl"
    file.write_bytes(damage.data)
    done = read_in(file, tmp_path)
    assert given_back(tmp_path, done.session) == damage.data
    assert tuple(texts_of(tmp_path, done.session)) == damage.texts
    assert tuple((flaw.line, flaw.read) for flaw in done.flaws) == damage.flaws
    assert all(flaw.reason for flaw in done.flaws)


@each_kind
def test_a_damaged_file_read_again_adds_nothing(kind: Callable[[], Damage], tmp_path: Path) -> None:
    file = tmp_path / "damaged.jsonl"
    file.write_bytes(kind().data)
    first = read_in(file, tmp_path)
    again = read_in(file, tmp_path)
    assert (again.session, again.added, again.branched) == (first.session, 0, False)
    assert again.flaws == first.flaws


@each_kind
def test_the_command_names_file_line_and_reason_of_each_damage(
    kind: Callable[[], Damage], tmp_path: Path
) -> None:
    damage = kind()
    (tmp_path / "damaged.jsonl").write_bytes(damage.data)
    ran = run("ingest", "damaged.jsonl", cwd=tmp_path)
    told_of = ran.err.splitlines()
    assert ran.code == 0
    assert len(told_of) == len(damage.flaws)
    for sentence, (number, _) in zip(told_of, damage.flaws, strict=True):
        begins = f"holdfast: damaged.jsonl, line {number}: "
        assert sentence.startswith(begins)
        assert len(sentence) > len(begins)
    back = run("export", "--output", "back.jsonl", cwd=tmp_path)
    assert back == (0, "", "")
    assert (tmp_path / "back.jsonl").read_bytes() == damage.data


def test_a_torn_last_line_that_was_completed_since_is_read_and_makes_no_branch(
    tmp_path: Path,
) -> None:
    file = tmp_path / "torn.jsonl"
    whole = b"".join(transcript(COUNT))
    file.write_bytes(whole[:-40])
    torn = read_in(file, tmp_path)
    file.write_bytes(whole)
    done = read_in(file, tmp_path)
    assert (torn.added, done.added, done.branched, done.flaws) == (COUNT - 1, 1, False, ())
    assert tuple(texts_of(tmp_path, done.session)) == _texts()
    assert given_back(tmp_path, done.session) == whole


def test_a_last_line_whose_newline_came_later_makes_no_branch(tmp_path: Path) -> None:
    file = tmp_path / "growing.jsonl"
    lines = transcript(COUNT)
    file.write_bytes(b"".join(lines[:6]).rstrip(b"\n"))
    read_in(file, tmp_path)
    file.write_bytes(b"".join(lines))
    done = read_in(file, tmp_path)
    assert (done.added, done.branched) == (COUNT - 6, False)
    assert tuple(texts_of(tmp_path, done.session)) == _texts()
    assert given_back(tmp_path, done.session) == b"".join(lines)


def test_a_file_whose_only_line_was_torn_is_read_once_it_is_complete(tmp_path: Path) -> None:
    file = tmp_path / "young.jsonl"
    lines = transcript(3)
    file.write_bytes(lines[0][:60])
    read_in(file, tmp_path, session="young")
    file.write_bytes(b"".join(lines))
    read_in(file, tmp_path, session="young")
    assert sent(tmp_path, "young") == [
        {"role": "user", "content": "message 0"},
        {"role": "assistant", "content": "message 1"},
        {"role": "user", "content": "message 2"},
    ]
    assert given_back(tmp_path, "young") == b"".join(lines)


def test_each_prefix_of_a_transcript_can_be_read_and_given_back(tmp_path: Path) -> None:
    whole = b"".join(transcript(3))
    file = tmp_path / "prefix.jsonl"
    for length in range(1, len(whole), 7):
        file.write_bytes(whole[:length])
        name = f"prefix-{length}"
        read_in(file, tmp_path, session=name)
        assert given_back(tmp_path, name) == whole[:length]


def test_duplicate_call_ids_and_results_before_their_calls_are_all_kept(tmp_path: Path) -> None:
    early = {"role": "tool", "tool_call_id": "c1", "content": "early"}
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    asks = {"role": "assistant", "content": None, "tool_calls": [call, call]}
    late = {"role": "tool", "tool_call_id": "c1", "content": "late"}
    data = b"".join(line(value) for value in (early, asks, late, asks, late))
    (tmp_path / "calls.jsonl").write_bytes(data)
    done = read_in(tmp_path / "calls.jsonl", tmp_path)
    with open_store(tmp_path) as store:
        bodies = [entry.body for entry in store.read(done.session)]
    ran = ToolCalled("c1", "run", "{}")
    answered = ToolReturned("c1", "late")
    assert bodies == [ToolReturned("c1", "early"), ran, ran, answered, ran, ran, answered]
    assert done.flaws == ()
    assert given_back(tmp_path, done.session) == data
    assert sent(tmp_path, done.session) == [early, asks, late, asks, late]


ARRAY = b'[{"role":"user","content":"one"},\n {"role":"assistant","content":"two"},\n '
REQUEST = b'{"model":"gpt-4o","messages":' + ARRAY


@pytest.mark.parametrize("beginning", [ARRAY, REQUEST], ids=["array", "request"])
@pytest.mark.parametrize("rest", [b"", b'{"role":"us', b'{"role":"user","content":"thr\xc3'])
def test_a_document_that_breaks_off_gives_its_whole_messages(
    beginning: bytes, rest: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "broken.json"
    file.write_bytes(beginning + rest)
    done = read_in(file, tmp_path)
    assert texts_of(tmp_path, done.session) == ["one", "two"]
    assert [(flaw.line, flaw.read) for flaw in done.flaws] == [(3, False)]
    assert given_back(tmp_path, done.session) == beginning + rest
    ran = run("ingest", "broken.json", "--session", "again", cwd=tmp_path)
    assert ran.code == 0
    assert ran.err.startswith("holdfast: broken.json, line 3: ")


@pytest.mark.parametrize("beginning", [ARRAY, REQUEST], ids=["array", "request"])
def test_a_document_that_was_completed_since_makes_no_branch(
    beginning: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "broken.json"
    file.write_bytes(beginning + b'{"role":"us')
    read_in(file, tmp_path)
    end = b"]}" if beginning == REQUEST else b"]"
    whole = beginning + b'{"role":"user","content":"three"}' + end
    file.write_bytes(whole)
    done = read_in(file, tmp_path)
    assert (done.added, done.branched, done.flaws) == (1, False, ())
    assert texts_of(tmp_path, done.session) == ["one", "two", "three"]
    assert given_back(tmp_path, done.session) == whole


NOT_A_SESSION = {
    "plain words": b"not JSON\nnot at all\n",
    "a torn line": b'{"role":"user","con',
    "a depth bomb": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "brackets without end": b"[" * 100_000,
    "brackets in each other": b"[" * 100_000 + b"]" * 100_000,
    "nothing but NUL bytes": b"\0" * 5_000,
    "random bytes": bytes(range(256)) * 8,
    "an array of numbers": b"[1, 2, 3]",
    "JSON of another kind": b'{"hello": "world"}\n',
}


@pytest.mark.parametrize("what", NOT_A_SESSION)
def test_a_file_that_is_no_session_is_told_of_in_one_sentence_and_kept_whole_or_refused(
    what: str, tmp_path: Path
) -> None:
    data = NOT_A_SESSION[what]
    (tmp_path / "odd.jsonl").write_bytes(data)
    ran = run("ingest", "odd.jsonl", cwd=tmp_path)
    assert len(ran.err.splitlines()) == 1
    assert ran.err.startswith("holdfast: odd.jsonl")
    assert ran.code in (0, Unreadable.exit_code)
    if ran.code == 0:
        assert given_back(tmp_path, "odd") == data
    else:
        assert run("sessions", cwd=tmp_path).out.startswith("no sessions")


@pytest.mark.parametrize("data", [b"", b"\n\n \r\n\n"], ids=["no byte", "blank lines"])
def test_an_empty_file_is_refused_and_leaves_no_session(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "empty.jsonl"
    file.write_bytes(data)
    with pytest.raises(Unreadable) as caught:
        read_in(file, tmp_path)
    assert (caught.value.where, caught.value.line) == (str(file), None)
    ran = run("ingest", "empty.jsonl", cwd=tmp_path)
    assert (ran.code, ran.out) == (Unreadable.exit_code, "")
    assert ran.err.splitlines() == [f"holdfast: empty.jsonl: {caught.value.reason}"]
    assert run("sessions", cwd=tmp_path).out.startswith("no sessions")


def _folder(root: Path) -> Path:
    (root / "folder.jsonl").mkdir()
    return root / "folder.jsonl"


def _missing(root: Path) -> Path:
    return root / "missing.jsonl"


def _below_a_file(root: Path) -> Path:
    (root / "file").write_bytes(b"x")
    return root / "file" / "below.jsonl"


def _dangling_link(root: Path) -> Path:
    (root / "link.jsonl").symlink_to(root / "nowhere")
    return root / "link.jsonl"


def _loop_of_links(root: Path) -> Path:
    (root / "loop.jsonl").symlink_to(root / "loop.jsonl")
    return root / "loop.jsonl"


def _name_too_long(root: Path) -> Path:
    return root / ("a" * 300 + ".jsonl")


@pytest.mark.parametrize(
    "place", [_folder, _missing, _below_a_file, _dangling_link, _loop_of_links, _name_too_long]
)
def test_what_cannot_be_opened_is_refused_by_its_name(
    place: Callable[[Path], Path], tmp_path: Path
) -> None:
    path = place(tmp_path)
    with pytest.raises(Unreadable) as caught:
        read_in(path, tmp_path)
    assert caught.value.where == str(path)
    ran = run("ingest", str(path), cwd=tmp_path)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (Unreadable.exit_code, "", 1)
    assert ran.err.startswith(f"holdfast: {path}: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_is_refused_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "closed.jsonl"
    file.write_bytes(b"".join(chat(2)))
    file.chmod(0)
    with pytest.raises(Unreadable) as caught:
        read_in(file, tmp_path)
    assert caught.value.where == str(file)


def test_a_format_nobody_knows_is_refused_before_the_file_is_looked_at(tmp_path: Path) -> None:
    with pytest.raises(Unreadable) as caught:
        read_in(tmp_path / "missing.jsonl", tmp_path, wire="antropic")
    assert caught.value.where == str(tmp_path / "missing.jsonl")
    assert run("ingest", "x.jsonl", "--wire", "antropic", cwd=tmp_path).code == 2


@pytest.mark.parametrize("wire", ["claude_code", "codex", "openai_responses"])
def test_a_file_of_another_format_than_named_is_refused(wire: str, tmp_path: Path) -> None:
    asks = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "run"}}]}
    (tmp_path / "chat.jsonl").write_bytes(line(asks))
    with pytest.raises(Unreadable) as caught:
        read_in(tmp_path / "chat.jsonl", tmp_path, wire=wire)
    assert caught.value.where == str(tmp_path / "chat.jsonl")
    ran = run("ingest", "chat.jsonl", "--wire", wire, cwd=tmp_path)
    assert (ran.code, len(ran.err.splitlines())) == (Unreadable.exit_code, 1)


def _packed() -> bytes:
    return gzip.compress(b"".join(told(f"{at} {os.urandom(24).hex()}") for at in range(400)))


def test_a_compressed_file_gives_what_it_holds(tmp_path: Path) -> None:
    packed = _packed()
    (tmp_path / "whole.jsonl.gz").write_bytes(packed)
    done = read_in(tmp_path / "whole.jsonl.gz", tmp_path)
    assert (done.session, done.pieces, done.flaws) == ("whole", 400, ())
    assert given_back(tmp_path, "whole") == gzip.decompress(packed)


def test_a_compressed_file_that_breaks_off_gives_what_comes_before_and_is_told_of(
    tmp_path: Path,
) -> None:
    packed = _packed()
    (tmp_path / "cut.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    done = read_in(tmp_path / "cut.jsonl.gz", tmp_path)
    back = given_back(tmp_path, "cut")
    assert gzip.decompress(packed).startswith(back)
    assert len(back) > len(gzip.decompress(packed)) // 3
    assert [flaw.line for flaw in done.flaws][-1:] == [done.pieces]
    ran = run("ingest", "cut.jsonl.gz", cwd=tmp_path)
    assert ran.code == 0
    assert ran.err.startswith("holdfast: cut.jsonl.gz, line ")


def test_a_compressed_file_with_a_wrong_byte_gives_what_comes_before_and_is_told_of(
    tmp_path: Path,
) -> None:
    packed = bytearray(_packed())
    packed[len(packed) // 2] ^= 0xFF
    (tmp_path / "wrong.jsonl.gz").write_bytes(packed)
    done = read_in(tmp_path / "wrong.jsonl.gz", tmp_path)
    assert done.pieces > 100
    assert [flaw.line for flaw in done.flaws][-1:] == [done.pieces]


def test_a_compressed_file_of_which_only_the_header_is_left_is_not_called_empty(
    tmp_path: Path,
) -> None:
    (tmp_path / "empty.jsonl.gz").write_bytes(gzip.compress(b""))
    (tmp_path / "header.jsonl.gz").write_bytes(_packed()[:12])
    with pytest.raises(Unreadable) as empty:
        read_in(tmp_path / "empty.jsonl.gz", tmp_path)
    with pytest.raises(Unreadable) as header:
        read_in(tmp_path / "header.jsonl.gz", tmp_path)
    assert header.value.where == str(tmp_path / "header.jsonl.gz")
    assert header.value.reason != empty.value.reason


def test_a_good_file_is_read_beside_files_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "good.jsonl").write_bytes(b"".join(chat(3)))
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "hollow").mkdir()
    ran = run("ingest", "empty.jsonl", "hollow", "missing", "good.jsonl", cwd=tmp_path)
    assert ran.code == Unreadable.exit_code
    named = [sentence.split(":")[1].strip() for sentence in ran.err.splitlines()]
    assert sorted(named) == ["empty.jsonl", "hollow", "missing"]
    assert given_back(tmp_path, "good") == b"".join(chat(3))


def test_a_folder_with_a_dangling_link_among_its_files_is_read_all_the_same(
    tmp_path: Path,
) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "good.jsonl").write_bytes(b"".join(chat(3)))
    (tmp_path / "logs" / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    ran = run("ingest", "logs", cwd=tmp_path)
    assert ran.code == Unreadable.exit_code
    assert given_back(tmp_path, "good") == b"".join(chat(3))
    assert ran.err.startswith("holdfast: logs/gone.jsonl")


def test_a_pipe_among_the_files_of_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "good.jsonl").write_bytes(b"".join(chat(3)))
    os.mkfifo(tmp_path / "logs" / "pipe.jsonl")
    command = [sys.executable, "-m", "holdfast", "ingest", "logs"]
    try:
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=15)
    except subprocess.TimeoutExpired:
        pytest.fail("the command waits for somebody to write to the pipe")
    assert given_back(tmp_path, "good") == b"".join(chat(3))


def test_two_files_of_one_name_that_begin_alike_stay_two_sessions(tmp_path: Path) -> None:
    rules = told("you are a helpful agent", "system")
    files = {name: rules + told(f"task {name}") for name in ("one", "two")}
    done: dict[str, str] = {}
    for name, data in files.items():
        (tmp_path / name).mkdir()
        file = tmp_path / name / "messages.jsonl"
        file.write_bytes(data)
        done[name] = read_in(file, tmp_path).session
    assert {name: given_back(tmp_path, session) for name, session in done.items()} == files


def test_a_file_of_another_format_read_into_a_session_hides_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "first.jsonl").write_bytes(b"".join(transcript(2)))
    thought = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}
    (tmp_path / "second.jsonl").write_bytes(line(thought))
    read_in(tmp_path / "first.jsonl", tmp_path, session="both")
    ran = run("ingest", "second.jsonl", "--session", "both", cwd=tmp_path)
    assert ran.code == Unreadable.exit_code
    assert sent(tmp_path, "both") == [
        {"role": "user", "content": "message 0"},
        {"role": "assistant", "content": "message 1"},
    ]
