"""Any program as a model: the question on its stdin, the answer on its stdout.

It runs in a process group of its own. Whatever it started ends with it when it is late or says
too much; its stderr is shown only when it fails.
"""

import os
import selectors
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, TypeAlias, cast

from msgspec import Struct

from holdfast.core.asking import Answer, Ask, Failed
from holdfast.errors import BadSetting
from holdfast.models.drive import AskFn, one_line, too_late

LARGEST = 1_000_000
"""Bytes of an answer."""
COMPLAINT = 4_096
"""Bytes of stderr that are kept."""
PIECE = 65_536
BREATH = 0.05
"""Seconds after which a program that has ended is looked at again."""
INSIDE = "HOLDFAST_ASKING"
"""Set for the program: an agent that it starts must not ask it again through us."""


class _Ran(Struct):
    """What a program has said so far."""

    said: bytearray
    complained: bytearray
    unheard: memoryview
    """The part of the question that it has not read yet."""


_Talk: TypeAlias = Callable[[int, _Ran], bool]
"""Moves what one pipe is ready for; whether there is more to come."""


def command(line: str) -> AskFn:
    """Asks a program, given as a shell would spell it; no shell runs.

    Raises:
        BadSetting: the line names no program.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise BadSetting(
            "summarizer", f"{line!r} is no command: {error}", origin="its name"
        ) from None
    if not words:
        raise BadSetting("summarizer", "no command is named", origin="its name")

    def ask(question: Ask, seconds: float) -> Answer | Failed:
        if os.environ.get(INSIDE):
            return Failed("this process was itself started to answer a question")
        return _run(words, f"{question.system}\n\n{question.prompt}\n", seconds)

    return ask


def _run(words: Sequence[str], text: str, seconds: float) -> Answer | Failed:
    deadline = time.monotonic() + seconds
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            env={**os.environ, INSIDE: "1"},
        )
    except (OSError, ValueError) as error:
        return Failed(f"the command {words[0]!r} could not be started: {one_line(str(error))}")
    ran = _Ran(bytearray(), bytearray(), memoryview(text.encode("utf-8", "replace")))
    with process:
        in_time = _converse(process, ran, deadline)
        if not in_time or len(ran.said) > LARGEST:
            _end(process)
    if not in_time:
        return Failed(too_late(seconds))
    return _read(words[0], process.returncode, ran)


def _converse(process: subprocess.Popen[bytes], ran: _Ran, deadline: float) -> bool:
    """Write the question and read the answer; whether the program was done in time."""
    with selectors.DefaultSelector() as pipes:
        _watch(pipes, process.stdin, selectors.EVENT_WRITE, _tell)
        _watch(pipes, process.stdout, selectors.EVENT_READ, _hear)
        _watch(pipes, process.stderr, selectors.EVENT_READ, _overhear)
        while pipes.get_map() and len(ran.said) <= LARGEST:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            ready = pipes.select(min(left, BREATH))
            if not ready and process.poll() is not None:
                break  # something it left behind holds a pipe open
            for key, _ in ready:
                if not key.data(key.fd, ran):
                    pipes.unregister(key.fileobj)
                    cast("IO[bytes]", key.fileobj).close()
    return len(ran.said) > LARGEST or _ended(process, deadline)


def _watch(pipes: selectors.BaseSelector, pipe: IO[bytes] | None, event: int, talk: _Talk) -> None:
    assert pipe is not None
    os.set_blocking(pipe.fileno(), False)
    pipes.register(pipe, event, talk)


def _tell(pipe: int, ran: _Ran) -> bool:
    try:
        ran.unheard = ran.unheard[os.write(pipe, ran.unheard[:PIECE]) :]
    except BlockingIOError:
        return True
    except BrokenPipeError:
        return False  # it answers without having heard all; that is its business
    return len(ran.unheard) > 0


def _hear(pipe: int, ran: _Ran) -> bool:
    piece = os.read(pipe, PIECE)
    ran.said += piece
    return bool(piece)


def _overhear(pipe: int, ran: _Ran) -> bool:
    piece = os.read(pipe, PIECE)
    ran.complained += piece[: COMPLAINT - len(ran.complained)]
    return bool(piece)


def _ended(process: subprocess.Popen[bytes], deadline: float) -> bool:
    try:
        process.wait(max(deadline - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        return False
    return True


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _read(program: str, code: int, ran: _Ran) -> Answer | Failed:
    """What a program that has ended said."""
    if len(ran.said) > LARGEST:
        return Failed(f"the command {program!r} said more than {LARGEST:,} bytes")
    if code:
        complaint = one_line(ran.complained.decode("utf-8", "replace"))
        because = f": {complaint}" if complaint else ""
        return Failed(f"the command {program!r} ended with {code}{because}")
    try:
        return Answer(ran.said.decode(), f"command:{program}")
    except UnicodeDecodeError:
        return Failed(f"the command {program!r} said something that is not UTF-8")
