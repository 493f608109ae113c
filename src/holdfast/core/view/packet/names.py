"""Find the names that an agent wrote and saw last; choose those that a packet does not show yet.

An agent comes back to the names of its newest calls and sentences far more often than to those that
it only read. A name is worth more the more often and the more recently it was written.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import chain, islice
from math import log
from operator import itemgetter

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import Said, Source, ToolCalled
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.files.touch import Touch, arguments_of, touch_of
from holdfast.core.observe.moments.moment import Moment
from holdfast.core.observe.results.todos import is_list_tool
from holdfast.core.observe.scene import Scene
from holdfast.core.shrink.summary.choose import words_in, words_of_moment
from holdfast.text.jsontext import Json
from holdfast.text.names import is_name, is_ordinary, names_in
from holdfast.text.patterns import Pattern

MAX_WRITTEN_CHARS, MAX_BODY_CHARS = 40_000, 8_000
"""Newest characters of the agent's own calls and sentences that are read, and of each of them."""
SINCE_POWER, SIZE_POWER = 0.6, 0.5
SEEN_SHARE = 0.1
"""The worth of a name that the agent only saw, beside one that it wrote."""
MIN_NAME_CHARS, MAX_NAME_CHARS = 4, 80
BETWEEN_NAMES, LABEL_TOKENS = 1, 4
"""Tokens after a name, and of a row besides its path and names."""
MAX_RANKED = 400
"""Names from which is chosen, and as many that were only seen."""
WRITTEN_FACTOR = 16.0
"""How much more a word of a moment is worth that is the name most needed."""
MAX_LOOSE_NAMES = 20
"""Names of no file that are shown."""
# `:12` in `load_plan:12`.
_LINE = Pattern(r":\d{1,7}$")
_SIGNS = frozenset("_./~@")
"""Signs before a word of a moment that are a part of its name."""
CUT = "…"
# `3f2a91c`, `10_000`, `1.8M`: it says nothing without its line; but not `v2_plan`.
_VALUE = Pattern(r"(?:[\W\d_]{1,80}[A-Za-z]{0,2}|[0-9a-f-]{7,80})$")
_RANGE = ".."
"""In `main...HEAD`: no name either."""


class UsedName(Struct, frozen=True):
    """A name that the agent wrote, or only saw."""

    text: str
    worth: float
    path: str = ""
    """The file of the newest call or moment with the name; empty if none has it."""
    written: bool = True


@rule(())
def names_used(
    scene: Scene, moments: Sequence[Moment], path_of: Callable[[Moment], str]
) -> tuple[UsedName, ...]:
    """Return the names in the agent's newest calls and sentences and in moments, best first."""
    written = _names_written(scene)
    known = {one.text for one in written}
    seen = (one for one in _names_seen(scene, moments, path_of) if one.text not in known)
    return tuple(sorted((*written, *seen), key=lambda one: (-one.worth, one.text)))


def _worth(times: int, since: int) -> float:
    return log(1 + times) / (1 + since) ** SINCE_POWER


def _names_written(scene: Scene) -> list[UsedName]:
    times, last, paths = dict[str, int](), dict[str, int](), dict[str, str]()
    left = MAX_WRITTEN_CHARS
    for item, step in zip(reversed(scene.items), reversed(scene.steps), strict=True):
        text = "\n".join(_texts_of(item.body))[:MAX_BODY_CHARS]
        left -= len(text)
        if left < 0:
            break
        path = _file_of(item.body) if text else ""
        for name in {bare_name(name) for name in names_in(text)}:
            times[name] = times.get(name, 0) + 1
            last.setdefault(name, step)
            paths[name] = paths.get(name, "") or path
    now = scene.step_count
    return [
        UsedName(name, _worth(number, now - last[name]), paths[name])
        for name, number in times.items()
        if says_itself(name)
    ]


def _file_of(body: Source) -> str:
    """Return the file that a call reads or changes; empty for a search, and for any other body."""
    touch = touch_of(body) if isinstance(body, ToolCalled) else Touch()
    return touch.path if touch.verb in ("read", "write", "edit") else ""


def _names_seen(
    scene: Scene, moments: Sequence[Moment], path_of: Callable[[Moment], str]
) -> Iterator[UsedName]:
    places = [words_of_moment(moment.text) for moment in moments]
    times = Counter(chain.from_iterable(places))
    last = dict[str, int]()
    for at, words in enumerate(places):
        last.update(dict.fromkeys(words, at))
    steps = {item.entry.id: step for item, step in zip(scene.items, scene.steps, strict=True)}
    since = [scene.step_count - steps.get(moment.entry, 0) for moment in moments]
    # Most words are plain: no pattern has to be asked.
    named = (
        (word, _worth(times[word], since[at]))
        for word, at in last.items()
        if not (word.isalpha() and word.islower()) and says_itself(_LINE.sub("", word))
    )
    for word, worth in nlargest(MAX_RANKED, named, key=itemgetter(1)):
        moment = moments[last[word]]
        if name := name_in_place(word, moment.text):
            yield UsedName(name, SEEN_SHARE * worth, path_of(moment), written=False)


def name_in_place(word: str, text: str) -> str:
    """Return a word of a text as a name, with the signs before it.

    Empty if the word is cut there, or not there at all.
    """
    at = text.find(word)
    start, end = at, at + len(word)
    while start > 0 and text[start - 1] in _SIGNS:
        start -= 1
    if at < 0 or CUT in (text[end : end + 1], text[max(start - 1, 0) : start]):
        return ""
    return bare_name(text[start:at] + _LINE.sub("", word))


def _texts_of(body: Source) -> Iterator[str]:
    """Yield what the agent wrote: its sentences, or the values that it gave a tool."""
    match body:
        case Said(role="assistant", by="", text=text):
            yield text
        case ToolCalled() if not is_list_tool(body.tool):
            yield from _values_in(arguments_of(body))
        case _:
            return


def _values_in(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for one in value.values():
                yield from _values_in(one)
        case list():
            for one in value:
                yield from _values_in(one)
        case _:
            return


def bare_name(name: str) -> str:
    """Return the name of a member or a mark without the sign before it."""
    return name if "/" in name else name.lstrip(".@")


def says_itself(name: str) -> bool:
    """Return whether a name says something without its line: no value, and no words of prose."""
    return (
        MIN_NAME_CHARS <= len(name) <= MAX_NAME_CHARS
        and is_name(name)
        and not is_ordinary(name)
        and not _VALUE.match(name)
        and (_RANGE not in name or "/" in name)
        and ("/" not in name or _is_path(name))
    )


def _is_path(name: str) -> bool:
    """Return whether slashes part folders: not `and/or`, not `/print`, not `s/if`."""
    parts = [part for part in name.split("/") if part.strip(".~")]
    is_plain = all(part.isalpha() for part in parts)
    return len(parts) > 2 or (len(parts) == 2 and (name[0] in "/~." or not is_plain))


class NamesAim(Struct, frozen=True):
    """What names are chosen for."""

    files: Mapping[str, str] = {}
    """Paths of files that have a row of their own, also by the name alone where it is unique."""
    code: bool = True
    """Whether files are shown at all."""
    state: bool = True
    """Whether names of no file are shown."""


def word_factors(names: Sequence[UsedName]) -> dict[str, float]:
    """Return how much more words of moments are worth that are names the agent wrote."""
    most = names[0].worth if names else 1.0
    return {
        word: 1 + WRITTEN_FACTOR * one.worth / most
        for one in reversed(names)
        for word in words_in(one.text)
    }


class NameChoice:
    """The choice of names for one packet, for each room tried."""

    def __init__(self, names: Iterable[UsedName], aim: NamesAim, count: CountTokens) -> None:
        self._aim, self._count = aim, count
        named = islice((one for one in names if self._path_of(one) is not None), MAX_RANKED)
        prices = {one: count(one.text) + BETWEEN_NAMES for one in named}
        rates = {one: one.worth / price**SIZE_POWER for one, price in prices.items()}
        self._ranked = [(one, prices[one]) for one in sorted(rates, key=lambda one: -rates[one])]

    def _path_of(self, name: UsedName) -> str | None:
        """Return the file below which a name is shown, empty if it is none; None if not shown."""
        path = (self._aim.files.get(name.text, "") or name.path) if self._aim.code else ""
        return path if path or (self._aim.state and name.written) else None

    def fill(self, room: int, shown: str) -> dict[str, list[str]]:
        """Return names that a text does not show, as many as fit, by file; of no file by ``."""
        taken = dict[str, list[str]]()
        for one, price in self._ranked:
            if room <= BETWEEN_NAMES:
                break
            path = self._path_of(one) or ""
            row = taken.get(path, ())
            has_row = bool(path) and one.text in self._aim.files
            if not path and len(row) == MAX_LOOSE_NAMES:
                continue
            if stands_in(one.text, shown) or (not has_row and stands_in(one.text, path)):
                continue
            # A path says the name of its file again.
            again = [name for name in row if one.text.endswith(f"/{name}")]
            cost = 0 if has_row else price - sum(map(self._count, again))
            if path not in taken:
                cost += LABEL_TOKENS + (0 if stands_in(path, shown) else self._count(path))
            if cost <= room:
                room -= cost
                new = () if has_row else (one.text,)
                taken[path] = [*(name for name in row if name not in again), *new]
                shown = f"{shown}\n{path}\n{one.text}"
        return taken


def stands_in(name: str, text: str) -> bool:
    """Return whether a text has a name that is not part of a longer word."""
    at = text.find(name) if name else -1
    while at >= 0:
        end = at + len(name)
        if not (_joins(text[at - 1 : at]) or _joins(text[end : end + 1])):
            return True
        at = text.find(name, end)
    return False


def _joins(character: str) -> bool:
    return character.isalnum() or character == "_"
