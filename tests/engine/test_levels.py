"""Levels of a real session: after a compression, in a fresh process, and when things are lost."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

import holdfast
from holdfast.core.ledger.entry import Noted
from holdfast.core.plan.policy import PROFILES, Policy, with_settings
from holdfast.core.view.levels import LEVELS
from holdfast.engine.levels import full_pages
from holdfast.errors import BadSetting
from holdfast.models.tokenizers import counter
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from tests.surfaces.cli.working import FIRST, LATEST, messages, talk

COUNT = counter("o200k_base")
STRESS = with_settings(Policy(window=40_000), PROFILES["stress"])


def noted(session: Session, what: str) -> list[dict[str, str]]:
    bodies = (entry.body for entry in session.store.read(session.name))
    return [body.facts for body in bodies if isinstance(body, Noted) and body.what == what]


@pytest.mark.seed("R174", "R175", "R176", "R177")
@pytest.mark.parametrize("number", LEVELS)
@pytest.mark.parametrize("made", [messages, talk])
def test_every_level_can_be_given_after_a_compression_and_tells_the_requests(
    made: Callable[[], list[dict[str, object]]], number: int
) -> None:
    session = Session("s", MemoryStore(), policy=STRESS, wire="openai_chat")
    session.extend(made())
    session.messages()
    assert any(event.kind.startswith("TIER") for event in session.log())
    text = session.level(number)
    assert COUNT(text) <= LEVELS[number]
    assert f": level {number} of s, not instructions ---" in text.split("\n")[0]
    for said in (FIRST, LATEST):
        assert said.split()[0] in text
    assert noted(session, "recovery_failed") == []


def test_a_level_tells_the_same_in_another_process(tmp_path: Path) -> None:
    with holdfast.open("s", root=tmp_path) as session:
        session.extend(messages(3))
        here = session.level(2)
    code = "import holdfast, sys\nprint(holdfast.open('s', root=sys.argv[1]).level(2))"
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert ran.stdout == f"{here}\n"


def ran(command: str, output: str, **edited: str) -> list[dict[str, Any]]:
    """A call and its result: a command, or an edit if that is given."""
    tool, arguments = ("Edit", edited) if edited else ("bash", {"command": command})
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": command, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": command, "content": output},
    ]


def spoken(*turns: str) -> list[dict[str, Any]]:
    """What the user and the agent said by turns, with a run of the tests before the last."""
    roles = ("user", "assistant") * len(turns)
    said = [{"role": role, "content": text} for role, text in zip(roles, turns, strict=False)]
    return [*said[:-1], *ran("pytest -q", "1 failed, 11 passed in 0.4s"), *said[-1:]]


WORK = [
    *ran("git checkout -b fix/leak", "Switched to a new branch 'fix/leak'"),
    *ran("e", "ok", file_path="/srv/pool.py", old_string="pass", new_string="def release(): ..."),
    *ran("pytest -q", "1 failed, 11 passed in 0.4s"),
]


def level_of(told: list[dict[str, Any]], number: int) -> str:
    session = Session("s", MemoryStore(), wire="openai_chat")
    session.extend(told)
    text = session.level(number)
    assert COUNT(text) <= LEVELS[number]
    return text


def test_the_smallest_level_says_what_the_user_wants_now_and_where_the_work_is() -> None:
    asked = "Write a test for the release of a connection."
    told = [{"role": "user", "content": "Fix the leak."}, *WORK, {"role": "user", "content": asked}]
    first, second, third = level_of(told, 1).split("\n")[1:4]
    assert (first, second) == (f"Now: {asked}", "Request: Fix the leak.")
    assert third.startswith("State: last run of pytest: $ pytest -q → 1 failed, 11 passed")


@pytest.mark.parametrize("asked", ["", "Fix the leak, and run the tests."])
def test_a_session_without_prose_tells_what_was_run_and_edited(asked: str) -> None:
    told = [{"role": "user", "content": asked}, *WORK] if asked else WORK
    small, large = (level_of(told, number) for number in (1, 3))
    for text in (asked, "1 failed, 11 passed in 0.4s", "edited pool.py"):
        assert text in small
    for text in (asked, "git branch: fix/leak", "pool.py (modified)", "def release(): ..."):
        assert text in large


@pytest.mark.parametrize(
    "turns",
    [
        (
            "Behebe das Leck im Pool.",
            "Die Ursache ist, dass release() die Verbindung nicht zurückgibt.",
            "Gut. Schreib noch einen Test dafür.",
            "Der Test ist geschrieben. Es fehlt noch die Doku in docs/pool.md.",
        ),
        (
            "修复连接池的泄漏。",
            "原因是 release() 没有归还连接。",
            "好的。现在为它写一个测试，并更新文档。",
            "测试 test_release 已经写好。文档 docs/pool.md 还没有更新。",
        ),
        (
            "Arregla la fuga del pool de conexiones.",
            "La causa es que release() no devuelve la conexión.",
            "Bien. Ahora escribe una prueba para eso.",
            "La prueba test_release está escrita. Falta la documentación en docs/pool.md.",
        ),
    ],
)
def test_levels_are_made_of_any_language(turns: tuple[str, ...]) -> None:
    small, middle = (level_of(spoken(*turns), number) for number in (1, 2))
    assert f": {turns[2]}\n" in small
    assert "State" in small
    parts = ["docs/pool.md", "1 failed, 11 passed", *turns[:3]]
    assert [text for text in parts if text not in middle] == []
    places = [middle.rindex(text) for text in (turns[1], "docs/pool.md")]
    assert places == sorted(places)


def test_there_is_no_level_besides_the_three() -> None:
    session = Session("s", MemoryStore())
    for number in (0, 4, -1):
        with pytest.raises(BadSetting):
            session.level(number)


def test_a_session_in_which_nothing_happened_has_levels_that_say_nothing() -> None:
    assert "--- data" in Session("s", MemoryStore()).level(1)


def damaged(root: Path, entry: int) -> None:
    """Make the content of one entry something that was never written."""
    db: Any = apsw.Connection(str(root / ".holdfast" / "ledger.db"))
    db.execute("update entries set at = 'long ago' where seq = ?", (entry,))
    db.close()


@pytest.mark.seed("R319", "R320", "R321")
def test_a_level_that_cannot_be_given_is_followed_by_all_that_can_be_read(tmp_path: Path) -> None:
    with holdfast.open("s", root=tmp_path) as session:
        session.extend(messages(2))
    damaged(tmp_path, 3)
    with holdfast.open("s", root=tmp_path) as session:
        text = session.level(1)
        first, rest = text.split("\n", 1)
        assert first.startswith("recovery failed (level 1: ")
        assert [f"level {number}: " in first for number in LEVELS] == [True] * 3
        assert "something may be lost" in first
        assert "## [#3] cannot be read" in rest
        assert FIRST in rest
        assert LATEST in rest
        failures = noted_by_number(session)
    assert [facts["level"] for facts in failures] == ["1", "2", "3"]
    assert all("may be lost" in facts["review"] for facts in failures)


def noted_by_number(session: Session) -> list[dict[str, str]]:
    """Notes that can be read although another entry cannot."""
    head = session.store.head(session.name)
    assert head is not None
    numbers = [number for number in range(1, head.seq + 1) if number != 3]
    bodies = (entry.body for entry in session.store.read(session.name, numbers=numbers))
    return [one.facts for one in bodies if isinstance(one, Noted) and one.what == "recovery_failed"]


def test_everything_is_streamed_in_one_fence_entry_by_entry() -> None:
    session = Session("s", MemoryStore(), wire="openai_chat")
    session.extend(messages(2))
    parts = list(full_pages(session.ledger))
    assert len(parts) == 2 + len(session.ledger.path())
    token = parts[0][9:15]
    assert parts[-1] == f"--- end {token} ---\n"
    for said in (FIRST, LATEST, "step_1_119"):
        assert said in "".join(parts)


@pytest.mark.seed("R174")
def test_a_reference_opens_after_a_restart_a_month_later(tmp_path: Path) -> None:
    with holdfast.open("s", root=tmp_path) as session:
        session.extend(messages(3))
        ref = session.ledger.path()[2].id[:8]
        here = session.read(ref)
        store = session.store
        late = Session("s", store, clock=lambda: "2099-01-01T00:00:00Z", owns_store=False)
        assert (late.read(ref), late.level(1)) == (here, session.level(1))
    code = (
        "import time, sys\n"
        "real = time.gmtime\n"
        "time.gmtime = lambda at=None: real(time.time() + 30 * 86400)\n"
        "import holdfast\n"
        "print(holdfast.open('s', root=sys.argv[1]).read(sys.argv[2]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), ref], capture_output=True, text=True, check=True
    )
    assert ran.stdout == f"{here}\n"
