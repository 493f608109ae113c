"""Keeps the clauses, their markers and proven.py in step."""

from tests.seeds.markers import ROOT, Pair, has_test, marked_pairs, misplaced, without_parameters
from tests.seeds.proven import PROVEN
from tests.seeds.requirements import CLAUSES, GROUPS

IDS = [f"R{number:03}" for number in range(1, 357)]


def listed(title: str, pairs: set[Pair]) -> list[str]:
    """Return the lines that show one side of a difference."""
    return [title, *(f"  {clause}  {test}" for clause, test in sorted(pairs))] if pairs else []


def test_every_clause_is_present_once_and_in_order() -> None:
    assert [clause.id for clause in CLAUSES] == IDS


def test_the_groups_cover_every_clause_once_and_in_order() -> None:
    grouped = [id_ for _, first, last in GROUPS for id_ in IDS if first <= id_ <= last]
    assert grouped == IDS


def test_every_proven_clause_exists() -> None:
    assert sorted(PROVEN.keys() - set(IDS)) == []


def test_every_test_that_proves_a_clause_exists() -> None:
    named = {test for tests in PROVEN.values() for test in tests}
    assert sorted(test for test in named if not has_test(ROOT, test)) == []


def test_every_marker_stands_on_a_top_level_test_and_names_its_clauses() -> None:
    assert misplaced(ROOT) == []


def test_the_markers_and_the_proven_clauses_agree() -> None:
    proven = {(clause, without_parameters(t)) for clause, tests in PROVEN.items() for t in tests}
    marked = marked_pairs(ROOT)
    differences = [
        *listed("marked, but not in proven.py:", marked - proven),
        *listed("in proven.py, but not marked:", proven - marked),
    ]
    hint = "run `python -m tests.seeds --write`"
    assert not differences, "\n".join([hint, *differences])
