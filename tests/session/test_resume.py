"""Going on in a fresh session: linked, told as data, with the requests and the references known."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast
from holdfast.core.ledger.entry import Noted, Resumed, Said
from holdfast.errors import BadSetting, NotRecorded
from holdfast.models.tokenizers import counter
from holdfast.session.resume import resume
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from tests.examples import examples
from tests.properties.sessions import histories
from tests.provider.strict import WIRES, complaints
from tests.surfaces.cli.working import FIRST, LATEST, TURN, talk

COUNT = counter("o200k_base")


def old_session() -> Session:
    session = Session("talk", MemoryStore(), wire="openai_chat")
    session.extend(talk(3))
    return session


def bodies(session: Session) -> list[object]:
    return [entry.body for entry in session.store.read(session.name)]


def test_a_fresh_session_begins_with_what_the_old_one_came_to_as_data() -> None:
    old = old_session()
    new = resume(old)
    (message,) = new.messages()
    text = str(message["content"])
    assert message["role"] == "user"
    assert text.startswith("--- data ")
    assert FIRST.split("\n")[0] in text
    assert LATEST in text
    assert COUNT(text) <= 2_000
    (said,) = (entry.body for entry in new.ledger.path())
    assert said == Said("user", text, by="holdfast")


def test_both_ledgers_say_that_the_one_goes_on_from_the_other() -> None:
    old = old_session()
    new = resume(old)
    assert new.name == "talk-2"
    (link,) = (body for body in bodies(new) if isinstance(body, Resumed))
    (note,) = (b for b in bodies(old) if isinstance(b, Noted) and b.what == "continued")
    assert note.facts == {"session": "talk-2", "checkpoint": link.checkpoint}
    assert link.session == "talk"
    assert old.ledger.find(link.checkpoint).id == link.checkpoint
    assert resume(new).name == "talk-3"


def test_the_first_and_the_latest_request_are_known_before_and_after_a_new_one() -> None:
    new = resume(old_session())
    intent = new.intent()
    assert (intent.original.text, intent.current.text) == (FIRST, LATEST)
    new.append({"role": "user", "content": "Now write the report."})
    intent = new.intent()
    assert (intent.original.text, intent.current.text) == (FIRST, "Now write the report.")
    assert "Request" in new.level(1)
    assert FIRST.split("\n")[0] in new.level(2)
    assert "Now [" in new.level(2)


def test_what_was_known_is_still_known_after_the_fresh_session_is_compressed() -> None:
    new = resume(old_session())
    new.extend(talk()[2:])
    new.compact(budget=new.status().tokens // 3)
    rows = new.summary().rows
    assert rows.intent.original.text == FIRST
    assert any("Do not touch the schema." in row.text for row in rows.constraints)
    assert TURN in {change.text for change in rows.intent.changes}
    assert "src/totals.py" in {file.path for file in rows.files}
    assert FIRST.split("\n")[0] in str(new.messages())


def test_references_of_the_old_session_open_in_the_fresh_one() -> None:
    old = old_session()
    new = resume(resume(old))
    for entry in old.ledger.path():
        assert new.read(entry.id[:8]) == old.read(entry.id[:8])
    with pytest.raises(NotRecorded):
        new.read("0123456789ab")


def test_a_fresh_session_can_go_on_from_an_older_checkpoint(tmp_path: Path) -> None:
    with holdfast.open("talk", root=tmp_path) as old:
        old.extend(talk(2))
        ref = old.checkpoint().ref
        old.append({"role": "user", "content": "Paint it green."})
    with resume(ref, as_="again", root=tmp_path) as new:
        text = str(new.messages()[0]["content"])
        assert (new.name, LATEST in text, "Paint it green." in text) == ("again", True, False)
    with resume("talk", root=tmp_path) as newest:
        assert "Paint it green." in str(newest.messages()[0]["content"])


def test_a_fresh_session_outlives_the_one_it_goes_on_from(tmp_path: Path) -> None:
    with holdfast.open("talk", root=tmp_path) as old:
        old.extend(talk(2))
        new = resume(old, budget=300)
    new.append({"role": "user", "content": "Go on."})
    assert [message["role"] for message in new.messages()] == ["user", "user"]
    assert COUNT(str(new.messages()[0]["content"])) <= 300
    new.close()


def test_a_name_that_is_taken_and_a_session_that_is_not_there_are_refused(tmp_path: Path) -> None:
    with holdfast.open("talk", root=tmp_path) as old:
        old.extend(talk(1))
        with pytest.raises(BadSetting):
            resume(old, as_="talk")
    for name in ("nobody", "0123456789ab", "abc"):
        with pytest.raises(NotRecorded):
            resume(name, root=tmp_path)


def test_a_client_that_only_has_its_own_words_keeps_what_the_fresh_session_begins_with() -> None:
    new = resume(old_session())
    (first,) = new.messages()
    theirs: list[dict[str, object]] = [{"role": "user", "content": "Go on with the report."}]
    assert new.sync(theirs).branched is False
    theirs.append({"role": "assistant", "content": "I go on."})
    assert (new.sync(theirs).added, new.sync(theirs).added) == (1, 0)
    assert new.messages() == [first, *theirs]


def test_a_client_that_sends_the_fresh_history_back_is_recognised() -> None:
    new = resume(old_session())
    history = [*new.messages(), {"role": "user", "content": "Go on."}]
    assert (new.sync(history).added, new.sync(history).branched) == (1, False)
    assert new.intent().original.text == FIRST


@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=examples(15))
@given(data=st.data())
def test_the_window_of_a_fresh_session_is_legal_in_every_format(
    wire: str, data: st.DataObject
) -> None:
    before: list[Any] = data.draw(histories(wire))
    after: list[Any] = data.draw(histories(wire))
    old = Session("s", MemoryStore(), wire=wire)
    old.extend(before)
    new = resume(old)
    assert complaints(wire, new.messages()) == []
    known = complaints(wire, after)
    new.extend(after)
    assert len(complaints(wire, new.messages())) <= len(known)


def test_a_session_that_was_read_from_a_transcript_can_be_gone_on_from(tmp_path: Path) -> None:
    bundled = Path(__file__).parents[2] / "examples" / "session" / "ledgerly.jsonl"
    with holdfast.open("any", root=tmp_path) as place:
        name = holdfast.ingest(bundled, place.store).session
    with resume(name, root=tmp_path) as new:
        new.append({"role": "user", "content": [{"type": "text", "text": "Go on."}]})
        assert "Finance says" in str(new.messages()[0]["content"])
