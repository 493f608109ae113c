import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

from holdfast.core.ledger.entry import ToolCalled
from holdfast.project.persisted import MAX_FILE_BYTES, find_on_disk
from tests.core.building import bash, call

TEXT = "one\ntwo\nthree\n"


def on_disk(body: ToolCalled, root: Path) -> tuple[str, str] | None:
    return find_on_disk(body, str(root))


def file_and_hash(content: str | bytes, path: str = "a.py") -> tuple[str, str]:
    data = content if isinstance(content, bytes) else content.encode()
    return path, sha256(data).hexdigest()


def write(content: str = TEXT, path: str = "a.py") -> ToolCalled:
    return call("c", "Write", file_path=path, content=content)


def edit(new: str, **more: object) -> ToolCalled:
    return call("c", "Edit", file_path="a.py", old_string="x", new_string=new, **more)


@pytest.mark.seed("R054", "R059")
def test_a_write_is_on_disk_when_the_file_holds_its_text(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(TEXT)
    assert on_disk(write(), tmp_path) == file_and_hash(TEXT)


@pytest.mark.parametrize("content", ["one\ntwo\nthree", "one\ntwo\nthree\n\n", f"\n{TEXT}"])
def test_white_space_at_the_ends_is_no_difference(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.py").write_text(content)
    assert on_disk(write(), tmp_path) == file_and_hash(content)


def test_a_path_may_be_absolute(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(TEXT)
    assert on_disk(write(path=str(file)), Path("/nowhere")) == file_and_hash(TEXT, str(file))


@pytest.mark.seed("R059")
@pytest.mark.parametrize("content", ["one\ntwo\n", f"{TEXT}four\n", "", "ONE\ntwo\nthree\n"])
def test_a_file_that_was_changed_since_does_not_hold_the_write(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / "a.py").write_text(content)
    assert on_disk(write(), tmp_path) is None


def test_an_edit_is_on_disk_when_the_file_contains_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f"before\n{TEXT}after\n")
    assert on_disk(edit(TEXT), tmp_path) == file_and_hash(f"before\n{TEXT}after\n")
    assert on_disk(edit("something else"), tmp_path) is None


def test_of_several_edits_all_have_to_be_there(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(TEXT)

    def several(*new: str) -> ToolCalled:
        edits = [{"old_string": "x", "new_string": text} for text in new]
        return call("c", "MultiEdit", file_path="a.py", edits=edits)

    assert on_disk(several("one", "three"), tmp_path) == file_and_hash(TEXT)
    assert on_disk(several("one", "four"), tmp_path) is None


def test_an_edit_that_only_takes_away_is_not_seen(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(TEXT)
    assert on_disk(edit(""), tmp_path) is None
    assert on_disk(write(""), tmp_path) is None


def test_a_here_document_is_a_write_and_one_that_appends_is_an_edit(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(TEXT)
    assert on_disk(bash("c", f"cat > a.py <<'EOF'\n{TEXT}EOF"), tmp_path) == file_and_hash(TEXT)
    assert on_disk(bash("c", "cat >> a.py <<EOF\nthree\nEOF"), tmp_path) == file_and_hash(TEXT)
    assert on_disk(bash("c", "cat > a.py <<EOF\nthree\nEOF"), tmp_path) is None
    assert on_disk(bash("c", "cat >> a.py <<EOF\nfour\nEOF"), tmp_path) is None


@pytest.mark.parametrize(
    "body",
    [
        call("c", "Read", file_path="a.py"),
        bash("c", "cat a.py"),
        call("c", "Write", content=TEXT),
        ToolCalled("c", "Write", "no JSON"),
        ToolCalled("c", "Write", json.dumps([1])),
        call("c", "Write", file_path="missing.py", content=TEXT),
        call("c", "Write", file_path="a.py\0", content=TEXT),
        call("c", "Write", file_path="x" * 5_000, content=TEXT),
        call("c", "Write", file_path="\ud800", content=TEXT),
        call("c", "Write", file_path=".", content=TEXT),
        call("c", "Write", file_path="a.py/b", content=TEXT),
    ],
)
def test_what_cannot_be_seen_is_not_assumed(tmp_path: Path, body: ToolCalled) -> None:
    (tmp_path / "a.py").write_text(TEXT)
    assert on_disk(body, tmp_path) is None


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.py")
    assert on_disk(write(), tmp_path) is None


def test_a_file_that_nobody_may_read_is_not_seen(tmp_path: Path) -> None:
    (tmp_path / "a.py").symlink_to(tmp_path / "a.py")
    assert on_disk(write(), tmp_path) is None


def test_a_file_too_large_to_compare_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "a.py").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    assert on_disk(write(), tmp_path) is None


def test_half_of_a_character_is_compared_as_it_is(tmp_path: Path) -> None:
    data = "\ud800 x".encode("utf-8", "surrogatepass")
    (tmp_path / "a.py").write_bytes(data)
    assert on_disk(write("\ud800 x"), tmp_path) == file_and_hash(data)
