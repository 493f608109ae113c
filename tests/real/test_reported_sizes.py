"""What providers reported in recorded sessions is what a replay tells."""

from pathlib import Path
from typing import Any

import pytest

from tests.real.data import names, native_file, needs_data, row_of
from tests.surfaces.cli.commands import document
from tests.surfaces.cli.conftest import project

__all__ = ["project"]


def _largest(name: str) -> int:
    """The largest request that the provider reported; zero when it reported none."""
    told: dict[str, Any] = row_of(name).get("reported_input_tokens") or {}
    return told.get("max") or 0


REPORTED = [name for name in names("claude", "codex", native=True) if _largest(name)]


@needs_data
@pytest.mark.parametrize("name", REPORTED)
def test_the_largest_request_is_the_one_that_the_provider_reported(
    name: str, project: Path
) -> None:
    (one,) = document("replay", str(native_file(name)), "--root", str(project))["sessions"]
    wanted = _largest(name)
    assert one["reported"]["peak"] == wanted
    if one["reported"]["requests"] <= one["without"]["requests"]:
        # Nothing was rewound: without compression every request is at least as large as reported.
        assert one["without"]["peak"] >= wanted
    assert one["window"] >= wanted
