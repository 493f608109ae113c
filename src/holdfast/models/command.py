"""Use any program as a model: the question goes to its stdin, the answer comes from its stdout.

It runs in a process group of its own, which is killed if the program is late or prints too much.
Its stderr is shown only if it fails.
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
from holdfast.models.drive import AskFn, error_line, too_late
from holdfast.text.patterns import Pattern

MAX_ANSWER_BYTES = 1_000_000
"""Longest answer that is accepted."""
MAX_STDERR_BYTES = 4_096
"""Bytes of stderr that are stored."""
PIPE_BYTES = 65_536
POLL_SECONDS = 0.05
"""Seconds between two checks whether the program has ended."""
INSIDE_VARIABLE = "HOLDFAST_ASKING"
"""Set in the program's environment, so that an agent it starts does not call it again."""

INTERPRETER = Pattern(r"(?:python|pypy)[\d.]*|node|deno|bun|ruby|perl|(?:ba|z|da)?sh")
"""Matches the name of a program that runs a script, such as `python3.12`; not `ollama`."""


class _Exchange(Struct):
    """The data exchanged with a program so far."""

    stdout: bytearray
    stderr: bytearray
    unsent: memoryview
    """The part of the question that the program has not read yet."""


_PipeHandler: TypeAlias = Callable[[int, _Exchange], bool]
"""Reads from or writes to a pipe that is ready; returns whether the pipe stays open."""


def command_model(line: str) -> AskFn:
    """Return a function that runs a program, given as a command line; no shell is used.

    Raises:
        BadSetting: the line has no program or an unclosed quote.
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
        if os.environ.get(INSIDE_VARIABLE):
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
            env={**os.environ, INSIDE_VARIABLE: "1"},
        )
    except (OSError, ValueError) as error:
        return Failed(f"the command {words[0]!r} could not be started: {error_line(str(error))}")
    exchange = _Exchange(bytearray(), bytearray(), memoryview(text.encode("utf-8", "replace")))
    with process:
        in_time = _converse(process, exchange, deadline)
        if not in_time or len(exchange.stdout) > MAX_ANSWER_BYTES:
            _kill_group(process)
    if not in_time:
        return Failed(too_late(seconds))
    return _to_answer(words, process.returncode, exchange)


def _converse(process: subprocess.Popen[bytes], exchange: _Exchange, deadline: float) -> bool:
    """Write the question and read the answer; return whether the program ended in time."""
    with selectors.DefaultSelector() as pipes:
        _register(pipes, process.stdin, selectors.EVENT_WRITE, _write_stdin)
        _register(pipes, process.stdout, selectors.EVENT_READ, _read_stdout)
        _register(pipes, process.stderr, selectors.EVENT_READ, _read_stderr)
        while pipes.get_map() and len(exchange.stdout) <= MAX_ANSWER_BYTES:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            ready = pipes.select(min(left, POLL_SECONDS))
            if not ready and process.poll() is not None:
                break  # a child process that it left behind holds a pipe open
            for key, _ in ready:
                if not key.data(key.fd, exchange):
                    pipes.unregister(key.fileobj)
                    cast("IO[bytes]", key.fileobj).close()
    return len(exchange.stdout) > MAX_ANSWER_BYTES or _wait(process, deadline)


def _register(
    pipes: selectors.BaseSelector, pipe: IO[bytes] | None, event: int, handler: _PipeHandler
) -> None:
    assert pipe is not None
    os.set_blocking(pipe.fileno(), False)
    pipes.register(pipe, event, handler)


def _write_stdin(pipe: int, exchange: _Exchange) -> bool:
    try:
        exchange.unsent = exchange.unsent[os.write(pipe, exchange.unsent[:PIPE_BYTES]) :]
    except BlockingIOError:
        return True
    except BrokenPipeError:
        return False  # it may answer without reading the whole question
    return len(exchange.unsent) > 0


def _read_stdout(pipe: int, exchange: _Exchange) -> bool:
    piece = os.read(pipe, PIPE_BYTES)
    exchange.stdout += piece
    return bool(piece)


def _read_stderr(pipe: int, exchange: _Exchange) -> bool:
    piece = os.read(pipe, PIPE_BYTES)
    exchange.stderr += piece[: MAX_STDERR_BYTES - len(exchange.stderr)]
    return bool(piece)


def _wait(process: subprocess.Popen[bytes], deadline: float) -> bool:
    try:
        process.wait(max(deadline - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        return False
    return True


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _to_answer(words: Sequence[str], code: int, exchange: _Exchange) -> Answer | Failed:
    """Turn the output of a program that has ended into an answer."""
    program = words[0]
    if len(exchange.stdout) > MAX_ANSWER_BYTES:
        return Failed(f"the command {program!r} said more than {MAX_ANSWER_BYTES:,} bytes")
    if code:
        stderr = error_line(exchange.stderr.decode("utf-8", "replace"))
        reason = f": {stderr}" if stderr else ""
        return Failed(f"the command {program!r} ended with {code}{reason}")
    try:
        return Answer(exchange.stdout.decode(), name_of_command(words))
    except UnicodeDecodeError:
        return Failed(f"the command {program!r} said something that is not UTF-8")


def name_of_command(words: Sequence[str]) -> str:
    """Return the name of a program without its folder, with its script if it runs one."""
    program = os.path.basename(words[0])  # noqa: PTH119 (pathlib is the heavier import)
    script = words[1] if len(words) > 1 and INTERPRETER.fullmatch(program) else "-"
    return program if script.startswith("-") else f"{program} {os.path.basename(script)}"  # noqa: PTH119
