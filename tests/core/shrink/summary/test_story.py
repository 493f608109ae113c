import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.core.ledger.entry import Said
from holdfast.core.ledger.summary import Fact, Intent, Quote, Summary
from holdfast.core.ledger.window import Item
from holdfast.core.observe.moments.story import PathContent, Story, StoryReading
from holdfast.core.shrink.summary.fit import facts_of
from holdfast.core.shrink.summary.story import (
    BLOCK_TOKENS,
    LONGEST_CHAPTER,
    MAX_CHAPTER,
    MIN_CHAPTER,
    read_on,
    read_to_end,
    story_from,
)
from holdfast.core.shrink.summary.text import write_summary
from tests.core.building import Told as Message
from tests.core.building import answer, ask, back, bash, call, items
from tests.examples import examples


def step(at: int) -> tuple[Message, ...]:
    """One step of an agent at work."""
    return (
        answer(f"Part {at} uses the helper helper_{at} of the store, so I check it."),
        bash(f"c{at}", f"pytest tests/test_{at}.py"),
        back(f"c{at}", f"{at} passed"),
        call(f"w{at}", "Write", file_path=f"/app/src/part_{at}.py", content=f"def run_{at}():\n"),
        back(f"w{at}", "ok"),
    )


def work(turns: int, steps: int) -> list[Item]:
    said = [
        message
        for turn in range(turns)
        for message in (
            ask(f"Write part {turn}. Never touch the file lock_{turn}.py."),
            *(message for at in range(steps) for message in step(turn * steps + at)),
            answer(f"Part {turn} is done."),
        )
    ]
    return items(*said)


def told(path: list[Item]) -> PathContent:
    return read_to_end(read_on(Story(), path))


def bit_by_bit(path: list[Item], size: int) -> PathContent:
    reading = StoryReading()
    for start in range(0, len(path), size):
        reading = read_on(reading.story, [*reading.rest, *path[start : start + size]])
    return read_to_end(reading)


@pytest.mark.seed("R063", "R088", "R090")
def test_a_story_has_the_requests_constraints_and_files_of_all_chapters() -> None:
    made = told(work(turns=8, steps=6))
    assert made.rows.intent.original.text.startswith("Write part 0.")
    assert made.rows.intent.current.text.startswith("Write part 7.")
    assert len(made.rows.words) == 6
    rules = [f"Never touch the file lock_{turn}.py." for turn in range(8)]
    assert [row.text for row in made.rows.constraints] == rules
    paths = [f"/app/src/part_{at}.py" for at in range(48)]
    assert [file.path for file in made.rows.files] == paths


def test_the_moments_of_all_chapters_come_in_order_each_with_its_request() -> None:
    path = work(turns=4, steps=6)
    made = told(path)
    places = {item.entry.id: at for at, item in enumerate(path)}
    at = [places[moment.entry] for moment in made.moments]
    assert at == sorted(at)
    asked = {
        item.entry.id for item in path if isinstance(item.body, Said) and item.body.role == "user"
    }
    assert {moment.turn for moment in made.moments} == asked


@settings(max_examples=examples(30))
@given(st.integers(1, 6), st.integers(1, 30), st.integers(1, 90))
def test_a_session_read_bit_by_bit_says_the_same_as_one_read_whole(
    turns: int, steps: int, size: int
) -> None:
    path = work(turns, steps)
    parts, whole = bit_by_bit(path, size), told(path)
    assert (parts.rows, parts.moments) == (whole.rows, whole.moments)


def test_a_chapter_ends_before_a_request_or_between_two_steps() -> None:
    talk = read_on(Story(), work(turns=3, steps=MIN_CHAPTER // 5 + 1))
    (*_, last) = talk.rest
    assert last.entry.seq - talk.story.seq < 2 * MIN_CHAPTER
    alone = read_on(Story(), work(turns=1, steps=MAX_CHAPTER))
    assert alone.story.seq > 0
    assert len(alone.rest) <= MAX_CHAPTER + 7


def test_a_call_without_a_result_does_not_make_a_chapter_endless() -> None:
    path = items(ask("Go."), bash("lost", "sleep 100"), *(m for at in range(200) for m in step(at)))
    assert read_on(Story(), path).story.seq >= LONGEST_CHAPTER


def test_moments_of_a_very_long_session_stay_bounded_and_reach_its_beginning() -> None:
    reading = StoryReading()
    path = work(turns=1, steps=1_500)
    reading = read_on(Story(), path)
    sizes = [sum(len(moment.text) for moment in block.moments) for block in reading.story.blocks]
    assert max(sizes) <= 8 * BLOCK_TOKENS
    oldest = next(block.moments[0].entry for block in reading.story.blocks)
    assert oldest in {item.entry.id for item in path[: len(path) // 2]}
    assert len(reading.story.blocks) <= 8


def test_a_session_that_continues_another_one_begins_with_its_rows() -> None:
    known = Summary(
        intent=Intent(Quote("Build the parser.", "1" * 32), Quote("Test it.", "2" * 32)),
        facts=(Fact("The parser is recursive.", "3" * 32),),
    )
    made = read_to_end(read_on(story_from(known), items(ask("Go on."), answer("I will."))))
    assert made.rows.intent.original.text == "Build the parser."
    assert made.rows.intent.current.text == "Test it."
    assert made.moments[0].text == "The parser is recursive."


def test_a_summary_that_a_client_sent_back_is_read_as_rows_and_moments() -> None:
    known = Summary(
        intent=Intent(Quote("Build the parser.", "1" * 8), Quote("Build the parser.", "1" * 8)),
        facts=(Fact("The parser is recursive.", "3" * 8),),
        hidden=9,
        revision=1,
    )
    made = told(items(ask(write_summary(known, session="s")), ask("Now test it."), answer("Yes.")))
    assert made.rows.intent.original.text == "Build the parser."
    assert made.rows.intent.current.text == "Now test it."
    assert "The parser is recursive." in [moment.text for moment in made.moments]


def test_an_item_of_a_list_that_an_earlier_chapter_made_is_changed_by_its_number() -> None:
    made = [
        message
        for number, subject in enumerate(("Write the parser", "Write the docs"), 1)
        for message in (
            call(f"t{number}", "TaskCreate", subject=subject),
            back(f"t{number}", f"Task #{number} created successfully: {subject}"),
        )
    ]
    work_between = [message for at in range(2 * MAX_CHAPTER // 5) for message in step(at)]
    done = (call("u", "TaskUpdate", taskId="1", status="completed"), back("u", "Updated task #1"))
    path = items(ask("Write the importer."), *made, *work_between, *done, answer("Parser done."))
    assert read_on(Story(), path).story.seq
    progress = told(path).rows.progress
    assert progress.completed[0] == "Write the parser"
    assert progress.remaining == ("Write the docs",)
    assert bit_by_bit(path, 7).rows == told(path).rows


def test_a_command_before_the_first_request_comes_before_it() -> None:
    command = ask("<command-message>audit</command-message>\n<command-name>/audit</command-name>")
    path = items(
        command,
        answer("The audit found nothing at all in the parser."),
        ask("Build the importer for old plans."),
        answer("The importer reads plans.py line by line."),
    )
    made = told(path)
    assert made.rows.intent.original.text == "Build the importer for old plans."
    text = write_summary(replace(made.rows, facts=facts_of(made.moments)))
    found = [
        text.index(words) for words in ("USER: /audit", "The audit found", "The importer reads")
    ]
    assert found == sorted(found)
