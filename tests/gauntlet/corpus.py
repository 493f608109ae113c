"""The sessions that are put through the gauntlet: those recorded, and a corpus of our own."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.gauntlet import sessions

HERE = Path(__file__).parents[2]


class Sample(NamedTuple):
    """One session, read when it is needed."""

    name: str
    load: Callable[[], bytes]
    suffix: str = ".jsonl"
    small: bool = False
    """Whether it is one of many that are alike: fewer cuts are enough."""


def data_folder(named: str = "") -> Path:
    """Where the recorded sessions are, when they are there."""
    told = named or os.environ.get("HOLDFAST_DATA")
    return Path(told) if told else HERE.parent / "shared" / "data"


def recorded(folder: Path) -> list[Sample]:
    """Every recorded session: in the normal form, native and broken, and every tool output."""
    found: list[Sample] = []
    for kind, below in (("normal", "dev"), ("broken", "broken")):
        for path in sorted((folder / below / "trajectories").glob("*.json.gz")):
            found.append(Sample(f"{kind}/{path.name[:-8]}", _normal(path)))
    for kind, below in (("native", "dev"), ("broken-native", "broken")):
        for path in sorted((folder / below / "native").glob("*.gz")):
            stem, suffix = path.name[:-3].rsplit(".", 1)
            found.append(Sample(f"{kind}/{stem}", _unpacked(path), f".{suffix}"))
    for path in sorted((folder / "broken" / "raw").glob("*")):
        found.append(Sample(f"raw/{path.stem}", path.read_bytes, path.suffix))
    return found + _tool_outputs(folder / "tool_outputs")


def _normal(path: Path) -> Callable[[], bytes]:
    """The messages of a session in the normal form, a line each."""
    return lambda: _lines(json.loads(gzip.decompress(path.read_bytes()))["messages"])


def _unpacked(path: Path) -> Callable[[], bytes]:
    return lambda: gzip.decompress(path.read_bytes())


def _lines(messages: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in messages)


def _tool_outputs(folder: Path) -> list[Sample]:
    """Each recorded output as the result of its call, and as something that a user pasted."""
    index = folder / "index.json"
    rows: list[dict[str, Any]] = json.loads(index.read_bytes()) if index.is_file() else []
    found: list[Sample] = []
    for row in rows:
        name = str(row["file"]).removesuffix(".txt")
        found.append(Sample(f"result/{name}", _as_result(folder, row), small=True))
        found.append(Sample(f"paste/{name}", _as_paste(folder, row), small=True))
    return found


def _text(folder: Path, row: dict[str, Any]) -> str:
    return (folder / row["file"]).read_bytes().decode("utf-8", "replace")


def _as_result(folder: Path, row: dict[str, Any]) -> Callable[[], bytes]:
    def load() -> bytes:
        try:
            arguments = json.loads(row.get("arguments") or "{}")
        except ValueError:
            arguments = {"input": row["arguments"]}
        made = sessions.Call(str(row.get("tool") or "bash"), arguments, _text(folder, row))
        turns = [
            sessions.Turn("Find out why the build fails.", (made,), "I have seen the output."),
            sessions.Turn(
                "Go on.", (sessions.Call("Read", {"file_path": "a.py"}, "x = 1"),), "Ok."
            ),
            sessions.Turn("And now?"),
        ]
        return sessions.document("openai_chat", turns)

    return load


def _as_paste(folder: Path, row: dict[str, Any]) -> Callable[[], bytes]:
    def load() -> bytes:
        asked = (
            f"This is what I get, please fix it:\n\n{_text(folder, row)}\n\nDo not touch the API."
        )
        read = sessions.Call("Read", {"file_path": "a.py"}, "x = 1\n" * 50)
        turns = [sessions.Turn(asked, (read,), "I will."), sessions.Turn("Good, go on.")]
        return sessions.document("anthropic", turns)

    return load


def own(seed: int, many: int, most: int = 8) -> list[Sample]:
    """Generated sessions, each wire in turn."""
    return [_generated(seed * 100_000 + at, most) for at in range(many)]


def _generated(number: int, most: int) -> Sample:
    wires = tuple(sessions.WIRES)
    wire = wires[number % len(wires)]
    return Sample(
        f"own/{wire}-{most}-{number}",
        lambda: sessions.document(wire, sessions.turns(Random(number), most)),
    )


def named(name: str, folder: Path) -> Sample:
    """The sample of a name."""
    if name.startswith("own/"):
        wire, most, number = name[4:].rsplit("-", 2)
        made = _generated(int(number), int(most))
        assert made.name == f"own/{wire}-{most}-{number}"
        return made
    return next(one for one in recorded(folder) if one.name == name)
