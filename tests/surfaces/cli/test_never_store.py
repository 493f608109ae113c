"""Never-store rules: what is excluded is nowhere on disk, and a notice stands in its place."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from holdfast.core.plan.policy import NeverStore, Policy
from holdfast.errors import BadSetting
from holdfast.session.open import open as open_session
from holdfast.session.open import open_store
from tests.input.making import coded, line, run, sent, told
from tests.surfaces.cli.commands import document, done, invoke

SECRET = "sk-THE-SECRET-0123456789"
PATTERNS = r"""
[never_store]
patterns = ["sk-[A-Z0-9-]+"]
"""
TOOLS = """
[never_store]
tools = ["vault*"]
"""
PATHS = """
[never_store]
paths = ["*.env", "secrets/*"]
"""


def _found(root: Path) -> list[str]:
    """The files of the store in which the secret's bytes stand, the log among them."""
    with open_store(root) as store:
        # Held open, so that the log is there to be looked at.
        list(store.sessions())
        names = sorted((root / ".holdfast").iterdir())
        blobs = _unpacked(root)
        hits = [path.name for path in names if SECRET.encode() in path.read_bytes()]
    return hits + [name for name, data in blobs if SECRET.encode() in data]


def _unpacked(root: Path) -> Iterable[tuple[str, bytes]]:
    """Everything the store gives back, unpacked: compressed bytes hide a secret from a search."""
    with open_store(root) as store:
        for listed in store.sessions():
            yield f"head of {listed.name}", repr(listed).encode()
            for source in listed.head.documents or {"": None}:
                for seen in store.sightings(listed.name, source):
                    yield f"{listed.name}, piece {seen.pos + 1}", seen.lead + seen.raw
            for entry in store.read(listed.name):
                yield f"{listed.name}, entry {entry.seq}", repr(entry).encode()


def _call(wire: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    match wire:
        case "anthropic":
            block = {"type": "tool_use", "id": "c1", "name": tool, "input": arguments}
            return {"role": "assistant", "content": [block]}
        case "openai_chat":
            function = {"name": tool, "arguments": json.dumps(arguments)}
            call = {"id": "c1", "type": "function", "function": function}
            return {"role": "assistant", "content": None, "tool_calls": [call]}
        case "openai_chat custom":
            custom = {"name": tool, "input": json.dumps(arguments)}
            call = {"id": "c1", "type": "custom", "custom": custom}
            return {"role": "assistant", "content": None, "tool_calls": [call]}
        case _:
            item = {"type": "function_call", "call_id": "c1", "name": tool}
            own = {"id": "fc_1"} if wire == "openai_responses with ids" else {}
            return {**item, **own, "arguments": json.dumps(arguments)}


def _result(wire: str, output: str) -> dict[str, Any]:
    match wire:
        case "anthropic":
            block = {"type": "tool_result", "tool_use_id": "c1", "content": output}
            return {"role": "user", "content": [block]}
        case "openai_chat" | "openai_chat custom":
            return {"role": "tool", "tool_call_id": "c1", "content": output}
        case _:
            return {"type": "function_call_output", "call_id": "c1", "output": output}


WIRES = (
    "anthropic",
    "openai_chat",
    "openai_chat custom",
    "openai_responses",
    "openai_responses with ids",
)
each_wire = pytest.mark.parametrize("wire", WIRES)


@each_wire
@pytest.mark.parametrize(
    ("rules", "tool", "arguments"),
    [
        (TOOLS, "vault_read", {"key": SECRET}),
        (PATHS, "Read", {"file_path": "/home/dev/.env", "content": SECRET}),
        (PATHS, "write", {"path": "secrets/key", "text": SECRET}),
        (PATTERNS, "Bash", {"command": f"curl -H {SECRET} x"}),
    ],
    ids=["tool", "path read", "path written", "pattern"],
)
def test_a_call_and_its_result_are_kept_out_of_a_file_that_is_read(
    rules: str, tool: str, arguments: dict[str, Any], wire: str, project: Path
) -> None:
    (project / "holdfast.toml").write_text(rules)
    messages = [_call(wire, tool, arguments), _result(wire, f"result {SECRET} end")]
    (project / "a.jsonl").write_bytes(b"".join(line(message) for message in messages))
    done("ingest", "a.jsonl", "--session", "s")
    assert _found(project) == []
    assert "[not stored" in json.dumps(sent(project, "s"))
    assert done("export", "s").count("[not stored") == 2


@each_wire
@pytest.mark.parametrize(
    ("rules", "tool", "arguments"),
    [
        (NeverStore(tools=("vault*",)), "vault_read", {"key": SECRET}),
        (NeverStore(paths=("*.env",)), "Read", {"file_path": ".env", "content": SECRET}),
        (NeverStore(patterns=(r"sk-[A-Z0-9-]+",)), "Bash", {"command": SECRET}),
    ],
    ids=["tool", "path", "pattern"],
)
def test_a_call_and_its_result_are_kept_out_of_a_session_told_message_by_message(
    rules: NeverStore, tool: str, arguments: dict[str, Any], wire: str, project: Path
) -> None:
    policy = Policy(never_store=rules)
    with open_session("s", root=project, policy=policy) as session:
        session.append(_call(wire, tool, arguments))
        session.append(_result(wire, f"result {SECRET} end"))
    assert _found(project) == []
    notices = json.dumps(sent(project, "s"))
    assert (notices.count("[not stored"), SECRET in notices) == (2, False)


@each_wire
def test_a_result_is_kept_out_when_its_call_came_in_another_process(
    wire: str, project: Path
) -> None:
    policy = Policy(never_store=NeverStore(tools=("vault*",)))
    with open_session("s", root=project, policy=policy) as session:
        session.append(_call(wire, "vault_read", {"key": "k"}))
    with open_session("s", root=project, policy=policy) as session:
        session.append(_result(wire, f"result {SECRET} end"))
    assert _found(project) == []


@each_wire
def test_a_history_resent_keeps_its_notices_and_adds_nothing(wire: str, project: Path) -> None:
    policy = Policy(never_store=NeverStore(tools=("vault*",)))
    history = [_call(wire, "vault_read", {"key": SECRET}), _result(wire, SECRET)]
    with open_session("s", root=project, policy=policy) as session:
        session.sync(history)
        assert (session.sync(history).added, session.sync(history).branched) == (0, False)
    assert _found(project) == []


WRAPPED = b'{"model":"gpt-4o","user":"%s","messages":[{"role":"user","content":"one"}],"x":"%s"}'
PLACES = {
    "a text": told(f"my key is {SECRET}, keep it"),
    "an escaped text": told("KEY").replace(b"KEY", b"\\u0073k-THE-SECRET-0123456789"),
    "a key of an object": line({"role": "user", "content": "x", "extra": {SECRET: 1}}),
    "a member nobody reads": line({"role": "user", "content": "x", "metadata": [SECRET]}),
    "a key given twice": b'{"role":"user","content":"%s","content":"x"}\n' % SECRET.encode(),
    "a torn last line": told("one") + told(f"my key is {SECRET}, keep it")[:-10],
    "a torn line before another": told(f"{SECRET} and more")[:-8] + told("two"),
    "a line that is not JSON": told("one") + f"oops {SECRET}\n".encode(),
    "a line that is no object": told("one") + json.dumps([SECRET]).encode() + b"\n",
    "a line nested too deeply": told("one")
    + b'{"a":' * 5_000
    + json.dumps(SECRET).encode()
    + b"}" * 5_000
    + b"\n",
    "a file of opaque lines": f"plain words\nwith {SECRET} in them\n".encode(),
    "the frame of a request": WRAPPED % (SECRET.encode(), SECRET.encode()),
    "a request that breaks off": (WRAPPED % (b"x", SECRET.encode()))[:-2],
    "a compressed file": gzip.compress(told(SECRET)),
}


@pytest.mark.parametrize("where", PLACES)
def test_what_a_pattern_matches_is_stored_nowhere(where: str, project: Path) -> None:
    (project / "holdfast.toml").write_text(PATTERNS)
    (project / "a.jsonl").write_bytes(PLACES[where])
    result = invoke("ingest", "a.jsonl", "--session", "s")
    assert (result.exit_code, result.exception) == (0, None)
    assert _found(project) == []
    assert SECRET not in done("export", "s")


def test_what_a_pattern_matches_is_kept_out_of_a_claude_code_transcript(project: Path) -> None:
    (project / "holdfast.toml").write_text(PATTERNS)
    result = {"type": "tool_result", "tool_use_id": "c1", "content": f"key {SECRET}"}
    answered = {
        **coded("", 2),
        "message": {"role": "user", "content": [result]},
        "toolUseResult": {"stdout": f"key {SECRET}", "interrupted": False},
    }
    lines = [line(coded(f"use {SECRET}", 0)), line(answered)]
    (project / "a.jsonl").write_bytes(b"".join(lines))
    done("ingest", "a.jsonl")
    assert _found(project) == []
    assert document("sessions")["sessions"][0]["title"] == "use [not stored]"


def test_a_tool_is_kept_out_of_a_claude_code_transcript_whichever_comes_first(
    project: Path,
) -> None:
    (project / "holdfast.toml").write_text(TOOLS)
    call = {"type": "tool_use", "id": "c1", "name": "vault_read", "input": {"k": SECRET}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": SECRET}
    answers = {
        **coded("", 2),
        "message": {"role": "user", "content": [result]},
        "toolUseResult": SECRET,
    }
    asks = {**coded("", 1), "message": {"role": "assistant", "content": [call]}}
    (project / "a.jsonl").write_bytes(line(coded("go", 0)) + line(asks) + line(answers))
    done("ingest", "a.jsonl", "--session", "in order")
    assert _found(project) == []
    (project / "b.jsonl").write_bytes(line(coded("go", 0)) + line(answers) + line(asks))
    done("ingest", "b.jsonl", "--session", "result first")
    assert _found(project) == []


def test_a_tool_is_kept_out_of_a_codex_rollout(project: Path) -> None:
    (project / "holdfast.toml").write_text(TOOLS)
    items: list[dict[str, Any]] = [
        {"type": "function_call", "id": "f", "call_id": "c1", "name": "vault", "arguments": SECRET},
        {"type": "function_call_output", "call_id": "c1", "output": SECRET},
    ]
    lines = [{"timestamp": "t", "type": "response_item", "payload": item} for item in items]
    end = {
        "type": "exec_command_end",
        "call_id": "c1",
        "stdout": SECRET,
        "aggregated_output": SECRET,
    }
    lines.append({"timestamp": "t", "type": "event_msg", "payload": end})
    (project / "rollout.jsonl").write_bytes(b"".join(line(value) for value in lines))
    done("ingest", "rollout.jsonl")
    assert _found(project) == []


def test_what_a_pattern_matches_is_kept_out_of_notes(project: Path) -> None:
    policy = Policy(never_store=NeverStore(patterns=(r"sk-[A-Z0-9-]+",)))
    with open_session("s", root=project, policy=policy) as session:
        session.append({"role": "user", "content": "hello"})
        session.note("found", key=SECRET)
    assert _found(project) == []


def test_a_text_too_long_for_patterns_is_withheld_whole(project: Path) -> None:
    policy = Policy(never_store=NeverStore(patterns=(r"sk-[A-Z0-9-]+",)))
    with open_session("s", root=project, policy=policy) as session:
        session.append({"role": "user", "content": "x" * 1_000_001 + SECRET})
    assert _found(project) == []


def test_what_no_rule_matches_keeps_its_very_bytes(project: Path) -> None:
    (project / "holdfast.toml").write_text(PATTERNS + TOOLS.replace("[never_store]\n", ""))
    data = b'{"content" : "one\\u0041",  "role":"user"}\r\n' + told("two")
    (project / "a.jsonl").write_bytes(data)
    done("ingest", "a.jsonl")
    assert invoke("export").stdout_bytes == data


def test_a_file_with_something_withheld_adds_nothing_when_it_is_read_again(project: Path) -> None:
    (project / "holdfast.toml").write_text(PATTERNS)
    (project / "a.jsonl").write_bytes(told(SECRET) + told("two"))
    done("ingest", "a.jsonl")
    again = document("ingest", "a.jsonl")["files"][0]
    assert (again["added"], again["branched"]) == (0, False)


def test_a_pattern_that_is_none_is_refused(project: Path) -> None:
    (project / "holdfast.toml").write_text('[never_store]\npatterns = ["(unclosed"]\n')
    (project / "a.jsonl").write_bytes(told("one"))
    result = invoke("ingest", "a.jsonl")
    assert isinstance(result.exception, BadSetting)
    assert result.exception.name == "never_store.patterns"


def test_a_secret_is_kept_out_by_a_process_of_its_own(project: Path) -> None:
    (project / "a.jsonl").write_bytes(told(f"my key is {SECRET}"))
    ran = run("ingest", "a.jsonl", cwd=project, HOLDFAST_NEVER_STORE_PATTERNS="sk-[A-Z0-9-]+")
    assert ran.code == 0
    assert _found(project) == []
    assert sent(project, "a") == [{"role": "user", "content": "my key is [not stored]"}]


def test_the_result_of_a_call_that_another_process_recorded_is_kept_out(tmp_path: Path) -> None:
    rules = Policy(never_store=NeverStore(tools=("Vault",), patterns=("CANARY-[0-9]+",)))
    with (
        open_session("s", root=tmp_path, policy=rules) as one,
        open_session("s", root=tmp_path, policy=rules) as other,
    ):
        one.append({"role": "user", "content": "Hi"})
        other.append({"role": "user", "content": "Hi again"})
        used = {"type": "tool_use", "id": "v", "name": "Vault", "input": {"q": "db"}}
        one.append({"role": "assistant", "content": [used]})
        result = {"type": "tool_result", "tool_use_id": "v", "content": SECRET}
        other.append({"role": "user", "content": [result]})
        one.packet("Fix the bill of CANARY-17", pane=1)
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert SECRET.encode() not in kept
    assert b"CANARY-17" not in kept
