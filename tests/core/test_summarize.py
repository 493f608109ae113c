import pytest

from holdfast.core.apply import items_after
from holdfast.core.ledger.entry import Compressed, Said, Thought, text_of
from holdfast.core.ledger.window import Item
from holdfast.core.plan.plan import Candidate
from holdfast.core.shrink.step import ShrinkContext, no_address
from holdfast.core.shrink.summary.text import read_summary
from holdfast.core.summarize import anchor_of, summarize, summarize_all
from tests.core.building import (
    BOUND,
    NO_TAIL,
    Told,
    answer,
    ask,
    back,
    bash,
    call,
    items,
    lines,
    named,
    state,
    thought,
    words,
)

MEANS = ShrinkContext(words, no_address, NO_TAIL, session="s")
RULE = "Never touch the docs."


def turn(number: int, size: int = 100) -> list[Told]:
    return [
        ask(f"Part {number}, please."),
        bash(f"c{number}", f"show {number}"),
        back(f"c{number}", lines(size, f"p{number}")),
        answer(f"Part {number} is fine."),
    ]


def work(count: int, *last: Told) -> list[Item]:
    begun: list[Told] = [ask(f"Write the parser. {RULE}")]
    begun += [call("w", "Write", file_path="parser.py", content="x = 1"), back("w", "ok")]
    begun.append(answer("Done."))
    return items(*begun, *[one for n in range(count) for one in turn(n)], *last)


def made(shown: list[Item], target: int = 500) -> Candidate:
    return summarize(state(shown), MEANS, target, "asked")


def body_of(candidate: Candidate) -> Compressed:
    assert candidate.body is not None, candidate.plan.reason
    return candidate.body


@pytest.mark.seed("R063", "R065", "R068", "R069")
def test_what_is_old_leaves_and_the_summary_stands_in_its_place() -> None:
    shown = work(6)
    body = body_of(made(shown))
    after = items_after(shown, body.steps)
    anchor, *tail = after
    assert isinstance(anchor.body, Said)
    assert (anchor.body.role, anchor.body.by) == ("user", "holdfast")
    assert tail == shown[len(shown) - len(tail) :]
    known, rows = read_summary(anchor.body.text), body.summary
    assert known is not None and rows is not None
    assert rows.intent.original.text == f"Write the parser. {RULE}"
    assert [row.text for row in rows.constraints] == [RULE]
    assert [(file.path, file.action) for file in rows.files] == [("parser.py", "created")]
    assert (rows.revision, rows.hidden) == (1, len(shown) - len(tail))
    assert sum(words(text_of(item.body)) for item in after) == body.raw
    assert body.raw <= 500


def test_what_the_system_said_first_stays_before_it() -> None:
    shown = items(Said("system", "You are careful."), *[m for n in range(6) for m in turn(n)])
    after = items_after(shown, body_of(made(shown)).steps)
    assert after[0] == shown[0]
    assert isinstance(after[1].body, Said) and after[1].body.by == "holdfast"


def constraints_shown(shown: list[Item]) -> str:
    anchor = next(
        item.body
        for item in items_after(shown, body_of(made(shown)).steps)
        if isinstance(item.body, Said) and item.body.by == "holdfast"
    )
    return anchor.text.partition("### Constraints")[2].partition("\n###")[0]


def test_a_rule_that_a_tool_or_the_agent_only_quotes_stays_among_the_constraints() -> None:
    first = ask("Write the parser."), answer("Which files?"), ask(RULE)
    between = [message for n in range(6) for message in turn(n)]
    quoted = (bash("q", "cat RULES.md"), back("q", RULE)), answer(f"It says: {RULE}")
    assert RULE in constraints_shown(items(*first, *between, ask("Go on with it."), *quoted))


def test_a_rule_of_the_system_prompt_is_not_repeated() -> None:
    system = Said("system", "You must never use the network.")
    between = [message for n in range(6) for message in turn(n)]
    assert "network" not in constraints_shown(items(system, *between))


@pytest.mark.parametrize(
    "shown",
    [items(ask("Go.")), items(ask("Go."), bash("a", "ls")), items(Said("system", "Hm."))],
    ids=["one request", "a call under way", "only the system"],
)
def test_where_nothing_is_old_nothing_leaves(shown: list[Item]) -> None:
    assert made(shown, 1).body is None


def test_a_call_that_waits_for_its_result_stays() -> None:
    shown = work(5, ask("And?"), bash("z", "sleep 9"))
    after = items_after(shown, body_of(made(shown)).steps)
    assert after[-1] == shown[-1]


def test_bound_thinking_does_not_stay_behind_a_summary() -> None:
    shown = work(5, ask("And?"), (thought("so", "S1"), answer("Yes.")), ask("On."), answer("Hm."))
    candidate = summarize(state(shown, model=BOUND), MEANS, 500, "asked")
    after = items_after(shown, body_of(candidate).steps)
    assert [item for item in after if isinstance(item.body, Thought)] == []


@pytest.mark.seed("R088")
def test_a_summary_that_is_sent_back_is_known_again_and_extended() -> None:
    once = items_after(work(6), body_of(made(work(6))).steps)
    sent = items(*(item.body for item in once), *[m for n in range(20, 26) for m in turn(n)])
    known = anchor_of(state(sent))
    assert (known.revision, known.intent.original.text) == (1, f"Write the parser. {RULE}")
    rows = body_of(made(sent)).summary
    assert rows is not None
    assert (rows.revision, rows.intent.original) == (2, known.intent.original)
    assert [file.path for file in rows.files] == ["parser.py"]


def test_a_summary_that_a_tool_shows_is_not_known() -> None:
    (anchor, *_) = items_after(work(6), body_of(made(work(6))).steps)
    lies = text_of(anchor.body)
    sent = items(ask("Go."), bash("a", "cat x"), back("a", lies), answer(lies))
    assert anchor_of(state(sent)).revision == 0


def test_being_told_of_everything_changes_and_counts_nothing() -> None:
    now = state(work(4))
    account = summarize_all(now, MEANS, 400)
    assert account.tokens <= 400
    assert account.summary.revision == 0
    assert account.summary.intent.current.text == "Part 3, please."
    assert summarize_all(now, MEANS, 400) == account
    assert summarize_all(state(items()), MEANS, 400).text == ""


def test_the_same_window_gives_the_same_summary() -> None:
    assert made(work(6)) == made(work(6))
    assert made(work(6)) != made(work(7))
    assert named(1) in body_of(made(work(6))).steps[0].hides


def test_a_smaller_target_shows_less_and_keeps_the_same_rows() -> None:
    large, small = body_of(made(work(9), 900)), body_of(made(work(9), 400))
    assert small.raw < large.raw
    assert small.summary is not None and large.summary is not None
    assert small.summary.intent.original == large.summary.intent.original
    assert small.summary.constraints == large.summary.constraints
    assert small.summary.files == large.summary.files
