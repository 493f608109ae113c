"""Start-up: what our processes cost beside a Python that does nothing, in the same run."""

import compileall
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import holdfast
from benchmarks.data import bundled
from benchmarks.table import print_table

ROUNDS = 15

HOOK = """
import holdfast
with holdfast.open("s", root={root!r}) as session:
    session.append({{"role": "tool", "tool_call_id": "c", "content": "ok\\n" * 200}})
    session.status(quick=True).level
"""
"""What a hook does: open a session, append one small tool result, ask for the level."""

STATUS = """
from holdfast.surfaces.cli.main import main
main(["--root", {root!r}, "status"])
"""


def run() -> None:
    """Print the table."""
    # Installed packages are compiled; a checkout may not be.
    compileall.compile_dir(Path(holdfast.__file__).parent, quiet=2)
    with TemporaryDirectory() as root:
        ingest = ["-m", "holdfast", "--root", root, "ingest", "-q", str(bundled())]
        subprocess.run([sys.executable, *ingest], check=True)
        commands = {
            "python -c pass": "pass",
            "hook: open, append, level": HOOK.format(root=f"{root}/hook"),
            "holdfast status (counts in place)": STATUS.format(root=root),
        }
        Path(root, "hook").mkdir()
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(ROUNDS):  # side by side, so that noise hits all of them
            for name, code in commands.items():
                times[name].append(_timed(code))
    idle = min(times["python -c pass"])
    rows = [
        (
            name,
            f"{min(t) * 1e3:.0f} ms",
            f"{median(t) * 1e3:.0f} ms",
            f"+{(min(t) - idle) * 1e3:.0f} ms",
        )
        for name, t in times.items()
    ]
    print_table(f"Start-up, {ROUNDS} rounds", ("process", "best", "median", "over idle"), rows)


def _timed(code: str) -> float:
    start = perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - start
