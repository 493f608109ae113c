import pytest

from holdfast.core.ledger.entry import Compressed, Entry, Noted, Said, Step
from holdfast.core.ledger.summary import Constraint, File, Intent, Quote, Summary
from holdfast.core.ledger.window import Window, fold
from holdfast.core.observe.moments.read import moments_in
from holdfast.core.observe.scene import scene_of
from holdfast.core.view.probes import (
    ProbeReport,
    newest_summary,
    probe_report_document,
    probe_text,
    probe_window,
    render_probe_report,
)
from tests.core.building import answer, ask, back, bash, entries, named, words

SAID = entries(
    ask("Fix the parser in parse_rows."),
    bash("a", "cat rows.py"),
    back("a", "retry_budget = 17\nlimit_of_rows = 5000"),
    answer("The limit is wrong."),
    ask("Now test it."),
)
ROWS = Summary(
    intent=Intent(Quote("Fix the parser in parse_rows.", named(1))),
    constraints=(Constraint("Do not touch the schema.", named(1), negative=True),),
    files=(File("rows.py", "modified", named(2)),),
)


def window(text: str, *notes: Noted) -> Window:
    hides = tuple(named(seq) for seq in range(1, 5))
    step = Step(hides, "old", Said("user", text, by="holdfast"), tier=3, kind="summary")
    made = Compressed((step,), 0, 5, summary=ROWS)
    derived = [
        Entry(named(6 + at), SAID[-1].id, body, 6 + at) for at, body in enumerate((made, *notes))
    ]
    return fold([*SAID, *derived])


def asked(shown: Window) -> ProbeReport:
    made = newest_summary(shown)
    assert made is not None
    return probe_window(shown, made, moments_in(scene_of(SAID)), words, 100)


def test_a_window_without_a_summary_has_none_to_ask_about() -> None:
    assert newest_summary(fold(SAID)) is None


@pytest.mark.seed("R178", "R179", "R182")
def test_facts_are_asked_for_whether_the_summary_shows_them_or_not() -> None:
    came = asked(window("Fix the parser in parse_rows.\nDo not touch the schema."))
    missing = [one.probe.answer for one in came.misses]
    assert "rows.py:1: retry_budget = 17" in missing
    assert "modified" in missing
    full = asked(
        window(
            "Fix the parser in parse_rows.\nDo not touch the schema.\n| rows.py | modified |\n"
            "read rows.py\nrows.py:1: retry_budget = 17\nrows.py:2: limit_of_rows = 5000\n"
            "The limit is wrong."
        )
    )
    assert (full.misses, full.score.meets_targets, full.of) == ((), True, named(6)[:12])


def test_what_was_lifted_since_is_not_asked_for() -> None:
    said = "Fix the parser in parse_rows."
    kept = {one.probe.answer for one in asked(window(said)).misses}
    lifting = Noted("unpinned", {"pin": "Do not touch the schema."})
    gone = {one.probe.answer for one in asked(window(said, lifting)).misses}
    assert kept - gone == {"Do not touch the schema."}


def test_scores_come_first_then_misses_then_answers() -> None:
    came = probe_text(ROWS, "Fix the parser in parse_rows.\n| rows.py | modified |")
    told = render_probe_report(came).splitlines()
    assert told[0] == "2 of 3 questions are answered by the summary; nothing was summarised yet"
    titles = [line for line in told if line.startswith("### ")]
    assert titles == ["### Quality", "### Misses", "### Recall", "### Artifact"]
    at = told.index("### Misses")
    assert told[at + 1 : at + 3] == [
        f"[{named(1)[:12]}] constraints: What must not be done?",
        "  should say: Do not touch the schema.",
    ]
    assert told[-1] == "  rows.py | modified |"
    assert "Instruction Following" in told[8]


def test_a_program_gets_every_question_with_its_answer() -> None:
    found = probe_report_document(probe_text(ROWS, "Fix the parser in parse_rows."))
    assert (found["compression"], found["asked"], found["answered"]) == (None, 3, 1)
    assert found["met"] is False
