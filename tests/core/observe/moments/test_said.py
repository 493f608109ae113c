from holdfast.core.observe.moments.read import moments_in
from tests.core.building import answer, ask, bash, scene, thought
from tests.core.observe.moments.reading import texts, weights


def test_each_sentence_is_a_moment() -> None:
    said = answer("The parser drops empty rows. The fix is in rows.py.")
    assert texts(said) == ["The parser drops empty rows.", "The fix is in rows.py."]


def test_short_items_of_a_list_are_one_moment_with_the_line_above_them() -> None:
    said = answer("Two files need a change:\n\n- `rows.py`\n- `plan.py`\n\nThe rest can stay.")
    assert texts(said) == [
        "Two files need a change: `rows.py` · `plan.py`",
        "The rest can stay.",
    ]


def test_long_items_of_a_list_are_moments_of_their_own() -> None:
    items = [f"Case {n} fails because the parser drops the date of " + "row " * 20 for n in (1, 2)]
    said = answer("\n".join(f"- {item}" for item in items))
    assert texts(said) == [item.strip() for item in items]


def test_an_announcement_of_a_lookup_is_not_a_moment() -> None:
    assert texts(answer("Let me look at the parser.")) == []


def test_an_announcement_of_a_change_weighs_little() -> None:
    found = weights(answer("I'll rewrite the parser. The parser drops rows."))
    assert found["I'll rewrite the parser."] < found["The parser drops rows."] / 2


def test_a_title_that_a_model_gives_its_reasoning_is_not_a_moment() -> None:
    assert texts(thought("**Inspecting the parser**\n\nThe date is lost in rows.py.")) == [
        "The date is lost in rows.py."
    ]


def test_reasoning_that_repeats_the_request_is_not_a_moment() -> None:
    assert texts(thought("The user wants a faster parser.")) == []


def test_doubts_weigh_less_than_statements() -> None:
    found = weights(answer("Maybe the date is naive. The date is naive."), bash("a", "ls"))
    assert found["Maybe the date is naive."] < found["The date is naive."]


def test_the_text_that_ends_a_turn_weighs_more() -> None:
    text = "The parser drops empty rows."
    middle = weights(ask("Go"), answer(text), bash("a", "ls"))
    last = weights(ask("Go"), answer(text))
    assert last[text] > middle[text]


def test_the_label_before_a_thought_is_left_out() -> None:
    assert texts(answer("THOUGHT: The date is naive.")) == ["The date is naive."]


def test_a_sentence_of_a_long_text_before_a_call_weighs_less() -> None:
    steps = " ".join(f"Step {n} of the parser drops the row {n}." for n in range(20))
    short = weights(answer("The date is naive."), bash("a", "ls"))
    long = weights(answer(f"The date is naive. {steps}"), bash("a", "ls"))
    assert long["The date is naive."] < short["The date is naive."]


def test_a_bare_name_is_not_a_moment() -> None:
    assert texts(answer("src/rows_of_the_table.py")) == []
    assert texts(answer("数据库迁移需要先停止服务再继续执行。")) != []


def test_an_item_that_introduces_others_starts_a_moment() -> None:
    said = answer("- Option 1:\n- to LGA\n- $207\n- Option 2:\n- to ORD\n- $216\n")
    assert texts(said) == ["Option 1: · to LGA · $207", "Option 2: · to ORD · $216"]


def test_a_long_line_that_introduces_code_is_a_moment_of_little_weight() -> None:
    line = "The loader has to return the rows of the table in the order of their dates:"
    found = weights(
        answer(f"{line}\n\n```\ncode\n```\n\nThe date in `rows.py` is naive."), bash("a", "ls")
    )
    assert found[line] < found["The date in `rows.py` is naive."] / 2


def test_a_short_sentence_without_a_name_weighs_little() -> None:
    named = weights(answer("The date in `rows.py` is naive."), bash("a", "ls"))
    plain = weights(answer("Good, that is a valid point."), bash("a", "ls"))
    assert plain["Good, that is a valid point."] < named["The date in `rows.py` is naive."] / 2


def test_a_short_sentence_that_ends_a_turn_weighs_as_much_as_others() -> None:
    found = weights(ask("Go"), answer("Good, that is done. The date in `rows.py` is naive."))
    assert len(set(found.values())) == 1


def test_a_sentence_knows_the_two_headings_above_it() -> None:
    text = (
        "# Report\n\nThe parser drops rows.\n\n## Gap 1: `rows`\n\n### Plan:\n\n"
        "- Rewrite the parser in one week, with the tests that are there, and no more.\n\n"
        "## Gap 2\n\nThe store keeps no plans.\n\n**Risks:**\n\n- The disk may be full by then.\n\n"
        "All of that was measured twice."
    )
    assert [moment.under for moment in moments_in(scene(answer(text)))] == [
        "Report",
        "Gap 1: `rows` › Plan",
        "Report › Gap 2",
        "Gap 2 › Risks",
        "Report › Gap 2",
    ]


def test_a_bold_sentence_is_no_heading() -> None:
    said = answer("**The parser drops empty rows.**\n\nThe fix is in rows.py.")
    assert texts(said) == ["The parser drops empty rows.", "The fix is in rows.py."]
    assert {moment.under for moment in moments_in(scene(said))} == {""}


def test_a_text_that_a_program_inserts_for_a_command_belongs_to_the_turn_of_the_command() -> None:
    command = ask("<command-message>audit</command-message>\n<command-name>/audit</command-name>")
    skill = ask("Base directory for this skill: /skills/audit\n\n# Audit\n\nRead all files.")
    path = scene(command, skill, answer("The parser drops empty rows."))
    (moment,) = moments_in(path)
    assert moment.turn == path.items[0].entry.id
