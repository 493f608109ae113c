import pytest

from holdfast.core.ledger.summary import Fact
from holdfast.core.observe.scene import read_scene
from holdfast.core.shrink.summary.facts import (
    FactLine,
    call_lines,
    fact_line,
    label_of,
    lines_of,
    pick_lines,
)
from tests.core.building import (
    answer,
    ask,
    back,
    bash,
    call,
    items,
    named,
    scene,
    standing,
    thought,
    words,
)


def even(name: str) -> float:
    """A weight that prefers nothing."""
    del name
    return 1.0


LOG = "nothing here\nrelease DEPLOY-417-22 is live\nport 8443 open on db-main-03"


@pytest.mark.seed("R072")
def test_every_line_that_holds_a_value_could_be_kept_with_where_it_stands() -> None:
    shown = scene(ask("Go."), bash("a", "deploy --now"), back("a", LOG))
    told = [one.fact for one in lines_of(shown, words) if one.fact.entry == named(3)]
    assert told == [
        Fact("release DEPLOY-417-22 is live", named(3), "Bash deploy --now", 2),
        Fact("port 8443 open on db-main-03", named(3), "Bash deploy --now", 3),
    ]


def test_lines_know_who_brought_them() -> None:
    shown = scene(
        ask("Use port_a."),
        thought("maybe port_b"),
        answer("I take port_c."),
        bash("a", "run port_d"),
    )
    assert {one.fact.source for one in lines_of(shown, words)} == {"user", "thinking", "agent", ""}


def test_what_stands_in_for_something_is_no_fact() -> None:
    shown = items(bash("a", "show"), back("a", LOG))
    hidden = standing(shown[1], back("a", "[holdfast 000000000002] 20 tokens of db-main-03"))
    told = lines_of(read_scene([shown[0], hidden]), words)
    assert [one.fact.text for one in told if one.fact.entry == named(2)] == []


def pool(*texts: str) -> list[FactLine]:
    return [fact_line(Fact(text, named(at), "log", at), words) for at, text in enumerate(texts, 1)]


@pytest.mark.parametrize("room", [0, 5, 12, 20, 40, 1_000])
def test_what_is_picked_fits_and_stands_in_its_order(room: int) -> None:
    facts = pool("id_a one", "id_b two words", "id_a again", "id_c three more words", "id_d")
    made = pick_lines(facts, room, weigh=even, count=words)
    assert sum(words(fact.text) + 2 for fact in made) <= room
    assert [fact.line for fact in made] == sorted(fact.line for fact in made)
    assert bool(made) == (room >= 12)


def test_a_name_that_is_in_sight_already_is_worth_nothing() -> None:
    facts = pool("the id_a", "the id_b")
    made = pick_lines(facts, 100, weigh=even, count=words, covered={"id_a"})
    assert [fact.text for fact in made] == ["the id_b"]


def test_the_likelier_name_is_picked_where_there_is_room_for_one() -> None:
    facts = pool("the id_a", "the id_b")
    weights = {"id_a": 0.1, "id_b": 0.9}
    (made,) = pick_lines(facts, 12, weigh=lambda name: weights.get(name, 0.0), count=words)
    assert made.text == "the id_b"


def test_a_call_is_told_in_lines_and_labelled_in_few_words() -> None:
    wrote = call("a", "Write", file_path="src/deep/a.py", content="x = 1\ny = 2")
    assert list(call_lines(wrote)) == ["Write src/deep/a.py", "x = 1", "y = 2"]
    assert label_of(wrote) == "Write a.py"
    assert len(label_of(bash("b", "word " * 90))) <= 80


def test_how_a_tool_is_run_is_not_what_it_was_asked_for() -> None:
    made = call(
        "a",
        "exec_command",
        cmd="make test_pay",
        workdir="/src/pay_app",
        yield_time_ms=1000,
        max_output_tokens=16000,
        session_id=7741,
    )
    assert list(call_lines(made)) == [
        "exec_command make test_pay session_id=7741",
        "workdir=/src/pay_app",
    ]


@pytest.mark.parametrize(
    ("tool", "asked"),
    [
        ("update_customer", {"id": "C-17", "credit_limit": 25_000}),
        ("set_config", {"max_connections": 500, "statement_timeout_ms": 3_000}),
        ("create_user", {"login": "svc-deploy-02", "file_permissions": "0640"}),
    ],
)
def test_what_a_tool_was_asked_for_is_told_whatever_it_is_called(
    tool: str, asked: dict[str, object]
) -> None:
    told = " ".join(f"{key}={value}" for key, value in asked.items())
    assert list(call_lines(call("a", tool, **asked))) == [f"{tool} {told}"]


def test_what_a_shell_tool_says_of_its_own_running_is_no_fact() -> None:
    frame = (
        "Chunk ID: 98d7f1\nWall time: 0.0817 seconds\nProcess running with session ID 7741\n"
        "Original token count: 5801\nOutput:\n"
    )
    shown = scene(ask("Go."), bash("a", "deploy"), back("a", f"{frame}{LOG}\nChunk ID: 4417"))
    told = [one.fact.text for one in lines_of(shown, words) if one.fact.entry == named(3)]
    assert told == [
        "Process running with session ID 7741",
        "release DEPLOY-417-22 is live",
        "port 8443 open on db-main-03",
        "Chunk ID: 4417",
    ]


def test_what_a_program_says_of_its_own_time_is_a_fact() -> None:
    timed = "Wall time: 41.70 seconds, build BLD-77"
    shown = scene(ask("Go."), bash("a", "bench"), back("a", timed))
    assert [one.fact.text for one in lines_of(shown, words)][-1] == timed


def test_a_long_line_is_cut_between_words() -> None:
    shown = scene(bash("a", "show"), back("a", " ".join(f"id_{n}" for n in range(200))))
    told = [one.fact.text for one in lines_of(shown, words) if one.fact.entry == named(2)]
    assert max(map(len, told)) <= 160
    assert " ".join(told).split() == [f"id_{n}" for n in range(200)]


def test_lines_of_an_edit_say_whether_they_were_taken_out_or_put_in() -> None:
    edit = call(
        "e",
        "Edit",
        file_path="/app/src/server.py",
        old_string="port = 8080\nhost = 'db-old-01'",
        new_string="port = 8443\nhost = 'db-main-03'",
    )
    told = {one.fact.text: one.fact.source for one in lines_of(scene(ask("Go."), edit), words)}
    assert told["host = 'db-old-01'"] == "Edit server.py: taken out"
    assert told["host = 'db-main-03'"] == "Edit server.py: put in"
    assert told["Edit /app/src/server.py"] == ""


def test_lines_that_a_file_no_longer_has_are_no_facts() -> None:
    shown = scene(
        ask("Go"),
        call("a", "Read", file_path="a.py"),
        back("a", "  1→limit_a = 10\n  2→limit_b = 20"),
        call("b", "Edit", file_path="a.py", old_string="limit_a = 10", new_string="limit_a = 11"),
        back("b", "ok"),
        call("c", "Edit", file_path="a.py", old_string="limit_b = 20", new_string="limit_b = 21"),
        back("c", "String to replace not found: limit_b = 20", failed=True),
        call("d", "Read", file_path="a.py"),
        back("d", "  1→limit_a = 11\n  2→limit_b = 20"),
    )
    read = [
        (one.fact.entry, one.fact.text) for one in lines_of(shown, words) if "→" in one.fact.text
    ]
    assert read == [
        (named(3), "2→limit_b = 20"),
        (named(9), "1→limit_a = 11"),
        (named(9), "2→limit_b = 20"),
    ]
    assert not any(one.fact.entry == named(7) for one in lines_of(shown, words))


def test_the_number_of_an_empty_line_is_no_fact() -> None:
    listing = "  101→def close_month():\n  102→    }\n  103→=======\n  104→    run_2024()"
    shown = scene(ask("Go."), bash("a", "cat -n x"), back("a", listing))
    told = [one.fact.text for one in lines_of(shown, words) if one.fact.entry == named(3)]
    assert told == ["101→def close_month():", "104→ run_2024()"]


@pytest.mark.parametrize("told", ["319→ continue", "12: }", "</system-reminder>", "7→<tool-use>"])
def test_a_line_that_tells_only_its_number_or_a_tag_is_no_fact(told: str) -> None:
    shown = scene(ask("Go."), bash("a", "cat x"), back("a", f"{told}\n320→ call retry_export"))
    kept = [one.fact.text for one in lines_of(shown, words) if one.fact.entry == named(3)]
    assert kept == ["320→ call retry_export"]


def test_what_the_agent_says_of_a_name_comes_before_a_line_that_only_has_it() -> None:
    bare = fact_line(Fact("retry_export limit_rows", named(1), "log", 1), words)
    said = fact_line(Fact("retry_export gave up at limit_rows", named(2), "agent", 1), words)
    (made,) = pick_lines([bare, said], 15, weigh=even, count=words)
    assert made.source == "agent"


def test_a_line_that_was_asked_for_stands_once_although_it_was_seen_twice() -> None:
    facts = pool("the id_a", "the id_a", "the id_b")
    made = pick_lines(facts, 100, weigh=even, count=words, first=frozenset({"the id_a"}))
    assert [fact.text for fact in made] == ["the id_a", "the id_b"]
