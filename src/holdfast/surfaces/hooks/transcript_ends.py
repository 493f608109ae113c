"""Read the user's requests from the beginning and the end of a transcript only.

Used if there is no time to read all of it: the ends have the first request and the current one.
Requests in between are not found.
"""

import os
from collections.abc import Iterable
from io import BytesIO

from holdfast.core.ledger.entry import Derived, Entry, is_request
from holdfast.core.observe.requests.intent import IntentReading, read_intent
from holdfast.core.observe.scene import scene_of
from holdfast.core.plan.policy import Policy
from holdfast.engine.never_store import NeverStoreFilter
from holdfast.engine.redact import Redactor
from holdfast.project.regular_files import open_regular
from holdfast.text.jsontext import as_object
from holdfast.wire.detect import TRANSCRIPT_WIRES, wire_of_lines
from holdfast.wire.jsonl import cut_lines
from holdfast.wire.pieces import Piece

READ_SIZES = (256 * 1024, 4 * 1024 * 1024)
"""Bytes to read of each end; the larger number if the first part has no request."""


def read_intent_at_ends(path: str, policy: Policy, *, lane: str = "") -> IntentReading:
    """Return what the user wants, from the requests at both ends of a transcript, redacted.

    It is empty if the file is not a transcript or cannot be read.
    """
    first, first_end = _read_entries(path, policy, lane, None)
    last, _ = _read_entries(path, policy, lane, first_end)
    redactor = Redactor(policy.redact)
    requests = [entry for entry in (*first, *last) if is_request(entry.body)]
    redactor.learn_from(requests)
    return read_intent(scene_of(redactor.entries(requests)))


def _read_entries(
    path: str, policy: Policy, lane: str, first_end: int | None
) -> tuple[list[Entry], int]:
    """Read the entries of the beginning, or of the end after `first_end`, and where they end."""
    entries, end = list[Entry](), first_end or 0
    for size in READ_SIZES:
        raw, end = _read_lines(path, size, first_end)
        entries = _entries_of(cut_lines(BytesIO(raw)), policy, lane, first_end or 0)
        if any(is_request(entry.body) for entry in entries):
            break
    return entries, end


def _read_lines(path: str, most_bytes: int, first_end: int | None) -> tuple[bytes, int]:
    """Read complete lines of one end; also return where they end. Empty if unreadable."""
    try:
        with open_regular(path, links=True) as file:
            size = os.fstat(file.fileno()).st_size
            start = 0 if first_end is None else max(size - most_bytes, first_end)
            file.seek(start)
            raw = file.read(most_bytes)
    except OSError:
        return b"", first_end or 0
    if start > (first_end or 0):
        raw = raw.partition(b"\n")[2]
    whole = raw[: raw.rfind(b"\n") + 1]
    return whole, start + len(whole)


def _entries_of(pieces: Iterable[Piece], policy: Policy, lane: str, first_end: int) -> list[Entry]:
    """Return the entries of one lane, numbered from `first_end` on."""
    lines = list(pieces)
    wire = TRANSCRIPT_WIRES.get(wire_of_lines(lines))
    if wire is None:
        return []
    reader, rules = wire.Reader(), NeverStoreFilter(policy.never_store)
    values = (as_object(rules.apply(line.value)) for line in lines if line.value is not None)
    drafts = [
        draft for position, value in enumerate(values) for draft in reader.read(value, position)
    ]
    of_lane = (
        draft for draft in drafts if draft.lane == lane and not isinstance(draft.body, Derived)
    )
    return [
        Entry(str(number), None, draft.body, number, lane=lane, message=number, at=draft.at)
        for number, draft in enumerate(of_lane, first_end + 1)
    ]
