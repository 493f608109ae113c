"""Redaction: what it costs, and what it finds in real sessions and in secrets that were planted.

Matches in real sessions are printed by kind and never in words: whoever wants to read them runs
`python -m benchmarks.redact --show` on their own machine. A scanner of another maker, where it is
installed, looks through the same texts.
"""

import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from time import thread_time
from typing import Any

from tests.secrets import every_value, planted_text

from benchmarks.data import data_folder
from benchmarks.table import print_table
from holdfast.core.ledger.entry import Entry, Said
from holdfast.core.observe.redaction import KnownSecrets, learn_secrets, redact_entry
from holdfast.text.secrets import find_secrets

WINDOW = 800_000
"""Characters of about 200,000 tokens."""
PEER = "redact_secret"


def run() -> None:
    """Print the tables."""
    texts = _texts()
    if not texts:
        print("no real sessions here: set HOLDFAST_DATA")
        return
    window = _window(texts)
    scan = median(_seconds(lambda: [find_secrets(text) for text in window]) for _ in range(5))
    whole = median(_seconds(lambda: _redacted(window)) for _ in range(5))
    size = sum(map(len, window))
    print_table(
        f"Redacting {size:,} characters (about 200,000 tokens): processor time, median of 5",
        ("what", "time"),
        [
            ("looking for secrets", f"{scan * 1e3:.0f} ms"),
            ("learning them, and redacting every entry", f"{whole * 1e3:.0f} ms"),
        ],
    )
    found = Counter(one.kind for text in texts for one in find_secrets(text))
    rows = [("ours", len(texts), sum(found.values()), _told(found), _planted_ours())]
    if find_spec(PEER) is not None:
        seen = _peer(texts)
        rows.append((PEER, len(texts), sum(seen.values()), _told(seen), _planted_peer()))
    print_table(
        f"Matches in real sessions and outputs, {sum(map(len, texts)) / 1e6:.1f} M characters",
        ("scanner", "texts", "matches", "kinds", "planted secrets found"),
        [tuple(map(str, row)) for row in rows],
    )


def _texts() -> list[str]:
    folder = data_folder()
    if folder is None:
        return []
    texts: list[str] = []
    for path in sorted((folder / "dev" / "trajectories").glob("*.json.gz")):
        session = json.loads(gzip.decompress(path.read_bytes()))
        for message in session["messages"]:
            calls = message.get("tool_calls") or []
            arguments = [call["function"]["arguments"] for call in calls]
            told = [message.get("content"), message.get("reasoning_content"), *arguments]
            texts += [text for text in told if text]
    outputs = sorted((folder / "tool_outputs").glob("*"))
    return [*texts, *(_read(path) for path in outputs if path.name != "index.json")]


def _read(path: Any) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8", "replace")


def _window(texts: list[str]) -> list[str]:
    taken: list[str] = []
    size = 0
    for text in texts:
        if size >= WINDOW:
            break
        taken.append(text[: WINDOW - size])
        size += len(taken[-1])
    return taken


def _redacted(window: list[str]) -> None:
    entries = [Entry(f"{at:032x}", None, Said("user", text), at) for at, text in enumerate(window)]
    known = learn_secrets(KnownSecrets(), entries)
    for entry in entries:
        redact_entry(entry, known)


def _seconds(act: Callable[[], object]) -> float:
    start = thread_time()
    act()
    return thread_time() - start


def _told(found: Counter[str]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in found.most_common()) or "none"


def _planted_ours() -> str:
    text = planted_text()
    seen = {text[one.start : one.end] for one in find_secrets(text)}
    return f"{sum(value in seen for value in every_value())} of {len(every_value())}"


def _peer(texts: list[str]) -> Counter[str]:
    peer = import_module(PEER)
    peer.initialize()
    return Counter(str(one.type) for text in texts for one in peer.scan(text))


def _planted_peer() -> str:
    peer, text = import_module(PEER), planted_text()
    spans = [(one.start, one.end) for one in peer.scan(text)]
    covered = sum(
        any(
            start < text.find(value) + len(value) and end > text.find(value) for start, end in spans
        )
        for value in every_value()
    )
    return f"{covered} of {len(every_value())}"


def _show() -> None:
    """Print every match with what stands around it."""
    for text in _texts():
        for one in find_secrets(text):
            around = text[max(one.start - 40, 0) : one.start].replace("\n", " ")
            print(f"{one.kind}: {around} >>> {text[one.start : one.end]}")


if __name__ == "__main__":
    _show() if "--show" in sys.argv else run()
