"""A clock that is years off, jumps or goes back changes no order and removes nothing that is young:
catalogue D11, with real processes whose system clock is another."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.session.open import open as open_session

DAY = 86_400
CLOCK = Path(__file__).parent / "clock"
APPEND = """
import sys
from pathlib import Path
import holdfast
root, clock, shifts = sys.argv[1], Path(sys.argv[2]), sys.argv[3].split()
with holdfast.open("s", root=root) as session:
    for number, shift in enumerate(shifts):
        clock.write_text(shift)
        session.append({"role": "user", "content": f"request {number} of {session.name}"})
        session.append({"role": "assistant", "content": f"answer {number}"})
"""


class Machine:
    """A machine whose clock can be set, and a project on it."""

    def __init__(self, folder: Path) -> None:
        self.root, self.clock = folder / "project", folder / "clock"
        self.root.mkdir()
        self.clock.write_text("0")
        self.zone = "UTC"

    def set(self, days: float) -> None:
        self.clock.write_text(str(days * DAY))

    def ran(self, *words: str) -> "subprocess.CompletedProcess[str]":
        paths = [str(CLOCK), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "CLOCK_FILE": str(self.clock),
            "TZ": self.zone,
        }
        command = [sys.executable, *words]
        return subprocess.run(
            command, cwd=self.root, env=environment, capture_output=True, text=True, check=False
        )

    def holdfast(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return self.ran("-m", "holdfast", *words)

    def document(self, *words: str) -> dict[str, Any]:
        done = self.holdfast(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def sessions(self) -> list[str]:
        return sorted(row["session"] for row in self.document("sessions")["sessions"])

    def record(self, *shifts: float, name: str = "s") -> None:
        code = APPEND.replace('"s"', repr(name))
        told = " ".join(str(shift * DAY) for shift in shifts)
        done = self.ran("-c", code, str(self.root), str(self.clock), told)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_clock_of_a_process_is_really_another(machine: Machine) -> None:
    machine.record(3_650)
    rows = machine.document("show")["entries"]
    assert rows[0]["at"][:4] > "2035"


def test_order_is_by_number_whatever_the_clock_does(machine: Machine) -> None:
    hour = 1 / 24
    machine.zone = "America/New_York"
    # Right, a year behind, ten years ahead, an hour back, over a change of time, a leap second.
    machine.record(0, -400, 3_650, -hour, 100, 200, 1 / DAY)
    rows = machine.document("show")["entries"]
    said = [row["opening"] for row in rows]
    asked = [f"request {number} of s" for number in range(7)]
    assert said[::2] == asked
    assert said[1::2] == [f"answer {number}" for number in range(7)]
    times = [row["at"] for row in rows]
    assert times != sorted(times)
    assert machine.holdfast("fsck").returncode == 0
    with open_session("s", root=machine.root) as session:
        assert [message["content"] for message in session.messages()][::2] == asked


@pytest.mark.parametrize("jumps", [(3_650,), (-400, 0), (3_650, -400, 3_650, 0), (29, 58, 87)])
def test_a_clock_that_jumps_removes_nothing_young(
    machine: Machine, jumps: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_RETENTION_DAYS", "60")
    machine.record(0, name="first")
    machine.record(0, name="second")
    for days in jumps:
        machine.set(days)
        machine.holdfast("purge", "--retention")
        machine.holdfast("status")
    assert machine.sessions() == ["first", "second"]


def test_a_reference_opens_after_thirty_days_and_says_that_it_expired_after_that(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_RETENTION_DAYS", "10")
    machine.record(0, name="old")
    ref = machine.document("show", "old")["entries"][0]["ref"]
    monkeypatch.setenv("HOLDFAST_RETENTION_DAYS", "0")
    machine.set(30)
    machine.record(30, name="new")
    shown = machine.holdfast("show", "old", "--ref", ref)
    assert "request 0 of old" in shown.stdout
    monkeypatch.setenv("HOLDFAST_RETENTION_DAYS", "10")
    for day in range(30, 42):
        machine.set(day)
        machine.holdfast("purge", "--retention")
    assert machine.sessions() == ["new"]
    told = machine.holdfast("show", "--ref", ref)
    assert (told.stdout, told.returncode) == ("", 66)
    assert f"entry '{ref}' expired on " in told.stderr
