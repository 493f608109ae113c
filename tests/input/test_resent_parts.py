"""A resent message of which a part is known and another is not is sent as the client has it."""

from pathlib import Path
from typing import Any

import pytest

from holdfast.session.open import open as open_session

Message = dict[str, Any]


def said(*texts: str) -> Message:
    """A message of several parts."""
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


HISTORIES: dict[str, list[list[Message]]] = {
    "another last part": [[said("1"), said("a", "b")], [said("1"), said("a", "c")]],
    "another part in the middle": [
        [said("1"), said("a", "b"), said("z")],
        [said("1"), said("a", "c"), said("z")],
    ],
    "one part more": [[said("1"), said("a")], [said("1"), said("a", "b")]],
    "one part less": [[said("1"), said("a", "b")], [said("1"), said("a")]],
    "there and back": [[said("a", "b", "c")], [said("a", "b", "d")], [said("a", "b", "c")]],
    "the other way round": [
        [said("a", "b"), said("a", "c")],
        [said("a", "b")],
        [said("a", "c"), said("a", "b")],
    ],
}


@pytest.mark.parametrize("what", HISTORIES)
def test_what_is_sent_is_what_the_client_resent(what: str, tmp_path: Path) -> None:
    with open_session("s", root=tmp_path) as session:
        for history in HISTORIES[what]:
            session.sync(history)
            assert session.messages() == history
    with open_session("s", root=tmp_path) as session:
        assert session.messages() == HISTORIES[what][-1]
        assert list(session.store.check()) == []
