"""Entry point `holdfast-hook AGENT EVENT`: read one JSON document, print one answer or nothing.

A failure must not disturb the agent: the exit code is 0 and nothing is printed. Exit code 2 would
stop the agent, so `argparse`, which uses it, is not used. Standard output is reserved for the
answer; all other output is discarded.

Three limits bound the time. Shortly before the deadline a thread prints a short answer, for events
whose host cannot do without one (`events.shortly`). At the deadline another thread ends the process
with exit code 0 and a line in the log; a long call that does not release the interpreter (matching
a pattern) can block both threads. Therefore an alarm is set before anything is read: shortly after
the deadline the kernel ends the process. Every host reports that as a failed hook, and continues.
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

    from holdfast.surfaces.hooks.event import HookEvent, HookReply
    from holdfast.text.jsontext import Json

    class Host(Protocol):
        """A module of `hosts`: converts between one program's JSON and our values."""

        DEADLINES: Mapping[str, float]
        """Seconds by event, for events whose limit is not `DEADLINE`."""
        AFTERWARDS: frozenset[str]
        """Events whose answer the host does not use: a process in the background handles them."""

        def read(
            self, event: str, document: dict[str, Json], environment: Mapping[str, str]
        ) -> HookEvent | None:
            """Read a document as an event; return None for an event that we do not handle."""
            ...

        def write(self, event: str, document: dict[str, Json], reply: HookReply) -> bytes:
            """Encode a reply as the program expects it; empty if there is nothing to say."""
            ...

else:
    import _signal as signal  # the public module takes longer to load than a small result


HOSTS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
}
"""Program to its module of `hosts`."""
INSIDE_VARIABLE = "HOLDFAST_HOOK"
"""Set while a hook runs, so that an agent which the hook starts does not run hooks again."""
DEBUG_VARIABLE = "HOLDFAST_HOOK_DEBUG"
STRICT_VARIABLE = "HOLDFAST_STRICT"
"""Makes a failing rule raise. It changes no limit, so it does not count as a setting."""
DEADLINE = 5.0
"""Seconds after which a hook gives up, if its host sets no other limit."""
PREPARE_SHORT_AT, SEND_SHORT_AT = 0.7, 0.9
"""Fractions of the deadline after which a short answer is prepared, and printed."""
GRACE_SECONDS = 1.0
"""Seconds from the deadline until the kernel ends a hook that did not end itself."""
MAX_DOCUMENT_BYTES = 64 * 1024 * 1024
"""A larger document is refused."""
RESULT_EVENTS = {
    "claude-code": "PostToolUse",
    "codex": "PostToolUse",
    "gemini": "AfterTool",
    "opencode": "tool.execute.after",
}
"""The event of each program that reports a tool's result: by far the most frequent one."""
BATCH_EVENTS = {"claude-code": "PostToolBatch"}
"""The event of each program at which we check how full the window is: as frequent."""
TRANSCRIPT_KEY = b'"transcript_path":"'
MIN_NOTABLE_TOKENS = 100_000
"""A window with fewer tokens never needs a warning, unless a setting makes it smaller."""
WINDOW_VARIABLE = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
USAGE_KEYS = (b"input_tokens", b"cache_read_input_tokens", b"cache_creation_input_tokens")
MAX_SMALL_BYTES = 4_000
"""A result of at most so many bytes is never large, unless a setting says so: a text never has more
tokens than bytes."""


def main() -> None:
    """Answer one event and end the process."""
    # `_exit`: no thread, exit handler or open file may delay the end.
    answer = _answer_or_nothing(sys.argv[1:])
    _END_LOCK.acquire()
    if answer:
        _print_answer(answer)
    os._exit(0)


_END_LOCK = allocate_lock()
"""The thread that holds this lock ends the process, so that only one of them answers."""
_OUTPUT = [1]
"""The descriptor to print the answer to."""


def _answer_or_nothing(arguments: list[str]) -> bytes:
    """Return the answer to one event; nothing if it needs none, or if anything fails."""
    if os.environ.get(INSIDE_VARIABLE) or len(arguments) != 2 or arguments[0] not in HOSTS:
        return b""
    os.environ[INSIDE_VARIABLE] = "1"
    debug = bool(os.environ.get(DEBUG_VARIABLE))
    agent, event = arguments
    roots = ["/"]
    try:
        _set_alarm(DEADLINE)
        began = monotonic()
        _redirect_output(debug)
        roots.append(os.getcwd() if os.path.isdir(".") else "/")
        raw = _read_input(began + DEADLINE)
        if _is_small(agent, event, raw) or _has_room(agent, event, raw):
            return b""
        host: Host = _module(f"hosts.{HOSTS[agent]}")
        if event in host.AFTERWARDS and _fork_away():
            return b""
        # A forked process inherits no alarm: this sets it.
        left = began + host.DEADLINES.get(event, DEADLINE) - monotonic()
        _start_deadline(left, f"{agent} {event}", roots)
        document = _parse(raw)
        hook_event = host.read(event, document, os.environ)
        if hook_event is None:
            return b""
        roots.append(hook_event.root)
        _start_short_answer(left, f"{agent} {event}", host, document, hook_event)
        return host.write(event, document, answer_event(hook_event))
    except BaseException as error:  # noqa: BLE001  A failure must not disturb the agent.
        _log(roots[-1], f"{agent} {event}: {type(error).__name__}: {error}", debug=debug)
        return b""


def answer_event(hook_event: "HookEvent") -> "HookReply":
    """Answer an event with the function for its kind, and log the rules that failed."""
    from holdfast.core.faults import collecting  # late: small results end before this
    from holdfast.engine.fault_log import new_faults
    from holdfast.surfaces.hooks.event import HANDLERS, TranscriptTooLarge

    module, _, function = HANDLERS[hook_event.kind].partition(".")
    with collecting(new_faults()) as faults:
        try:
            reply = getattr(_module(f"events.{module}"), function)(hook_event)
        except TranscriptTooLarge:
            reply = _module("events.shortly").answer(hook_event)
    for fault in faults.found:
        _log(hook_event.root, f"{fault.rule} failed and was left out: {fault.error}", debug=False)
    return reply


def _module(name: str) -> "Any":
    from importlib import import_module  # late: a small result needs no other module

    return import_module(f"holdfast.surfaces.hooks.{name}")


def _read_input(until: float) -> bytes:
    """Read all of standard input; raise TimeoutError if the host does not close it in time."""
    from select import select

    raw = bytearray()
    while select([0], [], [], max(until - monotonic(), 0))[0]:
        piece = os.read(0, 1024 * 1024)
        if not piece:
            return bytes(raw)
        raw += piece
        if len(raw) > MAX_DOCUMENT_BYTES:
            raise ValueError(f"a document of more than {MAX_DOCUMENT_BYTES:,} bytes")
        if monotonic() > until:
            break
    raise TimeoutError("standard input was not closed in time")


def _parse(raw: bytes) -> "dict[str, Json]":
    from holdfast.text.jsontext import as_object, parse  # late: most documents are not parsed

    return as_object(parse(raw)[0])


def _is_small(agent: str, event: str, raw: bytes) -> bool:
    """Whether a document reports a result so small that nothing is done about it."""
    if RESULT_EVENTS.get(agent) != event or len(raw) > MAX_SMALL_BYTES or _has_settings():
        return False
    if agent == "gemini":
        from holdfast.surfaces.hooks.hosts.gemini_usage import (
            may_be_full,  # late: other programs do not need it
        )

        return not may_be_full(raw)
    return True


def _has_room(agent: str, event: str, raw: bytes) -> bool:
    """Whether the last request in the transcript is far smaller than any window."""
    start = raw.find(TRANSCRIPT_KEY)
    if (
        BATCH_EVENTS.get(agent) != event
        or start < 0
        or WINDOW_VARIABLE in os.environ
        or _has_settings()
    ):
        return False
    path = raw[start + len(TRANSCRIPT_KEY) :].partition(b'"')[0]
    return b"\\" not in path and 0 < _last_request_tokens(path) < MIN_NOTABLE_TOKENS


def _last_request_tokens(path: bytes) -> int:
    """Find the tokens of the last request in the bytes of a transcript; 0 if there are none."""
    from holdfast.project.regular_files import read_end  # late: most events need no transcript

    try:
        usage = read_end(path, 64 * 1024, links=True).rpartition(b'"usage":{')[2][:2_000]
    except OSError:
        return 0
    fields = [usage.partition(b'"%s":' % part)[2][:12] for part in USAGE_KEYS]
    numbers = [field.replace(b"}", b",").partition(b",")[0] for field in fields]
    return sum(map(int, numbers)) if all(map(bytes.isdigit, numbers)) else 0


def _has_settings() -> bool:
    """Whether a variable or a file may set other limits, so that they must be loaded."""
    if any(
        name.startswith("HOLDFAST_") and name not in (INSIDE_VARIABLE, STRICT_VARIABLE)
        for name in os.environ
    ):
        return True
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    folder, found = os.getcwd(), os.path.exists(os.path.join(base, "holdfast", "config.toml"))
    while not found and folder != os.path.dirname(folder):
        found = os.path.exists(os.path.join(folder, "holdfast.toml"))
        folder = os.path.dirname(folder)
    return found


def _redirect_output(debug: bool) -> None:
    """Reserve standard output for the answer, and discard all other output."""
    _OUTPUT[0] = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(2 if debug else nowhere, 1)
    if not debug:
        os.dup2(nowhere, 2)


def _fork_away() -> bool:
    """Continue in a background process; return True in the process that the host waits for."""
    if os.fork():
        return True
    os.setsid()
    # The host may wait until our output is closed: close it in this process.
    os.dup2(1, _OUTPUT[0])
    os.dup2(1, 0)
    return False


def _set_alarm(seconds: float) -> None:
    """Let the kernel end this process after the deadline; writes to the store are atomic."""
    # The parent process may have left the signal ignored or blocked.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    signal.setitimer(signal.ITIMER_REAL, max(seconds + GRACE_SECONDS, 0.001))


def _start_deadline(seconds: float, label: str, roots: list[str]) -> None:
    """End the process at its deadline, with a line in the log of the last known project."""
    from _thread import start_new_thread  # loads faster than threading
    from time import sleep

    from holdfast.surfaces.hooks.log import (
        log,  # now: at the deadline there may be no time to import
    )

    def end() -> None:
        sleep(max(seconds, 0))
        log(roots[-1], f"{label}: given up at its deadline")
        # Never cut an answer that is being printed: then only the alarm may end the process.
        if _END_LOCK.acquire(blocking=False):
            os._exit(0)

    _set_alarm(seconds)
    start_new_thread(end, ())


def _start_short_answer(
    seconds: float, label: str, host: "Host", document: "dict[str, Json]", hook_event: "HookEvent"
) -> None:
    """Prepare a short answer; print it and end the process when the time is almost over."""
    from _thread import start_new_thread  # as in `_limit`
    from time import sleep

    began, event = monotonic(), label.partition(" ")[2]

    def end() -> None:
        sleep(max(seconds * PREPARE_SHORT_AT, 0))
        try:
            answer = host.write(event, document, _module("events.shortly").answer(hook_event))
        except Exception as error:  # noqa: BLE001  Without a short answer the deadline still holds.
            _log(hook_event.root, f"{label}: {type(error).__name__}: {error}", debug=False)
            return
        sleep(max(began + seconds * SEND_SHORT_AT - monotonic(), 0))
        if answer and _END_LOCK.acquire(blocking=False):
            _print_answer(answer)
            _log(hook_event.root, f"{label}: answered in short at its deadline", debug=False)
            os._exit(0)

    start_new_thread(end, ())


def _print_answer(answer: bytes) -> None:
    left = memoryview(answer)
    try:
        while left:
            left = left[os.write(_OUTPUT[0], left) :]
    except OSError:
        # The host has closed its end.
        return


def _log(root: str, line: str, *, debug: bool) -> None:
    from holdfast.surfaces.hooks.log import log  # late: only failures are logged

    log(root, line)
    if debug:
        os.write(2, f"holdfast-hook: {line}\n".encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
