from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from holdfast.core.ledger.entry import Derived, Media, ToolReturned
from holdfast.core.ledger.window import Item
from holdfast.core.measure.models import Model
from holdfast.core.observe.files.touch import Touch
from holdfast.core.observe.worth import Worth
from holdfast.core.plan.policy import LAYOUTS, Offload, Policy
from holdfast.core.plan.proposals import Proposal, is_exempt, miss_chance, offload_bound
from holdfast.core.plan.state import survey
from holdfast.project.layout import COPY_FOLDERS
from tests.core.building import (
    BOUND,
    NO_TAIL,
    PLAIN,
    Told,
    answer,
    ask,
    back,
    bash,
    call,
    items,
    lines,
    named,
    seen_on_disk,
    standing,
    state,
    thought,
    words,
)

LONG = lines(100)
END = answer("And so on.")
FILE = {"file_path": "a.py"}


def proposals(
    shown: Sequence[Item],
    *,
    notes: Sequence[Derived] = (),
    policy: Policy = NO_TAIL,
    model: Model = PLAIN,
    deep: bool = False,
    tight: bool = False,
) -> list[Proposal]:
    now = state(shown, notes=notes, policy=policy, model=model)
    return survey(now, words, deep=deep, tight=tight).proposals


def kinds(*messages: Told, model: Model = PLAIN, deep: bool = False) -> dict[int, str]:
    """What would be done, by place."""
    return {one.at: one.kind for one in proposals(items(*messages), model=model, deep=deep)}


@pytest.mark.seed("R115")
def test_an_old_result_of_the_turn_under_way_keeps_a_line() -> None:
    (one,) = proposals(items(ask("Go."), bash("a", "show it"), back("a", LONG), END))
    assert one == Proposal(
        kind="mask",
        at=2,
        entry=named(3),
        tool="Bash",
        before=200,
        guess=75,
        reason="an old result",
        touch=Touch("run", command="show it"),
        worth=Worth(since=1, age=1),
        risk=miss_chance("mask", 200, Worth(since=1)),
        tight=True,
    )


@pytest.mark.seed("R115")
def test_an_old_large_result_keeps_an_outline() -> None:
    shown = items(ask("Go."), bash("a", "show it"), back("a", lines(2_000)), END)
    (one,) = proposals(shown)
    assert (one.kind, one.tight, one.guess) == ("offload", False, 400)
    (line,) = proposals(shown, tight=True)
    assert (line.kind, line.tight, line.guess) == ("offload", True, 75)


def test_a_result_with_a_picture_keeps_an_outline_whatever_its_words() -> None:
    picture = Media("image", "image/png", "d", 9_000, 400, 400)
    pictured = ToolReturned("a", "see", media=(picture,))
    assert kinds(ask("Go."), bash("a", "show it"), pictured, END) == {2: "offload"}


@pytest.mark.seed("R119", "R136")
def test_results_of_a_turn_that_has_its_answer_are_intermediate() -> None:
    shown = items(ask("Go."), bash("a", "x"), back("a", LONG), answer("It is x."), ask("And?"), END)
    (one,) = proposals(shown)
    assert (one.kind, one.at) == ("intermediate", 2)
    assert one.reason == "the turn it belongs to has its answer"


@pytest.mark.seed("R118", "R135")
def test_a_read_that_was_read_again_is_redundant_before_it_is_anything_else() -> None:
    shown = items(
        ask("Go."),
        call("a", "Read", **FILE),
        back("a", LONG),
        call("b", "Read", **FILE),
        back("b", LONG),
        answer("It is x."),
        ask("And?"),
        END,
    )
    first, second = proposals(shown)
    assert (first.kind, first.at, first.guess) == ("read", 2, 45)
    assert first.reason == "a.py was read or written again later"
    assert (second.kind, second.at) == ("intermediate", 4)


@pytest.mark.seed("R117")
def test_output_of_a_problem_that_was_resolved_is_debug_output() -> None:
    failed, passed = back("a", f"FAILED x\n{LONG}"), back("b", "1 passed")
    shown = items(ask("Go."), bash("a", "make"), failed, bash("b", "make"), passed, END)
    (one,) = proposals(shown)
    assert (one.kind, one.at) == ("debug", 2)
    assert one.reason == "the same command went well later"


@pytest.mark.seed("R229")
@pytest.mark.parametrize(
    "failed",
    [back("a", LONG, failed=True), back("a", f"Traceback (most recent call last):\n{LONG}")],
)
def test_an_error_that_is_still_open_stays_unless_everything_legal_is_asked_for(
    failed: ToolReturned,
) -> None:
    shown = (ask("Go."), bash("a", "make"), failed, END)
    assert kinds(*shown) == {}
    assert kinds(*shown, deep=True) == {2: "mask"}


@pytest.mark.parametrize("tool", ["Skill", "ToolSearch", "context_usage", "mcp__holdfast__read"])
def test_results_of_tools_that_are_never_offloaded_stay(tool: str) -> None:
    shown = (ask("Go."), call("a", tool, name="x"), back("a", LONG), END)
    assert kinds(*shown, deep=True) == {}


def test_which_tools_are_never_offloaded_can_be_said() -> None:
    shown = items(ask("Go."), bash("a", "ls -l"), back("a", LONG), END)
    never = replace(NO_TAIL, offload=Offload(never=("Ba*",)))
    assert proposals(shown, policy=never) == []


RECOVERED = [
    bash("a", "holdfast recover 0123456789ab"),
    bash("a", "cd x && holdfast show 0123456789ab"),
    call("a", "Read", file_path="/p/.holdfast/cache/offloaded/20260129_142530_bash-01.md"),
    bash("a", "grep -n total .holdfast/cache/intermediate/x.md"),
]


@pytest.mark.seed("R044")
@pytest.mark.parametrize("how", RECOVERED)
def test_what_the_agent_brought_back_stays(how: Told) -> None:
    assert kinds(ask("Go."), how, back("a", LONG), END, deep=True) == {}


@pytest.mark.seed("R044")
@pytest.mark.parametrize("folder", COPY_FOLDERS.values())
@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_was_read_from_a_copy_stays_in_every_layout(layout: str, folder: str) -> None:
    path = f"/project/{LAYOUTS[layout]}/{folder}/20260129_142530_bash-0123abcd.md"
    shown = (ask("Go."), call("a", "Read", file_path=path), back("a", LONG), END)
    assert kinds(*shown, deep=True) == {}


def test_a_stand_in_that_a_client_sent_back_stays() -> None:
    sent = back("a", "[holdfast 0123456789ab] Bash result out of sight: " + LONG)
    assert kinds(ask("Go."), bash("a", "ls"), sent, END, deep=True) == {}
    assert is_exempt("Bash", bash("a", "ls"), sent, ())


def test_a_stand_in_of_ours_stays() -> None:
    shown = items(ask("Go."), bash("a", "ls"), back("a", LONG), END)
    shown[2] = standing(shown[2], back("a", LONG))
    assert proposals(shown, deep=True) == []


@pytest.mark.seed("R052", "R053", "R059", "R224")
def test_the_text_of_an_old_write_leaves_only_if_it_was_seen_on_disk() -> None:
    wrote = call("a", "Write", file_path="a.py", content=lines(500))
    shown = items(ask("Go."), wrote, back("a", "ok"), END)
    assert proposals(shown) == []
    (one,) = proposals(shown, notes=[seen_on_disk(2)])
    assert (one.kind, one.at, one.persisted, one.guess) == ("truncate", 1, "5eed", 90)
    assert one.reason == "an old input whose content is on disk"
    (forced,) = proposals(shown, deep=True)
    assert (forced.kind, forced.persisted) == ("truncate", "")
    assert forced.reason == "an old, large input"


@pytest.mark.seed("R053")
def test_only_large_writes_and_edits_are_truncated() -> None:
    edit = call("b", "Edit", file_path="a.py", old_string="x", new_string=lines(500))
    shown = (
        ask("Go."),
        call("a", "Write", file_path="a.py", content=lines(100)),
        back("a", "ok"),
        edit,
        back("b", "ok"),
        call("c", "Grep", pattern=lines(500)),
        back("c", "ok"),
        END,
    )
    assert kinds(*shown, deep=True) == {3: "truncate"}


def test_old_thinking_leaves_whole() -> None:
    shown = items(ask("Go."), (thought("one two three"), bash("a", "ls")), back("a", "x"), END)
    (one,) = proposals(shown)
    assert (one.kind, one.at, one.before, one.guess) == ("thinking", 1, 3, 0)
    assert one.reason == "old thinking, kept in the ledger"


def test_sealed_thinking_leaves_only_once_its_turn_is_over() -> None:
    turn = (ask("Go."), (thought("one two three", "S"), bash("a", "ls")), back("a", "x"))
    assert kinds(*turn, END) == {}
    assert kinds(*turn, END, deep=True) == {}
    assert kinds(*turn, answer("Done."), ask("And?"), END) == {1: "thinking"}


def test_sealed_thinking_stays_where_the_user_spoke_among_the_results_of_its_loop() -> None:
    step = (thought("one two three", "S"), bash("a", "ls"))
    spoken = (ask("Hurry."), back("a", "x"))
    more = (bash("b", "ls"), back("b", "x"))
    assert "thinking" not in kinds(ask("Go."), step, spoken, *more).values()
    assert "thinking" in kinds(ask("Go."), step, back("a", "x"), ask("Hurry."), *more).values()


def test_thinking_that_is_all_of_its_message_stays() -> None:
    turn = (ask("Go."), (thought("one two three"), thought("four")), ask("And?"), END)
    assert kinds(*turn) == {}


def test_thinking_whose_message_came_in_pieces_leaves_without_them() -> None:
    shown = items(ask("Go."), thought("one two three"), bash("a", "ls"), back("a", "x"), END)
    parts = [Item(replace(item.entry, group="msg_1")) if 0 < at < 3 else item
             for at, item in enumerate(shown)]  # fmt: skip
    assert proposals(shown) == []
    assert [(one.kind, one.at) for one in proposals(parts)] == [("thinking", 1)]


def test_what_is_bound_to_thinking_stays() -> None:
    shown = (
        ask("Go."),
        bash("a", "ls"),
        back("a", LONG),
        answer("Done."),
        ask("And?"),
        (thought("hm", "S"), bash("b", "ls")),
        back("b", LONG),
        END,
    )
    assert kinds(*shown, model=BOUND) == {7: "mask"}
    assert kinds(*shown) == {2: "intermediate", 7: "mask"}


def test_what_is_recent_stays() -> None:
    steps = [m for name in "abcde" for m in (bash(name, f"show {name}"), back(name, LONG))]
    shown = items(ask("Go."), *steps)
    three = replace(NO_TAIL, tail=Policy().tail)
    assert [one.at for one in proposals(shown, policy=three)] == [2, 4]
    assert [one.at for one in proposals(shown, policy=three, deep=True)] == [2, 4, 6, 8]


def test_a_result_too_small_for_a_line_stays() -> None:
    assert kinds(ask("Go."), bash("a", "ls"), back("a", "x y"), END) == {}


@pytest.mark.seed("R011")
def test_what_was_used_lately_is_missed_sooner_and_more_of_it_sooner_still() -> None:
    fresh, older, oldest = (miss_chance("mask", 1_000, Worth(since=since)) for since in (3, 4, 13))
    assert 1 > miss_chance("mask", 5_000, Worth()) > fresh > older > oldest > 0
    assert miss_chance("mask", 0, Worth()) == 0
    assert miss_chance("read", 1_000, Worth()) < miss_chance("offload", 1_000, Worth()) < fresh


@pytest.mark.parametrize(
    ("tool", "bound"), [("Bash", 8_000), ("WebFetch", 3_000), ("Read", 15_000), ("Odd", 15_000)]
)
def test_a_tool_may_have_a_bound_of_its_own(tool: str, bound: int) -> None:
    rules = Offload(tools=("Bash=8000", "Web*=3000", "Odd=many", "Bash=1"))
    assert offload_bound(tool, rules) == bound


@pytest.mark.parametrize(
    ("limit", "share", "bound"),
    [
        pytest.param(184_000, 12, 15_000, id="a large window"),
        pytest.param(48_000, 12, 5_760, id="a small one"),
        pytest.param(4_000, 12, 2_000, id="never below what an outline is made for"),
        pytest.param(48_000, 0, 15_000, id="by tokens alone"),
        pytest.param(0, 12, 15_000, id="a window that is not known"),
    ],
)
def test_a_result_is_large_for_the_window_it_stands_in(limit: int, share: int, bound: int) -> None:
    rules = Offload(share=share)
    assert offload_bound("Bash", rules, limit) == bound
    assert offload_bound("Read", rules, limit, reading=True) == rules.above
    assert offload_bound("Bash", Offload(share=share, tools=("Bash=9000",)), limit) == 9_000
