import json

import pytest

from holdfast.core.ledger.entry import Entry, Source, ToolCalled, ToolReturned
from holdfast.core.ledger.window import Item
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.results.failures import (
    normalize_command,
    resolved_failures,
    shows_failure,
)
from holdfast.core.observe.scene import read_scene

FAILED, PASSED = "FAILED tests/test_a.py::test_x\n1 failed", "1 passed in 0.1s"


def ran(*runs: tuple[str, str]) -> dict[int, int]:
    """Which of some commands with their outputs went well later."""
    bodies: list[Source] = []
    for number, (command, output) in enumerate(runs):
        bodies.append(ToolCalled(f"c{number}", "Bash", json.dumps({"command": command})))
        bodies.append(ToolReturned(f"c{number}", output))
    items = [Item(Entry(str(at), None, body, at + 1)) for at, body in enumerate(bodies)]
    scene = read_scene(items)
    return resolved_failures(scene, [touch_of(pair.body) for pair in scene.pairs])


def test_a_failure_is_resolved_where_the_same_command_went_well() -> None:
    runs = ("pytest -q tests/test_a.py", FAILED), ("pytest -q tests/test_a.py", PASSED)
    assert ran(*runs) == {1: 3}


def test_a_failure_that_came_after_the_success_is_not_resolved() -> None:
    assert ran(("make test", PASSED), ("make test", FAILED)) == {}


@pytest.mark.parametrize(
    ("failing", "passing"),
    [
        ("python -m pytest tests/test_a.py", "python -m pytest tests/test_b.py"),
        ("cd /repo && cargo test -p one", "cd /repo && cargo test -p two"),
        ("uv run pytest tests/test_a.py", "uv run pytest tests/test_b.py"),
        ("cd /repo && npm run build", "cd /repo && npm run lint"),
        ("pytest -q tests/test_a.py -k slow", "pytest -q tests/test_a.py -k fast"),
    ],
)
def test_a_command_that_went_well_resolves_no_failure_of_another(
    failing: str, passing: str
) -> None:
    assert normalize_command(failing) != normalize_command(passing)
    assert ran((failing, FAILED), (passing, PASSED)) == {}


def test_a_failure_is_seen_at_the_end_of_a_long_output_and_not_in_an_empty_one() -> None:
    assert shows_failure(ToolReturned("c", "x" * 50_000 + "\nFAILED tests/test_a.py"))
    assert not shows_failure(ToolReturned("c", ""))
