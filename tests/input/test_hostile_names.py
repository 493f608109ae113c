"""Names from outside never become names on disk, and no two of them become one."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.errors import HoldfastError
from holdfast.session.open import open as open_session
from holdfast.session.open import open_store
from holdfast.surfaces.cli.main import cli
from tests.input.making import chat, coded, given_back, line, listing, read_in, run, told

NAMES = (
    "../../../pwned",
    "..%2f..%2fx",
    "a/b",
    "a\\b",
    "C:\\x",
    "\\\\srv\\x",
    "con",
    "nul.md",
    "x:ads",
    ".",
    "..",
    "a" * 300,
    "a\nb",
    "-rf",
    "--help",
    "~",
    "$(id)",
    "＿．．／",
    "\u00e9",
    "e\u0301",
    "Call_1",
    "call_1",
    "call/1",
    "call.1",
    "call:" + "s" * 1_400,
    "/etc/passwd",
    "'; drop table sessions; --",
    "%s%n{0}",
    " ",
    " a",
    "a",
    "a ",
    "*",
    "\u202eexe",
    "👩‍🚀",
)
NOT_FOR_ARGUMENTS = ("", "a\0b", "\0")
"""Names that no shell can pass on."""
EVERY_NAME = (*NAMES, *NOT_FOR_ARGUMENTS)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project so deep in the sandbox that whatever climbs out of it stays in sight."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    root = tmp_path / "a" / "b" / "c" / "d" / "project"
    root.mkdir(parents=True)
    monkeypatch.chdir(root)
    return root


def test_session_names_given_to_the_library_stay_apart_and_inside_the_store(
    project: Path, tmp_path: Path
) -> None:
    before = listing(tmp_path)
    for name in EVERY_NAME:
        with open_session(name, root=project) as session:
            session.append({"role": "user", "content": f"I am {name!r}"})
    for name in EVERY_NAME:
        with open_session(name, root=project) as session:
            assert session.messages() == [{"role": "user", "content": f"I am {name!r}"}]
    with open_store(project) as store:
        assert {listed.name for listed in store.sessions()} == set(EVERY_NAME)
        assert list(store.check()) == []
    assert listing(tmp_path) == before


@pytest.mark.parametrize("name", ["\ud800", "x\udcff"])
def test_a_session_name_no_text_can_hold_is_refused_or_kept_in_our_words(
    name: str, project: Path
) -> None:
    try:
        with open_session(name, root=project) as session:
            session.append({"role": "user", "content": "hello"})
            assert session.messages() == [{"role": "user", "content": "hello"}]
    except HoldfastError:
        return


@pytest.mark.parametrize("agent", ["\ud800", "x\udcff", "a\0b", "../../x"])
def test_an_agent_name_no_text_can_hold_is_refused_or_kept_in_our_words(
    agent: str, project: Path
) -> None:
    try:
        with open_session("s", root=project, agent=agent) as session:
            session.append({"role": "user", "content": "hello"})
            session.note(agent, fact=agent)
            assert session.messages() == [{"role": "user", "content": "hello"}]
    except HoldfastError:
        return


def test_session_names_given_to_the_command_stay_apart_and_inside_the_store(
    project: Path, tmp_path: Path
) -> None:
    names = [name for name in NAMES if len(name) < 1_000]
    for at, name in enumerate(names):
        (project / f"{at}.jsonl").write_bytes(told(f"I am {name!r}"))
    run("sessions", cwd=project)
    before = listing(tmp_path)
    for at, name in enumerate(names):
        done = CliRunner().invoke(cli, ["ingest", f"{at}.jsonl", f"--session={name}"])
        assert (done.exit_code, done.stderr) == (0, "")
    for at, name in enumerate(names):
        assert given_back(project, name) == (project / f"{at}.jsonl").read_bytes()
    sessions = json.loads(run("sessions", "--limit", "0", "--json", cwd=project).out)["sessions"]
    assert {row["session"] for row in sessions} == set(names)
    assert listing(tmp_path) == before


def test_a_session_name_of_bytes_that_are_not_utf8_ends_in_a_sentence_or_a_session(
    project: Path,
) -> None:
    (project / "a.jsonl").write_bytes(b"".join(chat(2)))
    ran = run(b"ingest", b"a.jsonl", b"--session=x\xff", cwd=project)
    assert ran.code in (0, 64, 65)


def test_calls_tools_agents_and_sessions_of_a_transcript_stay_apart_and_inside_the_store(
    project: Path, tmp_path: Path
) -> None:
    files: dict[str, bytes] = {}
    for at, name in enumerate(EVERY_NAME):
        call = {"type": "tool_use", "id": name, "name": name, "input": {"path": name}}
        result = {"type": "tool_result", "tool_use_id": name, "content": f"result {name}"}
        asks = {**coded("", 1), "message": {"role": "assistant", "id": name, "content": [call]}}
        answers = {**coded("", 2), "message": {"role": "user", "content": [result]}}
        lines = [coded(f"I am {at}", 0), asks, answers]
        data = b"".join(line({**one, "sessionId": name, "agentId": name}) for one in lines)
        files[name] = data
        (project / f"{at}.jsonl").write_bytes(data)
    before = listing(tmp_path)
    done = {name: read_in(project / f"{at}.jsonl", project) for at, name in enumerate(files)}
    named = {name: one.session for name, one in done.items()}
    assert len(set(named.values())) == len(EVERY_NAME)
    assert all(session == name for name, session in named.items() if name)
    assert {name: given_back(project, session) for name, session in named.items()} == files
    assert listing(tmp_path) == before


def test_files_of_sub_agents_stay_apart_and_inside_the_store(project: Path, tmp_path: Path) -> None:
    names = [
        name for name in NAMES if "/" not in name and name not in (".", "..") and len(name) < 200
    ]
    folder = project / "agents"
    folder.mkdir()
    for name in names:
        side = {**coded(f"I am {name!r}", 0), "isSidechain": True, "agentId": name}
        (folder / f"{name}.jsonl").write_bytes(line(side))
    before = listing(tmp_path)
    for name in names:
        read_in(folder / f"{name}.jsonl", project)
    for name in names:
        assert given_back(project, "11111111-aaaa", name) == (folder / f"{name}.jsonl").read_bytes()
    assert listing(tmp_path) == before
    with open_store(project) as store:
        assert list(store.check()) == []


def test_file_names_become_sessions_that_stay_apart_and_inside_the_store(
    project: Path, tmp_path: Path
) -> None:
    names = [name for name in NAMES if "/" not in name and len(name) < 200]
    folder = project / "logs"
    folder.mkdir()
    for name in names:
        (folder / f"{name}.jsonl").write_bytes(told(f"I am {name!r}"))
    run("sessions", cwd=project)
    before = listing(tmp_path)
    ran = run("ingest", "logs", cwd=project)
    assert (ran.code, ran.err) == (0, "")
    for name in names:
        assert given_back(project, name) == (folder / f"{name}.jsonl").read_bytes()
    assert listing(tmp_path) == before


def test_a_file_name_of_bytes_that_are_not_utf8_is_read(project: Path) -> None:
    path = os.fsencode(project) + b"/x\xff.jsonl"
    with open(path, "wb") as file:
        file.write(b"".join(chat(2)))
    ran = run(b"ingest", path, cwd=project)
    assert ran.code == 0
    ran = run(b"ingest", b"--json", path, cwd=project)
    assert ran.code == 0
    with open_store(project) as store:
        (listed,) = store.sessions()
    assert given_back(project, listed.name) == b"".join(chat(2))


def test_a_path_with_a_nul_byte_is_refused_in_our_words(project: Path) -> None:
    with pytest.raises(HoldfastError):
        read_in("a\0b.jsonl", project)


@pytest.mark.parametrize("root", ["~nobody-of-this-name/x", "a\nb", "$(id)", "-rf", "x" * 300])
def test_a_project_of_an_odd_name_is_made_as_named_or_refused_in_our_words(
    root: str, project: Path, tmp_path: Path
) -> None:
    (project / "a.jsonl").write_bytes(b"".join(chat(2)))
    run("sessions", cwd=project)
    before = listing(tmp_path)
    ran = run("ingest", "a.jsonl", f"--root={root}", cwd=project)
    assert ran.code in (0, 77, 78)
    made = set(listing(tmp_path)) - set(before)
    assert made <= {str(project / root)}


HOSTILE_GIT = {
    "a folder elsewhere": b"gitdir: ../../../../elsewhere\n",
    "bytes": bytes(range(256)),
    "a NUL byte": b"gitdir: a\0b\n",
    "a long name": b"gitdir: " + b"a" * 5_000,
    "nothing": b"",
}


@pytest.mark.parametrize("what", HOSTILE_GIT)
def test_a_hostile_git_file_writes_nothing_elsewhere(
    what: str, project: Path, tmp_path: Path
) -> None:
    (project / ".git").write_bytes(HOSTILE_GIT[what])
    (project / "a.jsonl").write_bytes(b"".join(chat(2)))
    run("config", "show", cwd=project)
    before = listing(tmp_path)
    ran = run("ingest", "a.jsonl", cwd=project)
    assert (ran.code, ran.err) == (0, "")
    assert listing(tmp_path) == before


def test_a_project_reached_through_a_link_of_its_owner_is_used(project: Path) -> None:
    (project.parent / "link").symlink_to(project)
    with open_session("s", root=project.parent / "link") as session:
        session.append({"role": "user", "content": "hello"})
    with open_session("s", root=project) as session:
        assert session.messages() == [{"role": "user", "content": "hello"}]
