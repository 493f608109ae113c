"""Rows of one table in JSON: what repeats in them, and which differ from the rest."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from holdfast.core.ledger.jsontext import Json
from holdfast.core.shrink.outline.fitting import named, squeezed
from holdfast.core.shrink.outline.shapes import scalar, telling_first

FEW = 6
"""Distinct values of a key that are worth counting one by one."""
DULL = re.compile(r"(?:_at|At|_id|Id|_sha|_url|Url|sha|date|_date|time)$")
"""Keys whose values repeat without meaning anything."""
STATES = ("status", "state", "conclusion", "result", "outcome", "level", "severity", "success")
BAD = ("fail", "err", "crit", "fatal", "timed", "denied", "reject", "invalid", "high")
"""How a state starts that a reader looks for."""
TROUBLE = frozenset({"error", "errors", "exception", "failure", "failed", "err", "stderr"})


def repeated(rows: Sequence[dict[str, Json]], width: int) -> Iterator[str]:
    """For each key with few values: which, and how often."""
    if len(rows) < 4:
        return
    keys = dict.fromkeys(key for row in rows[:200] for key in row)
    for key in telling_first(list(keys))[:60]:
        values = [row[key] for row in rows if key in row]
        if DULL.search(key):
            continue
        if any(isinstance(value, dict | list) for value in values[:50]):
            continue
        counts = Counter(
            scalar(value, 40) for value in values if not isinstance(value, dict | list)
        )
        if 2 <= len(counts) <= FEW and len(counts) * 2 <= len(values):
            told = ", ".join(f"{value} ×{times}" for value, times in counts.most_common())
            yield squeezed(f"{key}: {told}", width)


def odd_rows(rows: Sequence[dict[str, Json]]) -> dict[int, str]:
    """Rows that differ from the rest, with why."""
    if len(rows) < 3:
        return {}
    present = Counter(key for row in rows for key in row)
    empty = Counter(key for row in rows for key, item in row.items() if item is None)
    most = len(rows)
    few = max(most // 10, 1)
    rare = {key for key, times in present.items() if times <= few}
    usual = {key for key, times in present.items() if times >= most - few}
    bad_rows = Counter(key for row in rows for key in STATES if _is_bad(row.get(key)))
    rarely_bad = {key for key, times in bad_rows.items() if times * 3 <= most}
    odd: dict[int, str] = {}
    for at, row in enumerate(rows):
        extra = [key for key in row if key in rare]
        missing = [key for key in usual if key not in row]
        nulls = [key for key, item in row.items() if item is None and empty[key] <= few]
        trouble = [
            key
            for key, item in row.items()
            if item and key.lower() in TROUBLE and empty[key] * 2 > most
        ]
        bad = [f"{key} {row[key]}" for key in STATES if _is_bad(row.get(key)) and key in rarely_bad]
        told = [
            ("", bad),
            ("has", extra),
            ("lacks", sorted(missing)),
            ("null", nulls),
            ("set", trouble),
        ]
        why = ", ".join(f"{word} {named(keys, 3)}".strip() for word, keys in told if keys)
        if why:
            odd[at] = why
    return odd


def _is_bad(value: Json) -> bool:
    return isinstance(value, str) and value.lower().startswith(BAD)
