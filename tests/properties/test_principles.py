"""The principles of the documents as laws: what holds for every session, at every request."""

from itertools import pairwise
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import holdfast
from holdfast import Policy, Session
from holdfast.core.ledger.entry import Compressed, Derived, text_of
from holdfast.core.ledger.head import AT_BIRTH
from holdfast.core.measure.usage import Usage
from holdfast.core.plan.policy import (
    COMPACTABLE,
    PROFILES,
    STAND_INS,
    DriftRules,
    Preservation,
    Settings,
    with_settings,
)
from holdfast.core.plan.preserve import KIND_BY_STEP
from holdfast.core.shrink.summary.cut import UNBOUND_THINKING_REASON, UNCALLED_RESULT_REASON
from holdfast.core.view.log import Event
from holdfast.models.tokenizers import counter
from holdfast.packets.packet import Packet
from holdfast.stores.memory import MemoryStore
from tests.contracts.transcripts import tokens_of
from tests.properties.laws import policies, sendable, size_of, text_in
from tests.properties.test_summarize import (
    FEW,
    Drawn,
    all_said,
    broken,
    compacted,
    long_histories,
    opened,
    unsaid,
)
from tests.reliability.chains import RULES, Message, ask, rows, turn, use

WINDOW, RESERVE = 24_000, 2_000
LARGE = 9


def worked(policy: Policy, turns: int, size: int = 40) -> tuple[Session, list[list[Message]]]:
    """A session of many turns, one with a large result; and every request that it sent."""
    session, sent = Session("s", MemoryStore(), policy=policy), list[list[Message]]()
    for number in range(1, turns + 1):
        session.extend(turn(number, size))
        if number == LARGE:
            session.extend([ask("Show it all."), *use("all", "Bash", rows(0, 900), command="dump")])
        sent.append(session.messages())
    return session, sent


def tiers(session: Session) -> list[Event]:
    return [event for event in session.log() if event.kind.startswith("TIER")]


def small(profile: str = "ctx-001") -> Policy:
    here = {"model": "gpt-5", "window": WINDOW, "reserve": RESERVE}
    return with_settings(Policy(), {**PROFILES[profile], **here})


@pytest.mark.seed("R001", "R027")
def test_a_session_of_many_windows_fits_in_one_by_three_tiers_and_keeps_what_the_task_needs() -> (
    None
):
    session, sent = worked(small(), 60)
    count = counter("o200k_base")
    assert tokens_of(session, session.ledger.path()) > 3 * WINDOW
    for number, request in enumerate(sent, 1):
        text = "\n".join(str(message["content"]) for message in request)
        asked = [f"Part {at}: make the importer handle case {at}." for at in (1, number)]
        rules = [rule for at, rule in RULES.items() if at <= number]
        assert [words for words in (*asked, *rules) if words not in text] == []
        assert count(text) < session.ledger.limit()
    made = tiers(session)
    assert {event.kind for event in made} == {"TIER_1", "TIER_2", "TIER_3"}
    summed = [event.before / session.ledger.limit() for event in made if event.kind == "TIER_3"]
    assert summed and all(0.75 <= fraction < 0.85 for fraction in summed)


FLOORS = {"TIER_1": 0.50, "TIER_2": 0.50, "TIER_3": 0.75, "ADVICE": 0.85}
"""How full a window has to be before something happens to it by itself."""


def too_early(usage: Usage, events: list[Event]) -> list[str]:
    """What happened although the window was not full enough; at birth something may always go."""
    due = [event for event in events if event.trigger != AT_BIRTH and event.kind in FLOORS]
    return [event.kind for event in due if usage.fraction < FLOORS[event.kind]]


@pytest.mark.seed("R001", "R036", "R231")
@FEW
@given(long_histories(), st.integers(20, 500))
def test_every_request_follows_the_thresholds_of_the_protocol(drawn: Drawn, percent: int) -> None:
    window = max(size_of(drawn.messages) * percent // 100, 300)
    policy = Policy(model=drawn.model, window=window, reserve=1, drift=DriftRules(watch=0))
    session = Session("compress", MemoryStore(), policy=policy)
    for upto, message in enumerate(drawn.messages, 1):
        session.append(message)
        usage, known = session.status(), len(session.log())
        weighed = session.ledger.head().lane("").weighed
        session.messages()
        events = list(session.log()[known:])
        assert too_early(usage, events) == []
        if usage.fraction >= 0.5 and not weighed:
            assert events, (
                "a window that is half full is weighed, and the log tells what came of it"
            )
        if usage.fraction >= 0.85 and not weighed:
            assert (
                "CHECKPOINT" in {event.kind for event in events} or session.status().fraction < 0.85
            )
        assert broken(session, drawn._replace(messages=drawn.messages[:upto])) == []


@pytest.mark.seed("R013")
@FEW
@given(long_histories(), st.integers(20, 200), policies)
def test_a_context_may_be_thrown_away_at_any_moment_for_the_ledger_has_all_of_it(
    drawn: Drawn, percent: int, policy: Policy
) -> None:
    window = max(size_of(drawn.messages) * percent // 100, 300)
    # What a drifting agent is told is a message of its own: the same entries have other names then.
    quiet = DriftRules(watch=0)
    policy = replace(policy, model=drawn.model, window=window, reserve=1, drift=quiet)
    store = MemoryStore()
    for message in drawn.messages:
        lived = Session("s", store, policy=policy)
        lived.append(message)
        sent = lived.wire()
        assert Session("s", store, policy=policy).wire() == sent
    whole = Session("s", MemoryStore(), policy=with_settings(Policy(), PROFILES["off"]))
    whole.extend(drawn.messages)
    recorded = {entry.id: entry.body for entry in Session("s", store).ledger.path()}
    assert {entry.id: recorded.get(entry.id) for entry in whole.ledger.path()} == {
        entry.id: entry.body for entry in whole.ledger.path()
    }


EAGER: Settings = {"tail.percent": 0, "tail.steps": 1, "offload.sweep": 400, "truncate.above": 20}
"""Under this nearly everything is old, and large enough to leave."""


@pytest.mark.seed("R012")
@FEW
@given(long_histories(("anthropic",)), st.integers(30, 95), st.sets(st.sampled_from(COMPACTABLE)))
def test_what_is_critical_survives_and_only_what_may_go_goes(
    drawn: Drawn, percent: int, allowed: set[str]
) -> None:
    policy = with_settings(Policy(), {**PROFILES["claude-code"], **EAGER})
    rules = Preservation(compactable=tuple(sorted(allowed)))
    session = opened(drawn, replace(policy, preservation=rules))
    made = compacted(session, percent)
    if made is None:
        return
    assert unsaid(session, session.messages()) == []
    # Sealed thinking that holds only after what leaves, and a result whose call leaves, cannot be
    # sent, whatever anybody allows.
    chosen = [
        step
        for step in made.steps
        if step.kind in KIND_BY_STEP
        and step.reason not in (UNBOUND_THINKING_REASON, UNCALLED_RESULT_REASON)
    ]
    assert {KIND_BY_STEP[step.kind] for step in chosen} <= allowed


DEPTHS = {"minimal": 100, "standard": 400, "deep": 800}


@pytest.mark.seed("R014")
@FEW
@given(long_histories(), st.sampled_from(sorted(DEPTHS)), st.integers(10, 100))
def test_what_is_handed_to_a_worker_or_a_session_is_small_whole_and_binds_as_it_did(
    drawn: Drawn, depth: str, percent: int
) -> None:
    session = opened(drawn, Policy())
    compacted(session, percent)
    packet = session.packet("Write the report.", depth)
    assert Packet.from_yaml(packet.to_yaml()) == packet
    prompt = packet.to_prompt()
    assert counter("o200k_base")(prompt) == packet.token_count
    assert packet.over_budget == (packet.token_count > DEPTHS[depth])
    want = all_said(session.ledger.path())
    binding = [row.text for row in want.constraints if not row.lifted and row.by == "user"]
    assert [text for text in binding if sendable(text) not in prompt] == []
    next_one = holdfast.resume(session, as_="next")
    (begins,) = next_one.messages()
    assert counter("o200k_base")(text_in(begins)) <= 2_000
    assert next_one.intent().original.text == session.intent().original.text


@pytest.mark.seed("R230")
@FEW
@given(long_histories(), st.integers(30, 95), st.sampled_from(STAND_INS))
def test_nothing_left_without_a_name_in_sight_that_brings_it_back(
    drawn: Drawn, percent: int, form: str
) -> None:
    session = opened(drawn, with_settings(Policy(), {**EAGER, "offload.form": form}))
    made = compacted(session, percent)
    steps = made.steps if made is not None else ()
    path = session.ledger.path()
    said = {e.id: text_of(e.body) for e in path if not isinstance(e.body, Derived)}
    shown = sendable(session.wire().decode())
    for step in steps:
        if step.kind == "summary":
            assert "`holdfast recover --ref NAME`" in shown
        elif step.stand_in is not None:
            name = step.hides[0][:12]
            assert name in shown
            assert session.read(name) == said[step.hides[0]]


@pytest.mark.seed("R009")
def test_a_massive_history_is_carried_by_one_summary_that_is_extended_and_stays_good() -> None:
    session, _ = worked(small("anchored"), 60, size=160)
    whole = tokens_of(session, session.ledger.path())
    made = session.compact(whole * 14 // 1_000)
    assert whole > 10 * WINDOW
    assert 1 - made.after.tokens / whole >= 0.986
    bodies = [entry.body for entry in session.store.read("s")]
    summed = [body for body in bodies if isinstance(body, Compressed) and body.summary is not None]
    revisions = [body.summary for body in summed if body.summary is not None]
    assert [one.revision for one in revisions] == list(range(1, len(summed) + 1))
    assert len(revisions) > 1
    for older, newer in pairwise(revisions):
        assert newer.intent.original == older.intent.original
        assert {row.text for row in older.constraints} <= {row.text for row in newer.constraints}
        assert {row.path for row in older.files} <= {row.path for row in newer.files}
        assert {row.choice for row in older.decisions} <= {row.choice for row in newer.decisions}
    for body in summed:
        assert (fmean(body.quality.values()) >= 3.70, body.mark) == (True, "")
