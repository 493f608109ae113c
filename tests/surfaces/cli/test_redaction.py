"""No secret is shown by anything but what gives its owner everything back: catalogue X04."""

import json
import logging
import stat
import sys
from pathlib import Path
from subprocess import run
from typing import Any

import pytest

from holdfast.core.plan.policy import Policy, Redact
from holdfast.errors import BadSetting, HoldfastError
from holdfast.session.open import open as open_session
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from tests.contracts.test_erasing import called, returned
from tests.secrets import NAMED, PLANTED, drawn, every_value, planted_text
from tests.surfaces.cli.commands import done, invoke
from tests.surfaces.cli.working import talk

TOKEN = PLANTED["github-token"]
VALUE = NAMED["secret"][0]
REQUEST = f"Deploy with {TOKEN}. Never print aws_secret_access_key = {VALUE} in a log."


def shown(text: str) -> list[str]:
    """The secrets that stand in a text."""
    return [value for value in every_value() if value in text]


def history() -> list[dict[str, Any]]:
    """Secrets in every part of a session: asked, called, returned, answered."""
    noise = "\n".join(f"row {at} of the export, value {at * 7}" for at in range(3_000))
    found: list[dict[str, Any]] = [{"role": "user", "content": REQUEST}]
    found += [called("c1", f"curl -H 'Authorization: Bearer {VALUE}' https://api.test/{TOKEN}")]
    found += [returned("c1", f"error: {TOKEN} was refused\n{planted_text()}\n{noise}")]
    found += [called("c2", "cat .env"), returned("c2", f"{planted_text()}\n{noise}\n{VALUE}")]
    content = f"KEY = '{TOKEN}'\n{planted_text()}\n" + "x = 1\n" * 900
    arguments = json.dumps({"path": "deploy.py", "content": content})
    function = {"name": "Write", "arguments": arguments}
    call = {"id": "c3", "type": "function", "function": function}
    found += [{"role": "assistant", "content": None, "tool_calls": [call]}, returned("c3", "ok")]
    found += [{"role": "assistant", "content": f"I decided to use {TOKEN} because it works."}]
    return [*found, *talk(40)[1:]]


@pytest.fixture
def session(project: Path) -> Session:
    made = open_session("s", root=project, window=120_000)
    made.extend(history())
    return made


def commands(ref: str) -> list[tuple[str, ...]]:
    """Every command that shows something of a session."""
    return [
        *(("sessions",), ("sessions", "--json"), ("status",), ("show",), ("show", "--json")),
        *(
            ("show", "--summary"),
            ("show", "--summary", "--json"),
            ("intent",),
            ("intent", "--json"),
        ),
        *(("show", "--summary", "--form", form) for form in ("anchored", "notes", "lar-033")),
        *(("compress", "--dry-run"), ("compress", "--dry-run", "--budget", "9000", "--json")),
        *(("recover", "refused"), ("recover", "settings", "--json"), ("recover", "Deploy")),
        *(("run", "recover api.test"), ("run", "show session intent"), ("log", "--json")),
        *(("pin", "--ref", ref), ("rules",), ("intent", "--json"), ("fsck",), ("probe",)),
        *(("compress", "--budget", "6000"), ("probe",), ("probe", "--json"), ("log",), ("show",)),
        *(("intent",), ("undo",), ("compress", "--budget", "9000", "--json"), ("recover", "KEY")),
        *(("recover", "--level", level, *json_) for level in "123" for json_ in ((), ("--json",))),
        *(
            ("recover", "--full"),
            ("resume",),
            ("resume", "--json"),
            ("drift",),
            ("drift", "--json"),
        ),
        *(
            ("checkpoint",),
            ("checkpoint", "list"),
            ("checkpoint", "show", "--json"),
            ("config", "show"),
        ),
        *(("checkpoint", "show"), ("preserve",), ("preserve", "--json"), ("unattended", "status")),
        *(("purge", "s", "--dry-run"), ("purge", "s", "--dry-run", "--json"), ("log", "--json")),
        *(("status", "--json"), ("run", "compression log"), ("run", "context status")),
        *(("checkpoint", "--reset"), ("sessions", "--json"), ("show",), ("intent",), ("resume",)),
        *(("recover", "Deploy", "--project"), ("recover", "refused", "--all", "--json")),
    ]


def test_no_command_shows_a_secret(session: Session) -> None:
    session.close()
    ref = session_ref()
    for words in commands(ref):
        result = invoke(*words)
        told = f"{result.stdout}{result.stderr}"
        assert (words, shown(told)) == (words, [])
        assert result.exit_code in (0, 1), (words, told)
        assert len(told) > 5, words


LATE = tuple(f"Kestrel{at}-" + drawn(60 + at, 18) for at in range(8))
"""Passwords that nothing tells of as such, until something does."""


def test_a_secret_that_is_told_of_late_is_shown_by_no_command_either(project: Path) -> None:
    rows = [f"row {at}: the login is {value}" for at, value in enumerate(LATE)]
    noise = [f"line {at} of the report, value {at * 7}" for at in range(2_000)]
    with open_session("s", root=project, window=120_000) as session:
        session.append({"role": "user", "content": f"Set up {LATE[0]} and always keep {LATE[1]}."})
        session.extend([called("r", "cat report"), returned("r", "\n".join([*rows, *noise]))])
        answer = f"I decided on {LATE[2]} because {LATE[3]} failed: error: {LATE[4]} is refused."
        session.append({"role": "assistant", "content": answer})
        session.extend(talk(40)[1:])
        session.checkpoint()
        session.compact(6_000)
        assert [value for value in LATE[:3] if value not in session.wire().decode()] == []
        told = "\n".join(f"DB_PASSWORD_{at}={value}" for at, value in enumerate(LATE))
        session.extend([called("e", "cat .env"), returned("e", told)])
    pages = [path for path in project.rglob("*.md") if path.is_file()]
    assert [path for path in pages if LATE[0] in path.read_text()]
    for words in [("pin", f"{LATE[5]} is the new one"), *commands(session_ref())]:
        result = invoke(*words)
        told = f"{result.stdout}{result.stderr}"
        assert (words, [value for value in LATE if value in told]) == (words, [])
    pages = [path for path in project.rglob("*.md") if path.is_file()]
    assert [path for path in pages if any(value in path.read_text() for value in LATE)] == []


def test_what_is_found_in_another_session_is_redacted_by_what_that_one_knows(
    project: Path,
) -> None:
    with open_session("other", root=project) as other:
        other.append({"role": "user", "content": f"The walrus host is reached with {LATE[0]}."})
        other.extend([called("e", "cat .env"), returned("e", f"DB_PASSWORD={LATE[0]}")])
    with open_session("s", root=project) as session:
        session.append({"role": "user", "content": "Where was the walrus host?"})
        for scope in ("project", "ledger"):
            hits = session.recover("walrus host reached", scope=scope)
            found = [hit for hit in hits if hit.session == "other"]
            assert "reached with [redacted:password#" in found[0].text
            assert [hit for hit in hits if LATE[0] in hit.text] == []


def test_a_replay_goes_by_what_anyone_may_see(project: Path) -> None:
    blob = "BLOB-" + "0123456789abcdef " * 800
    text = json.dumps([{"role": "user", "content": f"Look: {blob}"}, *talk(20)[1:]])
    (project / "one.json").write_text(text)
    plain = json.loads(done("replay", "one.json", "--json"))["total"]["ours"]
    (project / "holdfast.toml").write_text('[redact]\npatterns = ["BLOB-[0-9a-f ]{1,20000}"]\n')
    less = json.loads(done("replay", "one.json", "--json"))["total"]["ours"]
    assert less["billed"] < plain["billed"] * 0.9


def session_ref() -> str:
    rows = json.loads(done("show", "--json"))["entries"]
    return str(rows[0]["ref"])


def test_no_file_but_the_ledger_holds_a_secret_and_nobody_else_may_read_any(
    session: Session, project: Path
) -> None:
    session.compact(6_000)
    session.undo()
    session.compact(20_000)
    session.close()
    files = [path for path in project.rglob("*") if path.is_file()]
    copies = [path for path in files if path.suffix == ".md"]
    assert len(copies) >= 2
    assert any("[redacted:" in path.read_text() for path in copies)
    assert [path for path in copies if shown(path.read_text())] == []
    for path in [*files, *(project / ".holdfast").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) in (0o600, 0o700), path
    # The ledger itself holds everything: that is what it is for.
    stored = [path.read_bytes() for path in files if "ledger" in path.name]
    assert any(TOKEN.encode() in data for data in stored)


def test_no_stand_in_summary_or_plan_shows_a_secret_and_every_promise_holds(
    session: Session,
) -> None:
    for budget in (40_000, 6_000):
        made = session.compact(budget)
        assert made.losses == ()
        texts = [repr(step) for step in made.steps]
        assert shown("\n".join([*texts, str(made.summary), repr(made.summary.rows)])) == []
        assert shown(repr(made.plan)) == []
    assert "[redacted:github-token#" in str(made.summary)
    assert "Deploy with [redacted:github-token#" in made.summary.rows.intent.original.text


def test_the_owner_gets_everything_back(session: Session, project: Path) -> None:
    whole = session.messages()
    made = session.compact(6_000)
    left = b"\n".join(made.originals.values())
    assert [value for value in every_value() if value.encode() not in left] == []
    marks = [part for part in str(made.summary).split() if part.startswith("[redacted:")]
    ref = marks[0].partition("#")[2].partition("]")[0]
    assert TOKEN in session.read(ref)
    assert TOKEN in done("show", "--ref", ref)
    session.undo()
    assert session.messages() == whole
    session.close()
    assert json.loads(done("export", "s")) == history()


def test_what_stays_in_the_window_is_as_it_came(session: Session) -> None:
    last = {"role": "user", "content": f"And now with {TOKEN}"}
    session.append(last)
    session.compact(6_000)
    assert session.messages()[-1] == last


def test_the_same_ledger_gives_the_same_bytes_whoever_looked_at_it_before() -> None:
    made: list[bytes] = []
    for looks in (False, True):
        session = Session("s", MemoryStore(), policy=Policy(window=120_000))
        for at, message in enumerate(history()):
            session.append(message)
            if looks and at % 9 == 8:
                session.plan()
        session.compact(6_000)
        made.append(session.wire())
    assert made[0] == made[1]
    assert b"[redacted:" in made[0]


def test_no_log_line_holds_a_secret(session: Session, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        session.ledger.policy = Policy(window=20_000)
        session.messages()
        session.compact(6_000)
        session.undo()
        try:
            session.compact(1)
        except HoldfastError as error:
            assert shown(str(error)) == []
        try:
            session.append({"role": "user", "text": TOKEN, "content": 5})
        except HoldfastError as error:
            assert shown(str(error)) == []
    assert shown("\n".join(record.getMessage() for record in caplog.records)) == []


def test_a_model_that_is_asked_for_prose_is_shown_no_secret(session: Session) -> None:
    asked: list[str] = []

    def model(prompt: str) -> str:
        asked.append(prompt)
        return "{}"

    session.ledger.summarizer = model
    session.compact(6_000)
    assert asked
    assert shown("\n".join(asked)) == []


def test_a_title_that_is_cut_in_the_middle_of_a_secret_shows_none_of_it(project: Path) -> None:
    with open_session("s", root=project) as session:
        session.append({"role": "user", "content": f"{'Please look at this now. ' * 3}{TOKEN}"})
    told = done("sessions")
    assert TOKEN[:6] not in told
    assert "Please look" in told


def test_a_pattern_of_the_user_is_redacted_as_well(project: Path) -> None:
    (project / "holdfast.toml").write_text('[redact]\npatterns = ["CUST-[0-9]{6}"]\n')
    with open_session("s", root=project) as session:
        session.append({"role": "user", "content": "Refund CUST-123456 today."})
    assert "CUST-123456" not in done("show")
    assert "Refund [redacted:pattern#" in done("intent")


def test_redaction_can_be_turned_off_by_the_user_and_not_by_a_project(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_session("s", root=project) as session:
        session.append({"role": "user", "content": f"use {TOKEN}"})
    assert TOKEN not in done("intent")
    monkeypatch.setenv("HOLDFAST_REDACT_SECRETS", "off")
    assert TOKEN in done("intent")
    monkeypatch.delenv("HOLDFAST_REDACT_SECRETS")
    (project / "holdfast.toml").write_text('[redact]\nsecrets = "off"\n')
    assert isinstance(invoke("intent").exception, BadSetting)


@pytest.mark.parametrize("rules", [Redact(secrets="maybe"), Redact(patterns=("(",))])
def test_a_setting_that_cannot_be_meant_is_refused(rules: Redact) -> None:
    with pytest.raises(BadSetting):
        Session("s", MemoryStore(), policy=Policy(redact=rules)).ledger.redactor.text("x")


def test_a_hook_that_only_appends_loads_no_pattern(project: Path) -> None:
    code = (
        "import sys, holdfast\n"
        "with holdfast.open('s', root=sys.argv[1]) as s:\n"
        "    s.append({'role': 'user', 'content': 'hello'})\n"
        "    s.status(quick=True)\n"
        "print([m for m in sys.modules if 'secrets' in m or 'redact' in m or 'purg' in m])\n"
    )
    command = [sys.executable, "-c", code, str(project)]
    assert run(command, check=True, capture_output=True, text=True).stdout.strip() == "[]"
