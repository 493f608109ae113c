"""Feedback on packets: told or written to a file, recorded once, never trusted."""

import os
from pathlib import Path

import pytest

from holdfast.core.ledger.entry import PacketReported
from holdfast.core.ledger.packet import Feedback
from holdfast.core.plan.policy import NeverStore, Packets, Policy
from holdfast.errors import BadFeedback
from holdfast.packets.feedback import (
    MORE,
    REFRESH,
    WorkerRequest,
    ask_for_more,
    collect_feedback,
    feedback_file,
    open_requests,
    parse_feedback,
    record_feedback,
    recorded_feedback,
    unreported,
    write_feedback,
)
from holdfast.packets.read import read_for_worker
from holdfast.packets.records import newest_packet, packet_records, unread_packets
from holdfast.packets.revise import refresh_packet
from holdfast.session.open import open as open_session
from holdfast.session.session import Session

TALK = (
    {"role": "user", "content": "Add login. Do NOT modify the registration flow."},
    {"role": "assistant", "content": "I decided to use JWT because the mobile app needs it."},
    {"role": "user", "content": "Good, go on."},
)


def working(root: Path, policy: Policy | None = None) -> Session:
    session = open_session("work", root=root, policy=policy or Policy())
    session.extend(TALK)
    session.packet("Add JWT auth to login", pane=1)
    return session


def put(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def recorded(session: Session) -> list[Feedback]:
    return [one for _, one in recorded_feedback(session.ledger)]


@pytest.mark.seed("R021", "R261", "R262")
def test_feedback_is_put_on_record_with_the_packet_it_is_about(tmp_path: Path) -> None:
    with working(tmp_path) as session:
        one = newest_packet(session.ledger, "pane-1")
        assert one is not None
        record_feedback(session.ledger, Feedback(("keys",), ("decisions",), "done", "pane-1"))
        assert recorded(session) == [
            Feedback(
                ("keys",),
                ("decisions",),
                "done",
                "pane-1",
                packet=one.id,
                revision=1,
                task_type="feature",
                context_sent=one.packet.token_count,
            )
        ]


def test_a_worker_may_say_what_kind_of_task_it_was(tmp_path: Path) -> None:
    with working(tmp_path) as session:
        record_feedback(
            session.ledger, Feedback(pane="pane-1", outcome="done", task_type="research")
        )
        assert [one.task_type for one in recorded(session)] == ["research"]


@pytest.mark.seed("R263", "R273")
def test_feedback_is_written_where_the_protocol_says_and_read_in_both_spellings(
    tmp_path: Path,
) -> None:
    policy = Policy(layout="agentwire")
    with working(tmp_path, policy) as session:
        file = write_feedback(session.ledger, Feedback(("keys",), pane="pane-1"))
        assert file == feedback_file("pane-1", "agentwire") == ".agentwire/feedback/pane-1.md"
        put(tmp_path, ".agentwire/feedback-2.md", 'context_gaps:\n  - "Needed: urls"\n')
        put(tmp_path, ".agentwire/feedback/reviewer.md", "---\noutcome: failed\n---\nNo time.\n")
        put(tmp_path, ".agentwire/feedback/.draft", "gaps: [x]")
        found = {one.feedback.pane: one.feedback for one in collect_feedback(session.ledger)}
        assert {pane: (one.gaps, one.outcome, one.note) for pane, one in found.items()} == {
            "pane-1": (("keys",), "", ""),
            "pane-2": (("Needed: urls",), "", ""),
            "reviewer": ((), "failed", "No time."),
        }


def test_the_same_words_are_taken_once_and_new_ones_again(tmp_path: Path) -> None:
    with working(tmp_path) as session:
        put(tmp_path, ".holdfast/feedback/pane-1.md", "gaps: [keys]")
        assert [one.new for one in collect_feedback(session.ledger)] == [True]
        assert [one.new for one in collect_feedback(session.ledger)] == [False]
        put(tmp_path, ".holdfast/feedback/pane-1.md", "gaps: [keys, urls]")
        assert [one.new for one in collect_feedback(session.ledger)] == [True]
        assert [one.gaps for one in recorded(session)] == [("keys",), ("keys", "urls")]


def test_a_file_that_an_earlier_worker_left_says_nothing_of_a_new_task(tmp_path: Path) -> None:
    with open_session("first", root=tmp_path) as session:
        session.append({"role": "user", "content": "Begin."})
        session.packet("task one", pane=1)
        done = Feedback((), outcome="done", pane="pane-1")
        record_feedback(session.ledger, done, file=write_feedback(session.ledger, done))
    left = tmp_path / ".holdfast" / "feedback" / "pane-1.md"
    os.utime(left, (1_700_000_000, 1_700_000_000))
    with open_session("second", root=tmp_path) as session:
        session.append({"role": "user", "content": "Begin."})
        session.packet("task two", pane=1)
        (found,) = collect_feedback(session.ledger)
        assert (found.new, found.flaw) == (
            False,
            "it is older than the first packet of pane-1 in this session",
        )
        assert (tmp_path / ".holdfast" / "context" / "pane-1.yaml").is_file()


def test_what_was_told_and_written_is_not_collected_again(tmp_path: Path) -> None:
    with working(tmp_path) as session:
        told = Feedback(("keys",), pane="pane-1")
        record_feedback(session.ledger, told, file=write_feedback(session.ledger, told))
        assert [one.new for one in collect_feedback(session.ledger)] == [False]


def test_a_file_that_is_none_is_refused_and_the_others_are_read(tmp_path: Path) -> None:
    with working(tmp_path) as session:
        folder = tmp_path / ".holdfast" / "feedback"
        folder.mkdir(parents=True)
        (tmp_path / "secret").write_text("gaps: [secret]", encoding="utf-8")
        (folder / "pane-1.md").symlink_to(tmp_path / "secret")
        os.mkfifo(folder / "pane-2.md")
        (folder / "pane-3.md").write_bytes(b"gaps: [x]\n" + b"#" * 300_000)
        (folder / "pane-4.md").mkdir()
        (folder / "pane-5.md").write_bytes(b"gaps: [keys, \xff]")
        found = {one.feedback.pane: one for one in collect_feedback(session.ledger)}
        assert [bool(found[f"pane-{number}"].flaw) for number in range(1, 6)] == [True] * 4 + [
            False
        ]
        assert [one.pane for one in recorded(session)] == ["pane-5"]
        assert "secret" not in str(recorded(session))


def test_a_text_that_is_too_large_is_refused() -> None:
    with pytest.raises(BadFeedback) as raised:
        parse_feedback("x" * 300_000, "report.md")
    assert raised.value.where == "report.md"


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with working(tmp_path) as session:
        (tmp_path / ".holdfast" / "feedback").write_text("in the way", encoding="utf-8")
        with pytest.raises(BadFeedback):
            write_feedback(session.ledger, Feedback(pane="pane-1"))


@pytest.mark.seed("R305")
def test_nothing_is_recorded_where_tracking_is_off(tmp_path: Path) -> None:
    policy = Policy(packets=Packets(track="off"))
    with working(tmp_path, policy) as session:
        assert record_feedback(session.ledger, Feedback(("keys",), pane="pane-1")) is None
        entries = session.store.read("work")
        assert not any(isinstance(entry.body, PacketReported) for entry in entries)


@pytest.mark.seed("R306")
def test_a_task_that_is_done_takes_the_packets_file_away_and_keeps_the_record(
    tmp_path: Path,
) -> None:
    with working(tmp_path) as session:
        file = tmp_path / ".holdfast" / "context" / "pane-1.yaml"
        assert file.exists()
        record_feedback(session.ledger, Feedback(pane="pane-1", outcome="blocked"))
        assert file.exists()
        record_feedback(session.ledger, Feedback(pane="pane-1", outcome="done"))
        assert not file.exists()
        assert [one.packet.audience for one in packet_records(session.ledger)] == ["pane-1"]


@pytest.mark.seed("R022", "R346")
def test_a_packet_is_unread_until_its_worker_reads_it_and_silent_until_it_reports(
    tmp_path: Path,
) -> None:
    with working(tmp_path) as session:
        assert [one.packet.audience for one in unread_packets(session.ledger)] == ["pane-1"]
        read_for_worker(session.ledger, "pane-1")
        assert unread_packets(session.ledger) == []
        assert [one.packet.audience for one in unreported(packet_records(session.ledger))] == [
            "pane-1"
        ]
        record_feedback(session.ledger, Feedback(pane="pane-1"))
        assert unreported(packet_records(session.ledger)) == []


@pytest.mark.seed("R341", "R344")
def test_a_worker_asks_for_more_until_it_is_handed_more(tmp_path: Path) -> None:
    with working(tmp_path) as session:
        ask_for_more(session.ledger, "pane-1", why="which key file?")
        ask_for_more(session.ledger, "pane-1", kind=REFRESH)
        ask_for_more(session.ledger, "pane-2", why="everything")
        one = newest_packet(session.ledger, "pane-1")
        assert one is not None
        found = open_requests(session.ledger)
        assert [(each.pane, each.kind, each.why) for each in found] == [
            ("pane-1", MORE, "which key file?"),
            ("pane-1", REFRESH, ""),
            ("pane-2", MORE, "everything"),
        ]
        assert [each.packet for each in found] == [one.id, one.id, ""]
        refresh_packet(session.ledger, "pane-1")
        assert len(open_requests(session.ledger)) == 3, "nothing new was handed over"
        session.append({"role": "user", "content": "The key must be read from keys/jwt.pem."})
        refresh_packet(session.ledger, "pane-1")
        assert [each.pane for each in open_requests(session.ledger)] == ["pane-2"]


def test_who_is_done_asks_for_nothing_any_more(tmp_path: Path) -> None:
    with working(tmp_path) as session:
        made = ask_for_more(session.ledger, "pane-1", why="x" * 5_000)
        assert isinstance(made, WorkerRequest)
        assert len(made.why) == 2_000
        record_feedback(session.ledger, Feedback(pane="pane-1", outcome="blocked"))
        assert len(open_requests(session.ledger)) == 1
        record_feedback(session.ledger, Feedback(pane="pane-1", outcome="done"))
        assert open_requests(session.ledger) == []


def test_a_secret_in_a_report_is_not_shown_and_what_must_not_be_stored_is_not(
    tmp_path: Path,
) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    policy = Policy(never_store=NeverStore(patterns=("CUSTOMER-[0-9]+",)))
    with working(tmp_path, policy) as session:
        told = Feedback((f"the token {secret}", "CUSTOMER-77"), pane="pane-1")
        file = write_feedback(session.ledger, told)
        record_feedback(session.ledger, told, file=file)
        assert secret not in str(recorded(session))
        assert secret not in (tmp_path / file).read_text("utf-8")
        entries = list(session.store.read("work"))
        assert "CUSTOMER-77" not in str(entries)
        assert [one.new for one in collect_feedback(session.ledger)] == [False], (
            "it is on record already"
        )
