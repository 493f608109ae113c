"""Walks: the modules that one operation runs through, and what a process of it costs.

Each walk runs in a process of its own, on a copy of the bundled session, under `sys.setprofile`.
What runs while a module is imported is left out. The caller of a function is the nearest function
of the package below it on the stack, and a generator is called by its consumer each time it goes
on. A call is upward when an import contract ranks the caller's module below that of the function:
a callback, or a method of an object from above. One module that runs the rules of all others has
many such edges, so the number of modules that call upward is given beside them.

Only public names are used, so that the same file measures another checkout: the one on
`PYTHONPATH`. `--list` prints the modules in the order of their first call, and the upward edges.
"""

import compileall
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from inspect import currentframe
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any

import msgspec

import holdfast
from benchmarks.data import bundled
from benchmarks.table import print_table
from benchmarks.tree import PACKAGE, Contract, contracts

ROUNDS = 15
SESSION = "walk"
NEXT = {"role": "user", "content": "Please check the refunds for the same rounding, too."}
BUDGET = 12_000
TASK = "Check the rounding of refunds"
QUESTION = "ours 118.74"
FILL, HOOK, FRESH, PATTERNS = "fill", "hook", "message, fresh process", "patterns"
AGENT = "claude-code"
MAIN = "from holdfast.surfaces.hooks.main import main; main()"
INSIDE = f"{PACKAGE}{os.sep}"
KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH")
STANDARD = sysconfig.get_path("stdlib")
COMPILING = (
    str(Path(re.__file__).parent),
    __file__,
    functools.__file__,
    f"{INSIDE}text{os.sep}patterns.py",
)
"""Code between the module that uses a pattern and the compiler."""


class Call(msgspec.Struct, frozen=True):
    """How often functions of a module called those of another one."""

    caller: str
    callee: str
    times: int


class Walk(msgspec.Struct, frozen=True):
    """The path of one operation through the package; modules by their path inside of it."""

    modules: list[str]
    """In the order of their first call."""
    functions: int
    calls: list[Call]


# In quotes, here and below: a hook that is measured has loaded nothing of the package before.
def _live_message(session: "holdfast.Session") -> None:
    session.append(NEXT)
    session.messages()


WALKS: "dict[str, Callable[[holdfast.Session], object] | None]" = {
    "message": _live_message,
    FRESH: None,
    "compression": lambda session: session.compact(BUDGET),
    HOOK: None,
    "packet": lambda session: session.packet(TASK, pane=1),
    "recovery": lambda session: session.recover(QUESTION),
}
"""What each walk does in an open session; nothing where it needs a process from its beginning."""
SHOWN = {
    "message": "message: `append` and `messages()`, live session",
    FRESH: "the same in a fresh process, with `open`",
    "compression": f"compression, tier 3: `compact({BUDGET:_})`",
    HOOK: "hook: PostToolUse with a large result",
    "packet": "packet: `packet(task, pane=1)`",
    "recovery": "recovery: `recover(query)`",
}


def run(*, listed: bool = False) -> None:
    """Print the tables."""
    # Installed packages are compiled; a checkout may not be.
    compileall.compile_dir(PACKAGE, quiet=2)
    found = {name: walked(name) for name in WALKS}
    rules = contracts()
    heads = ("walk", "modules", "functions", "cross-module calls", "edges", "upward", "from")
    print_table("Walks", heads, [_row(SHOWN[name], walk, rules) for name, walk in found.items()])
    if listed:
        _print_lists(found, rules)
    _print_patterns(listed=listed)
    _print_times()


def walked(name: str) -> Walk:
    """Take a walk in processes of its own, and return its path."""
    with _project() as project:
        if name == HOOK:
            _hook(project, "Stop")  # A session that a hook has followed up to here.
            document = json.dumps(project.large_result("toolu_walk"))
        else:
            _child(project, FILL)
            document = ""
        return msgspec.json.decode(_child(project, name, document), type=Walk)


def is_upward(call: Call, rules: list[Contract]) -> bool:
    """Whether a contract ranks the caller below the callee."""
    ranks = ((_rank(rule, call.caller), _rank(rule, call.callee)) for rule in rules)
    return any(-1 not in pair and pair[0] > pair[1] for pair in ranks)


def _rank(rule: Contract, module: str) -> int:
    """The position of a module's rank from the top of a contract; -1 when it has none."""
    name = "holdfast." + module.removesuffix(".py").replace("/", ".")
    covered = (any(f"{name}.".startswith(f"{part}.") for part in rank) for rank in rule)
    return next((number for number, covers in enumerate(covered) if covers), -1)


def _row(shown: str, walk: Walk, rules: list[Contract]) -> tuple[object, ...]:
    calls = sum(call.times for call in walk.calls)
    upward = [call.caller for call in walk.calls if is_upward(call, rules)]
    counts = (len(walk.modules), walk.functions, f"{calls:,}", len(walk.calls), len(upward))
    return (shown, *counts, f"{len(set(upward))} modules")


def _print_lists(found: dict[str, Walk], rules: list[Contract]) -> None:
    for name, walk in found.items():
        upward = [call for call in walk.calls if is_upward(call, rules)]
        print(f"\n{SHOWN[name]}\n\nmodules: {', '.join(walk.modules)}\n\nupward edges:")
        for call in upward:
            print(f"- {call.caller} → {call.callee} ({call.times:,})")


def _print_patterns(*, listed: bool) -> None:
    with _project() as project:
        _hook(project, "Stop")
        document = json.dumps(project.large_result("toolu_patterns"))
        counts: dict[str, int] = msgspec.json.decode(_child(project, PATTERNS, document))
    ours = {path: count for path, count in counts.items() if not path.startswith("<")}
    rows = [("by modules of the package", sum(ours.values())), *sorted(_others(counts).items())]
    print_table("Regular expressions that the large-result hook compiles", ("", "number"), rows)
    for path, count in sorted(ours.items()) if listed else ():
        print(f"- {path}: {count}")


def _others(counts: dict[str, int]) -> dict[str, int]:
    return {path.strip("<>"): count for path, count in counts.items() if path.startswith("<")}


def _print_times() -> None:
    with _project() as project:
        _hook(project, "Stop")
        ways: dict[str, Callable[[int], float]] = {
            "python -c pass": lambda _: _time(project, ["-c", "pass"]),
            "import holdfast": lambda _: _time(project, ["-c", "import holdfast"]),
            **{name: _way(project, event, more) for name, event, more in _events()},
        }
        times: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(ROUNDS):  # Side by side, so that noise hits all of them.
            for name, way in ways.items():
                times[name].append(way(number))
    idle = median(times["python -c pass"])
    rows = [
        (name, f"{median(taken):.0f} ms", f"{min(taken):.0f} ms", f"{median(taken) - idle:+.0f} ms")
        for name, taken in times.items()
    ]
    heads = ("process", "median", "best", "median over bare Python")
    print_table(f"Processor time, {ROUNDS} fresh processes each", heads, rows)


class Project:
    """A folder with the bundled session as the transcript of an agent at work in it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder
        self.root = folder / "project"
        (self.root / ".git").mkdir(parents=True)
        self.transcript = folder / "transcript.jsonl"
        shutil.copyfile(bundled(), self.transcript)
        self.report = folder / "report.json"

    def event(self, event: str, **more: object) -> dict[str, object]:
        """The document that Claude Code hands to a hook."""
        return {
            "session_id": SESSION,
            "cwd": str(self.root),
            "transcript_path": str(self.transcript),
            "hook_event_name": event,
            **more,
        }

    def large_result(self, call: str) -> dict[str, object]:
        """The event of the command in the transcript with the longest output."""
        return self.event("PostToolUse", **_result(_largest_output(), call))

    def environment(self) -> dict[str, str]:
        """The variables of its processes: no setting of this machine reaches them."""
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        return {
            **kept,
            "HOME": str(self.home),
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": os.pathsep.join(map(str, (PACKAGE.parent, Path(__file__).parents[1]))),
        }


@contextmanager
def _project() -> Generator[Project, None, None]:
    # A hook at the end of a session goes on working when the host has its answer.
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Project(Path(folder))


def _records() -> list[dict[str, Any]]:
    return [json.loads(line) for line in bundled().read_text("utf-8").splitlines()]


def _largest_output() -> str:
    records = [record for record in _records() if isinstance(record.get("toolUseResult"), dict)]
    results: list[dict[str, Any]] = [record["toolUseResult"] for record in records]
    outputs: list[str] = [result["stdout"] for result in results if "stdout" in result]
    return max(outputs, key=len)


def _result(stdout: str, call: str) -> dict[str, object]:
    return {
        "tool_name": "Bash",
        "tool_input": {"command": "cat logs/nightly.log"},
        "tool_use_id": call,
        "tool_response": {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False},
    }


def _events() -> Iterator[tuple[str, str, Mapping[str, object]]]:
    """The hooks of a session: how they are shown, the event, and what comes with it."""
    yield "PostToolUse, small result", "PostToolUse", _result("done\n" * 20, "toolu_small")
    yield "PostToolUse, large result", "PostToolUse", _result(_largest_output(), "toolu_large")
    failure = {"tool_name": "Bash", "tool_use_id": "toolu_failed", "error": "Exit code 1\nno"}
    yield "PostToolUseFailure", "PostToolUseFailure", failure
    yield "PostToolBatch", "PostToolBatch", {}
    yield "UserPromptSubmit", "UserPromptSubmit", {"prompt": NEXT["content"]}
    spawning = {"subagent_type": "general", "prompt": TASK}
    yield "PreToolUse, a worker", "PreToolUse", {"tool_name": "Task", "tool_input": spawning}
    yield "SubagentStart", "SubagentStart", {"agent_id": "a", "agent_type": "general"}
    yield "SubagentStop", "SubagentStop", {"agent_id": "a", "agent_type": "general"}
    yield "Stop", "Stop", {}
    yield "SessionStart, startup", "SessionStart", {"source": "startup"}
    yield "SessionStart, compact", "SessionStart", {"source": "compact"}
    yield "PreCompact", "PreCompact", {"trigger": "auto"}
    yield "SessionEnd, up to its answer", "SessionEnd", {"reason": "other"}
    yield "status line", "statusline", {}


def _way(project: Project, event: str, more: Mapping[str, object]) -> Callable[[int], float]:
    def way(number: int) -> float:
        named = {"tool_use_id": f"{more['tool_use_id']}_{number}"} if "tool_use_id" in more else {}
        document = json.dumps(project.event(event, **{**more, **named}), separators=(",", ":"))
        return _time(project, ["-c", MAIN, AGENT, event], document)

    return way


def _time(project: Project, words: list[str], document: str = "") -> float:
    """Milliseconds that a process and those that it waited for computed."""
    before = getrusage(RUSAGE_CHILDREN)
    _python(project, words, document)
    after = getrusage(RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used * 1_000


def _hook(project: Project, event: str) -> None:
    _python(project, ["-c", MAIN, AGENT, event], json.dumps(project.event(event)))


def _child(project: Project, name: str, document: str = "") -> bytes:
    """Run a part of this file in a process of its own, and return its report."""
    words = ["-m", "benchmarks.walks", name, str(project.report)]
    answer = _python(project, words, document)
    if document and not answer:
        raise RuntimeError("the hook gave no answer: it did not replace the large result")
    return project.report.read_bytes()


def _python(project: Project, words: list[str], document: str) -> bytes:
    """The output of a Python process in the project, with a document as its input."""
    done = subprocess.run(
        [sys.executable, *words],
        input=document.encode(),
        cwd=project.root,
        env=project.environment(),
        stdout=subprocess.PIPE,
        timeout=120,
        check=True,
    )
    return done.stdout


class Recorder:
    """Collects the calls inside the package between `start` and `stop`."""

    def __init__(self) -> None:
        self._modules: dict[str, None] = {}
        self._functions: set[CodeType] = set()
        self._calls: Counter[tuple[str, str]] = Counter()
        self._importing = 0

    def start(self) -> None:
        """Collect from here on."""
        sys.setprofile(self._event)

    def stop(self) -> Walk:
        """Stop, and return what was collected."""
        sys.setprofile(None)
        calls = [Call(*edge, times) for edge, times in self._calls.items()]
        return Walk(list(self._modules), len(self._functions), calls)

    def _event(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if code.co_name == "<module>":
            self._importing += (event == "call") - (event == "return")
        elif event == "call" and not self._importing and code.co_filename.startswith(INSIDE):
            self._called(frame, code)

    def _called(self, frame: FrameType, code: CodeType) -> None:
        callee = _module(code)
        self._modules.setdefault(callee)
        if not code.co_name.startswith("<"):
            self._functions.add(code)
        back = frame.f_back
        while back is not None and not back.f_code.co_filename.startswith(INSIDE):
            back = back.f_back
        if back is not None and _module(back.f_code) != callee:
            self._calls[_module(back.f_code), callee] += 1


def _module(code: CodeType) -> str:
    return code.co_filename.removeprefix(INSIDE).replace(os.sep, "/")


def _fill() -> None:
    messages = (record["message"] for record in _records() if "message" in record)
    with holdfast.open(SESSION, root=".") as session:
        session.extend({key: said[key] for key in ("role", "content")} for said in messages)
        session.messages()
        session.status()


def _walk(name: str) -> Walk:
    recorder, step = Recorder(), WALKS[name]
    if step is None:
        recorder.start()
        with holdfast.open(SESSION, root=".") as session:
            _live_message(session)
            return recorder.stop()
    with holdfast.open(SESSION, root=".") as session:
        _live_message(session)
        recorder.start()
        step(session)
        return recorder.stop()


def _run_hook(report: Path, before: Callable[[], None], result: Callable[[], object]) -> None:
    """Answer the event on standard input, and write a result before the process ends."""
    leave = os._exit

    def end(status: int) -> None:
        report.write_bytes(msgspec.json.encode(result()))
        leave(status)

    os._exit = end  # A hook ends its process itself.
    sys.argv = ["holdfast-hook", AGENT, "PostToolUse"]
    before()
    from holdfast.surfaces.hooks.main import main  # late: loading it is a part of the hook

    main()


def _count_patterns(counts: Counter[str]) -> None:
    """Count what is really compiled from here on, by the module that asks for it."""
    compiler: Any = import_module("re._compiler")
    plain = compiler.compile

    def compile(*args: Any) -> Any:
        frame = currentframe()
        while frame is not None and frame.f_code.co_filename.startswith(COMPILING):
            frame = frame.f_back
        if frame is not None:
            counts[_asker(frame.f_code)] += 1
        return plain(*args)

    compiler.compile = compile


def _asker(code: CodeType) -> str:
    path = code.co_filename
    if path.startswith(INSIDE):
        return _module(code)
    inside = path.startswith((STANDARD, "<frozen")) and "site-packages" not in path
    return "<by the standard library itself>" if inside else "<by other packages>"


def _main(name: str, report: Path) -> None:
    if name == FILL:
        _fill()
        report.write_bytes(b"{}")
    elif name == PATTERNS:
        counts: Counter[str] = Counter()
        _run_hook(report, lambda: _count_patterns(counts), lambda: counts)
    elif name == HOOK:
        recorder = Recorder()
        _run_hook(report, recorder.start, recorder.stop)
    else:
        report.write_bytes(msgspec.json.encode(_walk(name)))


if __name__ == "__main__":
    _main(sys.argv[1], Path(sys.argv[2]))
