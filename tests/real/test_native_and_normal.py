"""The same session read from its native file and from its normal form says the same.

Every difference has to be one that the conversion itself counted, or one named here.
"""

import json
import re
from collections import Counter
from typing import Any, NamedTuple

import pytest

from holdfast.core.ledger.entry import (
    Attached,
    Derived,
    Entry,
    Said,
    Thought,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.measure.tokens import count_body
from holdfast.models.tokenizers import counter
from holdfast.stores.memory import MemoryStore
from holdfast.transcripts.ingest import ingest
from holdfast.wire.openai_chat import read
from tests.real.data import names, native_file, needs_data, normal, row_of, unpacked

pytestmark = needs_data

PLACEHOLDER = re.compile(r"\n?\[image omitted in normal form: \d+ chars of JSON/base64[^\]]*\]")
REFERENCE = re.compile(r'\{"tool_name":"([^"]*)","type":"tool_reference"\}')
"""The normal form writes these blocks as `[tool_reference: NAME]`; no note counts them."""


class Spoke(NamedTuple):
    """What one side said in one go: consecutive assistant blocks are one."""

    role: str
    text: str
    thoughts: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    result_of: str = ""
    failed: bool = False
    summary: bool = False


def plain(arguments: str) -> str:
    """Arguments in one spelling; text that is no JSON as it is."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except ValueError:
        return arguments


def merged(spoken: list[Spoke]) -> list[Spoke]:
    """Consecutive assistant messages as one."""
    out: list[Spoke] = []
    for one in spoken:
        joins = bool(out) and out[-1].role == one.role == "assistant"
        out.append(joined(out.pop(), one) if joins else one)
    return out


def joined(one: Spoke, two: Spoke) -> Spoke:
    """Two assistant messages as one."""
    texts = [text for text in (one.text, two.text) if text]
    thoughts = [text for text in (one.thoughts, two.thoughts) if text]
    return Spoke("assistant", "\n".join(texts), "\n".join(thoughts), one.calls + two.calls)


def from_normal(messages: list[dict[str, Any]]) -> list[Spoke]:
    """The normal form, message by message."""
    return [
        Spoke(
            message.get("x_role") or message["role"],
            PLACEHOLDER.sub("", message.get("content") or ""),
            message.get("reasoning_content") or "",
            tuple(
                (call["function"]["name"], plain(call["function"]["arguments"]))
                for call in message.get("tool_calls") or ()
            ),
            message.get("tool_call_id", ""),
            message.get("x_is_error", False),
            message.get("x_compact_summary", False),
        )
        for message in messages
    ]


def gathered(entries: list[Entry]) -> list[list[Entry]]:
    """Entries by the message they are of: one with its provider's id may come in pieces."""
    messages: list[list[Entry]] = []
    homes: dict[str, list[Entry]] = {}
    for entry in entries:
        home = homes.get(entry.group) if entry.group else None
        if home is None and messages and messages[-1][0].message == entry.message:
            home = messages[-1]
        if home is None:
            home = list[Entry]()
            messages.append(home)
        if entry.group:
            homes[entry.group] = home
        home.append(entry)
    return messages


def from_native(entries: list[Entry]) -> list[Spoke]:
    """The native file, message by message."""
    return [one for message in gathered(entries) for one in spoken_in(message)]


def spoken_in(message: list[Entry]) -> list[Spoke]:
    bodies = [entry.body for entry in message]
    results = [
        Spoke(
            "tool",
            REFERENCE.sub(r"[tool_reference: \1]", body.output),
            result_of=body.call,
            failed=body.failed,
        )
        for body in bodies
        if isinstance(body, ToolReturned)
    ]
    said = [body for body in bodies if isinstance(body, Said)]
    thoughts = [body.text for body in bodies if isinstance(body, Thought)]
    calls = tuple(
        (body.tool, plain(body.arguments)) for body in bodies if isinstance(body, ToolCalled)
    )
    if not said and not thoughts and not calls:
        return results
    return [
        *results,
        Spoke(
            said[0].role if said else "assistant",
            "\n".join(body.text for body in said),
            "\n".join(text for text in thoughts if text),
            calls,
            summary=any(body.by == "summary" for body in said),
        ),
    ]


def label(line: dict[str, Any]) -> str:
    """What the conversion's notes call a line that it did not carry over."""
    kind = line["type"]
    inner = line.get("subtype") if kind == "system" else None
    if kind == "event_msg":
        inner = line["payload"].get("type")
    return f"not_carried:{kind}/{inner}" if inner else f"not_carried:{kind}"


def native_lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in unpacked(native_file(name)).splitlines()]


@pytest.mark.parametrize("name", names("claude", "codex", native=True))
def test_both_forms_agree_on_role_text_tool_and_arguments(name: str) -> None:
    store = MemoryStore()
    done = ingest(native_file(name), store)
    entries = [e for e in store.read(done.session) if not isinstance(e.body, Derived)]
    assert {e.lane for e in entries} == {""}
    ours = [one for one in from_native(entries) if one != Spoke("assistant", "")]
    theirs = [one for one in from_normal(normal(name)["messages"]) if one != Spoke("assistant", "")]
    assert merged(ours) == merged(theirs)


@pytest.mark.parametrize("name", names("claude", "codex", native=True))
def test_every_line_that_says_nothing_is_one_that_the_conversion_counted(name: str) -> None:
    store = MemoryStore()
    done = ingest(native_file(name), store)
    pieces = [seen for seen in store.sightings(done.session) if seen.raw.strip()]
    silent = Counter(
        label(line) for line, seen in zip(native_lines(name), pieces, strict=True) if not seen.first
    )
    notes = normal(name)["conversion_notes"]
    counted = {
        key: count
        for key, count in notes.items()
        if key.startswith("not_carried:") and key != "not_carried:encrypted_reasoning"
    }
    assert silent == Counter(counted)


@pytest.mark.parametrize("name", names("claude", "codex", native=True))
def test_thoughts_and_pictures_are_as_many_as_the_conversion_counted(name: str) -> None:
    store = MemoryStore()
    done = ingest(native_file(name), store)
    bodies = [e.body for e in store.read(done.session)]
    notes = normal(name)["conversion_notes"]
    thoughts = [body for body in bodies if isinstance(body, Thought)]
    pictures = sum(
        len(body.media) if isinstance(body, ToolReturned) else isinstance(body, Attached)
        for body in bodies
    )
    counted = notes.get("thinking_blocks", 0) + notes.get("not_carried:encrypted_reasoning", 0)
    assert (len(thoughts), pictures) == (counted, notes.get("images_replaced_by_placeholder", 0))


def reported(name: str) -> int:
    """How many requests the native file tells the size of."""
    if row_of(name)["format"] == "claude":
        return (row_of(name)["reported_input_tokens"] or {"requests": 0})["requests"]
    infos = [
        line["payload"].get("info")
        for line in native_lines(name)
        if line["payload"].get("type") == "token_count"
    ]
    # A rollout tells the same sum twice, and the index counts it twice.
    return len({json.dumps(info["total_token_usage"]) for info in infos if info})


@pytest.mark.parametrize("name", names("claude", "codex", native=True))
def test_every_request_that_reported_its_size_is_known(name: str) -> None:
    store = MemoryStore()
    done = ingest(native_file(name), store)
    head = store.head(done.session)
    assert head is not None
    assert head.lane("").calibration.requests == reported(name)


@pytest.mark.parametrize("name", names())
def test_counts_are_those_of_another_implementation_of_the_vocabulary(name: str) -> None:
    count = counter("o200k_base")
    bodies = [body for message in normal(name)["messages"] for body in read(message)]
    # The index adds up names and arguments; a body counts them as one text.
    total = sum(
        count(body.tool) + count(body.arguments)
        if isinstance(body, ToolCalled)
        else count_body(body, count)
        for body in bodies
    )
    assert total == row_of(name)["tokens"]
