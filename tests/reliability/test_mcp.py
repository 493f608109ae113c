"""M01-M04, M07, C05: the server dies with its client, answers all, and prints nothing else."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from holdfast.core.ledger.entry import Compressed
from holdfast.session.open import open as open_session
from tests.surfaces.cli.working import NEEDLE, messages, recorded
from tests.surfaces.mcp.clients import http_server_url
from tests.surfaces.mcp.process import StdioServer, environment, run_with_input

ALIVE = 5.0
"""Seconds after which a server whose client is gone has to be gone as well."""
SLOW = """
import sys, threading, time
import holdfast.surfaces.mcp.calls as calls
from holdfast.surfaces.cli.main import main

def slow(context, arguments):
    print("this is no frame")
    open("at-work", "w").close()
    time.sleep(600)

calls.HANDLERS["context_status"] = calls.ToolHandler(calls.NoArguments, slow)
threading.Thread(target=time.sleep, args=(600,)).start()
main(["mcp", *sys.argv[1:]])
"""
"""A server with a tool that never ends and a thread that never ends."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    recorded(root, reads=3)
    return root


def gone(process: subprocess.Popen[bytes]) -> int:
    return process.wait(ALIVE)


def at_work(root: Path) -> None:
    """Wait until the slow tool is being worked on."""
    until((root / "at-work").exists)


def until(done: Callable[[], bool]) -> None:
    pause, ends = threading.Event(), time.monotonic() + 30
    while not done():
        assert time.monotonic() < ends
        pause.wait(0.02)


def test_a_server_ends_when_its_input_does(project: Path) -> None:
    with StdioServer(project) as server:
        server.ask("ping", 1)
        server.answer()
        server.close_input()
        assert gone(server.process) == 0


def test_what_was_asked_before_the_input_ended_is_answered(project: Path) -> None:
    asked = [
        {"jsonrpc": "2.0", "id": at, "method": "tools/call", "params": {"name": name}}
        for at, name in enumerate(("context_status", "context_intent", "context_log"))
    ]
    done = run_with_input(project, [json.dumps(one).encode() for one in asked])
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(one["id"] for one in answers) == [0, 1, 2]
    assert not any(one["result"].get("isError") for one in answers)


def test_a_server_ends_with_a_tool_that_does_not(project: Path) -> None:
    with StdioServer(project, code=SLOW) as server:
        server.call("context_status", 1)
        at_work(project)
        server.close_input()
        assert gone(server.process) == 0


def test_a_server_whose_output_nobody_reads_ends_by_itself(project: Path) -> None:
    with StdioServer(project) as server:
        server.ask("ping", 1)
        server.answer()
        assert server.process.stdout is not None
        server.process.stdout.close()
        assert gone(server.process) == 0


def test_a_server_that_cannot_write_its_answer_ends(project: Path) -> None:
    with StdioServer(project, code=SLOW) as server:
        server.call("context_status", 1)
        at_work(project)
        assert server.process.stdout is not None
        server.process.stdout.close()
        for at in range(3):
            with suppress(BrokenPipeError):
                server.ask("ping", at + 2)
        assert gone(server.process) == 0


def test_a_client_may_use_sockets_for_pipes_as_some_do(project: Path) -> None:
    asks, asked = socket.socketpair()
    hears, heard = socket.socketpair()
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", "mcp"],
        cwd=project,
        env=environment(HOME=str(project)),
        stdin=asked.fileno(),
        stdout=heard.fileno(),
    )
    asked.close()
    heard.close()
    with asks, hears:
        hears.shutdown(socket.SHUT_WR)  # it only reads there, and that is no leaving
        asks.sendall(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        assert json.loads(hears.recv(1000))["id"] == 1
        threading.Event().wait(1.5)
        asks.sendall(b'{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
        assert json.loads(hears.recv(1000))["id"] == 2
        hears.close()
        assert gone(process) == 0


PARENT = """
import os, subprocess, sys
read, write = os.pipe()
server = subprocess.Popen([sys.executable, *sys.argv[2:]], stdin=read, stdout=subprocess.PIPE)
os.write(write, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\\n')
server.stdout.readline()
# Someone else holds the pipes as well, as other children of a client do.
held = [write, server.stdout.fileno()]
holder = subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL, pass_fds=held)
print(server.pid, holder.pid, flush=True)
os.read(0, 1)
"""


@pytest.mark.parametrize("wrapped", [False, True], ids=["direct", "through a shell"])
def test_a_client_that_is_killed_takes_its_server_along(project: Path, wrapped: bool) -> None:
    server = ["-m", "holdfast", "mcp"]
    code = PARENT
    if wrapped:
        # Then the pipe's end tells, which nobody else holds.
        code = PARENT.replace("pass_fds=held", "pass_fds=[]")
        code = code.replace("[sys.executable, *sys.argv[2:]]", '["sh", "-c", sys.argv[1]]')
    line = f"{sys.executable} -m holdfast mcp; true"
    client = subprocess.Popen(
        [sys.executable, "-c", code, line, *server],
        cwd=project,
        env=environment(HOME=str(project)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert client.stdout is not None
    pid, holder = map(int, client.stdout.readline().split())
    try:
        running = descendants(pid)
        assert running
        client.send_signal(signal.SIGKILL)
        client.wait()
        until_gone(running)
    finally:
        os.kill(holder, signal.SIGKILL)
        client.stdout.close()
        assert client.stdin is not None
        client.stdin.close()


def descendants(pid: int) -> list[int]:
    """A process and all that it started, as far as they live."""
    if not alive(pid):
        return []
    below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(one for child in below for one in descendants(int(child)))]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until_gone(pids: list[int]) -> None:
    pause, ends = threading.Event(), time.monotonic() + ALIVE
    while any(map(alive, pids)):
        assert time.monotonic() < ends, [pid for pid in pids if alive(pid)]
        pause.wait(0.05)


def test_a_server_that_waits_takes_no_time_of_the_processor(project: Path) -> None:
    with StdioServer(project) as server:
        server.ask("ping", 1)
        server.answer()
        before = ticks(server.process.pid)
        threading.Event().wait(2.5)
        assert ticks(server.process.pid) - before <= 1


def ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_nothing_but_frames_is_printed_whatever_prints(project: Path, tmp_path: Path) -> None:
    noisy = tmp_path / "noisy"
    noisy.mkdir()
    (noisy / "sitecustomize.py").write_text(
        "import os, subprocess, sys, threading, time, warnings\n"
        "def noise():\n"
        "    while True:\n"
        "        print('a banner'); sys.stdout.flush(); os.write(1, b'raw\\n')\n"
        "        warnings.warn('old'); subprocess.run(['echo', 'a child'])\n"
        "        time.sleep(0.05)\n"
        "import importlib.util\n"
        "import holdfast.surfaces.mcp.stdio as stdio\n"
        "serve = stdio.serve\n"
        "connection = stdio.StdioConnection.serve\n"
        "def loud(self):\n"
        "    threading.Thread(target=noise, daemon=True).start()\n"
        "    return connection(self)\n"
        "stdio.StdioConnection.serve = loud\n"
    )
    path = os.pathsep.join([str(noisy), environment()["PYTHONPATH"]])
    with StdioServer(project, PYTHONPATH=path, PYTHONWARNINGS="always") as server:
        server.ask("initialize", 1, protocolVersion="2025-06-18")
        server.call("context_status", 2)
        server.call("context_recover", 3, query="retry_budget")
        lines = [server.answer() for _ in range(3)]
        server.close_input()
        rest = server.line()
        assert server.process.stderr is not None
        noise = server.process.stderr.read().decode()
    assert sorted(one["id"] for one in lines) == [1, 2, 3]
    assert rest == b""
    assert all(word in noise for word in ("a banner", "raw", "a child"))


FRAMES: dict[str, tuple[bytes, Any]] = {
    "garbage": (b"\x00\xffgarbage", None),
    "half a frame": (b'{"jsonrpc":"2.0","id":11,"method":"ping"', 11),
    "invalid UTF-8": (b'{"jsonrpc":"2.0","id":12,"method":"ping","params":{"q":"\xff"}}', 12),
    "lone surrogate": (
        b'{"jsonrpc":"2.0","id":13,"method":"tools/call","params":{"name":"context_recover",'
        b'"arguments":{"query":"retry_budget \\ud800"}}}',
        13,
    ),
    "depth bomb": (b'{"jsonrpc":"2.0","id":14,"params":' + b'{"a":' * 200_000, 14),
    "depth bomb, closed": (
        b'{"jsonrpc":"2.0","id":15,"method":"ping","params":' + b"[" * 900 + b"]" * 900 + b"}",
        15,
    ),
    "no method": (b'{"jsonrpc":"2.0","id":16}', 16),
    "no such method": (b'{"jsonrpc":"2.0","id":17,"method":"tools/destroy"}', 17),
    "params are a list": (b'{"jsonrpc":"2.0","id":18,"method":"tools/call","params":[]}', 18),
    "arguments are a text": (
        b'{"jsonrpc":"2.0","id":19,"method":"tools/call","params":{"name":"context_recover",'
        b'"arguments":"query"}}',
        19,
    ),
    "a number that is too long": (
        b'{"jsonrpc":"2.0","id":20,"method":"ping","x":' + b"9" * 6000 + b"}",
        20,
    ),
    "a text as id": (b'{"jsonrpc":"2.0","id":"\\u00e9\\"","method":"ping"}', 'é"'),
    "another version": (
        b'{"jsonrpc":"2.0","id":21,"method":"tools/list","params":{"_meta":{'
        b'"io.modelcontextprotocol/protocolVersion":"2031-01-01",'
        b'"io.modelcontextprotocol/clientCapabilities":{}}}}',
        21,
    ),
    "half an envelope": (
        b'{"jsonrpc":"2.0","id":22,"method":"tools/list","params":{"_meta":{'
        b'"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}',
        22,
    ),
    "a batch": (b'[{"jsonrpc":"2.0","id":23,"method":"ping"},{"jsonrpc":"2.0","method":"x"}]', 23),
}


@pytest.mark.parametrize("name", FRAMES)
def test_every_frame_that_bears_an_id_is_answered(project: Path, name: str) -> None:
    line, wanted = FRAMES[name]
    with StdioServer(project) as server:
        server.send(line)
        came = server.answer()
        server.ask("ping", "after")
        assert server.answer() == {"jsonrpc": "2.0", "id": "after", "result": {}}
    assert came["id"] == wanted
    assert ("result" in came) != ("error" in came)


@pytest.mark.parametrize("at_the_end", [False, True], ids=["id first", "id last"])
def test_a_frame_of_a_hundred_megabytes_is_answered_and_not_kept(
    project: Path, at_the_end: bool
) -> None:
    head = b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"q":"'
    tail = b'"}}'
    if at_the_end:
        head, tail = b'{"method":"ping","params":{"q":"', b'"},"jsonrpc":"2.0","id":5}'
    with StdioServer(project) as server:
        assert server.process.stdin is not None
        server.process.stdin.write(head)
        for _ in range(100):
            server.process.stdin.write(b"x" * 1_000_000)
        server.send(tail)
        came = server.answer()
        peak = Path(f"/proc/{server.process.pid}/status").read_text()
        server.ask("ping", 6)
        assert server.answer()["id"] == 6
    assert (came["id"], came["error"]["code"]) == (5, -32700)
    most = int(peak.partition("VmHWM:")[2].split()[0])
    assert most < 100_000  # kilobytes: a Python, and the part of a line that is looked at


def test_a_request_that_nobody_waits_for_is_not_answered(project: Path) -> None:
    with StdioServer(project, code=SLOW) as server:
        server.call("context_status", 1)
        at_work(project)
        server.ask("notifications/cancelled", requestId=1)
        server.call("context_intent", 2)
        assert server.answer()["id"] == 2


def test_a_slow_tool_does_not_keep_others_waiting_and_says_that_it_goes_on(project: Path) -> None:
    with StdioServer(project, code=SLOW) as server:
        asked = {"name": "context_status", "arguments": {}, "_meta": {"progressToken": "t"}}
        server.ask("tools/call", 1, **asked)
        server.ask("ping", 2)
        assert server.answer()["id"] == 2
        server.call("context_intent", 3)
        assert server.answer()["id"] == 3
        told = [server.answer() for _ in range(2)]
    assert [one["method"] for one in told] == ["notifications/progress"] * 2
    first, second = (one["params"] for one in told)
    assert first["progressToken"] == second["progressToken"] == "t"
    assert 0 < first["progress"] < second["progress"]


def test_a_flood_of_requests_is_answered_to_the_last(project: Path) -> None:
    with StdioServer(project) as server:
        many = [
            {"jsonrpc": "2.0", "id": at, "method": "tools/call", "params": {"name": "context_log"}}
            for at in range(400)
        ]
        server.send(b"\n".join(json.dumps(one).encode() for one in many))
        answers = server.answers(400)
    assert sorted(answers) == list(range(400))
    done = [one for one in answers.values() if "result" in one]
    busy = [one for one in answers.values() if one.get("error", {}).get("code") == -32000]
    assert len(done) >= 64
    assert len(done) + len(busy) == 400


def test_a_server_without_any_pipes_says_so(project: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m holdfast mcp <&-"],
        cwd=project,
        env=environment(HOME=str(project)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (65, "")
    assert "it is closed" in done.stderr


def test_a_server_ends_although_nobody_reads_its_errors_either(project: Path) -> None:
    with StdioServer(project, code=SLOW) as server:
        server.call("context_status", 1)
        at_work(project)
        for pipe in (server.process.stderr, server.process.stdout, server.process.stdin):
            assert pipe is not None
            pipe.close()
        assert gone(server.process) == 0


def test_a_client_hears_what_is_logged_once_it_asks_for_it(project: Path) -> None:
    with StdioServer(project) as server:
        server.call("context_checkpoint", 1)
        first = server.answer()
        server.ask("logging/setLevel", 2, level="loudest")
        server.ask("logging/setLevel", 3, level="info")
        refused, taken = server.answer(), server.answer()
        recorded(project, reads=1, name="next")
        server.call("context_checkpoint", 4)
        told, made = server.answer(), server.answer()
    assert [one["id"] for one in (first, refused, taken, made)] == [1, 2, 3, 4]
    assert refused["error"]["code"] == -32602
    assert told["method"] == "notifications/message"
    assert told["params"]["level"] == "info"
    assert told["params"]["data"].startswith("checkpoint ")


def test_a_server_inside_of_a_question_to_a_model_starts_no_other(project: Path) -> None:
    """M03: a `summarizer` that is itself an agent with this server asks no further one."""
    nested = project / "nested.py"
    nested.write_text(
        "import json, subprocess, sys\n"
        "open('asked', 'a').write('x')\n"
        "call = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': {'name':"
        " 'context_compress', 'arguments': {'dry_run': False}}}\n"
        "subprocess.run([sys.executable, '-m', 'holdfast', 'mcp'], text=True,"
        " input=json.dumps(call) + '\\n', stdout=subprocess.DEVNULL)\n"
        "print('nothing')\n"
    )
    settings = {
        "HOLDFAST_SUMMARIZER": f"command:{sys.executable} {nested}",
        "HOLDFAST_WINDOW": "24000",
        "HOLDFAST_AT_SUMMARY": "1",
        "HOLDFAST_AT_BATCH": "1",
    }
    recorded(project, name="long", reads=12)
    with StdioServer(project, **settings) as server:
        server.call("context_compress", 1, dry_run=False)
        assert "result" in server.answer()
    assert (project / "asked").read_text() == "x"


def test_hook_server_and_command_line_write_one_session_and_lose_nothing(project: Path) -> None:
    (project / "holdfast.toml").write_text("window = 30000\n")
    hook = (
        "import json, sys, holdfast\n"
        "for at in range(12):\n"
        "    with holdfast.open('live', root='.') as session:\n"
        "        session.append({'role': 'user', 'content': f'remark {at} of the hook'})\n"
        "        session.append({'role': 'assistant', 'content': f'noted {at}'})\n"
    )
    more = environment(HOME=str(project))
    with StdioServer(project) as server:
        appending = subprocess.Popen([sys.executable, "-c", hook], cwd=project, env=more)
        typed = [
            subprocess.Popen(
                [sys.executable, "-m", "holdfast", "compress"],
                cwd=project,
                env=more,
                stdout=subprocess.DEVNULL,
            )
            for _ in range(2)
        ]
        for at in range(6):
            server.call("context_compress", at, dry_run=False)
        answers = server.answers(6)
        assert [process.wait(60) for process in (appending, *typed)] == [0, 0, 0]
    assert not [one for one in answers.values() if one["result"].get("isError")]
    with open_session("live", root=project) as session:
        said = [str(message.get("content")) for message in messages(3)]
        found = [entry.body for entry in session.ledger.path()]
        for at in range(12):
            assert sum(f"remark {at} of the hook" in str(body) for body in found) == 1
        assert sum(NEEDLE in str(body) for body in found) == sum(NEEDLE in one for one in said)
        made = [e.body for e in session.store.read("live") if isinstance(e.body, Compressed)]
        hidden = [name for body in made for step in body.steps for name in step.hides]
        assert made
        assert len(hidden) == len(set(hidden))
        assert session.messages()


@pytest.mark.slow
def test_two_hundred_servers_leave_nothing_behind(project: Path) -> None:
    def left() -> tuple[int, set[str], set[str]]:
        open_files = len(os.listdir("/proc/self/fd"))
        return open_files, set(os.listdir(project)), set(os.listdir(project / ".holdfast"))

    frames = [
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}',
        b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}',
    ]
    recover = b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"context_status"}}'
    run_with_input(project, [*frames, recover])
    before, running = left(), descendants(os.getpid())
    for at in range(200):
        done = run_with_input(project, [*frames, recover] if at % 10 == 0 else frames)
        assert done.returncode == 0
    assert left() == before
    assert descendants(os.getpid()) == running


def test_a_server_over_http_gives_its_port_back(project: Path) -> None:
    with http_server_url(project) as url:
        port = url.rsplit(":", maxsplit=1)[1].split("/")[0]
        taken = subprocess.run(
            [sys.executable, "-m", "holdfast", "mcp", "--http", port],
            cwd=project,
            env=environment(HOME=str(project)),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (taken.returncode, taken.stdout) == (78, "")
    assert f"port {port} cannot be used" in taken.stderr
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", int(port)))
