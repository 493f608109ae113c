"""`holdfast-hook AGENT EVENT`: one JSON document in, one or none out, and never in the way.

Whatever goes wrong here, the agent goes on as if we were not there: exit code 0, nothing printed.
An exit code of 2 would stop it, so no parser of arguments is used. Standard output is kept for the
one document; whatever else is printed goes nowhere.

An alarm is set before anything is read: shortly after the deadline the kernel ends the process,
whatever it does. Every host reports that as a hook that failed, and goes on. At the deadline itself
a thread ends the process with exit code 0 and a line in the log; it cannot where a long call (a
pattern that is matched) keeps the interpreter to itself. Some time before, another thread answers
with what can be said in a moment, where somebody goes on without us (`shortly`).
"""

import os
import sys
from _thread import allocate_lock
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Mapping
    from typing import Any, Protocol

    from holdfast.surfaces.hooks.event import Happened, Reply
    from holdfast.text.jsontext import Json

    class Host(Protocol):
        """How one program speaks."""

        DEADLINES: Mapping[str, float]
        """Seconds for events that may take more, or less, than others."""
        AFTERWARDS: frozenset[str]
        """Events that nobody waits for an answer to: they are worked on once the host has gone."""

        def read(
            self, event: str, document: dict[str, Json], environment: Mapping[str, str]
        ) -> Happened | None:
            """What happened; nothing when it is none of our business."""
            ...

        def write(self, event: str, document: dict[str, Json], reply: Reply) -> bytes:
            """The answer as the program takes it; nothing when there is none."""
            ...

else:
    import _signal as signal  # the public module takes longer to load than a small result


HOSTS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
}
"""The module of each program that we can be hooked into."""
INSIDE = "HOLDFAST_HOOK"
"""Set while a hook runs: a program that it starts must not call hooks again."""
DEBUG = "HOLDFAST_HOOK_DEBUG"
STRICT = "HOLDFAST_STRICT"
"""Makes a rule that fails raise; it sets no bound."""
DEADLINE = 5.0
"""Seconds after which a hook gives up, where its host does not say."""
HURRY, PATIENCE = 0.7, 0.9
"""The parts of that time after which a short answer is made, and after which it is given."""
GRACE = 1.0
"""Seconds behind the deadline after which the kernel ends a hook that could not give up."""
LARGEST = 64 * 1024 * 1024
"""Bytes of a document beyond which it is not read."""
RESULTS = {
    "claude-code": "PostToolUse",
    "codex": "PostToolUse",
    "gemini": "AfterTool",
    "opencode": "tool.execute.after",
}
"""The event that brings a tool's result: by far the most frequent one."""
BATCHES = {"claude-code": "PostToolBatch"}
"""The event that asks how full the window is: as frequent."""
TRANSCRIPT = b'"transcript_path":"'
ROOM = 100_000
"""Tokens up to which nothing is to be said of any window, where nobody has set one."""
ROOM_SET = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
SIZES = (b"input_tokens", b"cache_read_input_tokens", b"cache_creation_input_tokens")
SMALL = 4_000
"""Bytes up to which no result is large, where nobody has set another bound: no text has more
tokens than bytes."""


def main() -> None:
    """Answer one event."""
    # The process ends here: no thread, no handler and no open file may keep it.
    answer = _guarded(sys.argv[1:])
    _END.acquire()
    if answer:
        _say(answer)
    os._exit(0)


_END = allocate_lock()
"""Whoever has this ends the process: the one who answers, or the one who gives up."""
_OUT = [1]
"""The descriptor that the answer goes to."""


def _guarded(words: list[str]) -> bytes:
    """The answer, or nothing."""
    if os.environ.get(INSIDE) or len(words) != 2 or words[0] not in HOSTS:
        return b""
    os.environ[INSIDE] = "1"
    debug = bool(os.environ.get(DEBUG))
    agent, event = words
    places = ["/"]
    try:
        _set_alarm(DEADLINE)
        began = monotonic()
        _keep_quiet(debug)
        places.append(os.getcwd() if os.path.isdir(".") else "/")
        raw = _heard(began + DEADLINE)
        if _is_small(agent, event, raw) or _has_room(agent, event, raw):
            return b""
        host: Host = _module(f"hosts.{HOSTS[agent]}")
        if event in host.AFTERWARDS and _goes_on_alone():
            return b""
        # A new process has no alarm of its own before this.
        left = began + host.DEADLINES.get(event, DEADLINE) - monotonic()
        _limit(left, f"{agent} {event}", places)
        document = _read(raw)
        happened = host.read(event, document, os.environ)
        if happened is None:
            return b""
        places.append(happened.root)
        _hurry(left, f"{agent} {event}", host, document, happened)
        return host.write(event, document, answered(happened))
    except BaseException as error:  # noqa: BLE001  The agent must not notice that we failed.
        _tell(places[-1], f"{agent} {event}: {type(error).__name__}: {error}", debug=debug)
        return b""


def answered(happened: "Happened") -> "Reply":
    """What is done about an event, by the module of its kind."""
    from holdfast.core.faults import collecting  # late: small results end before this
    from holdfast.engine.fault_log import new_faults
    from holdfast.surfaces.hooks.event import TooMuch

    with collecting(new_faults()) as faults:
        try:
            reply = _module(f"events.{happened.kind}").answer(happened)
        except TooMuch:
            reply = _module("events.shortly").answer(happened)
    for fault in faults.found:
        _tell(happened.root, f"{fault.rule} failed and was left out: {fault.error}", debug=False)
    return reply


def _module(name: str) -> "Any":
    from importlib import import_module  # late: a small result needs no module

    return import_module(f"holdfast.surfaces.hooks.{name}")


def _heard(until: float) -> bytes:
    """All of standard input; a host that does not close it in time is not waited for."""
    from select import select

    raw = bytearray()
    while select([0], [], [], max(until - monotonic(), 0))[0]:
        piece = os.read(0, 1024 * 1024)
        if not piece:
            return bytes(raw)
        raw += piece
        if len(raw) > LARGEST:
            raise ValueError(f"a document of more than {LARGEST:,} bytes")
        if monotonic() > until:
            break
    raise TimeoutError("standard input was not closed in time")


def _read(raw: bytes) -> "dict[str, Json]":
    from holdfast.text.jsontext import as_object, parse  # late: most need no looking into

    return as_object(parse(raw)[0])


def _is_small(agent: str, event: str, raw: bytes) -> bool:
    """Whether a document brings a result that is not large by any count."""
    if RESULTS.get(agent) != event or len(raw) > SMALL or _has_settings():
        return False
    if agent == "gemini":
        from holdfast.surfaces.hooks.hosts.gemini_usage import (
            is_filling,  # late: nobody else needs it
        )

        return not is_filling(raw)
    return True


def _has_room(agent: str, event: str, raw: bytes) -> bool:
    """Whether the last request that a transcript tells of fits into the smallest window by far."""
    start = raw.find(TRANSCRIPT)
    if BATCHES.get(agent) != event or start < 0 or ROOM_SET in os.environ or _has_settings():
        return False
    path = raw[start + len(TRANSCRIPT) :].partition(b'"')[0]
    return b"\\" not in path and 0 < _last_size(path) < ROOM


def _last_size(path: bytes) -> int:
    """Tokens of the last request, read off the bytes; 0 when they do not tell."""
    from holdfast.project.regular_files import end_of  # late: most events need no transcript

    try:
        usage = end_of(path, 64 * 1024, links=True).rpartition(b'"usage":{')[2][:2_000]
    except OSError:
        return 0
    found = [usage.partition(b'"%s":' % part)[2][:12] for part in SIZES]
    numbers = [one.replace(b"}", b",").partition(b",")[0] for one in found]
    return sum(map(int, numbers)) if all(map(bytes.isdigit, numbers)) else 0


def _has_settings() -> bool:
    """Whether somebody may have set another bound: then it has to be looked up."""
    if any(name.startswith("HOLDFAST_") and name not in (INSIDE, STRICT) for name in os.environ):
        return True
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    folder, found = os.getcwd(), os.path.exists(os.path.join(base, "holdfast", "config.toml"))
    while not found and folder != os.path.dirname(folder):
        found = os.path.exists(os.path.join(folder, "holdfast.toml"))
        folder = os.path.dirname(folder)
    return found


def _keep_quiet(debug: bool) -> None:
    """Keep the real output for the answer: whatever else is printed goes nowhere."""
    _OUT[0] = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(2 if debug else nowhere, 1)
    if not debug:
        os.dup2(nowhere, 2)


def _goes_on_alone() -> bool:
    """Let the host go its way: whether this is the process that it waits for."""
    if os.fork():
        return True
    os.setsid()
    # Whoever waits for the end of our output must not wait for this.
    os.dup2(1, _OUT[0])
    os.dup2(1, 0)
    return False


def _set_alarm(seconds: float) -> None:
    """Have the kernel end this process, whatever it does; what was written is whole."""
    # Whoever started us may have left the signal ignored or blocked.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    signal.setitimer(signal.ITIMER_REAL, max(seconds + GRACE, 0.001))


def _limit(seconds: float, what: str, place: list[str]) -> None:
    """End the process after some time, with a line in the log of the project it then knows of."""
    from _thread import start_new_thread  # lighter than threading, and as good for this
    from time import sleep

    from holdfast.surfaces.hooks.log import log  # now: a busy process might not get to it later

    def end() -> None:
        sleep(max(seconds, 0))
        log(place[-1], f"{what}: given up at its deadline")
        # Half an answer must not look like a whole one: once it is written, the alarm decides.
        if _END.acquire(blocking=False):
            os._exit(0)

    _set_alarm(seconds)
    start_new_thread(end, ())


def _hurry(
    seconds: float, what: str, host: "Host", document: "dict[str, Json]", happened: "Happened"
) -> None:
    """Have a short answer ready, and give it when the time is almost over; the work ends then."""
    from _thread import start_new_thread  # as in `_limit`
    from time import sleep

    began, event = monotonic(), what.partition(" ")[2]

    def end() -> None:
        sleep(max(seconds * HURRY, 0))
        try:
            answer = host.write(event, document, _module("events.shortly").answer(happened))
        except Exception as error:  # noqa: BLE001  Nothing is said then: the deadline stands.
            _tell(happened.root, f"{what}: {type(error).__name__}: {error}", debug=False)
            return
        sleep(max(began + seconds * PATIENCE - monotonic(), 0))
        if answer and _END.acquire(blocking=False):
            _say(answer)
            _tell(happened.root, f"{what}: answered in short at its deadline", debug=False)
            os._exit(0)

    start_new_thread(end, ())


def _say(answer: bytes) -> None:
    left = memoryview(answer)
    try:
        while left:
            left = left[os.write(_OUT[0], left) :]
    except OSError:
        # Whoever asked is gone.
        return


def _tell(root: str, line: str, *, debug: bool) -> None:
    from holdfast.surfaces.hooks.log import log  # late: only what fails is logged

    log(root, line)
    if debug:
        os.write(2, f"holdfast-hook: {line}\n".encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
