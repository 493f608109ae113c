import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.core.ledger.summary import (
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
from holdfast.core.shrink.summary.text import write_summary
from holdfast.core.verify.answers import ProbeResult, answer_probes
from holdfast.core.verify.probes import make_probes
from holdfast.core.verify.quality import DIMENSIONS, Quality, count_contradictions, score_quality

SEEN = Summary(
    intent=Intent(
        Quote("Add a login page.", "e1"),
        Quote("Now the logout page.", "e2"),
        (Quote("Tokens, not cookies.", "e3"),),
    ),
    constraints=(Constraint("Keep the old links.", "e1"), Constraint("Never push.", "e1")),
    files=(
        File("src/a.py", "modified", "e4"),
        File("src/b.py", "created", "e4"),
        File("src/c.py", "read", "e4"),
        File("src/d.py", "read", "e4"),
    ),
    decisions=(Decision("use tokens here", "e5", "no state at all"),),
    facts=tuple(Fact(f"the port {at} is 80{at}", f"f{at}") for at in range(10, 16)),
    errors=(
        Error("KeyError: no sub", "e6", "pytest"),
        Error("port in use", "e6", "make run", resolved="e7"),
    ),
    progress=Progress(phase="second half", tests="12 passed"),
    next=(Next("write the logout page", "e8"),),
)
PERFECT = Quality(5.0, 5.0, 5.0, 5.0, 5.0, 5.0)


def scored(*unanswered: str, candidate: Summary = SEEN, tail_has_open_loop: bool = True) -> Quality:
    """The quality when the questions whose answer or section is named go unanswered."""
    answered = [
        ProbeResult(probe, found=not {probe.answer, probe.section, probe.entry} & set(unanswered))
        for probe in make_probes(SEEN)
    ]
    return score_quality(
        answered, source=SEEN, candidate=candidate, tail_has_open_loop=tail_has_open_loop
    )


@pytest.mark.seed("R183", "R184", "R185", "R186", "R187", "R188")
def test_the_dimensions_and_their_targets_are_those_of_the_protocol() -> None:
    assert [(each.name, each.target, each.measures) for each in DIMENSIONS] == [
        ("Accuracy", 4.0, "Technical correctness of preserved details"),
        ("Context Awareness", 4.0, "Reflects current conversation state"),
        ("Artifact Trail", 3.5, "Knowledge of read/modified files"),
        ("Completeness", 3.5, "All relevant information preserved"),
        ("Continuity", 4.0, "Work continues without re-fetching"),
        ("Instruction Following", 4.0, "Respects stated constraints"),
    ]
    assert [each.key for each in DIMENSIONS] == list(Quality.__struct_fields__)


def test_a_candidate_that_answers_everything_has_full_marks() -> None:
    assert scored() == PERFECT
    assert PERFECT.meets_targets
    assert PERFECT.misses == ()


def test_where_nothing_was_to_be_asked_nothing_is_missing() -> None:
    assert score_quality((), source=Summary(), candidate=Summary()) == PERFECT


@pytest.mark.seed("R183", "R184", "R185", "R186", "R187", "R188")
@pytest.mark.parametrize(
    ("lost", "misses"),
    [
        pytest.param(["facts"], {"accuracy", "continuity"}),
        pytest.param(["errors"], {"accuracy", "continuity"}),
        pytest.param(["decisions"], {"accuracy"}),
        pytest.param(["progress"], {"context_awareness"}),
        pytest.param(["next"], {"context_awareness", "continuity"}),
        pytest.param(
            ["Now the logout page."],
            {"context_awareness", "instruction_following"},
        ),
        pytest.param(["files"], {"artifact_trail"}),
        pytest.param(["modified"], {"artifact_trail"}),
        pytest.param(["read"], set[str](), id="files that were only read weigh less"),
        pytest.param(
            ["files", "facts"],
            {"accuracy", "artifact_trail", "completeness", "continuity"},
        ),
        pytest.param(["f14", "f15"], {"continuity"}),
        pytest.param(["f10", "f11"], set[str](), id="two facts from the start"),
        pytest.param(["KeyError: no sub"], {"continuity"}),
        pytest.param(["port in use"], set[str](), id="an error that is gone"),
        pytest.param(["constraints"], {"instruction_following"}),
        pytest.param(["Add a login page."], {"instruction_following"}),
        pytest.param(["Tokens, not cookies."], {"instruction_following"}),
    ],
)
def test_a_part_that_is_lost_misses_the_targets_that_rest_on_it(
    lost: list[str], misses: set[str]
) -> None:
    found = scored(*lost)
    assert set(found.misses) == misses
    assert found.meets_targets == (not misses)


def test_scores_are_shares_of_five_with_two_decimals() -> None:
    assert scored("f10", "modified", "Never push.") == Quality(
        accuracy=4.72,
        context_awareness=5.0,
        artifact_trail=3.12,
        completeness=4.29,
        continuity=5.0,
        instruction_following=4.38,
    )


def test_a_loop_that_is_out_of_sight_breaks_continuity() -> None:
    found = scored(tail_has_open_loop=False)
    assert found == replace(PERFECT, continuity=3.75)
    assert found.misses == ("continuity",)


def test_a_session_with_one_request_is_scored_by_that_one() -> None:
    request = Quote("Add a login page.", "e1")
    for intent in (Intent(request), Intent(request, request)):
        seen = Summary(intent=intent)
        lost = [ProbeResult(probe, found=False) for probe in make_probes(seen)]
        found = score_quality(lost, source=seen, candidate=Summary())
        assert (found.context_awareness, found.instruction_following) == (3.33, 2.5)


@pytest.mark.seed("R183")
@pytest.mark.parametrize(
    "candidate",
    [
        replace(SEEN, files=(File("src/a.py", "deleted", "e4"),)),
        replace(SEEN, errors=(Error("KeyError: no sub", "e6", "pytest", resolved="e7"),)),
        replace(SEEN, constraints=(Constraint("Never push.", "e1", lifted="e9"),)),
        replace(SEEN, facts=(Fact("the port 10 is 8081", "f10"),)),
    ],
)
def test_one_row_that_says_otherwise_misses_accuracy(candidate: Summary) -> None:
    assert count_contradictions(SEEN, candidate) == 1
    assert scored(candidate=candidate) == replace(PERFECT, accuracy=3.5)


def test_many_rows_that_say_otherwise_leave_nothing_of_accuracy() -> None:
    wrong = tuple(replace(row, text="the port is 1") for row in SEEN.facts)
    candidate = replace(
        SEEN, facts=wrong, files=(File("src/a.py", "read"), File("src/b.py", "read"))
    )
    assert count_contradictions(SEEN, candidate) == 8
    assert scored(candidate=candidate).accuracy == 0.0


@pytest.mark.parametrize(
    "candidate",
    [
        Summary(),
        replace(SEEN, facts=(Fact("the port 10 is 8…", "f10"), Fact("a page 1", "other"))),
        replace(SEEN, files=(File("src/new.py", "created"),)),
        replace(SEEN, errors=(Error("Other: 1", "e9", "ls", resolved="e9"), *SEEN.errors)),
    ],
)
def test_rows_that_are_cut_or_gone_or_new_do_not_say_otherwise(candidate: Summary) -> None:
    assert count_contradictions(SEEN, candidate) == 0


def test_entries_may_be_named_by_their_first_letters() -> None:
    name = "0123456789ab"
    seen = Summary(facts=(Fact("port 80", f"{name}cdef"),), errors=(Error("no", f"{name}cdef"),))
    kept = Summary(facts=(Fact("port 81", name),), errors=(Error("no", name, resolved="e9"),))
    assert count_contradictions(seen, kept) == 2


def test_quality_is_stored_and_read_back() -> None:
    found = scored("facts")
    assert msgspec.json.decode(msgspec.json.encode(found), type=Quality) == found
    assert msgspec.convert(found.to_dict(), Quality) == found
    assert list(found.to_dict()) == [each.key for each in DIMENSIONS]
    assert Quality().misses == tuple(each.key for each in DIMENSIONS)


@given(st.data())
def test_an_answer_more_never_lowers_a_score(data: st.DataObject) -> None:
    probes = make_probes(SEEN)
    found = data.draw(st.lists(st.booleans(), min_size=len(probes), max_size=len(probes)))
    more = data.draw(st.sampled_from(range(len(probes))))
    before, after = (
        score_quality(
            [ProbeResult(probe, found=yes) for probe, yes in zip(probes, answers, strict=True)],
            source=SEEN,
            candidate=SEEN,
        ).to_dict()
        for answers in (found, [*found[:more], True, *found[more + 1 :]])
    )
    assert all(0 <= before[key] <= after[key] <= 5 for key in before)


def test_a_test_that_passes_since_does_not_contradict_another_of_the_same_run_that_fails() -> None:
    open_one = Error("FAILED a.py::test_x", "e1", "pytest")
    gone = Error("FAILED a.py::test_y", "e1", "pytest", "e2")
    told = Summary(errors=(open_one, gone))
    assert count_contradictions(told, told) == 0
    assert count_contradictions(told, Summary(errors=(replace(open_one, resolved="e2"), gone))) == 1


STATED = replace(
    SEEN,
    state=(
        Quote("git branch: fix/rounding", "e3"),
        Quote("last run of pytest: 4 failed, 118 passed in 3.2s", "e4"),
    ),
    progress=Progress(phase="rewriting the converter", entry="e5"),
    facts=(
        Fact("$ reconcile --eur → 38 differences remain in March", "e6", "ran"),
        Fact("The cause is that rates are stored per dollar", "e7", "said"),
    ),
)


def scores_of(text: str) -> dict[str, float]:
    results = answer_probes(make_probes(STATED), text)
    return score_quality(results, source=STATED, candidate=STATED).to_dict()


@pytest.mark.parametrize(
    ("said", "instead", "dimension"),
    [
        ("rewriting the converter", "writing the release notes", "context_awareness"),
        ("fix/rounding", "main", "completeness"),
        ("4 failed, 118 passed", "122 passed", "completeness"),
        ("38 differences", "5 differences", "accuracy"),
    ],
    ids=["a wrong phase", "a stale branch", "a stale run", "a corrected figure"],
)
def test_a_text_that_says_something_else_scores_less(
    said: str, instead: str, dimension: str
) -> None:
    text = write_summary(STATED)
    assert said in text
    assert scores_of(text.replace(said, instead))[dimension] < scores_of(text)[dimension]


def test_half_of_a_text_scores_less_in_all() -> None:
    text = write_summary(STATED)
    lines = text.split("\n")
    whole, half = scores_of(text), scores_of("\n".join(lines[: len(lines) // 2]))
    assert sum(half.values()) < sum(whole.values())
    assert all(half[name] <= whole[name] for name in whole)
