import json

import pytest
from tests.goldens import made, path_of, spelled


@pytest.fixture(scope="module")
def fresh() -> dict[str, str]:
    return {name: spelled(candidate) for name, candidate in made().items()}


@pytest.mark.parametrize("name", ["batch", "all", "budget"])
def test_what_stands_in_for_the_bundled_session_is_what_it_was(
    fresh: dict[str, str], name: str
) -> None:
    assert fresh[name] == path_of(name).read_text(encoding="utf-8")


def test_the_goldens_hold_every_kind_of_stand_in_that_the_session_has_room_for() -> None:
    kinds = {step["kind"] for step in _steps("batch") + _steps("all")}
    assert kinds >= {"offload", "truncate", "debug", "intermediate", "thinking", "read", "mask"}
    assert "summary" in {step["kind"] for step in _steps("budget")}


def _steps(name: str) -> list[dict[str, object]]:
    return json.loads(path_of(name).read_text(encoding="utf-8"))["steps"]
