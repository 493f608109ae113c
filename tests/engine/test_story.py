from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from holdfast.core.ledger.summary import Summary
from holdfast.core.observe.moments.moment import Moment
from holdfast.engine.purge.purge import apply_purge, plan_message_purge
from holdfast.session.open import open as open_session
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore

Message = dict[str, Any]
SECRET = "The launch code of the harbour crane is kept by Ines."


def turn(number: int, *, steps: int = 8) -> list[Message]:
    made: list[Message] = [{"role": "user", "content": f"Write part {number} of the report."}]
    for at in range(steps):
        name = f"c{number}_{at}"
        arguments = f'{{"command": "pytest tests/test_{number}_{at}.py"}}'
        call = {
            "id": name,
            "type": "function",
            "function": {"name": "Bash", "arguments": arguments},
        }
        said = f"Part {number} needs the helper helper_{number}_{at}."
        made.append({"role": "assistant", "content": said, "tool_calls": [call]})
        made.append({"role": "tool", "tool_call_id": name, "content": f"{at} passed"})
    return [*made, {"role": "assistant", "content": f"Part {number} is written."}]


def content(session: Session) -> tuple[Summary, Sequence[Moment]]:
    content = session.ledger.engine.content()
    return content.rows, content.moments


def is_cached(session: Session) -> bool:
    return session.store.read_cache(session.name, "story") is not None


def test_a_session_that_was_read_as_it_grew_says_what_one_that_is_read_at_once_says() -> None:
    grown, whole = (Session("s", MemoryStore()) for _ in range(2))
    for number in range(8):
        grown.extend(turn(number))
        content(grown)
        whole.extend(turn(number))
    assert content(grown) == content(whole)


def test_the_next_process_goes_on_from_the_chapters_that_were_read(tmp_path: Path) -> None:
    with open_session("s", root=tmp_path) as first:
        for number in range(6):
            first.extend(turn(number))
        known = content(first)
        assert is_cached(first)
    with open_session("s", root=tmp_path) as second:
        assert content(second) == known
        second.extend(turn(6))
        after = content(second)
    other = Session("s", MemoryStore())
    for number in range(7):
        other.extend(turn(number))
    assert _texts(after) == _texts(content(other))


def test_a_rewind_forgets_the_chapters_of_the_path_that_was_left() -> None:
    session = Session("s", MemoryStore())
    history = [message for number in range(6) for message in turn(number)]
    session.sync(history)
    assert "helper_5_0" in str(content(session))
    session.sync([*history[: -len(turn(5))], {"role": "user", "content": "Write no part 5."}])
    shown = str(content(session))
    assert "helper_5_0" not in shown
    assert "helper_4_0" in shown


@pytest.mark.parametrize("is_reopened", [False, True])
def test_what_was_purged_is_in_no_moment(tmp_path: Path, is_reopened: bool) -> None:
    session = open_session("s", root=tmp_path)
    for number in range(3):
        session.extend(turn(number))
    session.append({"role": "assistant", "content": SECRET})
    for number in range(3, 6):
        session.extend(turn(number))
    assert "harbour crane" in str(content(session))
    (entry,) = [e for e in session.ledger.path() if SECRET in str(e.body)]
    plan = plan_message_purge(session.ledger, entry.id)
    apply_purge(session.ledger, plan, at="2026-01-01T00:00:00Z")
    if is_reopened:
        session.close()
        session = open_session("s", root=tmp_path)
    assert "harbour crane" not in str(content(session))
    session.close()


def _texts(found: tuple[Summary, Sequence[Moment]]) -> list[str]:
    return [moment.text for moment in found[1]]
