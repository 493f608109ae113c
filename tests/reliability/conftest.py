from collections.abc import Iterator

import pytest

from tests.reliability.forks import Forks


@pytest.fixture(scope="session")
def server() -> Iterator[Forks]:
    with Forks() as started:
        yield started


@pytest.fixture
def forks(server: Forks) -> Iterator[Forks]:
    yield server
    server.put_away()
