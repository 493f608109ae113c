"""Scenarios run where their client is; each gets a home and a provider of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from tests.agents.clients import absence
from tests.agents.driving import Driven
from tests.agents.provider import Provider

HERE = Path(__file__).parent
D = TypeVar("D", bound=Driven)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here is marked, so that it can be left out or run alone."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.agents)


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A provider that has nothing to say yet."""
    with Provider() as made:
        yield made


@pytest.fixture
def driven(tmp_path: Path, provider: Provider) -> Iterator[Callable[[type[D]], D]]:
    """A client in a scratch home; the scenario is skipped where there is no such client."""
    made: list[Driven] = []

    def drive(kind: type[D]) -> D:
        why = absence(kind.client)
        if why:
            pytest.skip(why)
        one = kind(tmp_path, provider)
        made.append(one)
        return one

    yield drive
    for one in made:
        one.end()
