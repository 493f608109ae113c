import json

import pytest

from holdfast.core.ledger.entry import Step, ToolCalled, ToolReturned
from holdfast.core.ledger.window import Item
from holdfast.core.observe.files.touch import Touch, touch_of
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.proposals import Proposal
from holdfast.core.shrink.step import ShrinkContext, no_address, ref_of, shrink
from tests.core.building import Told, back, bash, call, items, lines, named, thought, words

LONG = lines(100)
MEANS = ShrinkContext(words, no_address, Policy())
FILED = ShrinkContext(words, lambda one, item: f"cache/{one.kind}-{item.entry.id[:4]}.md", Policy())
REF = named(2)[:12]


def proposal(kind: str, *messages: Told, before: int = 200) -> tuple[Proposal, Item]:
    shown = items(*messages)
    asked = shown[0].body
    assert isinstance(asked, ToolCalled)
    one = Proposal(
        kind, 1, shown[1].entry.id, asked.tool, before, 10, "why", touch_of(asked), tight=True
    )
    return one, shown[1]


def test_a_reference_is_the_beginning_of_a_name() -> None:
    assert ref_of("0123456789abcdef") == "0123456789ab"


@pytest.mark.seed("R118", "R135")
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (call("a", "Read", file_path="a.py"), "a.py read; read or written again later"),
        (
            call("a", "Read", file_path="a.py", offset=5, limit=10),
            "a.py lines 5–14 read; read or written again later",
        ),
        (bash("a", "sed -n 3,9p a.py"), "a.py lines 3–9 read; read or written again later"),
    ],
)
def test_a_redundant_read_keeps_its_path_and_lines(asked: Told, told: str) -> None:
    one, item = proposal("read", asked, back("a", LONG))
    text = f"[holdfast {REF}] {told}"
    assert shrink(one, item, MEANS) == Step(
        hides=(named(2),),
        reason="why",
        stand_in=back("a", text),
        tier=2,
        before=200,
        after=words(text),
        kind="read",
    )


@pytest.mark.seed("R117")
def test_resolved_debug_output_keeps_a_brief_status() -> None:
    failed = back("a", f"FAILED tests/test_a.py::test_x\n{LONG}\n1 failed in 0.2s", failed=True)
    one, item = proposal("debug", bash("a", "pytest"), failed)
    made = shrink(one, item, MEANS)
    assert made is not None and isinstance(made.stand_in, ToolReturned)
    text = made.stand_in.output
    assert made.stand_in == back("a", text, failed=True)
    assert text.startswith(f"[holdfast {REF}] ")
    assert text.endswith("; resolved: the same command went well later")
    assert "\n" not in text


def test_thinking_leaves_nothing_in_its_place() -> None:
    (item,) = items(thought("one two three"))
    one = Proposal("thinking", 0, item.entry.id, "", 3, 0, "old")
    assert shrink(one, item, MEANS) == Step(
        hides=(named(1),), reason="old", tier=2, before=3, kind="thinking"
    )


@pytest.mark.seed("R119", "R136")
@pytest.mark.parametrize(
    ("kind", "tier", "file"),
    [
        ("offload", 1, "cache/offload-0000.md"),
        ("intermediate", 2, "cache/intermediate-0000.md"),
        ("mask", 1, ""),
        ("read", 2, ""),
        ("debug", 2, ""),
    ],
)
def test_offloads_and_intermediate_outputs_have_a_readable_copy(
    kind: str, tier: int, file: str
) -> None:
    one, item = proposal(kind, bash("a", "show"), back("a", LONG))
    made = shrink(one, item, FILED)
    assert made is not None
    assert (made.kind, made.tier, made.file) == (kind, tier, file)


def test_what_would_not_be_smaller_is_not_made() -> None:
    one, item = proposal("mask", bash("a", "show"), back("a", "x y z"), before=3)
    assert shrink(one, item, MEANS) is None


def test_a_large_input_is_replaced_by_a_reference_and_a_small_one_is_not() -> None:
    (large,) = items(call("a", "Write", file_path="x", content=lines(500)))
    one = Proposal(
        "truncate", 0, named(1), "Write", 503, 90, "old", touch_of_item(large), persisted="5eed"
    )
    made = shrink(one, large, MEANS)
    assert made is not None and isinstance(made.stand_in, ToolCalled)
    assert list(json.loads(made.stand_in.arguments)) == ["file_path", "content"]
    assert (made.tier, made.kind, made.file) == (2, "truncate", "")
    (small,) = items(call("a", "Write", file_path="x", content=LONG))
    assert shrink(one, small, MEANS) is None


def touch_of_item(item: Item) -> Touch:
    assert isinstance(item.body, ToolCalled)
    return touch_of(item.body)
