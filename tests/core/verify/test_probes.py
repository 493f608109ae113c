from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.core.ledger.summary import (
    Action,
    Constraint,
    Decision,
    Error,
    Fact,
    File,
    Intent,
    Next,
    Progress,
    Quote,
    Summary,
)
from holdfast.core.verify.answers import (
    MAX_PLACES,
    MIN_PLACES_FOLLOWED,
    SECTIONS,
    ProbeResult,
    answer_probes,
    failing_sections,
    order_sections,
)
from holdfast.core.verify.probes import (
    MAX_DECISIONS,
    MAX_FACTS,
    MAX_FILES,
    MAX_OPEN_ERRORS,
    MAX_READ_FILES,
    MAX_RESOLVED_ERRORS,
    Probe,
    make_probes,
)

SEEN = Summary(
    intent=Intent(
        Quote("Add login to the shop.\n\n- keep the old links\n- write tests", "e1"),
        Quote("Now the logout page, please.", "e9"),
        (Quote("Not cookies: use tokens instead.", "e5"),),
    ),
    constraints=(
        Constraint("Never touch the billing code.", "e1", negative=True),
        Constraint("Use Python 3.11.", "e2"),
        Constraint("Do not run the linter.", "e3", lifted="e4"),
    ),
    words=(Quote("Thanks, that page looks good.", "e6"),),
    files=(
        File("src/auth.py", "created", "e7", "login()"),
        File("src/shop.py", "modified", "e7"),
        File("src/old.py", "deleted", "e7"),
        File("src/pages.py", "renamed", "e7", was="src/views.py"),
        File("README.md", "read", "e2", lines=((1, 20),), why="how it was created"),
    ),
    decisions=(
        Decision("JWT", "e5", "the API has to be stateless", by="user"),
        Decision("One middleware per route", "e6"),
    ),
    facts=(
        Fact("DATABASE_URL is postgres://db:5433/shop", "e3", "Read .env", 2),
        Fact("a41f", "e3", "Bash git_rev_parse", 1),
    ),
    errors=(
        Error(
            "Traceback (most recent call last):\n  x\nKeyError: 'sub' in token", "e8", "pytest -q"
        ),
        Error("ENOENT", "e8", "npm run build"),
        Error("port 8080 is in use\nlong story", "e3", "make run", resolved="e4"),
    ),
    progress=Progress("building", ("login page done",), ("logout page open",), "12 passed", "e8"),
    next=(Next("Write the logout page", "e9"), Next("Ask about the footer", "e9", "user")),
    questions=(Quote("Should the footer stay?", "e9"),),
    state=(Quote("git branch: feat/login", "e8"),),
)

TEXT = """\
## Session

### What the user asked for
> Add login to the shop.
>
> - keep the old links
> - write tests

Then: Not cookies: use tokens instead.
Latest: Now the logout page, please.

### Constraints
- [e1, forbids] Never touch the billing code.
- [e2] Use Python 3.11.

### Files
| Path | Action | What changed |
|---|---|---|
| src/auth.py | created | login(), modified later |
| src/shop.py | modified | |
| src/old.py | deleted | |
| src/pages.py | renamed from src/views.py | |

### Files Read (Not Modified)
- README.md lines 1–20 — how it was created

### Decisions
1. JWT: the API has to be stateless (user)
2. One middleware per route

### State
Phase: building
Done: login page done
Open: logout page open
git branch: feat/login
Tests: 12 passed

### Errors
- `pytest -q` → KeyError: 'sub' in token (open)
- `npm run build` → ENOENT
- `make run` → port 8080 is in use (resolved)

### Facts
[e3] Read .env
 DATABASE_URL is postgres://db:5433/shop
[e3] Bash git_rev_parse
 a41f

### Next
1. Write the logout page
2. Ask about the footer

### Questions
- Should the footer stay?

### User
- Thanks, that page looks good.
"""


def missing(text: str, seen: Summary = SEEN) -> list[tuple[str, str]]:
    return [
        (one.probe.section, one.probe.entry)
        for one in answer_probes(make_probes(seen), text)
        if not one.found
    ]


def about(path: str, action: Action, text: str, was: str = "") -> bool:
    (one,) = answer_probes(make_probes(Summary(files=(File(path, action, "e1", was=was),))), text)
    return one.found


@pytest.mark.seed("R095", "R178", "R179", "R180", "R181")
def test_there_is_a_question_of_each_kind_in_plain_words() -> None:
    drawn = make_probes(SEEN)
    asked = {(probe.kind, probe.question, probe.answer) for probe in drawn}
    trace = SEEN.errors[0].text
    assert {
        ("recall", "What is the error of `pytest -q`?", trace),
        ("recall", "What was the error of `make run`?", "port 8080 is in use\nlong story"),
        ("recall", "What must not be done?", "Never touch the billing code."),
        (
            "artifact",
            "Was src/shop.py created, modified, deleted, renamed or only read?",
            "modified",
        ),
        ("continuation", "What should be done next?", "Write the logout page"),
        ("continuation", "How did the tests go?", "12 passed"),
        ("continuation", "What is the state of git branch?", "git branch: feat/login"),
        ("decision", "Why was this chosen: JWT?", "the API has to be stateless"),
    } < asked
    assert {probe.section for probe in drawn} == set(SECTIONS)


@pytest.mark.seed("R182")
def test_a_text_that_has_everything_answers_everything() -> None:
    assert missing(TEXT) == []
    assert failing_sections(answer_probes(make_probes(SEEN), TEXT)) == {}


def test_an_answer_says_where_it_stands() -> None:
    where = {one.probe.answer: one.where for one in answer_probes(make_probes(SEEN), TEXT)}
    assert where["12 passed"] == "Tests: 12 passed"
    assert where["the API has to be stateless"] == "JWT: the API has to be stateless (user)"
    assert where["deleted"] == "src/old.py | deleted | |"
    assert [one for one in answer_probes(make_probes(SEEN), "") if one.found or one.where] == []


@pytest.mark.seed("R182")
def test_what_is_missing_names_its_section_and_entries_in_the_order_to_expand() -> None:
    cut = TEXT
    for line in (
        "| src/shop.py | modified | |\n",
        "Tests: 12 passed\n",
        "- [e2] Use Python 3.11.\n",
    ):
        assert line in cut
        cut = cut.replace(line, "")
    assert failing_sections(answer_probes(make_probes(SEEN), cut)) == {
        "constraints": ("e2",),
        "files": ("e7",),
        "progress": ("e8",),
    }
    assert list(failing_sections(answer_probes(make_probes(SEEN), cut))) == [
        "constraints",
        "files",
        "progress",
    ]
    assert order_sections({"words", "files", "intent"}) == ["intent", "files", "words"]


def test_an_entry_with_several_missing_rows_is_named_once() -> None:
    assert failing_sections(answer_probes(make_probes(SEEN), "nothing"))["files"] == ("e7", "e2")


# Rows that are drawn below have words of their own, so that no row can answer for another.


class _Names:
    def __init__(self) -> None:
        self._next = count(100)

    def word(self) -> str:
        return f"w{next(self._next)}q"

    def words(self, length: int) -> str:
        return " ".join(self.word() for _ in range(length))


@st.composite
def summaries(draw_: st.DrawFn) -> Summary:
    names = _Names()

    def some(most: int = 3) -> range:
        return range(draw_(st.integers(0, most)))

    def said(least: int = 2) -> str:
        lines = range(draw_(st.integers(1, 3)))
        return "\n".join(names.words(draw_(st.integers(least, 30))) for _ in lines)

    def line() -> str:
        return names.words(draw_(st.integers(2, 30)))

    changes: st.SearchStrategy[Action] = st.sampled_from(
        ["created", "modified", "deleted", "renamed", "read"]
    )
    return Summary(
        intent=Intent(
            Quote(said(), names.word()),
            Quote(said(), names.word()),
            tuple(Quote(said(), names.word()) for _ in some()),
        ),
        constraints=tuple(Constraint(said(), names.word()) for _ in some()),
        words=tuple(Quote(said(), names.word()) for _ in some()),
        files=tuple(
            File(f"src/{names.word()}.py", draw_(changes), names.word(), line()) for _ in some(6)
        ),
        decisions=tuple(Decision(line(), names.word(), line()) for _ in some()),
        facts=tuple(
            Fact(line(), names.word(), names.word(), worth=draw_(st.floats(0, 1))) for _ in some(60)
        ),
        errors=tuple(
            Error(line(), names.word(), names.word(), resolved=draw_(st.sampled_from(["", "r1"])))
            for _ in some(6)
        ),
        progress=Progress(
            line(), tuple(line() for _ in some()), tuple(line() for _ in some()), line(), "p1"
        ),
        next=tuple(Next(line(), names.word()) for _ in some()),
        questions=tuple(Quote(line(), names.word()) for _ in some()),
    )


Row = tuple[str, str, str]
"""The section of a row, its entry, and how it is written."""


def rows_of(seen: Summary) -> list[Row]:
    """A summary as plain rows: a heading goes with each, so that any of them can be left out."""
    quotes = (seen.intent.original, seen.intent.current, *seen.intent.changes)
    progress = seen.progress
    states = (progress.phase, *progress.completed, *progress.remaining, progress.tests)
    return [
        *(("intent", quote.entry, f"> {quote.text}") for quote in quotes),
        *(("constraints", row.entry, f"- [{row.entry}] {row.text}") for row in seen.constraints),
        *(("words", quote.entry, f"- {quote.text}") for quote in seen.words),
        *(
            ("files", row.entry, f"| {row.path} | {row.action} | {row.change} |")
            for row in seen.files
        ),
        *(
            ("decisions", row.entry, f"1. {row.choice}\n   because {row.reason}")
            for row in seen.decisions
        ),
        *(("facts", row.entry, f"{row.source}: {row.text}") for row in seen.facts),
        *(("errors", row.entry, f"- {row.what} → {row.text}") for row in seen.errors),
        *(("progress", progress.entry, f"- {state}") for state in states),
        *(("next", row.entry, f"1. {row.step}") for row in seen.next),
        *(("questions", quote.entry, f"- {quote.text}") for quote in seen.questions),
    ]


def text_of(rows: Sequence[Row]) -> str:
    return "\n".join(text for _, _, text in rows)


@pytest.mark.seed("R182")
@given(summaries(), st.randoms(use_true_random=False))
def test_whatever_is_written_whole_answers_everything_in_any_order(
    seen: Summary, random: Any
) -> None:
    rows = rows_of(seen)
    random.shuffle(rows)
    answered = answer_probes(make_probes(seen), text_of(rows))
    assert [one.probe for one in answered if not one.found] == []


@pytest.mark.seed("R182")
@given(summaries(), st.data())
def test_a_row_that_is_left_out_fails_its_own_questions_and_no_others(
    seen: Summary, data: st.DataObject
) -> None:
    rows = rows_of(seen)
    gone = data.draw(st.sampled_from(range(len(rows))))
    section, entry, text = rows[gone]
    probes = make_probes(seen)
    answered = answer_probes(probes, text_of(rows[:gone] + rows[gone + 1 :]))
    own = [
        probe
        for probe in probes
        if (probe.section, probe.entry) == (section, entry) and probe.must[0] in text
    ]
    assert [one.probe for one in answered if not one.found] == own
    assert own or section in {"facts", "errors"}, "only these may go unasked"


@given(summaries(), st.sampled_from([(" ", True), (", ", True), ("\n", True), ("\n", False)]))
def test_a_list_of_words_is_no_answer(seen: Summary, listed: tuple[str, bool]) -> None:
    between, backwards = listed
    words = sorted(set(text_of(rows_of(seen)).split()), reverse=backwards)
    answered = answer_probes(make_probes(seen), between.join(words))
    assert [one.probe for one in answered if one.found and one.probe.section != "files"] == []


def test_the_words_of_an_answer_have_to_stand_in_their_order_and_in_one_place() -> None:
    seen = Summary(
        decisions=(Decision("use tokens", "e1", "the API has no state"),),
        errors=(Error("ENOENT", "e2", "npm run build"),),
        facts=(Fact("port is 8080", "e3"),),
    )
    every = ["decisions", "errors", "facts"]
    whole = ["use tokens: the API has no state", "npm run build → ENOENT", "port is 8080"]
    assert missing("\n".join(whole), seen) == []
    names = " ".join(whole).replace(" ", "\n")
    assert [section for section, _ in missing(names, seen)] == every
    apart = "use tokens\n-\nx\n-\ny\n-\nthe API has no state\nENOENT\nx\ny\nbuild\n8080 is port"
    assert [section for section, _ in missing(apart, seen)] == every
    longer = "reuse tokens: the API has no state\nnpm run build → ENOENTRY\nport is 80801"
    assert [section for section, _ in missing(longer, seen)] == every
    nearly = (
        "use tokens: the API has no states, the API has no state\nrebuild ENOENT\nport is 80-80"
    )
    assert [section for section, _ in missing(nearly, seen)] == ["errors", "facts"]


@pytest.mark.parametrize("text", ["reuse tokens here\nuse, use", "use tokens hereby\nhere, here"])
def test_an_answer_does_not_begin_or_end_inside_a_word(text: str) -> None:
    row = Fact("use tokens here", "e1")
    assert missing(text, Summary(facts=(row,))) == [("facts", "e1")]
    assert missing(f"{text}\nuse tokens here", Summary(facts=(row,))) == []


def test_a_word_alone_is_asked_for_with_what_brought_it_or_not_at_all() -> None:
    seen = Summary(
        decisions=(
            Decision("JWT", "e1"),
            Decision("JWT", "e1", "stateless"),
            Decision("", "e1", "so it is"),
        ),
        errors=(Error("ENOENT", "e2"), Error("", "e2", "npm run build")),
        facts=(Fact("8080", "e3"), Fact("8080", "e3", "Read config/ports.yaml"), Fact("---", "e3")),
    )
    assert [(probe.section, probe.must) for probe in make_probes(seen)] == [
        ("facts", ("8080", "config/ports.yaml")),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "| src/a.py | modified | created a helper |",
        "|src/a.py|modified|",
        r"| `src/a.py` | **Modified** | a \| b |",
        "- src/a.py — modified: added a helper that is created late",
        "- modified src/a.py (the helper was created before)",
        "created: src/b.py; modified: src/c.py, ./src/a.py",
        "src/b.py created, src/a.py modified",
        "### Files modified\n\n- src/b.py\n- src/a.py: a helper was created",
        "modified:\n  src/b.py\n  src/a.py",
        "- path: src/a.py\n  action: modified",
        "| 1 | modified | src/a.py | created a helper |",
        "src/a.py was created.\nsrc/a.py: modified.",
    ],
)
def test_a_file_is_found_with_what_was_done_to_it(text: str) -> None:
    assert about("src/a.py", "modified", text)


@pytest.mark.seed("R179")
@pytest.mark.parametrize(
    "text",
    [
        "src/a.py",
        "modified",
        "| src/a.py | created | modified the header |",
        "| src/a.py | created |\n| src/b.py | modified |",
        "| src/b.py | modified |\n| src/a.py | created |\n| src/c.py | modified |",
        "| lib/src/a.py | modified |",
        "| src/a.pyc | modified |",
        "| src/a.py.bak | modified |",
        "| src/a.py-old | modified |",
        "| src/a.py/b | modified |",
        "created src/a.py, modified src/b.py",
        "### Files Read (Not Modified)\n- src/a.py — why it was modified",
        "### Files modified\n- src/b.py\n\nThen I looked for src/a.py again.",
        "### Files modified\n\n### Other files\n- src/a.py",
        "Files modified:\n- src/b.py\n\nsrc/a.py is next.",
    ],
)
def test_a_path_with_another_action_or_none_is_no_answer(text: str) -> None:
    assert not about("src/a.py", "modified", text)


def test_a_file_that_was_read_may_have_been_read_for_anything() -> None:
    text = "### Files Read (Not Modified)\n- src/a.py lines 1–2 — created by whom?"
    assert about("src/a.py", "read", text)
    assert not about("src/a.py", "created", text)
    assert about("src/a.py", "created", "### Files read\n| src/a.py | created | |")


def test_a_file_that_was_renamed_is_found_with_its_old_name() -> None:
    assert about("b.py", "renamed", "| b.py | renamed from a.py |", was="a.py")
    assert about("b.py", "renamed", "- a.py → b.py (renamed)", was="a.py")
    assert not about("b.py", "renamed", "| b.py | renamed | |", was="a.py")


def test_the_last_row_of_a_file_is_the_one_that_counts() -> None:
    rows = (File("a.py", "created", "e1"), File("a.py", "deleted", "e2"))
    assert [(probe.answer, probe.entry) for probe in make_probes(Summary(files=rows))] == [
        ("deleted", "e2")
    ]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("one\ntwo\nthree", "[e1] 3 lines:\none\ntwo\nthree"),
        ("one\n\n  two\nthree", "> one\n>\n> two\n> three"),
        ("- one\n- two\n---\n- three", "asked: one / two / three"),
        ("```\none  x\n```\ntwo", "one x ⏎ two"),
        ('say "one"\ntwo', r'"say \"one\"\ntwo"'),
        ("one | two", r"| one \| two |"),
        (r"C:\new\dir", r'"C:\\new\\dir"'),
        ("请不要用饼干", "约束：请不要用饼干。"),
        ("x" * 500, f"- {'x' * 500}"),
        ("word " * 200, f"- {'word ' * 200}"),
    ],
)
def test_words_are_found_however_their_lines_are_laid_out(said: str, text: str) -> None:
    seen = Summary(intent=Intent(Quote(said, "e1")))
    assert missing(text, seen) == []


@pytest.mark.parametrize(
    "text",
    [
        "one\nthree",
        "one\nthree\ntwo",
        "one two\nx\nthree",
        "one\nabout two\nthree",
        "one\ntwo\nthreefold",
        "none\ntwo\nthree",
        "One\ntwo\nthree",
    ],
)
def test_words_that_are_not_as_they_were_said_are_missing(text: str) -> None:
    seen = Summary(constraints=(Constraint("one\ntwo\n\nthree", "e1"),))
    assert missing(text, seen) == [("constraints", "e1")]


def test_what_was_said_twice_is_asked_once() -> None:
    quote = Quote("Go on, please.", "e1")
    seen = Summary(intent=Intent(quote, quote), constraints=(Constraint(quote.text, "e1"),))
    assert [(probe.section, probe.entry) for probe in make_probes(seen)] == [
        ("intent", "e1"),
        ("constraints", "e1"),
    ]


def test_what_no_longer_holds_is_not_asked_for() -> None:
    seen = Summary(
        constraints=(Constraint("Do not run it.", "e1", lifted="e2"),),
        decisions=(
            Decision("use cookies here", "e3"),
            Decision("use tokens here", "e4", overrules="e3"),
        ),
    )
    assert [probe.answer for probe in make_probes(seen)] == ["use tokens here"]
    assert make_probes(Summary()) == ()


def test_the_number_of_questions_is_bounded_and_the_newest_are_asked() -> None:
    many = range(1_000)
    seen = Summary(
        files=(
            *(File(f"changed/{at}.py", "modified", f"e{at}") for at in many),
            *(File(f"read/{at}.py", "read", f"e{at}") for at in many),
        ),
        decisions=tuple(
            Decision(f"choice number {at}", f"e{at}", by="user" if at == 5 else "agent")
            for at in many
        ),
        errors=tuple(
            Error(f"error number {at}", f"e{at}", resolved="" if at % 2 else "r") for at in many
        ),
        facts=tuple(Fact(f"fact number {at}", f"e{at}", worth=at % 7) for at in many),
    )
    probes = make_probes(seen)
    asked: dict[str, list[Probe]] = {}
    for probe in probes:
        asked.setdefault(probe.section, []).append(probe)
    assert {section: len(found) for section, found in asked.items()} == {
        "files": MAX_FILES + MAX_READ_FILES,
        "decisions": MAX_DECISIONS,
        "errors": MAX_OPEN_ERRORS + MAX_RESOLVED_ERRORS,
        "facts": MAX_FACTS,
    }
    assert {"e999", "e5"} <= {probe.entry for probe in asked["decisions"]}
    assert {"e999", "e998"} <= {probe.entry for probe in asked["errors"]}
    assert probes == make_probes(seen)


def test_facts_are_the_worthiest_and_come_from_all_over_the_span() -> None:
    facts = tuple(
        Fact(f"fact number {at}", f"e{at}", worth=9 if 300 <= at < 330 else at % 3)
        for at in range(1_000)
    )
    places = [int(probe.entry[1:]) for probe in make_probes(Summary(facts=facts))]
    assert sum(300 <= at < 330 for at in places) >= MAX_FACTS // 2
    assert {at // 100 for at in places} == set(range(10))
    assert places == sorted(places)


def test_facts_of_one_worth_are_asked_for_evenly() -> None:
    facts = tuple(Fact(f"fact number {at}", f"e{at}") for at in range(1_000))
    places = [int(probe.entry[1:]) // 100 for probe in make_probes(Summary(facts=facts))]
    assert [places.count(stretch) for stretch in range(10)] == [MAX_FACTS // 10] * 10


def test_a_long_row_is_asked_for_by_what_tells_most_near_its_start() -> None:
    text = (
        "it turned out after a very long while of looking at it that id 4711 of db_main/orders"
        " was locked and then there was much more to say about it"
    )
    (probe,) = make_probes(Summary(facts=(Fact(text, "e1"),)))
    (phrase,) = probe.must
    assert "4711 of db_main/orders" in phrase
    assert phrase in text[:120]
    assert len(phrase) <= 60


@pytest.mark.parametrize(
    ("text", "must"),
    [
        (f"--- FAIL: Test{'x' * 80} (0.1s)", f"--- FAIL: Test{'x' * 80}"),
        (f"see {'long/' * 20} there", f"see {'long/' * 11}"),
        ("值" * 200, "值" * 60),
        ("y" * 200 + " end", "y" * 200),
    ],
)
def test_a_phrase_never_ends_inside_a_word(text: str, must: str) -> None:
    probes = make_probes(Summary(errors=(Error(text, "e1", "make"),)))
    assert [probe.must[0] for probe in probes] == [must]
    assert missing(f"- make → {text}", Summary(errors=(Error(text, "e1", "make"),))) == []


def test_a_choice_behind_its_question_is_part_of_the_answer() -> None:
    asked = "Should the user be able to take back what was shared, or only all of it at once?"
    seen = Summary(decisions=(Decision(f"{asked} Each share by itself", "e1"),))
    assert missing(f"1. {asked} Each share by itself (user)", seen) == []
    assert missing(f"1. {asked} All at once (user)", seen) == [("decisions", "e1")]
    several = Decision(f"{asked}\n{'and so on ' * 5}", "e1")
    assert missing(f"1. {asked}", Summary(decisions=(several,))) == []


def test_words_without_spaces_are_asked_for_like_others() -> None:
    seen = Summary(
        facts=(Fact("数据库在端口五千", "e1"),), words=(Quote("是的", "e2"), Quote("yes", "e3"))
    )
    assert [probe.entry for probe in make_probes(seen)] == ["e1", "e2"]
    assert missing("事实：数据库在端口五千。\n用户：是的", seen) == []


def test_of_an_open_error_the_line_that_fails_is_asked_for() -> None:
    text = "collected 3 items\ntests/test_a.py F\nE   ValueError: bad id 12\n1 failed in 0.1s"
    open_, gone = Error(text, "e1", "pytest"), Error(text, "e1", "pytest", resolved="e2")
    assert [probe.must for probe in make_probes(Summary(errors=(open_,)))] == [
        ("1 failed in 0.1s",)
    ]
    assert [probe.must for probe in make_probes(Summary(errors=(gone,)))] == [
        ("collected 3 items",)
    ]
    trace = replace(gone, text="Traceback (most recent call last):\n  File x\nKeyError: 'a b'")
    assert [probe.must for probe in make_probes(Summary(errors=(trace,)))] == [("KeyError: 'a b'",)]


class Counted(str):
    """A text that says how often it was taken apart."""

    reads = 0

    def splitlines(self, keepends: bool = False) -> list[str]:
        Counted.reads += 1
        return super().splitlines(keepends)


def test_a_text_is_read_once_however_many_questions_there_are() -> None:
    Counted.reads = 0
    probes = make_probes(SEEN) * 50
    assert all(one.found for one in answer_probes(probes, Counted(TEXT)))
    assert Counted.reads == 1


def test_a_place_is_looked_for_a_bounded_number_of_times() -> None:
    seen = Summary(facts=(Fact("row row 7", "e1"),))
    before = "row 7 row\n" * MAX_PLACES
    assert missing("row 7 row\n" * 10 + "row row 7", seen) == []
    assert missing(before + "row row 7", seen) == [("facts", "e1")]


def test_a_long_text_is_followed_from_a_bounded_number_of_places() -> None:
    said = "same\n" * 2_000 + "end"
    seen = Summary(constraints=(Constraint(said, "e1"),))
    assert missing("same\n" * (MIN_PLACES_FOLLOWED - 1) + said, seen) == []
    assert missing("same\n" * MIN_PLACES_FOLLOWED + said, seen) == [("constraints", "e1")]


def test_an_answer_far_along_a_long_line_has_to_be_close_to_its_reason() -> None:
    seen = Summary(decisions=(Decision("use tokens", "e1", "no state at all"),))
    filler = "x " * 5_000
    assert missing(f"{filler}use tokens because no state at all {filler}", seen) == []
    assert missing(f"{filler}use tokens {filler}no state at all", seen) == [("decisions", "e1")]


def test_no_questions_have_no_answers() -> None:
    assert answer_probes((), TEXT) == ()
    assert failing_sections(()) == {}
    assert answer_probes(make_probes(SEEN)[:1], "\n\n---\n") == (
        ProbeResult(make_probes(SEEN)[0], found=False),
    )


def test_a_step_whose_best_phrase_is_punctuation_alone_is_not_asked_for() -> None:
    step = "=" * 61 + " a"
    seen = Summary(next=(Next(step, "e1"),))
    assert answer_probes(make_probes(seen), step) == ()


def test_a_probe_without_a_word_is_not_found() -> None:
    probe = Probe("recall", "facts", "?", "---", "e1", ("---",))
    assert answer_probes([probe], "--- ---") == (ProbeResult(probe, found=False),)
