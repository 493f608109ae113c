"""Draws histories as agents make them, well-formed and broken, in every message wire.

A history is drawn in no format first (turns of steps of calls) and then spoken in a wire. Texts
are made, not drawn letter by letter, so an example costs some dozens of draws at any size.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from hypothesis import strategies as st

from tests.provider import speaking, texts
from tests.provider.openai_responses import by_model, kind_of
from tests.provider.rules import fields
from tests.provider.speaking import Call, Manner, Step, Turn

Message: TypeAlias = dict[str, Any]
WIRES = ("anthropic", "openai_chat", "openai_responses")


class Use(NamedTuple):
    """A tool used: what was asked of it and what it said."""

    tool: str
    arguments: dict[str, Any]
    output: str
    failed: bool = False
    picture: bool = False


sizes = st.integers(1, 5)
seeds = st.integers(0, 9)
paths = st.sampled_from(("src/app.py", "src/deep/model.py", "/repo/tests/test_app.py", "README.md"))

# What an agent does: uses of tools that belong together, one after the other.


@st.composite
def looking(draw: st.DrawFn) -> list[Use]:
    """Small things that nobody needs to shrink."""
    found = draw(st.sampled_from(("3 files", "", "ok\n", "src/app.py:12: def run()")))
    return [Use("Bash", {"command": f"grep -n run {draw(paths)}"}, found)]


@st.composite
def big(draw: st.DrawFn) -> list[Use]:
    """A result of hundreds or thousands of tokens."""
    make = draw(st.sampled_from(texts.BIG))
    return [Use("Bash", {"command": "cat out"}, make(draw(sizes), draw(seeds)))]


@st.composite
def odd(draw: st.DrawFn) -> list[Use]:
    """Letters that cannot be sent, in a result and sometimes in a call."""
    text = texts.broken_unicode(draw(sizes), draw(seeds))
    return [Use("Bash", {"command": text[:9] if draw(st.booleans()) else "cat bin"}, text)]


@st.composite
def writes(draw: st.DrawFn) -> list[Use]:
    """A file written or edited; the arguments are large, the result is not."""
    path, size, seed = draw(paths), draw(sizes), draw(seeds)
    old, new = texts.code(size, seed), texts.code(size, seed + 10)
    match draw(st.sampled_from(("Write", "Edit", "str_replace_editor", "create", "apply_patch"))):
        case "Write":
            return [Use("Write", {"file_path": path, "content": new}, f"Wrote {path}")]
        case "Edit":
            edit = {"file_path": path, "old_string": old, "new_string": new}
            return [Use("Edit", edit, f"The file {path} has been updated.")]
        case "str_replace_editor" as tool:
            edit = {"command": "str_replace", "path": path, "old_str": old, "new_str": new}
            return [Use(tool, edit, f"The file {path} has been edited.")]
        case "create":
            made = {"command": "create", "path": path, "file_text": new}
            return [Use("str_replace_editor", made, f"File created successfully at: {path}")]
        case _:
            given = {"input": texts.patch(size, seed)}
            return [Use("apply_patch", given, f"Success. Updated src/m{seed}.py")]


@st.composite
def reads(draw: st.DrawFn) -> list[Use]:
    """One file read again and again, here and there, changed in between or not."""
    path, size, seed = draw(paths), draw(sizes), draw(seeds)
    uses: list[Use] = []
    for start in draw(st.lists(st.sampled_from((1, 1, 5, 20)), min_size=2, max_size=3)):
        part = {} if start == 1 else {"offset": start, "limit": 2000}
        shown = texts.numbered(size, seed, start)
        uses.append(Use("Read", {"file_path": path, **part}, shown))
        if draw(st.booleans()):
            seed += 1
            edit = {"file_path": path, "old_string": "a", "new_string": "b"}
            uses.append(Use("Edit", edit, f"The file {path} has been updated."))
    return uses


@st.composite
def tests(draw: st.DrawFn) -> list[Use]:
    """A test command that fails, an edit, and the same command passing."""
    size, seed = draw(sizes), draw(seeds)
    run = {"command": f"pytest -q tests/test_{seed}.py"}
    failing = Use("Bash", run, texts.run_of_tests(size, seed, passed=False), failed=True)
    mend = {"file_path": f"src/m{seed}.py", "old_string": "x", "new_string": "y"}
    passing = Use("Bash", run, texts.run_of_tests(size, seed, passed=True))
    return [*[failing] * draw(st.integers(1, 2)), Use("Edit", mend, "Updated."), passing]


@st.composite
def failures(draw: st.DrawFn) -> list[Use]:
    """A tool that says no, briefly or at length."""
    why = draw(st.sampled_from(("No such file", texts.log(3, 1), texts.line(2, 2))))
    return [Use("Read", {"file_path": draw(paths)}, f"Error: {why}", failed=True)]


@st.composite
def pictures(draw: st.DrawFn) -> list[Use]:
    """A screenshot, with words or without."""
    words = draw(st.sampled_from(("", "the page", texts.rows(2, 1))))
    return [Use("Screenshot", {"url": "http://localhost"}, words, picture=True)]


anything = st.one_of(looking(), big(), writes(), reads(), tests(), failures(), pictures())


class Flavour(NamedTuple):
    """What may happen in a history."""

    uses: st.SearchStrategy[list[Use]] = anything
    fates: tuple[str, ...] = ("answered",)
    """What becomes of a call: answered, lost, late, twice."""
    together: bool = False
    """Whether uses may come as parallel calls."""
    ids: str = "c{number}"
    thinks: tuple[str, ...] = ("never",)
    """When the agent thinks: never, at the first step of a turn, at every step."""
    ends: tuple[str, ...] = ("said",)
    """How the last turn ends: said, returned (results just in), pending (calls just made)."""
    system: bool = False


FATES = ("answered", "answered", "lost", "late", "twice")
FLAVOURS = {
    "plain": Flavour(looking()),
    "open": Flavour(ends=("returned", "pending"), together=True, thinks=("never", "first")),
    "parallel": Flavour(together=True),
    "thinking": Flavour(thinks=("first", "every"), ends=("said", "returned"), together=True),
    "failed": Flavour(failures() | tests()),
    "pictures": Flavour(pictures(), together=True),
    "big": Flavour(big()),
    "writes": Flavour(writes()),
    "reads": Flavour(reads()),
    "tests": Flavour(tests()),
    "system": Flavour(system=True, ends=("said", "returned")),
    "mixed": Flavour(
        together=True,
        thinks=("never", "first", "every"),
        ends=("said", "returned", "pending"),
        system=True,
    ),
    "interrupted": Flavour(fates=("answered", "lost"), ends=("said", "pending"), together=True),
    "late": Flavour(fates=("answered", "late"), together=True),
    "doubled": Flavour(fates=("answered", "twice"), together=True),
    "repeated": Flavour(ids="call_{place}", together=True, ends=("said", "returned")),
    "odd": Flavour(odd() | big()),
    "broken": Flavour(
        uses=anything | odd(),
        fates=FATES,
        together=True,
        ids="call_{place}",
        thinks=("never", "first", "every"),
        ends=("said", "returned", "pending"),
        system=True,
    ),
}
BROKEN = {
    "anthropic": {"interrupted", "late", "doubled", "repeated", "odd", "broken"},
    "openai_chat": {"interrupted", "late", "doubled", "odd", "broken"},
    "openai_responses": {"interrupted", "doubled", "odd", "broken"},
}
"""The flavours that a provider may refuse; it takes all others."""


def histories(wire: str) -> st.SearchStrategy[list[Message]]:
    """Histories of every flavour."""
    return st.one_of(*kinds(wire).values())


def well_formed(wire: str) -> st.SearchStrategy[list[Message]]:
    """Histories that the provider takes, with calls pending at the end perhaps."""
    return st.one_of(*(made for kind, made in kinds(wire).items() if kind not in BROKEN[wire]))


def kinds(wire: str) -> dict[str, st.SearchStrategy[list[Message]]]:
    """One strategy per flavour, by its name."""
    return {kind: spoken(wire, flavour) for kind, flavour in FLAVOURS.items()}


@st.composite
def spoken(draw: st.DrawFn, wire: str, flavour: Flavour) -> list[Message]:
    """A history of a flavour, in a wire."""
    turns = draw(sessions(flavour))
    manner = Manner(
        blocks=draw(st.booleans()),
        compact=draw(st.booleans()),
        system=flavour.system and draw(st.booleans()),
    )
    return speaking.SPEAK[wire](turns, manner)


@st.composite
def sessions(draw: st.DrawFn, flavour: Flavour) -> list[Turn]:
    """A history in no format yet."""
    thinks = draw(st.sampled_from(flavour.thinks))
    ends = draw(st.sampled_from(flavour.ends))
    turns: list[Turn] = []
    made = 0
    count = draw(st.integers(1, 3))
    for number in range(count):
        last = number == count - 1
        steps: list[Step] = []
        # An end in the middle of a loop needs a loop.
        least = 1 if last and ends != "said" else 0
        deeds = draw(st.lists(flavour.uses, min_size=least, max_size=2))
        apart = draw(st.sampled_from(("uses", "deeds", "none"))) if flavour.together else "uses"
        for group in grouped(deeds, apart):
            thinking = thinks == "every" or (thinks == "first" and not steps)
            steps.append(
                Step(
                    thought=f"I think of {number}.{len(steps)}." if thinking else None,
                    said=draw(st.sampled_from((None, None, "Let me look.", "한글 first."))),
                    calls=tuple(
                        called(draw, flavour, use, made + at, at) for at, use in enumerate(group)
                    ),
                )
            )
            made += len(group)
        if last and ends == "pending":
            steps[-1] = draw(hanging(steps[-1]))
        asked = draw(st.sampled_from(ASKED))
        final = None if last and ends != "said" else draw(st.sampled_from(SAID))
        thought = f"So {number}." if thinks == "every" and final else None
        turns.append(Turn(f"{asked} ({number})", tuple(steps), final, thought))
    return turns


ASKED = (
    "Fix the bug in src/app.py. Never touch the tests.",
    "Now the same for the other file, please.",
    "No, not like that: use port 8443.",
    "Why? " + "Because it must hold for every case, and it does not. " * 40,
)
SAID = (
    "Done: src/app.py now checks its input.",
    "I decided to use SQLite because it needs no server.",
    "All tests pass. Next: the documentation. " * 30,
)


def grouped(deeds: list[list[Use]], apart: str) -> list[list[Use]]:
    """Uses as steps: each its own, those that belong together as one, or all of a turn as one."""
    match apart:
        case "uses":
            return [[use] for uses in deeds for use in uses]
        case "deeds":
            return deeds
        case _:
            return [[use for uses in deeds for use in uses]] if deeds else []


def called(draw: st.DrawFn, flavour: Flavour, use: Use, number: int, place: int) -> Call:
    """A use of a tool as a call with a fate."""
    return Call(
        flavour.ids.format(number=number, place=place),
        use.tool,
        use.arguments,
        use.output,
        draw(st.sampled_from(flavour.fates)),
        use.failed,
        use.picture,
    )


@st.composite
def hanging(draw: st.DrawFn, step: Step) -> Step:
    """A step whose last calls, or all, are not answered yet."""
    answered = draw(st.integers(0, len(step.calls) - 1))
    calls = tuple(
        call if at < answered else call._replace(fate="lost") for at, call in enumerate(step.calls)
    )
    return step._replace(calls=calls)


def prefixes(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """Every request a client could have sent on the way: each ends before an assistant's answer."""
    for at in range(1, len(messages) + 1):
        answers = at == len(messages) or of_model(messages[at])
        if answers and not of_model(messages[at - 1]):
            yield list(messages[:at])


def of_model(message: object) -> bool:
    """Whether the model wrote this message or item."""
    if "type" in fields(message):
        return by_model(message) or kind_of(message) == "reasoning"
    return fields(message).get("role") == "assistant"
