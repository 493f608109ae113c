"""Packets are the same in every process: no choice depends on the order of a set."""

import os
import subprocess
import sys

SCRIPT = """
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
names = (f"{word}{at}Name" for at in range(400) for word in ("alpha", "beta", "gamma"))
lines = [f"def {a}(self, {b}, {c}): return {c}.{a}" for a, b, c in zip(names, names, names)]
call = {"name": "Read", "arguments": '{"file_path": "/repo/src/app.py"}'}
with Session("s", MemoryStore()) as session:
    session.extend([
        {"role": "user", "content": "Rename the functions of app.py."},
        {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": call}]},
        {"role": "tool", "tool_call_id": "1", "content": "\\n".join(lines)},
        {"role": "assistant", "content": "I have read all of them."},
    ])
    print(session.packet("Rename the functions of app.py").to_yaml())
"""


def test_ties_are_decided_alike_in_every_process() -> None:
    made = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "4", "77")
    }
    assert len(made) == 1
