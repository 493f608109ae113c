"""Find which probes a text answers, by rule and without a model.

A probe is answered if its words are close together in the text: a quotation word for word, a file
with the action on it, a choice with its reason. A probe without an answer shows which section of a
summary was cut too short.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.verify.phrases import OPENING_CHARS, is_single_word, plain_line, splits_word
from holdfast.core.verify.probes import Probe
from holdfast.text.patterns import Pattern

SECTIONS = (
    "constraints",
    "intent",
    "next",
    "errors",
    "decisions",
    "files",
    "progress",
    "state",
    "questions",
    "facts",
    "words",
)
"""The sections that probes are about, the most important for an agent first."""
MAX_PLACES = 1_000
"""Places that are searched for one answer. An answer after them counts as missing, which only makes
a summary longer."""
MIN_PLACES_FOLLOWED = 20
"""Places at which an answer of many lines is compared, even if it is very long."""
NEARBY_CHARS = 600
"""Characters before and after an answer that may still belong to it."""
MAX_GAP_CHARS = 16
"""Characters allowed between two consecutive lines of a quotation."""
MAX_CACHED_PARTS = 1_024
"""Parts of answers whose words are cached: each summary is probed for mostly the same rows."""
FILE_ACTIONS = frozenset(("created", "modified", "deleted", "renamed", "read"))
# An ASCII word, or one character outside ASCII: a text without spaces can be cut anywhere and must
# still be found. Matches `a_b2`; not `a-b` as one word.
_WORD = Pattern(r"[A-Za-z0-9_]+|[^\x00-\x7f]")
_PUNCTUATION = str.maketrans(dict.fromkeys("|,;:()[]{}\"'*=<>", " "))


class ProbeResult(Struct, frozen=True):
    """A probe, and the line of a text that answers it."""

    probe: Probe
    found: bool
    where: str = ""
    """The line that answers it; empty if no line does."""


def answer_probes(probes: Sequence[Probe], text: str) -> tuple[ProbeResult, ...]:
    """Return for each probe whether a text answers it. The text is read once for all probes."""
    page = _read_page(text)
    words = [_search_words(probe.must[0]) for probe in probes]
    places = _places_of_words(page.flat, set(chain.from_iterable(words)))
    answers = (
        _answer(probe, wanted, page, places) for probe, wanted in zip(probes, words, strict=True)
    )
    return tuple(answer for answer in answers if answer is not None)


def failing_sections(results: Iterable[ProbeResult]) -> dict[str, tuple[str, ...]]:
    """Return the sections with unanswered probes, each with the entries of its missing rows."""
    entries: dict[str, dict[str, None]] = {}
    for result in results:
        if not result.found:
            entries.setdefault(result.probe.section, {})[result.probe.entry] = None
    return {section: tuple(entries[section]) for section in order_sections(entries)}


def order_sections(sections: Iterable[str]) -> list[str]:
    """Sort sections by the order in which they should get more room."""
    known = set(sections)
    return [section for section in SECTIONS if section in known]


class _Page(Struct, frozen=True):
    """A text prepared for the search: its lines without markup, and the label above each line."""

    flat: str
    starts: Sequence[int]
    labels: Sequence[int]
    """For each line, the index of the heading or label above it; -1 if there is none."""

    def line(self, at: int) -> int:
        return bisect_right(self.starts, at) - 1

    def span(self, line: int) -> tuple[int, int]:
        """Return start and end of a line; an empty span if there is no such line."""
        if not 0 <= line < len(self.starts):
            return 0, 0
        ends = self.starts[line + 1] - 1 if line + 1 < len(self.starts) else len(self.flat)
        return self.starts[line], ends


def _read_page(text: str) -> _Page:
    plain: list[str] = []
    starts: list[int] = []
    labels: list[int] = []
    at, label, margin, gap = 0, -1, -1, False
    for raw in text.splitlines():
        line = plain_line(raw) if raw else ""
        if not line:
            gap = gap or (not raw.strip() and label != len(plain) - 1)
            continue
        indented = raw[0] in " \t"
        if not indented:
            margin = len(plain)
        if raw.startswith("#") or line.endswith((":", ":**")):
            label = len(plain)
        elif gap and line[0] == raw[0]:
            # Prose after an empty line has no label; rows of a list or table keep theirs.
            label = -1
        gap = False
        plain.append(line)
        starts.append(at)
        labels.append(margin if indented else label)
        at += len(line) + 1
    return _Page("\n".join(plain), starts, labels)


def _search_words(part: str) -> Sequence[str]:
    """Return the words by which a part of an answer can be found."""
    return _cached_words(part) if len(part) <= 2 * OPENING_CHARS else _read_words(part)


@lru_cache(maxsize=MAX_CACHED_PARTS)
def _cached_words(part: str) -> tuple[str, ...]:
    return _read_words(part)


def _read_words(part: str) -> tuple[str, ...]:
    words = _WORD.findall(part[: 2 * OPENING_CHARS])
    if len(part) > 2 * OPENING_CHARS:
        # The last word may be cut in the middle.
        words = words[:-1] or _WORD.findall(part)
    return tuple(dict.fromkeys(words))


def _places_of_words(flat: str, words: set[str]) -> Mapping[str, Sequence[int]]:
    """Return the places of each word."""
    places: dict[str, list[int]] = {word: [] for word in words}
    for match in _WORD.finditer(flat):
        if (starts := places.get(match[0])) is not None:
            starts.append(match.start())
    return places


@rule(None)
def _answer(
    probe: Probe, words: Sequence[str], page: _Page, places: Mapping[str, Sequence[int]]
) -> ProbeResult | None:
    first = probe.must[0]
    key = min(words, key=lambda word: len(places[word]), default="")
    if not key:
        return ProbeResult(probe, found=False)
    shift = next(match.start() for match in _WORD.finditer(first) if match[0] == key)
    starts = (
        place - shift
        for place in places[key][:MAX_PLACES]
        if place >= shift and page.flat.startswith(first, place - shift)
    )
    # A long answer is compared at few places only, so that the work is linear in the text.
    for at in islice(starts, max(MAX_PLACES // len(probe.must), MIN_PLACES_FOLLOWED)):
        if _is_answered_at(probe, page, at):
            start, end = page.span(page.line(at))
            return ProbeResult(probe, found=True, where=page.flat[start:end][:NEARBY_CHARS])
    return ProbeResult(probe, found=False)


def _is_answered_at(probe: Probe, page: _Page, at: int) -> bool:
    """Whether the rest of an answer is next to its first part, which is at `at`."""
    end = at + len(probe.must[0])
    if splits_word(page.flat, at):
        return False
    if probe.verbatim:
        return _lines_follow(page.flat, end, probe.must[1:])
    if splits_word(page.flat, end):
        return False
    if probe.kind == "artifact":
        if not _is_path(page.flat, at, end) or _action_on_path(page, at, end) != probe.must[1]:
            return False
        return all(_contains_words(part, _text_around(page, at, 0)) for part in probe.must[2:])
    # Single words on adjacent lines are a list of words, not an answer.
    reach = 0 if all(map(is_single_word, probe.must)) else 1
    return all(_contains_words(part, _text_around(page, at, reach)) for part in probe.must[1:])


def _lines_follow(flat: str, end: int, rest: Sequence[str]) -> bool:
    """Whether the lines follow each other with no words in between."""
    for part in rest:
        at = flat.find(part, end, end + MAX_GAP_CHARS + len(part))
        if at < 0 or any(map(str.isalnum, flat[end:at])):
            return False
        end = at + len(part)
    return not splits_word(flat, end)


def _text_around(page: _Page, at: int, reach: int) -> str:
    """Return the line of a place, `reach` lines before and after it, and its label."""
    line = page.line(at)
    head, head_end = page.span(page.labels[line])
    around = NEARBY_CHARS if reach else NEARBY_CHARS // 4
    start = max(at - around, page.span(max(line - reach, 0))[0])
    end = min(at + 2 * around, page.span(min(line + reach, len(page.starts) - 1))[1])
    return f"{page.flat[head : min(head_end, head + around)]}\n{page.flat[start:end]}"


def _contains_words(part: str, near: str) -> bool:
    at = near.find(part)
    while at >= 0:
        if not (splits_word(near, at) or splits_word(near, at + len(part))):
            return True
        at = near.find(part, at + 1)
    return False


def _is_path(flat: str, at: int, end: int) -> bool:
    """Whether the path at this place is complete, not a part of a longer path."""
    before, after = flat[max(at - 2, 0) : at], flat[end : end + 2]
    if before.endswith(("/", "\\", "-", ".", "~")) and before != "./":
        return False
    return not (after.startswith(("/", "\\", "-")) or (after[:1] == "." and after[1:].isalnum()))


def _action_on_path(page: _Page, at: int, end: int) -> str:
    """Return the action that the text names for the path at this place; empty if none."""
    line = page.line(at)
    start, stop = page.span(line)
    before = _actions_and_paths(page.flat[max(start, at - NEARBY_CHARS) : at])
    after = page.flat[end : min(stop, end + NEARBY_CHARS)]
    if before and before[0] in FILE_ACTIONS:
        return next(word for word in reversed(before) if word in FILE_ACTIONS)
    head = _actions_in_line(page, page.labels[line])
    if "read" in head[:1] and not after.startswith(" |"):
        # The reason why a file was read may name any action.
        return "read"
    beside = _actions_and_paths(" ".join(after.translate(_PUNCTUATION).split()[:2]))
    below = _actions_in_line(page, line + 1)[:1]
    words = (*beside, *head, *_actions_and_paths(after), *below)
    return next((word for word in words if word in FILE_ACTIONS), "")


def _actions_in_line(page: _Page, line: int) -> list[str]:
    start, end = page.span(line)
    return _actions_and_paths(page.flat[start : min(end, start + NEARBY_CHARS)])


def _actions_and_paths(line: str) -> list[str]:
    """Return the actions and paths in a line, in order; each path is returned as a slash."""
    found: list[str] = []
    for word in line.translate(_PUNCTUATION).split():
        if (plain := word.strip(".").lower()) in FILE_ACTIONS:
            found.append(plain)
        elif "/" in word or "." in word[1:-1]:
            found.append("/")
    return found
