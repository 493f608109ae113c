"""Copies on disk: where each protocol looks for them, written before a window names them."""

import re
from pathlib import Path

import pytest

import holdfast
from holdfast.core.ledger.entry import Compressed
from holdfast.core.plan.policy import PROFILES, Policy, with_settings
from holdfast.core.view.conversation import render_conversation
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from tests.reliability.chains import Message, ask, rows, say, turn, use

TITLES = [
    "### Session Intent",
    "### Files Modified",
    "### Files Read (Not Modified)",
    "### Decisions Made",
    "### Current State",
    "### Next Steps",
    "### Error Context",
]
"""The template of the session summary, in its order."""


def small(layout: str, profile: str = "anchored") -> Policy:
    here = {"model": "gpt-5", "window": 11_000, "reserve": 1_000, "layout": layout}
    return with_settings(Policy(), {**PROFILES[profile], **here})


def summaries(session: Session) -> int:
    bodies = (entry.body for entry in session.store.read(session.name))
    return sum(isinstance(body, Compressed) and body.summary is not None for body in bodies)


def work(session: Session, first: int, until: int) -> int:
    """Turn after turn, until there are so many summaries; the turn to go on with."""
    while summaries(session) < until:
        session.extend(turn(first))
        session.messages()
        first += 1
    return first


def titles(page: str) -> list[str]:
    found = [line.split(" (if any)")[0] for line in page.split("\n") if line.startswith("### ")]
    return [title for title in found if title in TITLES]


@pytest.mark.seed("R079")
def test_the_summary_of_a_task_is_kept_up_to_date_where_its_protocol_looks_for_it(
    tmp_path: Path,
) -> None:
    product = tmp_path / "products" / "shop"
    product.mkdir(parents=True)
    expected = tmp_path / "products/shop/.claude/scratch/session-summary-AUTH-7.md"
    with holdfast.open("s", root=product, task="AUTH-7", policy=small("anchored")) as session:
        session.extend(turn(1))
        session.messages()
        assert not expected.exists()
        next_one = work(session, 2, until=1)
        first = expected.read_text()
        work(session, next_one, until=2)
    page = expected.read_text()
    assert page.startswith("## Session Summary — AUTH-7\n")
    assert titles(page) == TITLES
    assert first != page
    for written in re.findall(r"\| (src/part_\d+\.py) \|", first):
        assert f"| {written} |" in page
    assert list(tmp_path.rglob("session-summary-*")) == [expected]


@pytest.mark.seed("R096")
def test_a_sub_agent_keeps_its_own_summary_goes_on_from_it_and_hands_it_on(tmp_path: Path) -> None:
    policy, store = small("anchored"), MemoryStore()
    parent = Session("s", store, policy=policy, root=str(tmp_path), task="SHOP-1")
    parent.extend([ask("Have the importer written."), say("I will ask a helper.")])
    before = parent.messages()
    helper = Session("s", store, policy=policy, root=str(tmp_path), agent="helper", task="SHOP-2")
    at = work(helper, 1, until=1)
    page = tmp_path / ".claude/scratch/session-summary-SHOP-2.md"
    once = page.read_text()
    said = [ask("Is case 2 covered?"), say("It is, since part 2.")]
    helper.extend(said)
    anchor, *rest = helper.messages()
    assert str(anchor["content"]).startswith("## Session Summary [s]")
    assert rest[-2:] == said
    work(helper, at, until=2)
    assert page.read_text() != once
    assert parent.messages() == before
    assert [path.name for path in tmp_path.rglob("session-summary-*")] == [page.name]
    helper.note("task_done")
    with holdfast.resume(helper, as_="next") as after:
        handed = after.packet("Write the docs of the importer.", "deep").to_prompt()
    prior = handed.partition("## Prior Session Context\n")[2]
    assert "Part 1: make the importer handle case 1." in prior


def test_an_archive_that_is_appended_to_is_the_same_as_one_written_whole(tmp_path: Path) -> None:
    with holdfast.open("s", root=tmp_path, policy=small("holdfast")) as session:
        next_one = work(session, 1, until=1)
        (archive,) = tmp_path.rglob("*_full.md")
        first, file = archive.read_text(), archive.stat().st_ino
        next_one = work(session, next_one, until=2)
        assert (archive.read_text(), archive.stat().st_ino) == (archived(session), file)
        assert archive.read_text().startswith(first)
        archive.write_text("changed by hand")
        next_one = work(session, next_one, until=3)
        assert archive.read_text() == archived(session)
    with holdfast.open("s", root=tmp_path, policy=small("holdfast")) as session:
        work(session, next_one, until=4)
        assert archive.read_text() == archived(session)


def archived(session: Session) -> str:
    """The page of the conversation up to the newest summary."""
    ledger = session.ledger.whole_window().ledger
    made = max(e.seq for e in ledger if isinstance(e.body, Compressed) and e.body.summary)
    return render_conversation("s", (e for e in session.ledger.path() if e.seq < made))


def test_agents_of_one_session_never_write_the_same_page(tmp_path: Path) -> None:
    store = MemoryStore()
    for agent in ("", "helper-1", "helper-2"):
        session = Session(
            "s" * 60, store, policy=small("holdfast"), root=str(tmp_path), agent=agent
        )
        work(session, 1, until=1 + summaries(session))
    assert len(list(tmp_path.rglob("*_full.md"))) == 3
    assert len(list(tmp_path.rglob("session-summary-*.md"))) == 3


@pytest.mark.seed("R270")
def test_the_cache_of_the_protocol_has_a_folder_for_each_kind(tmp_path: Path) -> None:
    policy = small("ctx-001", "ctx-001")
    session = Session(
        "s", MemoryStore(), policy=policy, root=str(tmp_path), clock=lambda: "2026-01-29T14:25:30Z"
    )
    session.extend([ask("Show it all."), *use("all", "Bash", rows(0, 900), command="dump")])
    session.messages()
    work(session, 1, until=1)
    cache = tmp_path / "Memory" / "Shared" / "cache"
    kinds = {path.name: sorted(file.name for file in path.iterdir()) for path in cache.iterdir()}
    assert sorted(kinds) == ["checkpoints", "conversations", "intermediate", "offloaded"]
    assert kinds["conversations"] == ["s_full.md"]
    named = re.compile(r"20260129_142530_(bash|read|s)-[0-9a-f]{8}\.md")
    for kind in ("checkpoints", "intermediate", "offloaded"):
        assert kinds[kind] and all(named.fullmatch(name) for name in kinds[kind])
    archived = (cache / "conversations" / "s_full.md").read_text()
    assert rows(0, 900) in archived
    large = cache / "offloaded" / kinds["offloaded"][0]
    assert large.read_text() == rows(0, 900)


def planned() -> list[Message]:
    spec = "I will keep amounts as integers because floats lose cents."
    return [ask("Plan the importer. Never touch the schema."), say(spec)]


@pytest.mark.seed("R193", "R194")
def test_finished_work_goes_into_the_summary_and_work_under_way_stays_as_it_is(
    tmp_path: Path,
) -> None:
    session = Session(
        "s", MemoryStore(), policy=small("anchored"), root=str(tmp_path), task="IMPORT-1"
    )
    session.extend(planned())
    session.note("phase_change", **{"from": "planning", "to": "implementation"})
    for number in range(1, 12):
        session.extend(turn(number))
        session.messages()
    active = [
        ask("Part 99: now the last one."),
        *use("r99", "Read", rows(99, 40), file_path="docs/last.md"),
        *use("t99", "Bash", "FAILED tests/test_last.py - AssertionError", command="pytest"),
    ]
    session.extend(active)
    session.note("phase_change", **{"from": "implementation", "to": "implementation"})
    anchor, *rest = session.messages()
    assert str(anchor["content"]).startswith("## Session Summary [s]")
    assert rest[-len(active) :] == active
    page = (tmp_path / ".claude/scratch/session-summary-IMPORT-1.md").read_text()
    assert titles(page) == TITLES
    done, _, _ = page.partition("### Current State")
    assert "keep amounts as integers" in done
    assert "Never touch the schema." in done
    assert "| src/part_1.py | created |" in done
    assert "src/part_99" not in page
