"""What a worker wrote about its packet: read from YAML, front matter, or plain Markdown.

Workers are other people's programs. Whatever they write is taken as far as it can be meant, cut to
bounds, and never believed to be anything but words: a list that is no list becomes one, an item
that YAML took for a mapping becomes its text again, and what is none of it is a note.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, cast

from msgspec.structs import replace

from holdfast.core.ledger.packet import Feedback, Outcome
from holdfast.core.view.packet_stats.records import is_none

ReadYaml: TypeAlias = Callable[[str], Mapping[str, object] | None]
"""A YAML mapping; nothing when a text is none."""

LONGEST, MOST = 500, 50
"""Characters of an item, and items of a list; what is more is cut."""
NOTE = 2_000
GAPS = ("context_gaps", "gaps", "needed", "missing")
UNUSED = ("context_unused", "unused", "not_used", "received")
OUTCOME = ("outcome", "status", "result", "exit")
EXPLORED = ("explored", "re_explored", "reexplored", "looked_up")
TOKENS = ("tokens_used", "tokens")
NOTES = ("note", "notes", "comment", "summary", "message")
TYPE = ("task_type", "type")
OUTCOMES: Mapping[str, Outcome] = {
    **dict.fromkeys(
        ("done", "success", "succeeded", "complete", "completed", "ok", "pass"), "done"
    ),
    **dict.fromkeys(("blocked", "stuck", "waiting", "needs_input", "escalate"), "blocked"),
    **dict.fromkeys(("failed", "failure", "fail", "error", "aborted", "gave_up"), "failed"),
}
HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s{1,4})?\**([\w /_-]{3,60}?)\**\s{0,3}:?\**\s{0,3}$")
ITEM = re.compile(r"^\s{0,8}(?:[-*+]|\d{1,3}[.)])\s{1,4}(\S.{0,2000})$")
SAID_OUTCOME = re.compile(r"(?im)^\W{0,6}(?:outcome|status|result)\W{0,6}:\W{0,4}(\w{2,20})\b")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]+")


def read_feedback(text: str, read_yaml: ReadYaml) -> Feedback:
    """What a worker wrote, whichever way it wrote it."""
    for part, rest in _parts(text):
        found = read_yaml(part)
        if found is not None and _is_feedback(found):
            told = from_mapping(found)
            return replace(told, note=told.note or _cut(rest, NOTE))
    return _from_markdown(text)


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Where the YAML may be: before a text, in a fence, or all of it; with what is left."""
    lines = text.split("\n")
    for starts, ends in ((("---",), ("---", "...")), (("```yaml", "```yml"), ("```",))):
        found = _between(lines, starts, ends)
        if found:
            first, last = found
            rest = lines[:first] + lines[last + 1 :]
            yield "\n".join(lines[first + 1 : last]), "\n".join(rest)
    yield text, ""


def _between(
    lines: Sequence[str], starts: Sequence[str], ends: Sequence[str]
) -> tuple[int, int] | None:
    """The first pair of lines that opens and closes a part."""
    bare = [line.strip() for line in lines]
    first = next((at for at, line in enumerate(bare) if line in starts), None)
    if first is None:
        return None
    last = next((at for at in range(first + 1, len(bare)) if bare[at] in ends), None)
    return None if last is None else (first, last)


def _is_feedback(found: Mapping[str, object]) -> bool:
    known = {*GAPS, *UNUSED, *OUTCOME, *EXPLORED, *NOTES}
    return any(_plain(name) in known for name in found)


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def from_mapping(found: Mapping[str, object]) -> Feedback:
    """Feedback from members of any spelling; what is not known is left out."""
    held = {_plain(name): value for name, value in found.items()}

    def first(names: Sequence[str]) -> object:
        return next((held[name] for name in names if name in held), None)

    return Feedback(
        gaps=_items(first(GAPS)),
        unused=_items(first(UNUSED)),
        outcome=outcome_of(first(OUTCOME)),
        task_type=_cut(_said(first(TYPE)), 40),
        tokens_used=_number(first(TOKENS)),
        explored=_items(first(EXPLORED)),
        note=_cut(_said(first(NOTES)), NOTE),
    )


def outcome_of(value: object) -> Outcome:
    """How a task ended, in one of three words; nothing when the word means none of them."""
    if not isinstance(value, str):
        return ""
    return OUTCOMES.get(_plain(value), "")


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return min(max(value, 0), 10**12)


def _items(value: object) -> tuple[str, ...]:
    """A list of texts out of a list, a mapping, or a text with one on each line."""
    if isinstance(value, str):
        # Only lines that are marked as items are several; other lines are one thought.
        marked = [found[1] for line in value.split("\n") if (found := ITEM.match(line))]
        rows: list[object] = list(marked) or [value]
    elif isinstance(value, list):
        rows = cast(list[object], value)
    else:
        rows = [] if value is None else [value]
    told = (_cut(_said(row), LONGEST) for row in rows[: 4 * MOST])
    return tuple(dict.fromkeys(row for row in told if not is_none(row)))[:MOST]


def _said(value: object) -> str:
    """A value as the words that were written: `- Needed: x` is a mapping to YAML."""
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "yes" if value else "no"
        case dict():
            pairs = cast(dict[object, object], value).items()
            return ", ".join(f"{name}: {_said(one)}" for name, one in list(pairs)[:8])
        case list():
            return ", ".join(_said(one) for one in cast(list[object], value)[:8])
        case _:
            return str(value)[:LONGEST]


def _cut(text: str, most: int) -> str:
    line = CONTROL.sub(" ", text).strip()
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _from_markdown(text: str) -> Feedback:
    """Feedback from headings and the items under them; the rest is the note."""
    lists: dict[str, list[str]] = {"gaps": [], "unused": [], "explored": []}
    under, rest = "", list[str]()
    for line in text[:100_000].split("\n")[:2_000]:
        item, heading = ITEM.match(line), HEADING.match(line)
        if heading and not item:
            under = _about(heading[1])
        if item and under:
            lists[under].append(item[1])
        elif line.strip() and not (heading and under):
            rest.append(line)
    said = SAID_OUTCOME.search(text[:100_000])
    return Feedback(
        gaps=_items(lists["gaps"]),
        unused=_items(lists["unused"]),
        explored=_items(lists["explored"]),
        outcome=outcome_of(said[1]) if said else "",
        note=_cut("\n".join(rest), NOTE),
    )


def _about(heading: str) -> str:
    """Which list a heading begins."""
    plain = _plain(heading)
    if any(word in plain for word in ("unused", "not_used", "not_needed", "received")):
        return "unused"
    if any(word in plain for word in ("gap", "missing", "needed", "lacked", "would_have_helped")):
        return "gaps"
    return "explored" if "explor" in plain or "looked_up" in plain else ""


def written(feedback: Feedback) -> Mapping[str, object]:
    """Feedback as its file has it, in the words of the protocol."""
    told: dict[str, object] = {
        "context_gaps": list(feedback.gaps),
        "context_unused": list(feedback.unused),
    }
    for name, value in (
        ("outcome", feedback.outcome),
        ("explored", list(feedback.explored)),
        ("tokens_used", feedback.tokens_used),
        ("note", feedback.note),
        ("task_type", feedback.task_type),
    ):
        if value:
            told[name] = value
    return told
