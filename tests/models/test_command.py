"""A program as a model, with real processes."""

import os
import shlex
import sys
import time
from pathlib import Path

import pytest

from holdfast.core.asking import Answer, Failed
from holdfast.models.command import INSIDE_VARIABLE, name_of_command
from holdfast.models.drive import AskFn
from holdfast.models.naming import model_named
from tests.models.asks import ASK

PROGRAM = Path(sys.executable).name


def program(code: str) -> AskFn:
    return model_named(f"command:{shlex.join([sys.executable, '-c', code])}")


def test_a_program_reads_the_question_and_says_the_answer() -> None:
    echo = program("import sys; print(sys.stdin.read().upper(), end='')")
    expected = Answer("BE BRIEF.\n\nWHAT IS IT?\n", PROGRAM)
    assert echo(ASK, 30) == expected


def test_a_program_may_answer_without_listening() -> None:
    deaf = program("import os; os.close(0); print('yes')")
    long = type(ASK)("s", "p" * 3_000_000, {}, 1)
    assert deaf(long, 30) == Answer("yes\n", PROGRAM)


def test_a_long_question_and_a_long_answer_do_not_wait_for_each_other() -> None:
    parrot = program("import sys\nwhile piece := sys.stdin.read(4096): sys.stdout.write(piece)")
    reply = parrot(type(ASK)("s", "p" * 900_000, {}, 1), 30)
    assert isinstance(reply, Answer)
    assert len(reply.text) == 900_004


def test_a_program_that_is_late_ends_with_all_it_started(tmp_path: Path) -> None:
    child = tmp_path / "child"
    late = program(
        "import subprocess, sys, time\n"
        f"one = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(child)!r}, 'w').write(str(one.pid))\n"
        "time.sleep(60)"
    )
    assert late(ASK, 2) == Failed("no answer came within 2 seconds")
    assert is_gone(int(child.read_text()))


def is_gone(pid: int) -> bool:
    """Whether a process has ended, within the moment that the system takes to say so."""
    for _ in range(200):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


def test_a_program_that_closes_its_output_and_stays_is_late() -> None:
    stays = program("import os, time; os.close(1); os.close(2); time.sleep(60)")
    assert stays(ASK, 1) == Failed("no answer came within 1 seconds")


def test_what_a_program_leaves_behind_does_not_hold_up_its_answer() -> None:
    leaves = program(
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(8)'])\n"
        "print('done')"
    )
    started = time.monotonic()
    assert leaves(ASK, 30) == Answer("done\n", PROGRAM)
    assert time.monotonic() - started < 7


def test_a_program_that_crashes_shows_its_complaint_in_the_reason() -> None:
    crash = program("import sys; print('half an ans'); sys.exit('\\x1b[31mno\\nkey')")
    reply = crash(ASK, 30)
    assert reply == Failed(f"the command {sys.executable!r} ended with 1: [31mno key")


def test_a_program_that_complains_without_end_is_still_heard() -> None:
    noisy = program("import sys; sys.stderr.write('x' * 3_000_000); print('fine')")
    assert noisy(ASK, 30) == Answer("fine\n", PROGRAM)


def test_a_program_that_says_too_much_is_stopped() -> None:
    flood = program("while True: print('x' * 10_000)")
    reply = flood(ASK, 30)
    assert reply == Failed(f"the command {sys.executable!r} said more than 1,000,000 bytes")


def test_what_is_not_utf8_is_no_answer() -> None:
    broken = program(r"import sys; sys.stdout.buffer.write(b'\xff\xfe{}')")
    reply = broken(ASK, 30)
    assert reply == Failed(f"the command {sys.executable!r} said something that is not UTF-8")


def test_a_program_that_is_not_there_is_a_reason() -> None:
    reply = model_named("command:/no/such/program --flag")(ASK, 30)
    assert isinstance(reply, Failed)
    assert "could not be started" in reply.reason


def test_no_shell_reads_the_line() -> None:
    reply = model_named("command:echo $HOME ; echo '*'")(ASK, 30)
    assert reply == Answer("$HOME ; echo *\n", "echo")


def test_a_program_that_asks_through_us_again_gets_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = program(f"import os; print(os.environ[{INSIDE_VARIABLE!r}])")
    assert INSIDE_VARIABLE not in os.environ
    assert told(ASK, 30) == Answer("1\n", PROGRAM)
    monkeypatch.setenv(INSIDE_VARIABLE, "1")
    assert isinstance(told(ASK, 30), Failed)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("ollama run qwen3", "ollama"),
        ("/usr/bin/python3.12 /home/me/relay.py --fast", "python3.12 relay.py"),
        ("bash ./ask.sh", "bash ask.sh"),
        ("python -c 'print(1)' relay.py", "python"),
        ("pythonista relay.py", "pythonista"),
        ("node", "node"),
    ],
)
def test_a_program_is_named_without_its_folder_and_with_its_script(line: str, name: str) -> None:
    assert name_of_command(shlex.split(line)) == name
