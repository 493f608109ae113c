"""No file, pipe or pattern that a repository brings along holds a hook or a command.

Every process here is a real one. What would hang is ended by a wait with a timeout, and fails.
"""

import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from holdfast.surfaces.hooks.session import MAX_TRANSCRIPT_BYTES
from tests.input.large import transcript
from tests.surfaces.hooks.hooking import HOOK, LARGE, SESSION, environment, ran_bash

CLI = str(Path(sys.executable).with_name("holdfast"))
LONGEST = 20
"""Seconds after which a process hangs: a hook has five or ten, and a machine may be busy."""
MOST_MEGABYTES = 150
FAILED_SETTING, FAILED_DATA = 78, 65
LAUNCHER = """
import os, signal, sys
report, deaf, *command = sys.argv[1:]
if deaf == "deaf":
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
child = os.posix_spawn(command[0], command, os.environ)
_, status, used = os.wait4(child, 0)
with open(report, "w") as file:
    file.write(f"{os.waitstatus_to_exitcode(status)} {used.ru_maxrss // 1024}")
"""
"""Starts a program from a small process: the peak of a large one would be counted as its own."""
STUCK = """
import sys
class Stuck:
    def find_spec(self, name, path=None, target=None):
        if name == "holdfast.surfaces.hooks.events.{module}":
            {what}
sys.meta_path.insert(0, Stuck())
"""
SOON = """
from holdfast.surfaces.hooks.hosts.claude_code import DEADLINES
DEADLINES["{event}"] = 2.0
"""
IN_A_PATTERN = "import re; re.match('(a+)+b', 'a' * 80)"
IN_A_CALL = "import select; select.select([], [], [], 600)"


class Ended(Struct, frozen=True):
    """A process that ended by itself."""

    code: int
    megabytes: int
    out: str
    err: str


class Started(Struct, frozen=True):
    """A process that runs."""

    process: subprocess.Popen[bytes]
    report: Path

    def end(self, data: bytes | None = None, seconds: float = LONGEST) -> Ended:
        """What became of it, once it has ended by itself."""
        out, err = self.process.communicate(data, timeout=seconds)
        code, megabytes = self.report.read_text().split()
        return Ended(int(code), int(megabytes), out.decode(), err.decode())


@contextmanager
def started(project: Path, *command: str, deaf: bool = False, **more: str) -> Generator[Started]:
    """A program in a project; with `deaf`, started by one that ignores and blocks the alarm."""
    report = project.parent / "report"
    words = [sys.executable, "-c", LAUNCHER, str(report), "deaf" if deaf else "", *command]
    process = subprocess.Popen(
        words,
        cwd=project,
        env=environment(HOME=str(project / "home"), **more),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield Started(process, report)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()
        process.wait()


def ran(project: Path, *words: str) -> Ended:
    """A command of ours."""
    with started(project, CLI, *words) as one:
        return one.end(b"")


def told(project: Path, event: str, **fields: Any) -> bytes:
    known = {"session_id": SESSION, "cwd": str(project), "hook_event_name": event}
    return json.dumps({**known, **fields}).encode()


def hooked(project: Path, event: str, *, deaf: bool = False, **fields: Any) -> Ended:
    """A hook of Claude Code; fields are the document's."""
    with started(project, HOOK, "claude-code", event, deaf=deaf) as one:
        return one.end(told(project, event, **fields))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / "home").mkdir()
    return root


@pytest.fixture
def log(project: Path) -> Path:
    """The log of the hooks, in a project that has a ledger."""
    (project / ".holdfast").mkdir(mode=0o700)
    return project / ".holdfast" / "hooks.log"


def a_pipe(place: Path) -> None:
    os.mkfifo(place)


def a_link_to_a_device(place: Path) -> None:
    place.symlink_to("/dev/zero")


def a_link_to_a_file(place: Path) -> None:
    other = place.parent.parent / "elsewhere"
    other.write_text("")
    place.symlink_to(other)


def a_link_to_itself(place: Path) -> None:
    place.symlink_to(place)


def a_folder(place: Path) -> None:
    place.mkdir()


def too_large(place: Path) -> None:
    with place.open("wb") as file:
        file.truncate(3 * 1024**3)


PLANTS = (a_pipe, a_link_to_a_device, a_link_to_a_file, a_link_to_itself, a_folder, too_large)
planted = pytest.mark.parametrize("plant", PLANTS, ids=[one.__name__ for one in PLANTS])
Plant = Callable[[Path], None]


@planted
@pytest.mark.parametrize("name", ["holdfast.toml", ".loa.config.yaml"])
def test_settings_that_are_no_regular_file_end_a_command_with_a_sentence(
    project: Path, plant: Plant, name: str
) -> None:
    plant(project / name)
    done = ran(project, "config", "show")
    assert (done.code, done.out) == (FAILED_SETTING, "")
    assert done.err.startswith(f"holdfast: setting 'file' from {project / name}: it ")
    assert done.megabytes < MOST_MEGABYTES


@planted
def test_settings_that_are_no_regular_file_end_a_hook_with_a_line_in_the_log(
    project: Path, log: Path, plant: Plant
) -> None:
    plant(project / "holdfast.toml")
    done = hooked(project, "PostToolUse", **ran_bash(LARGE))
    assert (done.code, done.out, done.err) == (0, "", "")
    assert "BadSetting: setting 'file' from " in log.read_text()
    assert done.megabytes < MOST_MEGABYTES


def test_settings_of_the_user_may_be_a_link(project: Path) -> None:
    kept = project / "home" / "dotfiles.toml"
    kept.write_text("[offload]\nabove = 4321\n")
    (project / "home" / ".config" / "holdfast").mkdir(parents=True)
    (project / "home" / ".config" / "holdfast" / "config.toml").symlink_to(kept)
    done = ran(project, "config", "show")
    assert (done.code, "4321" in done.out) == (0, True)


def test_settings_of_the_user_may_not_be_a_device(project: Path) -> None:
    (project / "home" / ".config" / "holdfast").mkdir(parents=True)
    a_link_to_a_device(project / "home" / ".config" / "holdfast" / "config.toml")
    done = ran(project, "config", "show")
    assert (done.code, "it is a device" in done.err) == (FAILED_SETTING, True)
    assert done.megabytes < MOST_MEGABYTES


@pytest.mark.parametrize("setting", ["never_store", "redact"])
def test_a_pattern_of_a_repository_that_is_not_linear_is_refused_by_a_command(
    project: Path, setting: str
) -> None:
    (project / "holdfast.toml").write_text(f"[{setting}]\npatterns = ['(a+)+b']\n")
    (project / "a.jsonl").write_text(json.dumps({"role": "user", "content": "a" * 60}) + "\n")
    done = ran(project, "ingest", "a.jsonl")
    assert (done.code, done.out) == (FAILED_SETTING, "")
    assert done.err.startswith(f"holdfast: setting '{setting}.patterns' from ")
    kept = [file for file in (project / ".holdfast").rglob("*") if file.is_file()]
    assert [file for file in kept if b"aaaa" in file.read_bytes()] == []


def test_a_pattern_of_a_repository_that_is_not_linear_keeps_a_hook_from_storing(
    project: Path, log: Path
) -> None:
    (project / "holdfast.toml").write_text("[never_store]\npatterns = ['(a+)+b']\n")
    done = hooked(project, "PostToolUse", **ran_bash("a" * 60_000))
    assert (done.code, done.out, done.err) == (0, "", "")
    assert "BadSetting: setting 'never_store.patterns' from " in log.read_text()
    assert not (project / ".holdfast" / "ledger.db").exists()


@pytest.mark.parametrize("plant", [a_pipe, a_link_to_a_device, a_folder])
def test_a_transcript_that_is_no_regular_file_is_refused_by_a_command(
    project: Path, plant: Plant
) -> None:
    plant(project / "session.jsonl")
    done = ran(project, "ingest", "session.jsonl")
    assert (done.code, done.out) == (FAILED_DATA, "")
    assert "session.jsonl: " in done.err
    assert done.megabytes < MOST_MEGABYTES


def test_a_transcript_may_be_a_link(project: Path) -> None:
    (project / "kept.jsonl").write_text('{"role": "user", "content": "Hello."}\n')
    (project / "session.jsonl").symlink_to(project / "kept.jsonl")
    assert ran(project, "ingest", "session.jsonl").code == 0


@pytest.mark.parametrize("plant", [a_pipe, a_link_to_a_device])
@pytest.mark.parametrize("event", ["PostToolBatch", "PreCompact", "Stop", "SessionStart"])
def test_a_transcript_that_is_no_regular_file_does_not_hold_a_hook(
    project: Path, plant: Plant, event: str
) -> None:
    plant(project / "session.jsonl")
    path = str(project / "session.jsonl")
    done = hooked(project, event, transcript_path=path, source="startup")
    assert (done.code, done.err) == (0, "")
    assert done.megabytes < MOST_MEGABYTES


def test_a_pipe_in_place_of_the_log_does_not_hold_a_hook(project: Path, log: Path) -> None:
    os.mkfifo(log)
    (project / "holdfast.toml").write_text("nonsense = 1\n")
    done = hooked(project, "PostToolUse", **ran_bash(LARGE))
    assert (done.code, done.out, done.err) == (0, "", "")


def test_a_pipe_that_somebody_reads_is_not_written_to_as_the_log(project: Path, log: Path) -> None:
    os.mkfifo(log)
    reader = os.open(log, os.O_RDONLY | os.O_NONBLOCK)
    (project / "holdfast.toml").write_text("nonsense = 1\n")
    done = hooked(project, "PostToolUse", **ran_bash(LARGE))
    assert (done.code, os.read(reader, 10)) == (0, b"")
    os.close(reader)


def test_input_that_trickles_and_never_ends_is_given_up(project: Path, log: Path) -> None:
    with started(project, HOOK, "claude-code", "PreCompact") as one:
        pipe = one.process.stdin
        assert pipe is not None
        for _ in range(LONGEST):
            os.write(pipe.fileno(), b" ")
            try:
                one.process.wait(timeout=1)
                break
            except subprocess.TimeoutExpired:
                continue
        assert one.end().code == 0
    assert "TimeoutError: standard input was not closed in time" in log.read_text()


def stuck(project: Path, module: str, what: str) -> str:
    """A path for modules with which a hook never gets beyond the beginning of its work."""
    (project / "sitecustomize.py").write_text(STUCK.format(module=module, what=what))
    return str(project)


def test_a_hook_that_waits_for_something_gives_up_and_says_so(project: Path, log: Path) -> None:
    path = stuck(project, "tool_result", IN_A_CALL)
    with started(project, HOOK, "claude-code", "PostToolUse", PYTHONPATH=path) as one:
        done = one.end(told(project, "PostToolUse", **ran_bash(LARGE)))
    assert (done.code, done.out, done.err) == (0, "", "")
    assert "claude-code PostToolUse: given up at its deadline" in log.read_text()


@pytest.mark.parametrize("deaf", [False, True], ids=["as usual", "where the alarm was blocked"])
def test_a_hook_that_is_kept_busy_in_one_call_is_ended_by_the_alarm(
    project: Path, deaf: bool
) -> None:
    path = stuck(project, "tool_result", IN_A_PATTERN)
    with started(project, HOOK, "claude-code", "PostToolUse", deaf=deaf, PYTHONPATH=path) as one:
        done = one.end(told(project, "PostToolUse", **ran_bash(LARGE)))
    assert (done.code, done.out) == (-signal.SIGALRM, "")


@pytest.mark.slow
def test_work_that_goes_on_after_its_host_has_gone_has_an_alarm_of_its_own(project: Path) -> None:
    path = stuck(project, "session", IN_A_PATTERN)
    reading, writing = os.pipe()
    with subprocess.Popen(
        [HOOK, "codex", "SessionEnd"],
        cwd=project,
        env=environment(HOME=str(project / "home"), PYTHONPATH=path),
        stdin=subprocess.PIPE,
        pass_fds=[writing],
    ) as host:
        os.close(writing)
        host.communicate(told(project, "SessionEnd"), timeout=LONGEST)
        assert host.returncode == 0
    # The pipe ends when the last process that has it does.
    assert select.select([reading], [], [], LONGEST)[0]
    assert os.read(reading, 1) == b""
    os.close(reading)


def packet_of(project: Path) -> Path:
    """The file of a packet that was handed over."""
    (project / "a.jsonl").write_text('{"role": "user", "content": "Fix the parser."}\n')
    assert ran(project, "ingest", "a.jsonl").code == 0
    assert ran(project, "context", "generate", "Fix it", "--pane", "1").code == 0
    (file,) = (project / ".holdfast").rglob("pane-1*")
    return file


@planted
def test_a_packet_that_is_no_regular_file_is_refused(project: Path, plant: Plant) -> None:
    file = packet_of(project)
    file.unlink()
    plant(file)
    done = ran(project, "context", "read", "--pane", "1")
    assert (done.code, done.out) == (FAILED_DATA, "")
    assert f"{file.relative_to(project)} is refused: it " in done.err
    assert done.megabytes < MOST_MEGABYTES


@pytest.mark.parametrize("plant", [a_pipe, a_link_to_a_device, too_large])
def test_a_report_that_is_no_regular_file_is_refused(project: Path, plant: Plant) -> None:
    packet_of(project)
    plant(project / "report.md")
    done = ran(project, "context", "feedback", "--pane", "1", "--file", "report.md")
    assert (done.code, done.out) == (FAILED_DATA, "")
    assert "report.md is refused: it " in done.err
    assert done.megabytes < MOST_MEGABYTES


def test_input_without_end_is_refused_by_a_command(project: Path) -> None:
    with (
        Path("/dev/zero").open("rb") as zeros,
        subprocess.Popen(
            [CLI, "context", "generate", "-"],
            cwd=project,
            env=environment(HOME=str(project / "home")),
            stdin=zeros,
            stderr=subprocess.PIPE,
        ) as one,
    ):
        _, said = one.communicate(timeout=LONGEST)
    assert (one.returncode, said) == (FAILED_DATA, b"holdfast: stdin: it has more than 1 MB\n")


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A transcript that takes several times as long to read as a hook has in these tests."""
    file = tmp_path_factory.mktemp("long") / "long.jsonl"
    with file.open("wb") as stream:
        stream.writelines(transcript(50_000, 40, 100))
    return file


@pytest.mark.parametrize(("event", "source"), [("PreCompact", "auto"), ("SessionStart", "compact")])
def test_where_a_session_cannot_be_read_in_time_the_requests_at_its_ends_are_told(
    project: Path, log: Path, long: Path, event: str, source: str
) -> None:
    (project / "sitecustomize.py").write_text(SOON.format(event=event))
    with started(project, HOOK, "claude-code", event, PYTHONPATH=str(project)) as one:
        done = one.end(told(project, event, source=source, transcript_path=str(long)))
    assert (done.code, done.err) == (0, "")
    latest = re.findall(r"Please look at part \d+: ", long.read_text())[-1]
    assert "First request: Please look at part 1: " in done.out
    assert f"Latest request: {latest}" in done.out
    assert f"claude-code {event}: answered in short at its deadline" in log.read_text()


def huge(project: Path) -> Path:
    """A transcript of more bytes than any hook reads, most of them in one line of no meaning."""
    file = project / "huge.jsonl"
    with file.open("wb") as stream:
        stream.writelines(transcript(50, 40, 100))
        stream.truncate(MAX_TRANSCRIPT_BYTES)
        stream.seek(MAX_TRANSCRIPT_BYTES)
        stream.write(b"\n")
        stream.writelines(transcript(100, 40, 100))
    return file


@pytest.mark.parametrize("event", ["PreCompact", "SessionStart", "Stop"])
def test_a_huge_transcript_that_nobody_has_read_is_not_begun_while_somebody_waits(
    project: Path, log: Path, event: str
) -> None:
    done = hooked(project, event, transcript_path=str(huge(project)), source="resume")
    assert (done.code, done.err) == (0, "")
    assert ("Latest request: Please look at part 3: " in done.out) is (event != "Stop")
    assert done.megabytes < MOST_MEGABYTES
    assert not log.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "size", "turns"),
    [(40_000, 9_500, 2), (1_000_000, 40, 100)],
    ids=["200 MB", "a million lines"],
)
def test_a_huge_session_is_read_in_bounded_memory_and_its_hooks_end_in_time(
    project: Path, lines: int, size: int, turns: int
) -> None:
    file = project / "large.jsonl"
    with file.open("wb") as stream:
        stream.writelines(transcript(lines, size, turns))
    large = file.stat().st_size // 1024**2
    with started(project, CLI, "ingest", str(file)) as one:
        read = one.end(b"", 60 * LONGEST)
    assert (read.code, read.megabytes < large) == (0, True)
    # Once for the session that was read, once for one that nobody has read any of.
    for session in ("large", "other"):
        fields = {"session_id": session, "transcript_path": str(file)}
        for event in ("PreCompact", "Stop", "SessionStart"):
            with started(project, HOOK, "claude-code", event) as one:
                done = one.end(told(project, event, **fields, source="resume"), 3 * LONGEST)
            assert (done.code, done.err) == (0, "")
            assert ("Please look at part 1:" in done.out) is (event != "Stop")
            assert done.megabytes < 5 * large
        with started(project, HOOK, "claude-code", "PostToolUse") as one:
            left = one.end(told(project, "PostToolUse", **fields, **ran_bash(LARGE)))
        assert (left.code, "## Offloaded" in left.out) == (0, True)
