import msgspec
import pytest
from msgspec.structs import replace

from holdfast.core.ledger.entry import (
    Checkpointed,
    Compressed,
    Derived,
    Noted,
    PacketReported,
    PacketSent,
    Said,
    Step,
)
from holdfast.core.ledger.packet import Choice, Feedback, Packet
from holdfast.core.ledger.summary import Decision, File, Intent, Next, Quote, Summary
from holdfast.core.shrink.unquote import PURGED_WORD, holds_any_word, purge_quotes, words_only_in
from tests.core.building import ask, entries, named

SAID = entries(ask("Use the port 5432 of db.internal.example."), ask("Is the port open?"))
GOING, STAYING = SAID[:1], SAID[1:]
LOST = words_only_in(GOING, STAYING)
NOTICE = "(gone)"


def test_only_words_that_stood_nowhere_else_are_lost() -> None:
    assert {"db.internal.example.", "5432", "Use"} <= LOST
    assert LOST.isdisjoint({"port"})
    assert holds_any_word(b'{"host": "db.internal.example."}', LOST)
    assert not holds_any_word(b"the port", LOST)


def test_rows_of_what_is_gone_go_and_others_lose_its_words() -> None:
    rows = Summary(
        intent=Intent(Quote("Use the port 5432 of db.internal.example.", named(1))),
        decisions=(
            Decision("connect to the port", named(1)),
            Decision("ask 5432 again", named(2), "the port open"),
        ),
    )
    made = replace(
        SAID[0], body=Compressed((Step((named(9),), "old", None, 2),), 0, 9, summary=rows)
    )
    now = purge_quotes(made, {named(1)}, LOST, NOTICE).body
    assert isinstance(now, Compressed)
    assert now.summary == Summary(
        intent=Intent(Quote(NOTICE, named(1))),
        decisions=(Decision(f"ask {PURGED_WORD} again", named(2), "the port open"),),
    )


def test_what_quotes_nothing_of_it_stays_the_very_same() -> None:
    note = replace(SAID[0], body=Noted("told", {"text": "the port open"}))
    assert purge_quotes(note, {named(1)}, LOST, NOTICE) is note
    theirs = replace(SAID[0], body=Said("user", "5432"))
    assert purge_quotes(theirs, {named(1)}, LOST, NOTICE) is theirs


MADE: dict[str, Derived] = {
    "packet": PacketSent(
        Packet(
            creator="orchestrator",
            target_task="do the thing",
            task_type="feature",
            depth="standard",
            goal="the thing",
            decisions=(Choice("the thing", made_by="user", refs=(named(2),)),),
            edited=("goal",),
        ),
        act="generate",
        file=".holdfast/context/pane-1.yaml",
    ),
    "feedback": PacketReported(Feedback(("a gap",), outcome="blocked", packet=named(2))),
    "checkpoint": Checkpointed(
        Summary(
            files=(File("src/cart.py", "modified", named(2)),),
            decisions=(Decision("it", named(2), by="user"),),
            next=(Next("it", named(2), owner="user"),),
        )
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_whatever_word_is_gone_what_we_wrote_can_still_be_read(name: str) -> None:
    body = MADE[name]
    words = words_only_in(entries(ask(str(msgspec.to_builtins(body)))), [])
    made = purge_quotes(replace(SAID[0], body=body), set(), words, NOTICE).body
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(made), type=type(body)) == made
    assert made != body


def test_words_that_stand_in_any_text_are_not_lost() -> None:
    assert words_only_in(entries(ask("The thing that was there, and others")), []) == {
        "thing",
        "others",
    }
