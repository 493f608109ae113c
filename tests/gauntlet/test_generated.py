"""The part of the gauntlet in every test run: generated sessions, and laws over their texts."""

import re
import tempfile
from importlib import import_module
from pathlib import Path
from random import Random
from types import FunctionType

import pytest
from hypothesis import HealthCheck, given, settings

from holdfast import seeds
from holdfast.core.ledger.entry import ToolReturned
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.files.shell import ShellState, acts_of_script
from holdfast.core.plan.policy import Policy
from holdfast.core.shrink.offload import OriginalLocation, offload
from holdfast.models.tokenizers import counter
from holdfast.session.session import Session
from holdfast.surfaces.mcp.tools import TOOLS
from holdfast.text.jsontext import without_surrogates
from tests.gauntlet import commands, fuzz, hooking, library, sessions, strategies, texts, tools
from tests.gauntlet.corpus import own
from tests.gauntlet.damage import DAMAGES, damaged
from tests.gauntlet.findings import Findings, Run, Variant
from tests.gauntlet.running import Choice, alone, put_through, variants_of
from tests.gauntlet.strict import strictly

SEED = 7
PARTS = 7
"""Tests that the generated sessions are spread over."""
EACH = 4
"""Generated sessions of each of them."""
COUNT: CountTokens = counter("o200k_base")
SOME = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
)


@pytest.mark.parametrize("part", range(PARTS))
def test_generated_sessions_pass_every_operation(part: int) -> None:
    findings = Findings()
    choice = Choice(cuts=1, mutations=1, commands=4)
    choice.doctor = False
    with alone():
        for sample in own(SEED, PARTS * EACH, most=5)[part::PARTS]:
            for variant in variants_of(sample, SEED, choice):
                put_through(sample, variant, findings, choice)
    assert findings.found == [], f"{findings.table()}\n{findings.listed()}"


def test_every_damage_is_done_to_generated_sessions_and_none_raises() -> None:
    findings = Findings()
    choice = Choice(only="messages")
    with alone():
        for at, name in enumerate(sorted(DAMAGES)):
            sample = own(SEED + 1, len(DAMAGES), most=3)[at]
            put_through(sample, Variant(sample.name, 0, name, at), findings, choice)
    assert findings.found == [], f"{findings.table()}\n{findings.listed()}"


def test_pure_functions_take_any_text() -> None:
    calls, raised = fuzz.fuzzed(SEED, rounds=8)
    assert len(calls) > 330
    assert raised == {}


@pytest.mark.parametrize("name", fuzz.SKIPPED)
def test_a_function_that_is_not_tried_exists(name: str) -> None:
    module, _, function = name.rpartition(".")
    assert hasattr(import_module(module), function)


@SOME
@given(strategies.shell_scripts)
def test_what_a_script_does_to_files_is_read_from_any_script(script: str) -> None:
    with strictly():
        acts_of_script(script, ShellState())
        acts_of_script(script, ShellState(output=script, failed=True))


@SOME
@given(strategies.outputs)
def test_any_output_has_a_stand_in_that_names_it(output: str) -> None:
    source = OriginalLocation("0" * 12, "offloaded/x.md")
    body = ToolReturned("c", str(without_surrogates(output)))
    with strictly():
        made = offload(body, tool="Bash", location=source, rules=Policy().offload, count=COUNT)
    assert "0" * 12 in made.output


@settings(SOME, max_examples=25)
@given(strategies.documents)
def test_any_session_is_read_sent_and_summed_up(document: bytes) -> None:
    findings = Findings()
    with strictly(), tempfile.TemporaryDirectory() as folder:
        path, root = Path(folder, "session.jsonl"), Path(folder, "project")
        path.write_bytes(document)
        root.mkdir()
        run = Run(Variant("drawn"), findings)
        scene = library.opened(run, path, root, document, Random(0))
        if scene is not None:
            library.exercise(scene, library.ALWAYS)
    assert [one for one in findings.found if one.operation != "ingest"] == []


def test_every_public_method_of_a_session_is_exercised() -> None:
    findings = Findings()
    random = Random(SEED)
    document = sessions.document("openai_chat", sessions.turns(random))
    with alone() as home:
        path, root = home / "session.jsonl", home / "project"
        path.write_bytes(document)
        root.mkdir()
        scene = library.opened(Run(Variant("x"), findings), path, root, document, random)
        assert scene is not None
        library.exercise(scene)
    public = {name for name in dir(Session) if not name.startswith("_")}
    assert public - set(findings.operations) == set()


def test_every_function_that_the_protocols_name_is_exercised() -> None:
    homes = {"holdfast.seeds", "holdfast.seeds.alignment", "holdfast.seeds.packet"}
    public = {
        name
        for name, made in vars(seeds).items()
        if isinstance(made, FunctionType) and not name.startswith("_") and made.__module__ in homes
    }
    source = Path(library.__file__).read_text()
    assert {name for name in public if name not in source} == set()


def test_every_command_is_exercised() -> None:
    assert set(commands.leaves()) - set(commands.COMMANDS) == set()
    empty = {name for name, words in commands.COMMANDS.items() if not words(_place())}
    assert empty == set(commands.APART)


def _place() -> commands.Place:
    return commands.Place(Path("root"), Path("file.jsonl"), "session", "0" * 12, Random(0))


def test_every_tool_and_every_argument_of_it_is_exercised() -> None:
    frames = tools.frames_of(Random(0), "session", "0" * 12)
    called = [frame["params"] for frame in frames if frame["method"] == "tools/call"]
    given = {(one["name"], name) for one in called for name in one["arguments"]}
    wanted = {(tool.name, one.name) for tool in TOOLS for one in tool.arguments}
    assert wanted - given == set()
    assert {tool.name for tool in TOOLS} == {one["name"] for one in called}


def test_every_event_of_every_host_is_told_of_with_a_document() -> None:
    for agent in hooking.HOSTS:
        events = hooking.events_of(agent)
        assert len(events) > 5
        speaks = hooking.host(agent)
        for event in events:
            seen = {
                speaks.read(event, _told(agent, event, seed), {"HOME": "/nowhere"}) is not None
                for seed in range(20)
            }
            assert True in seen


def _told(agent: str, event: str, seed: int) -> dict[str, object]:
    here = Path("/nowhere")
    return hooking.document_of(
        agent, event, root=here, transcript=here / "t.jsonl", session="s", random=Random(seed)
    )


def drawn(kind: str, many: int = 4_000) -> list[str]:
    """Texts of a kind, from fixed seeds."""
    return [texts.KINDS[kind](Random(seed)) for seed in range(many)]


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        ("shell", r"\| ?(head|tail)\Z"),
        ("shell", r"\A(grep|rg|sed)( -\S*)? -( |\Z)"),
        ("shell", r"\Aperl -pi -es/a/b/ "),
        ("edited", r"\A[^\w\s]{60}\Z"),
        ("edited", r"\A[^\w\s]{60,} \w"),
        ("prose", r"[一-龥]"),
        ("prose", r"[ء-ي]"),
        ("prose", r"[ぁ-ん]"),
        ("shell", r"[A-Z]:\\"),
        ("shell", r"<<"),
        ("output", "\ud800|\udfff"),
        ("output", "\u202e"),
        ("output", "\x00"),
    ],
)
def test_the_generator_makes_what_sessions_have_and_readers_do_not_expect(
    kind: str, shape: str
) -> None:
    assert any(re.search(shape, text) for text in drawn(kind))


def test_the_generator_makes_searches_with_more_than_twenty_files_of_one_name() -> None:
    found = (set(re.findall(r"src/p\d+/__init__\.py", text)) for text in drawn("searched"))
    assert max(map(len, found)) > 20


def test_a_damage_does_the_same_for_the_same_seed_and_something_to_every_document() -> None:
    document = sessions.document("claude_code", sessions.turns(Random(3)))
    for name in DAMAGES:
        made = [damaged(document, name, seed) for seed in range(4)]
        assert made == [damaged(document, name, seed) for seed in range(4)]
        assert any(one != document for one in made)
