"""Read a worker's feedback on its packet from YAML, front matter or plain Markdown.

Workers are other people's programs, so their input is accepted in any shape, cut to limits, and
only ever treated as text: a single value becomes a list, an item that YAML reads as a mapping
becomes its text again, and everything else is a note.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, cast

from msgspec.structs import replace

from holdfast.core.ledger.packet import Feedback, Outcome
from holdfast.core.view.packet_stats.records import says_no_gap
from holdfast.text.clip import clip
from holdfast.text.patterns import Pattern

ReadYaml: TypeAlias = Callable[[str], Mapping[str, object] | None]
"""Reads a YAML mapping; returns None when a text is not one."""

MAX_ITEM_CHARS, MAX_ITEMS = 500, 50
"""Characters of an item, and items of a list; the rest is cut."""
MAX_NOTE_CHARS = 2_000
GAP_KEYS = ("context_gaps", "gaps", "needed", "missing")
UNUSED_KEYS = ("context_unused", "unused", "not_used", "received")
OUTCOME_KEYS = ("outcome", "status", "result", "exit")
EXPLORED_KEYS = ("explored", "re_explored", "reexplored", "looked_up")
TOKEN_KEYS = ("tokens_used", "tokens")
NOTE_KEYS = ("note", "notes", "comment", "summary", "message")
TYPE_KEYS = ("task_type", "type")
OUTCOME_WORDS: Mapping[str, Outcome] = {
    **dict.fromkeys(
        ("done", "success", "succeeded", "complete", "completed", "ok", "pass"), "done"
    ),
    **dict.fromkeys(("blocked", "stuck", "waiting", "needs_input", "escalate"), "blocked"),
    **dict.fromkeys(("failed", "failure", "fail", "error", "aborted", "gave_up"), "failed"),
}
# Matches "## Context gaps:" and "**Unused**"; not "Needed: the schema".
HEADING_LINE = Pattern(r"^\s{0,3}(?:#{1,6}\s{1,4})?\**([\w /_-]{3,60}?)\**\s{0,3}:?\**\s{0,3}$")
# Matches "- the schema" and "2) tests"; not "-5 degrees".
ITEM_LINE = Pattern(r"^\s{0,8}(?:[-*+]|\d{1,3}[.)])\s{1,4}(\S.{0,2000})$")
# Matches "Outcome: done" and "- **Status:** blocked"; not "the outcome was good".
OUTCOME_LINE = Pattern(r"(?im)^\W{0,6}(?:outcome|status|result)\W{0,6}:\W{0,4}(\w{2,20})\b")
# Matches "\x00" and "\x1b"; not a tab or a line feed.
CONTROL_CHARS = Pattern(r"[\x00-\x08\x0b-\x1f\x7f]+")


def read_feedback(text: str, read_yaml: ReadYaml) -> Feedback:
    """Read what a worker wrote, as YAML if it can be, else as Markdown."""
    for part, rest in _yaml_parts(text):
        found = read_yaml(part)
        if found is not None and _is_feedback(found):
            feedback = feedback_from_mapping(found)
            return replace(feedback, note=feedback.note or _clean_and_cut(rest, MAX_NOTE_CHARS))
    return _from_markdown(text)


def _yaml_parts(text: str) -> Iterator[tuple[str, str]]:
    """Yield texts that may be YAML (front matter, a fence, all of it), each with the rest."""
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
    """Return the first pair of lines that opens and closes a part; None when there is none."""
    bare = [line.strip() for line in lines]
    first = next((at for at, line in enumerate(bare) if line in starts), None)
    if first is None:
        return None
    last = next((at for at in range(first + 1, len(bare)) if bare[at] in ends), None)
    return None if last is None else (first, last)


def _is_feedback(found: Mapping[str, object]) -> bool:
    known_keys = {*GAP_KEYS, *UNUSED_KEYS, *OUTCOME_KEYS, *EXPLORED_KEYS, *NOTE_KEYS}
    return any(_normal_key(name) in known_keys for name in found)


def _normal_key(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def feedback_from_mapping(found: Mapping[str, object]) -> Feedback:
    """Return feedback from keys in any known spelling; unknown keys are ignored."""
    values = {_normal_key(name): value for name, value in found.items()}

    def first(names: Sequence[str]) -> object:
        return next((values[name] for name in names if name in values), None)

    return Feedback(
        gaps=_items(first(GAP_KEYS)),
        unused=_items(first(UNUSED_KEYS)),
        outcome=parse_outcome(first(OUTCOME_KEYS)),
        task_type=_clean_and_cut(_value_text(first(TYPE_KEYS)), 40),
        tokens_used=_number(first(TOKEN_KEYS)),
        explored=_items(first(EXPLORED_KEYS)),
        note=_clean_and_cut(_value_text(first(NOTE_KEYS)), MAX_NOTE_CHARS),
    )


def parse_outcome(value: object) -> Outcome:
    """Map a word to one of three outcomes; empty when it means none of them."""
    if not isinstance(value, str):
        return ""
    return OUTCOME_WORDS.get(_normal_key(value), "")


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return min(max(value, 0), 10**12)


def _items(value: object) -> tuple[str, ...]:
    """Return a list of texts from a list, a mapping, or a text with one item per line."""
    if isinstance(value, str):
        # Lines with list marks are separate items; other lines are one item.
        marked = [found[1] for line in value.split("\n") if (found := ITEM_LINE.match(line))]
        rows: list[object] = list(marked) or [value]
    elif isinstance(value, list):
        rows = cast(list[object], value)
    else:
        rows = [] if value is None else [value]
    texts = (_clean_and_cut(_value_text(row), MAX_ITEM_CHARS) for row in rows[: 4 * MAX_ITEMS])
    return tuple(dict.fromkeys(row for row in texts if not says_no_gap(row)))[:MAX_ITEMS]


def _value_text(value: object) -> str:
    """Return a value as the text that was written: YAML reads `- Needed: x` as a mapping."""
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "yes" if value else "no"
        case dict():
            pairs = cast(dict[object, object], value).items()
            return ", ".join(f"{name}: {_value_text(item)}" for name, item in list(pairs)[:8])
        case list():
            return ", ".join(_value_text(item) for item in cast(list[object], value)[:8])
        case _:
            return str(value)[:MAX_ITEM_CHARS]


def _clean_and_cut(text: str, most: int) -> str:
    return clip(CONTROL_CHARS.sub(" ", text).strip(), most)


def _from_markdown(text: str) -> Feedback:
    """Return feedback from headings and the items below them; other lines are the note."""
    lists: dict[str, list[str]] = {"gaps": [], "unused": [], "explored": []}
    current_list, rest = "", list[str]()
    for line in text[:100_000].split("\n")[:2_000]:
        item, heading = ITEM_LINE.match(line), HEADING_LINE.match(line)
        if heading and not item:
            current_list = _list_under_heading(heading[1])
        if item and current_list:
            lists[current_list].append(item[1])
        elif line.strip() and not (heading and current_list):
            rest.append(line)
    outcome = OUTCOME_LINE.search(text[:100_000])
    return Feedback(
        gaps=_items(lists["gaps"]),
        unused=_items(lists["unused"]),
        explored=_items(lists["explored"]),
        outcome=parse_outcome(outcome[1]) if outcome else "",
        note=_clean_and_cut("\n".join(rest), MAX_NOTE_CHARS),
    )


def _list_under_heading(heading: str) -> str:
    """Return the name of the list that a heading starts; empty for another heading."""
    plain = _normal_key(heading)
    if any(word in plain for word in ("unused", "not_used", "not_needed", "received")):
        return "unused"
    if any(word in plain for word in ("gap", "missing", "needed", "lacked", "would_have_helped")):
        return "gaps"
    return "explored" if "explor" in plain or "looked_up" in plain else ""


def feedback_document(feedback: Feedback) -> Mapping[str, object]:
    """Return feedback as its file contains it, with the keys of the protocol."""
    document: dict[str, object] = {
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
            document[name] = value
    return document
