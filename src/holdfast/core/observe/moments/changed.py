"""Read a file that was written or edited, and the new lines that others would ask for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from holdfast.core.faults import row_rule, rule
from holdfast.core.ledger.entry import EntryId, ToolCalled
from holdfast.core.observe.files.patches import (
    MIDDLE_MARK,
    REPLACE_MARK,
    SEARCH_MARK,
    FileAct,
    acts_of_search_replace,
)
from holdfast.core.observe.files.touch import NEW_KEYS, OLD_KEYS, Touch, arguments_of
from holdfast.core.observe.moments.contents import (
    MAX_NEW_LINES,
    ContentLine,
    content_lines,
    content_moments,
    name_moments,
    new_line_moments,
)
from holdfast.core.observe.moments.moment import Moment, plain_line
from holdfast.core.observe.moments.printed import outcome_of
from holdfast.text.clip import clip_and_mark
from holdfast.text.jsontext import Json, as_list, as_object, as_text
from holdfast.text.patterns import Pattern

CHANGED_WEIGHT, CONTENT_WEIGHT, NEW_LINE_WEIGHT = 0.9, 0.45, 0.3
FAILED_EDIT_WEIGHT = 0.3
"""An edit that failed is tried again: the next one says what was changed."""
MAX_SHOWN_LINES, MAX_SHOWN_CHARS = 4, 240
SMALL_EDIT_LINES = 3
"""An edit with no more old and new lines is shown with both."""
MAX_FILES = 12
# `*** Update File: src/a.py`, the head of a file in a patch; but not `*** End Patch`.
_FILE_IN_PATCH = Pattern(r"(?m)^\*\*\* (?:Update|Add|Delete) File: ([^\n]{1,400})$")


@row_rule
def changed_moments(
    call: ToolCalled, touch: Touch, entry: EntryId, *, failed: bool, output: str = ""
) -> Iterator[Moment]:
    """Yield each change in one line, and one moment for each further line worth asking for."""
    if failed:
        why = f": {outcome_of(output, failed=True)}" if output else ""
        text = f"edit of {touch.path} failed{why}"
        yield Moment("changed", plain_line(text), entry, FAILED_EDIT_WEIGHT)
        return
    done = "wrote" if touch.verb == "write" else "edited"
    parts = _files_of_patch(call)
    if len(parts) > 1:
        for path, text in parts[:MAX_FILES]:
            new, old = _signed(text, "+"), _signed(text, "-")
            yield from _change(f"edited {path}", path, new, old, entry)
        return
    new, old = changed_lines(call, touch)
    yield from _change(f"{done} {touch.path}", touch.path, new, old, entry)


def _change(
    done: str, path: str, new: Sequence[str], old: Sequence[str], entry: EntryId
) -> Iterator[Moment]:
    lines = content_lines(path, "\n".join(new))
    if 0 < len(old) <= SMALL_EDIT_LINES >= len(new):
        shown = f"{_joined(old)} ⇒ {_joined(new) or 'nothing'}"
    else:
        shown = _joined(_telling(path, lines) or new)
    sizes = f"+{len(new)}" + (f" −{len(old)}" if old else "")
    text = f"{done} {sizes}" + (f": {shown}" if shown else "")
    yield Moment("changed", plain_line(text), entry, CHANGED_WEIGHT)
    yield from content_moments(path, lines, entry, CONTENT_WEIGHT)
    if len(new) > SMALL_EDIT_LINES:
        yield from new_line_moments(path, new, entry, NEW_LINE_WEIGHT)
        name = path.rpartition("/")[2]
        yield from name_moments(name, "\n".join(new[MAX_NEW_LINES:]), entry)


def _telling(path: str, lines: Sequence[ContentLine]) -> list[str]:
    """Return the definitions among new lines, then messages and values; of a test only the names.

    Messages of a test say what it expects, and its name says that in fewer words.
    """
    is_test = "test" in path.rpartition("/")[2].lower()
    shown = [line for line in lines if line.name or not is_test]
    return [line.text for line in sorted(shown, key=lambda line: not line.name)]


@row_rule
def window_edit_moments(act: FileAct, command: str, entry: EntryId) -> Iterator[Moment]:
    """Yield a change that a command of an editor of windows made, with the lines it puts in."""
    text = command.partition("\n")[2].rpartition("end_of_edit")[0]
    new = [line for line in text.split("\n") if line.strip()]
    yield from _change(f"edited {act.path}", act.path, new, [], entry)


def _joined(lines: Sequence[str]) -> str:
    return clip_and_mark(" · ".join(map(plain_line, lines[:MAX_SHOWN_LINES])), MAX_SHOWN_CHARS)


@row_rule
def proposed_moments(text: str, entry: EntryId) -> Iterator[Moment]:
    """Yield the edits that a message proposes in search and replace blocks."""
    acts = acts_of_search_replace(text)[:MAX_FILES]
    if len(acts) == 1:
        new, old = _blocks_of(text)
        yield from _change(f"proposed edit of {acts[0].path}", acts[0].path, new, old, entry)
        return
    for act in acts:
        names = f": {', '.join(act.symbols)}" if act.symbols else ""
        line = f"proposed edit of {act.path} +{act.added} −{act.removed}{names}"
        yield Moment("changed", plain_line(line), entry, CHANGED_WEIGHT)


def _blocks_of(text: str) -> tuple[Sequence[str], Sequence[str]]:
    """Return the lines that search and replace blocks put in, and those that they take out."""
    new, old = list[str](), list[str]()
    for part in text.split(SEARCH_MARK)[1:]:
        before, _, after = part.partition(f"\n{MIDDLE_MARK}")
        old += before.split("\n")
        new += after.partition(REPLACE_MARK)[0].split("\n")
    return _only_changed(new, old)


def _only_changed(new: Sequence[str], old: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    out, put = set(old), set(new)
    return (
        [line for line in new if line.strip() and line not in out],
        [line for line in old if line.strip() and line not in put],
    )


@rule(((), ()))
def changed_lines(call: ToolCalled, touch: Touch) -> tuple[Sequence[str], Sequence[str]]:
    """Return the lines that a call puts into a file, and those that it takes out."""
    arguments = arguments_of(call)
    parts = [arguments, *(as_object(edit) for edit in as_list(arguments.get("edits")))]
    new, old = _lines_under(parts, NEW_KEYS), _lines_under(parts, OLD_KEYS)
    if not new and not old:
        text = touch.written_text or _patch_of(arguments)
        signed = _signed(text, "+"), _signed(text, "-")
        new, old = signed if any(signed) and not touch.written_text else (text.split("\n"), [])
    return _only_changed(new, old)


def _lines_under(parts: Iterable[Mapping[str, Json]], keys: Iterable[str]) -> list[str]:
    names = tuple(keys)
    texts = (as_text(part.get(key)) for part in parts for key in names)
    return [line for text in texts if text for line in text.split("\n")]


def _patch_of(arguments: Mapping[str, Json]) -> str:
    texts = (as_text(arguments.get(key)) for key in ("input", "patch", "patchText", "diff"))
    return next((text for text in texts if text), "")


def _files_of_patch(call: ToolCalled) -> list[tuple[str, str]]:
    """Return the parts of a patch, each with the path of its file."""
    patch = _patch_of(arguments_of(call)) if "*** " in call.arguments else ""
    _, *parts = _FILE_IN_PATCH.compiled.split(patch)
    return list(zip(map(str.strip, parts[::2]), parts[1::2], strict=True))


def _signed(text: str, sign: str) -> list[str]:
    return [
        line[1:]
        for line in text.split("\n")
        if line.startswith(sign) and not line.startswith(sign * 3) and line[1:].strip()
    ]
