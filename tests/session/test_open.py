"""What the library says to whoever gives it what cannot be meant."""

import gc
from pathlib import Path
from typing import Any
from weakref import ref

import pytest

import holdfast
from holdfast.errors import BadSetting, StoreRefused
from holdfast.session.compress import compress
from holdfast.session.open import open as open_session
from holdfast.stores.store import Store

WORDS = [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize("budget", [-1, 1.5, True, "abc", None])
def test_a_budget_that_is_no_number_of_tokens_is_refused_in_a_sentence(
    tmp_path: Path, budget: Any
) -> None:
    with pytest.raises(BadSetting, match="is not a number of tokens"):
        compress(WORDS, budget)
    if budget is not None:
        with open_session("s", root=tmp_path) as session, pytest.raises(BadSetting):
            session.compact(budget)


def test_a_window_that_is_no_number_of_tokens_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="'big' is not a number of tokens"):
        open_session("s", root=tmp_path, window="big")  # pyright: ignore[reportArgumentType]


def test_what_is_public_can_be_seen_before_it_is_loaded() -> None:
    assert {"open", "compress", "resume", "ingest"} <= set(dir(holdfast))


def test_a_closed_session_says_so(tmp_path: Path) -> None:
    session = open_session("s", root=tmp_path)
    session.extend(WORDS)
    session.close()
    for use in (session.messages, session.status, lambda: session.append(WORDS[0])):
        with pytest.raises(StoreRefused, match="the session was closed; open it again"):
            use()
    session.close()


def test_a_session_that_is_dropped_closes_its_file(tmp_path: Path) -> None:
    def use() -> "ref[Store]":
        session = holdfast.open("one", root=tmp_path)
        session.append({"role": "user", "content": "Begin."})
        session.messages()
        return ref(session.store)

    store = use()
    gc.collect()
    assert store() is None
