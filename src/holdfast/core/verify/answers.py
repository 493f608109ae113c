"""Which questions a text answers, by rule.

A question is answered when its words stand there together, not when they occur somewhere: words for
words, a file with what was done to it, a choice with its reason. A question that nobody can answer
names the section that was cut too short.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.verify.phrases import OPENING, goes_through, is_alone, plain_line
from holdfast.core.verify.probes import Probe

SECTIONS = (
    "constraints",
    "intent",
    "next",
    "errors",
    "decisions",
    "files",
    "progress",
    "questions",
    "facts",
    "words",
)
"""The sections that questions are about, those first that an agent can least do without."""
PLACES = 1_000
"""Places looked at for one answer; beyond them it counts as missing, which only shows more."""
FOLLOWED = 20
"""Places from which a text is followed, however long it is."""
AROUND = 600
"""Characters to either side of an answer that may still belong to it."""
GAP = 16
"""Characters that may stand between two lines that follow one another."""
ACTIONS = frozenset(("created", "modified", "deleted", "renamed", "read"))
# Beyond ASCII each character is a word: what has no spaces can be cut anywhere and still be found.
_WORD = re.compile(r"[A-Za-z0-9_]+|[^\x00-\x7f]")
_PUNCTUATION = str.maketrans(dict.fromkeys("|,;:()[]{}\"'*=<>", " "))


class Answered(Struct, frozen=True):
    """A question, and where a text answers it."""

    probe: Probe
    found: bool
    where: str = ""
    """The line that answers it; empty when none does."""


def ask(probes: Sequence[Probe], text: str) -> tuple[Answered, ...]:
    """Which questions a text answers. It is read once, however many there are."""
    page = _read(text)
    places = _places(page.flat, {word for probe in probes for word in _keys(probe.must[0])})
    answers = (_answer(probe, page, places) for probe in probes)
    return tuple(answer for answer in answers if answer is not None)


def failing(answered: Iterable[Answered]) -> dict[str, tuple[str, ...]]:
    """The sections that are too short, and the entries whose rows are missing from them."""
    found: dict[str, dict[str, None]] = {}
    for one in answered:
        if not one.found:
            found.setdefault(one.probe.section, {})[one.probe.entry] = None
    return {section: tuple(found[section]) for section in expand_order(found)}


def expand_order(sections: Iterable[str]) -> list[str]:
    """Sections in the order in which they should be given more room."""
    known = set(sections)
    return [section for section in SECTIONS if section in known]


class _Page(Struct, frozen=True):
    """A text as it is searched: its plain lines, and the label that each stands under."""

    flat: str
    starts: Sequence[int]
    labels: Sequence[int]
    """The line that heads each line; -1 when none does."""

    def line(self, at: int) -> int:
        return bisect_right(self.starts, at) - 1

    def span(self, line: int) -> tuple[int, int]:
        """Where a line begins and ends; an empty span when there is no such line."""
        if not 0 <= line < len(self.starts):
            return 0, 0
        ends = self.starts[line + 1] - 1 if line + 1 < len(self.starts) else len(self.flat)
        return self.starts[line], ends


def _read(text: str) -> _Page:
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
            # Plain words after a gap start anew; rows of a list or table stay under their label.
            label = -1
        gap = False
        plain.append(line)
        starts.append(at)
        labels.append(margin if indented else label)
        at += len(line) + 1
    return _Page("\n".join(plain), starts, labels)


def _keys(part: str) -> list[str]:
    """Words by which a place can be found."""
    words = _WORD.findall(part[: 2 * OPENING])
    if len(part) > 2 * OPENING:
        # The last one may be cut.
        words = words[:-1] or _WORD.findall(part)
    return list(dict.fromkeys(words))


def _places(flat: str, words: set[str]) -> Mapping[str, Sequence[int]]:
    """Where each of the words stands."""
    found: dict[str, list[int]] = {word: [] for word in words}
    for match in _WORD.finditer(flat):
        if (known := found.get(match[0])) is not None:
            known.append(match.start())
    return found


@rule(None)
def _answer(probe: Probe, page: _Page, places: Mapping[str, Sequence[int]]) -> Answered | None:
    first = probe.must[0]
    key = min(_keys(first), key=lambda word: len(places[word]), default="")
    if not key:
        return Answered(probe, found=False)
    shift = next(match.start() for match in _WORD.finditer(first) if match[0] == key)
    begun = (
        place - shift
        for place in places[key][:PLACES]
        if place >= shift and page.flat.startswith(first, place - shift)
    )
    # A long text is followed to its end from few places: the work stays that of reading it.
    for at in islice(begun, max(PLACES // len(probe.must), FOLLOWED)):
        if _answers(probe, page, at):
            start, end = page.span(page.line(at))
            return Answered(probe, found=True, where=page.flat[start:end][:AROUND])
    return Answered(probe, found=False)


def _answers(probe: Probe, page: _Page, at: int) -> bool:
    """Whether the rest of an answer stands where its first part does."""
    end = at + len(probe.must[0])
    if goes_through(page.flat, at):
        return False
    if probe.verbatim:
        return _goes_on(page.flat, end, probe.must[1:])
    if goes_through(page.flat, end):
        return False
    if probe.kind == "artifact":
        if not _is_path(page.flat, at, end) or _action(page, at, end) != probe.must[1]:
            return False
        return all(_stands(part, _near(page, at, 0)) for part in probe.must[2:])
    # Single words on lines next to each other are a list of words, no answer.
    reach = 0 if all(map(is_alone, probe.must)) else 1
    return all(_stands(part, _near(page, at, reach)) for part in probe.must[1:])


def _goes_on(flat: str, end: int, rest: Sequence[str]) -> bool:
    """Whether lines follow one another with nothing said in between."""
    for part in rest:
        at = flat.find(part, end, end + GAP + len(part))
        if at < 0 or any(map(str.isalnum, flat[end:at])):
            return False
        end = at + len(part)
    return not goes_through(flat, end)


def _near(page: _Page, at: int, reach: int) -> str:
    """The line of a place, so many lines before and after it, and the one that heads it."""
    line = page.line(at)
    head, head_end = page.span(page.labels[line])
    around = AROUND if reach else AROUND // 4
    start = max(at - around, page.span(max(line - reach, 0))[0])
    end = min(at + 2 * around, page.span(min(line + reach, len(page.starts) - 1))[1])
    return f"{page.flat[head : min(head_end, head + around)]}\n{page.flat[start:end]}"


def _stands(part: str, near: str) -> bool:
    at = near.find(part)
    while at >= 0:
        if not (goes_through(near, at) or goes_through(near, at + len(part))):
            return True
        at = near.find(part, at + 1)
    return False


def _is_path(flat: str, at: int, end: int) -> bool:
    """Whether a path stands there by itself, not as part of a longer one."""
    before, after = flat[max(at - 2, 0) : at], flat[end : end + 2]
    if before.endswith(("/", "\\", "-", ".", "~")) and before != "./":
        return False
    return not (after.startswith(("/", "\\", "-")) or (after[:1] == "." and after[1:].isalnum()))


def _action(page: _Page, at: int, end: int) -> str:
    """What the text says was done to the path that stands there."""
    line = page.line(at)
    start, stop = page.span(line)
    before = _told(page.flat[max(start, at - AROUND) : at])
    after = page.flat[end : min(stop, end + AROUND)]
    if before and before[0] in ACTIONS:
        return next(word for word in reversed(before) if word in ACTIONS)
    head = _told_in(page, page.labels[line])
    if "read" in head[:1] and not after.startswith(" |"):
        # What a file was read for may speak of any action.
        return "read"
    beside = _told(" ".join(after.translate(_PUNCTUATION).split()[:2]))
    below = _told_in(page, line + 1)[:1]
    told = (*beside, *head, *_told(after), *below)
    return next((word for word in told if word in ACTIONS), "")


def _told_in(page: _Page, line: int) -> list[str]:
    start, end = page.span(line)
    return _told(page.flat[start : min(end, start + AROUND)])


def _told(line: str) -> list[str]:
    """The actions and paths that a line names, in order; a path is given as a slash."""
    found: list[str] = []
    for word in line.translate(_PUNCTUATION).split():
        if (plain := word.strip(".").lower()) in ACTIONS:
            found.append(plain)
        elif "/" in word or "." in word[1:-1]:
            found.append("/")
    return found
