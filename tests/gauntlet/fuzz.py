"""`python -m tests.gauntlet.fuzz`: the pure functions that read text, called with generated ones.

Functions are found by looking: whatever is public in the packages below, and takes texts, bodies,
entries or what is read from them, is called. Each exception is told once, by the place that raised
it, with the smallest example that still raises it.
"""

import argparse
import importlib
import inspect
import pkgutil
import typing
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from time import monotonic
from traceback import extract_tb
from types import ModuleType, NoneType, UnionType
from typing import Any, NamedTuple, TypeAlias, Union, cast

from holdfast.core.ledger.entry import Entry, Said, Thought, ToolCalled, ToolReturned
from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item, Window
from holdfast.core.observe.files.bash import ShellCommand, Word, commands_of
from holdfast.core.observe.files.shell import ShellState
from holdfast.core.observe.files.touch import Touch, touch_of
from holdfast.core.observe.scene import Scene, read_scene
from holdfast.core.shrink.outline.reading import TextReading, read_text
from holdfast.core.shrink.summary.rows import rows_of_scene
from holdfast.core.verify.drift.message import AgentMessage, agent_message
from holdfast.errors import HoldfastError
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from tests.gauntlet import sessions, texts
from tests.gauntlet.commands import FORMS
from tests.gauntlet.strict import strictly

PACKAGES = (
    "holdfast.core.observe",
    "holdfast.core.shrink.outline",
    "holdfast.core.verify",
    "holdfast.core.view",
    "holdfast.text",
)
SKIPPED: Mapping[str, str] = {
    "holdfast.text.linear.compile_checked": "takes patterns that a user set, and reads no text",
    "holdfast.text.clip.clip_middle": "takes a format of ours for the gap",
    "holdfast.text.patterns.cue": "makes a pattern of ours, and reads no text",
    "holdfast.core.view.status.shares_of": "takes a number for each of the same items",
    "holdfast.core.observe.worth.name_uses_of": "takes what is held of the same scene",
    "holdfast.core.view.questions.question.read_question": "takes a table of like words",
    "holdfast.core.view.checkpoints.checkpoint_row": "takes the entry of a checkpoint",
    "holdfast.core.view.probes.probe_window": "takes the entry of a compression",
    "holdfast.core.view.packet.document.packet_from_document": "raises its own error otherwise",
    "holdfast.core.view.packet.document.verify_seal": "raises its own error for any other text",
    "holdfast.text.words.symbol_name": "takes one letter",
    "holdfast.core.shrink.outline.outline.outliner_for": "takes the name of one of our outlines",
}
"""Functions that may refuse what they are given, and why; sessions reach them all."""
GIVEN: Mapping[str, Sequence[Any]] = {
    "width": (24, 72, 160),
    "separator": ("|", ",", "\t", "  "),
    "depth": ("minimal", "standard", "deep", "simple", "complex"),
    "form": FORMS,
}
"""Arguments that are no texts of a session: what our own code passes for them, by name."""
PLACES = frozenset({"at", "start", "end", "begin", "line", "position", "place"})
"""Names of numbers that are places in the text beside them."""
Function: TypeAlias = Callable[..., Any]


class World(NamedTuple):
    """A generated session, and what is read from it."""

    turns: tuple[sessions.Turn, ...]
    entries: tuple[Entry, ...]
    items: tuple[Item, ...]
    window: Window
    scene: Scene


def world_of(turns: Sequence[sessions.Turn]) -> World:
    """What turns look like from the core."""
    session = Session("fuzz", MemoryStore())
    session.extend(sessions.anthropic(list(turns)))
    window = session.ledger.window()
    items = tuple(window.items)
    return World(tuple(turns), tuple(session.ledger.path()), items, window, read_scene(items))


class Unmade(Exception):
    """There is no way to make a value of a type."""


class Source(NamedTuple):
    """Where arguments come from."""

    random: Random
    world: World
    text: Callable[[Random], str] = texts.anything


def _text(source: Source) -> str:
    return source.text(source.random)


def _rows(source: Source) -> Summary:
    scene = source.world.scene
    return rows_of_scene(scene)


def _called(source: Source) -> ToolCalled:
    bodies = [item.body for item in source.world.items]
    made = [body for body in bodies if isinstance(body, ToolCalled)]
    return source.random.choice(made or [ToolCalled("c", "Bash", '{"command": "ls"}')])


def _command(source: Source) -> ShellCommand:
    found = list(commands_of(texts.script(source.random)))
    return source.random.choice(found) if found else ShellCommand(words=(Word("ls"),))


MADE: dict[Any, Callable[[Source], Any]] = {
    str: _text,
    bool: lambda s: s.random.random() < 0.5,
    float: lambda s: s.random.choice((0.0, 0.5, 1.0, 3.7)),
    NoneType: lambda s: None,
    object: lambda s: s.random.choice((None, 1, _text(s), [_text(s)], {"text": _text(s)})),
    Scene: lambda s: s.world.scene,
    Window: lambda s: s.world.window,
    Summary: _rows,
    TextReading: lambda s: read_text(_text(s)),
    Said: lambda s: Said(s.random.choice(("user", "assistant", "system")), _text(s)),
    Thought: lambda s: Thought(_text(s)),
    ToolCalled: _called,
    ToolReturned: lambda s: ToolReturned("c", _text(s), s.random.random() < 0.5),
    AgentMessage: lambda s: agent_message(item.body for item in s.world.items),
    ShellState: lambda s: ShellState(output=_text(s)),
    ShellCommand: _command,
}
"""How values of a type are made, where they are not made of their parts."""
WHOLE: dict[Any, Callable[[Source], Any]] = {
    Entry: lambda s: s.world.entries,
    Item: lambda s: s.world.items,
    Word: lambda s: _command(s).words,
    Touch: lambda s: [touch_of(pair.body) for pair in s.world.scene.pairs],
}
"""Sequences that only make sense as they stand in a session."""
MANY = (Sequence, Iterable, list, tuple, set, frozenset)


def value_of(kind: Any, source: Source, name: str = "", beside: str = "") -> Any:
    """A value of a type.

    Raises:
        Unmade: nobody knows how.
    """
    if name in GIVEN and isinstance(GIVEN[name][0], kind if isinstance(kind, type) else ()):
        return source.random.choice(GIVEN[name])
    if kind is int:
        return _number(source, name, beside)
    if kind in MADE:
        return MADE[kind](source)
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, UnionType):
        return _one_of(inner, source)
    if origin is typing.Literal:
        return source.random.choice(inner)
    if origin in MANY:
        return _many(origin, inner, source)
    if origin is Mapping or origin is dict:
        return {
            value_of(inner[0], source): value_of(inner[1], source)
            for _ in range(source.random.randrange(3))
        }
    if origin is Callable:
        return _function(inner, source)
    if kind in WHOLE and (known := WHOLE[kind](source)):
        return source.random.choice(known)
    raise Unmade(str(kind))


def _number(source: Source, name: str, beside: str) -> int:
    if name in PLACES:
        return source.random.randrange(len(beside) + 1)
    return source.random.choice((0, 1, 2, 7, 60, 500, 4_000))


def _one_of(kinds: Sequence[Any], source: Source) -> Any:
    for kind in source.random.sample(list(kinds), len(kinds)):
        try:
            return value_of(kind, source)
        except Unmade:
            continue
    raise Unmade(str(kinds))


def _many(origin: Any, inner: Sequence[Any], source: Source) -> Any:
    kind = inner[0] if inner else str
    if kind in WHOLE:
        return WHOLE[kind](source)
    fixed = origin is tuple and len(inner) > 1 and inner[1] is not Ellipsis
    kinds = inner if fixed else [kind] * source.random.choice((0, 1, 1, 3, 30))
    made = [value_of(one, source) for one in kinds]
    keeps: dict[Any, Callable[[list[Any]], Any]] = {tuple: tuple, set: set, frozenset: frozenset}
    return keeps[origin](made) if origin in keeps else made


def _function(inner: Sequence[Any], source: Source) -> Callable[..., Any]:
    """A function that a function is given: counts, splits, or says how alike two texts are."""
    back = inner[1]
    if back is int:
        return lambda *given: len(str(given[0])) // 4 if given else 0
    if back is float:
        return lambda *_: 0.5
    if typing.get_origin(back) in (list, Sequence, tuple):
        return lambda *given: str(given[0]).split() if given else []
    del source
    raise Unmade(str(inner))


def modules() -> Iterator[ModuleType]:
    """Every module that is looked through."""
    for name in PACKAGES:
        package = importlib.import_module(name)
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            yield importlib.import_module(found.name)


def functions() -> dict[str, Function]:
    """Every public function of them that can be given something."""
    source = Source(Random(0), world_of(sessions.turns(Random(1))))
    found: dict[str, Function] = {}
    for module in modules():
        for name, made in vars(module).items():
            ours = inspect.isfunction(made) and made.__module__ == module.__name__
            if not ours or name.startswith("_"):
                continue
            whole = f"{module.__name__}.{name}"
            try:
                arguments_of(made, source)
            except Unmade:
                continue
            if whole not in SKIPPED and inspect.signature(made).parameters:
                found[whole] = made
    return found


def arguments_of(made: Function, source: Source) -> dict[str, Any]:
    """Arguments for a function, by name; what has a default is sometimes left out."""
    hints = typing.get_type_hints(made)
    given: dict[str, Any] = {}
    for one in inspect.signature(made).parameters.values():
        if one.kind is one.VAR_KEYWORD or one.kind is one.VAR_POSITIONAL:
            continue
        if one.default is not one.empty and source.random.randrange(2):
            continue
        beside = next((value for value in given.values() if isinstance(value, str)), "")
        given[one.name] = value_of(hints.get(one.name, str), source, one.name, beside)
    return given


def call(made: Function, given: Mapping[str, Any]) -> None:
    """Call a function, and take what it yields; a rule that fails raises."""
    with strictly():
        _call(made, given)


def _call(made: Function, given: Mapping[str, Any]) -> None:
    parameters = inspect.signature(made).parameters.values()
    by_place = [one.name for one in parameters if one.kind is one.POSITIONAL_ONLY]
    rest = {name: value for name, value in given.items() if name not in by_place}
    came = made(*(given[name] for name in by_place if name in given), **rest)
    if isinstance(came, Iterator):
        deque(cast("Iterator[Any]", came), maxlen=0)


class Raised(NamedTuple):
    """An exception, where it was raised, and what raises it."""

    place: str
    error: str
    function: str
    example: str
    seed: int


def place_of(error: BaseException) -> str:
    """Where an exception was raised: the last line of ours."""
    frames = [one for one in extract_tb(error.__traceback__) if "holdfast" in one.filename]
    if not frames:
        return type(error).__name__
    last = frames[-1]
    return f"{last.filename.rpartition('holdfast/')[2]}:{last.lineno} in {last.name}: {last.line}"


def smallest(text: str, fails: Callable[[str], bool]) -> str:
    """The smallest text that still fails: lines leave, then letters."""
    for cut in (_without_lines, _without_letters):
        again = True
        while again:
            again = False
            for less in cut(text):
                if fails(less):
                    text, again = less, True
                    break
    return text


def _without_lines(text: str) -> Iterator[str]:
    lines = text.split("\n")
    size = len(lines) // 2
    while size:
        for at in range(0, len(lines), size):
            yield "\n".join(lines[:at] + lines[at + size :])
        size //= 2


def _without_letters(text: str) -> Iterator[str]:
    size = len(text) // 2
    while size:
        for at in range(0, len(text), size):
            yield text[:at] + text[at + size :]
        size //= 2


def _reduced(made: Function, given: dict[str, Any], place: str) -> dict[str, Any]:
    """The same arguments with their texts as short as they may be."""
    known = dict(given)
    for name, value in given.items():
        if not isinstance(value, str):
            continue

        def fails(text: str, name: str = name) -> bool:
            return _fails_at(made, {**known, name: text}) == place

        known[name] = smallest(value, fails)
    return known


def _fails_at(made: Function, given: Mapping[str, Any]) -> str:
    try:
        call(made, given)
    except Exception as error:  # noqa: BLE001  That is what is looked for.
        return place_of(error)
    return ""


def fuzzed(
    seed: int, rounds: int = 0, seconds: float = 0, names: Sequence[str] = ()
) -> tuple[Counter[str], dict[str, Raised]]:
    """Call every function again and again: how often each was, and what was raised."""
    known = {name: made for name, made in functions().items() if not names or name in names}
    calls: Counter[str] = Counter()
    raised: dict[str, Raised] = {}
    start = monotonic()
    number = 0
    while number < rounds if rounds else monotonic() - start < seconds:
        random = Random(seed + number)
        source = Source(random, world_of(sessions.turns(random, 4)), random.choice(KINDS))
        for name, made in known.items():
            calls[name] += 1
            _try(name, made, source, raised, seed + number)
        number += 1
    return calls, raised


KINDS = (
    texts.anything,
    texts.shell,
    texts.script,
    texts.output,
    texts.prose,
    texts.edited,
    texts.path,
)


def _try(name: str, made: Function, source: Source, raised: dict[str, Raised], seed: int) -> None:
    try:
        with strictly():
            given = arguments_of(made, source)
    except Unmade:
        return
    except Exception as error:  # noqa: BLE001  Reading the session itself failed.
        raised.setdefault(place_of(error), _told(name, error, {}, seed))
        return
    try:
        call(made, given)
    except HoldfastError:
        # Refused on purpose, in a sentence.
        return
    except Exception as error:  # noqa: BLE001  That is what is looked for.
        place = place_of(error)
        if place not in raised:
            raised[place] = _told(name, error, _reduced(made, given, place), seed)


def _told(name: str, error: BaseException, given: Mapping[str, Any], seed: int) -> Raised:
    shown = ", ".join(f"{key}={value!r:.300}" for key, value in given.items())
    return Raised(place_of(error), f"{type(error).__name__}: {error}", name, shown, seed)


def main() -> None:
    """Run it, and print what was raised."""
    parser = argparse.ArgumentParser(prog="python -m tests.gauntlet.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--rounds", type=int, default=0, help="Calls of each function.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only", action="append", default=[], help="A function, by its whole name."
    )
    asked = parser.parse_args()
    rounds = asked.rounds or (0 if asked.seconds else 50)
    calls, raised = fuzzed(asked.seed, rounds, asked.seconds, asked.only)
    many = f"{len(calls)} functions, {sum(calls.values()):,} calls"
    print(f"seed {asked.seed}: {many}, {len(raised)} places that raised")
    by_module: dict[str, list[Raised]] = defaultdict(list)
    for one in raised.values():
        by_module[one.place.partition(":")[0]].append(one)
    for some in by_module.values():
        for one in some:
            print(f"{one.place}\n  {one.error[:200]}\n  {one.function}({one.example})")
            again = f"--only {one.function} --seed {one.seed} --rounds 1"
            print(f"  repeat: python -m tests.gauntlet.fuzz {again}")
    raise SystemExit(1 if raised else 0)


if __name__ == "__main__":
    main()
