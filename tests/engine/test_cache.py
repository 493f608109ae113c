"""What was read off a session is kept for the next process, and comes to the same as reading it."""

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from holdfast.core.ledger.entry import Entry, Said
from holdfast.core.plan.policy import Policy, Redact
from holdfast.core.view.questions.statements import SessionStatements
from holdfast.engine.cache import read_through_cache, rules_digest
from holdfast.engine.purge.purge import apply_purge, plan_message_purge
from holdfast.engine.redact import MIN_NEW_TO_SAVE, SECRETS_CACHE, Redactor
from holdfast.errors import StoreBusy
from holdfast.packets.deliver import deliver_packet
from holdfast.packets.make import generate_packet
from holdfast.packets.questions import project_decisions
from holdfast.session.open import open as open_session
from holdfast.session.session import Session
from holdfast.stores.store import Store
from tests.secrets import PLANTED

KEY = PLANTED["github-token"]
MANY = [{"role": "user", "content": f"Look at export {at}."} for at in range(MIN_NEW_TO_SAVE)]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with open_session("s", root=tmp_path) as made:
        made.extend([{"role": "user", "content": f"The key is {KEY}."}, *MANY])
        yield made


def again(session: Session) -> Redactor:
    """The redactor of another process."""
    return Redactor(session.policy.redact, session.store, session.name)


def test_another_process_knows_the_secrets_without_reading_what_was_read(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.ledger.redactor.learn()
    read = session.store.read

    def not_again(name: str, *, since: int = 0) -> Iterator[Entry]:
        assert since, "it was all read again"
        return read(name, since=since)

    monkeypatch.setattr(session.store, "read", not_again)
    session.append({"role": "user", "content": "And now?"})
    assert KEY not in again(session).text(f"It was {KEY}, was it not?")


def test_what_came_since_is_read_all_the_same(session: Session) -> None:
    session.ledger.redactor.learn()
    late = PLANTED["aws-key"]
    session.append({"role": "user", "content": f"And {late} is the other."})
    other = again(session)
    other.learn()
    fresh = Redactor(session.policy.redact, session.store, "s")
    fresh.learn_from(session.store.read("s"))
    assert dict(other.known.marks) == dict(fresh.known.marks)
    assert other.known.clean == fresh.known.clean
    assert late not in other.text(late)


def test_what_was_taken_from_elsewhere_stays_a_secret(session: Session) -> None:
    session.ledger.redactor.learn()
    late = PLANTED["aws-key"]
    other = again(session)
    other.learn_from([Entry("e1" * 16, None, Said("user", f"It is {late}."), 1)])
    shown = other.text(f"{KEY} and {late}")
    assert late in other.known.marks
    assert (KEY in shown, late in shown) == (False, False)


def test_other_rules_read_anew(session: Session) -> None:
    session.ledger.redactor.learn()
    other = Redactor(Redact(patterns=(r"export \d+",)), session.store, "s")
    other.learn()
    assert len(session.ledger.redactor.known.clean) == len(MANY)
    assert not other.known.clean


def test_few_entries_are_not_worth_keeping(tmp_path: Path) -> None:
    with open_session("s", root=tmp_path) as session:
        session.append(MANY[0])
        session.ledger.redactor.learn()
        assert session.store.read_cache("s", SECRETS_CACHE) is None


def test_what_other_sessions_settled_is_the_same_from_the_ledger_and_from_what_was_kept(
    session: Session, tmp_path: Path
) -> None:
    with open_session("other", root=tmp_path) as other:
        other.append({"role": "user", "content": f"Never print {KEY}. Use JWT for logins."})
        first = project_decisions(other.ledger).all_statements()
        assert session.store.read_cache("s", "told") is not None
        assert project_decisions(other.ledger).all_statements() == first
        other.append({"role": "user", "content": "Never touch the schema."})
        texts = [one.text for one in project_decisions(other.ledger).statements_of("other").settled]
        assert "Never touch the schema." in texts
    assert KEY not in repr(first)


def made_anew() -> SessionStatements:
    return SessionStatements("made anew")


def test_what_was_kept_in_another_shape_is_made_again(session: Session) -> None:
    store: Store = session.store
    rules = rules_digest("test")
    store.write_cache("s", "told", session.ledger.head(), b"\x93\x01\x02")
    assert (
        read_through_cache(store, "s", "told", rules, SessionStatements, made_anew) == made_anew()
    )
    assert (
        read_through_cache(
            store, "s", "told", rules, SessionStatements, lambda: SessionStatements("never")
        )
        == made_anew()
    )


def test_a_store_that_takes_nothing_hinders_nobody(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise StoreBusy("ledger.db")

    monkeypatch.setattr(session.store, "write_cache", refuse)
    assert (
        read_through_cache(session.store, "s", "told", "x", SessionStatements, made_anew)
        == made_anew()
    )
    assert session.store.read_cache("s", "told") is None


def test_half_a_character_hinders_nobody(session: Session) -> None:
    half = SessionStatements("half of \ud83d")
    assert (
        read_through_cache(session.store, "s", "told", "x", SessionStatements, lambda: half) == half
    )
    assert session.store.read_cache("s", "told") is None


TASK = "Add a test for the last change"
RULE = "Never touch the billing schema."


def worked(tmp_path: Path, *rules: str) -> Path:
    """A project whose session has said much, some of it rules."""
    with open_session("s", root=tmp_path) as session:
        session.extend([{"role": "user", "content": text} for text in rules])
        session.extend(MANY)
        session.append({"role": "assistant", "content": "I'll use RS256 because it is checked."})
    return tmp_path


def prompt(root: Path, policy: Policy | None = None) -> str:
    """A packet as a process of its own would make it."""
    with open_session("s", root=root, policy=policy) as session:
        return session.packet(TASK, "deep").to_prompt()


def test_a_packet_is_the_same_in_the_next_process(tmp_path: Path) -> None:
    first = prompt(worked(tmp_path, f"{RULE} The key is {KEY}."))
    assert RULE in first
    assert "RS256" in first
    with open_session("s", root=tmp_path) as session:
        deliver_packet(
            session.ledger,
            generate_packet(session.ledger, TASK, "minimal", audience="pane-1"),
            task=TASK,
        )
    again = prompt(tmp_path)
    assert again == first
    assert KEY not in again


def test_a_packet_knows_what_was_said_and_pinned_since(tmp_path: Path) -> None:
    prompt(worked(tmp_path))
    with open_session("s", root=tmp_path) as session:
        session.append({"role": "user", "content": RULE})
    assert RULE in prompt(tmp_path)
    with open_session("s", root=tmp_path) as session:
        session.pin("Deploy on Tuesdays only.")
    assert "Deploy on Tuesdays only." in prompt(tmp_path)
    with open_session("s", root=tmp_path) as session:
        session.unpin(RULE)
    assert RULE not in prompt(tmp_path)


def test_a_packet_by_other_rules_is_made_anew(tmp_path: Path) -> None:
    assert "RS256" in prompt(worked(tmp_path))
    hidden = Policy(redact=Redact(patterns=("RS256",)))
    assert "RS256" not in prompt(tmp_path, hidden)
    assert "RS256" in prompt(tmp_path)


def test_what_was_purged_is_in_no_packet(tmp_path: Path) -> None:
    assert RULE in prompt(worked(tmp_path, RULE))
    with open_session("s", root=tmp_path) as session:
        entry = next(session.store.read("s"))
        apply_purge(
            session.ledger, plan_message_purge(session.ledger, entry.id), at="2026-01-01T00:00:00Z"
        )
        assert session.store.read_cache("s", "story") is None
    assert RULE not in prompt(tmp_path)


def test_what_somebody_else_purged_is_in_no_packet_of_a_session_that_is_still_open(
    tmp_path: Path,
) -> None:
    worked(tmp_path, RULE)
    with open_session("s", root=tmp_path) as still_open:
        assert RULE in still_open.packet(TASK, "deep").to_prompt()
        with open_session("s", root=tmp_path) as other:
            entry = next(other.store.read("s"))
            apply_purge(
                other.ledger, plan_message_purge(other.ledger, entry.id), at="2026-01-01T00:00:00Z"
            )
        assert RULE not in still_open.packet(TASK, "deep").to_prompt()
    assert RULE not in prompt(tmp_path)
