"""The two ends of a transcript: what the user asked for, found without reading the rest.

Whoever has no time for all of a session still knows how it began and what it is at now. What was
asked in between is not looked for.
"""

import os
from collections.abc import Iterable
from io import BytesIO

from holdfast.core.ledger.entry import Derived, Entry, is_request
from holdfast.core.ledger.window import Item
from holdfast.core.observe.requests.intent import Wanted, wanted
from holdfast.core.observe.scene import read_scene
from holdfast.core.plan.policy import Policy
from holdfast.engine.never_store import Withholder
from holdfast.engine.redact import Redactor
from holdfast.project.regular_files import open_regular
from holdfast.text.jsontext import as_object
from holdfast.wire.detect import TRANSCRIPT_WIRES, wire_of_lines
from holdfast.wire.jsonl import cut_lines
from holdfast.wire.pieces import Piece

LOOKED_AT = (256 * 1024, 4 * 1024 * 1024)
"""Bytes of each end that are looked at, and how many when nothing is asked for in them."""


def wanted_at_ends(path: str, policy: Policy, *, lane: str = "") -> Wanted:
    """What the user asked for at the beginning and at the end, as anyone may see it.

    Nothing, where the file is no transcript or cannot be read.
    """
    first, upto = _looked_at(path, policy, lane, None)
    last, _ = _looked_at(path, policy, lane, upto)
    redactor = Redactor(policy.redact)
    asked = [entry for entry in (*first, *last) if is_request(entry.body)]
    redactor.take(asked)
    return wanted(read_scene([Item(entry) for entry in redactor.entries(asked)]))


def _looked_at(path: str, policy: Policy, lane: str, upto: int | None) -> tuple[list[Entry], int]:
    """The entries of the beginning, or of the end from `upto` on, and where they end."""
    found, end = list[Entry](), upto or 0
    for most in LOOKED_AT:
        raw, end = _read(path, most, upto)
        found = _entries(cut_lines(BytesIO(raw)), policy, lane, upto or 0)
        if any(is_request(entry.body) for entry in found):
            break
    return found, end


def _read(path: str, most: int, upto: int | None) -> tuple[bytes, int]:
    """Whole lines of one end, and where they end; nothing of what cannot be read."""
    try:
        with open_regular(path, links=True) as file:
            size = os.fstat(file.fileno()).st_size
            start = 0 if upto is None else max(size - most, upto)
            file.seek(start)
            raw = file.read(most)
    except OSError:
        return b"", upto or 0
    if start > (upto or 0):
        raw = raw.partition(b"\n")[2]
    whole = raw[: raw.rfind(b"\n") + 1]
    return whole, start + len(whole)


def _entries(pieces: Iterable[Piece], policy: Policy, lane: str, upto: int) -> list[Entry]:
    """What lines hold, of one agent; their numbers go on from those of the other end."""
    lines = list(pieces)
    wire = TRANSCRIPT_WIRES.get(wire_of_lines(lines))
    if wire is None:
        return []
    reader, rules = wire.Reader(), Withholder(policy.never_store)
    values = (as_object(rules.apply(line.value)) for line in lines if line.value is not None)
    drafts = [draft for at, value in enumerate(values) for draft in reader.read(value, at)]
    mine = (one for one in drafts if one.lane == lane and not isinstance(one.body, Derived))
    return [
        Entry(str(number), None, one.body, number, lane=lane, message=number, at=one.at)
        for number, one in enumerate(mine, upto + 1)
    ]
