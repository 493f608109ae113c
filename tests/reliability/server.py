"""The process that `forks.Forks` starts: it imports the product, and forks a child per task."""

import json
import os
import signal
import socket
import sys
from traceback import format_exc

from tests.reliability import tasks
from tests.reliability.forks import FAILED, Line, Word, exit_now


def main() -> None:
    orders = socket.socket(fileno=int(sys.argv[1]))
    tasks.warm_up()
    while True:
        data, ends, _, _ = socket.recv_fds(orders, 1 << 16, 1)
        if not data:
            return
        what, *words = json.loads(data)
        if what == "start":
            answer = _fork(orders, ends[0], words)
        else:
            answer = _end(what, words[0])
        orders.sendall(str(answer).encode())


def _fork(orders: socket.socket, end: int, words: list[Word]) -> int:
    pid = os.fork()
    if pid == 0:
        orders.close()
        _run(Line(socket.socket(fileno=end)), str(words[0]), words[1:])
    os.close(end)
    return pid


def _run(line: Line, task: str, words: list[Word]) -> None:
    try:
        tasks.TASKS[task](line, *words)
    except BaseException:  # noqa: BLE001 - the test is told, whatever it was
        line.tell(FAILED, format_exc())
        exit_now(1)
    exit_now(0)


def _end(what: str, pid: int) -> int:
    if what == "kill":
        # The child is ours and not waited for yet, so that its number can be nobody else's.
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    main()
