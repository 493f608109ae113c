"""Layer 3: files in a line each, and which files of a codebase a task is about."""

import re
from collections.abc import Iterable, Iterator, Mapping

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import ToolReturned
from holdfast.core.ledger.packet import RelevantFile
from holdfast.core.ledger.summary import File
from holdfast.core.observe.artifacts import touch_of
from holdfast.core.observe.calls import Scene
from holdfast.core.observe.symbols import symbols_in
from holdfast.core.view.packet.relevance import Similar

LONGEST_TEXT = 60_000
_NUMBERED = re.compile(r"^\s{0,8}(?:L?\d{1,6}(?:→|\t|: ?|\| ?|- | {1,2}(?=\S)))")


@rule([])
def touched(files: Iterable[File], scene: Scene) -> list[RelevantFile]:
    """Files of the record in a line each, the newest changes first."""
    known = list(files)
    changed = [one for one in reversed(known) if one.action != "read"]
    read = [one for one in reversed(known) if one.action == "read"]
    texts = _seen(scene)
    return [
        RelevantFile(
            one.path,
            one.change or summary_of(one.path, _seen_text(one.path, texts)) or one.why,
            (one.entry,) if one.entry else (),
        )
        for one in (*changed, *read)
    ]


def _seen(scene: Scene) -> dict[str, str]:
    """By path: what was last seen of a file that was read."""
    texts: dict[str, str] = {}
    for pair in scene.pairs:
        touch = touch_of(pair.body)
        if touch.path and touch.verb == "read" and pair.result is not None:
            body = scene.items[pair.result].body
            if isinstance(body, ToolReturned) and not body.failed:
                texts[touch.path] = body.output[:LONGEST_TEXT]
    return texts


def _seen_text(path: str, texts: Mapping[str, str]) -> str:
    text = texts.get(path) or next(
        (text for known, text in texts.items() if known.endswith(path) or path.endswith(known)), ""
    )
    return "\n".join(_NUMBERED.sub("", line) for line in text.split("\n"))


@rule("")
def summary_of(path: str, text: str) -> str:
    """A file in a line: what it defines, or how it begins."""
    lines = text[:LONGEST_TEXT].split("\n")
    names = symbols_in(lines, path)
    if names:
        return f"defines {', '.join(names)}"
    first = next((line.strip(" #/*-\"'") for line in lines if line.strip(" #/*-\"'")), "")
    return first[:120]


@rule([])
def relevant_files(
    task: str, codebase: Mapping[str, str], similar: Similar, *, most: int = 12
) -> list[RelevantFile]:
    """The files of a codebase that a task is about, the nearest first."""
    rows = [RelevantFile(path, summary_of(path, text)) for path, text in codebase.items()]
    ranked = [(nearness(task, row, codebase[row.path], similar), row) for row in rows]
    near = sorted((one for one in ranked if one[0] > 0), key=lambda one: (-one[0], one[1].path))
    return [row for _, row in near[:most]]


def nearness(task: str, row: RelevantFile, text: str, similar: Similar) -> float:
    """How near a file is to a task: named in it, alike in name, or alike in what it holds."""
    name = row.path.rpartition("/")[2]
    if row.path in task or (len(name) > 4 and name in task):
        return 2.0
    by_name = similar(row.path.replace("/", " "), task)
    return by_name + similar(f"{row.summary} {text[:2_000]}", task) / 2


def lines_in(rows: Iterable[RelevantFile]) -> Iterator[str]:
    """Files as lines."""
    for row in rows:
        yield f"{row.path}: {row.summary}" if row.summary else row.path
