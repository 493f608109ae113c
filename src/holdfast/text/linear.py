"""Compile regular expressions from settings, and refuse those that are not linear in the text.

Python's engine backtracks, and some patterns take exponential time on some texts. So a pattern is
analysed before it is used. For each position in the pattern we compute how often the engine can
visit it at one position of a text, over all starts of a match; the sum over the positions of the
pattern is the number of steps for each character.

A repetition without a bound is accepted in two cases. Either the character before it cannot be one
that it repeats: then it begins only at the start of each run of such characters. Or nothing behind
it can fail: then it is a match, and the search continues behind it. Every other one is refused, and
so is a pattern with too many steps. An accepted one takes at most `MAX_STEPS` for each character.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from itertools import takewhile
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import BadSetting

MAX_STEPS = 10_000
"""Steps for each character of a text, over all patterns of a setting."""

NON_ASCII_WORD, NON_ASCII_DIGIT, NON_ASCII_SPACE, NON_ASCII_OTHER = (
    1 << at for at in range(128, 132)
)
"""A set of characters is an integer: one bit for each ASCII character, and these four bits for
all other characters by class."""
NON_ASCII = NON_ASCII_WORD | NON_ASCII_DIGIT | NON_ASCII_SPACE | NON_ASCII_OTHER
ANY = (1 << 132) - 1
NEWLINE = 1 << 10
UNBOUNDED = "it repeats without a bound where a text can be read in many ways"
TOO_MANY = "it takes too many steps for each character"
HINT = "; write bounds such as {1,100}"


class _Refused(Exception):
    """The reason why a pattern is refused."""


class _Position(Struct, frozen=True):
    """A position in a pattern, and how the engine reaches it."""

    visits: int = 1
    """How often the engine can reach it at one position of a text."""
    before: int = ANY
    """The characters that may be right before it."""
    steps: int = 0
    """Steps for each character of a text, up to this position."""
    distance: int = 1
    """The smallest distance in a text between two starts of a match that reach it."""


class _CharSet(Struct, frozen=True):
    """The characters that one item of a pattern matches, as a superset and a subset."""

    possible: int
    """Contains all of them, and maybe more."""
    certain: int
    """Contains only characters that match for certain; a negated set surely excludes them."""


def compile_checked(
    setting: str, patterns: Sequence[str], origin: str = "policy"
) -> tuple[re.Pattern[str], ...]:
    """Compile the patterns of a setting.

    Raises:
        BadSetting: one of them is not a pattern, or could take very long on some texts.
    """
    steps = 0
    for pattern in patterns:
        try:
            # Bytes are searched too, with other character classes.
            steps += max(steps_of(pattern), steps_of(pattern.encode()))
            if steps > MAX_STEPS:
                raise _Refused(TOO_MANY + HINT)
        except (re.error, ValueError, OverflowError, RecursionError) as error:
            raise BadSetting(
                setting, f"{pattern!r} is no pattern: {error}", origin=origin
            ) from None
        except _Refused as refused:
            reason = f"{pattern!r} is not used: {refused}"
            raise BadSetting(setting, reason, origin=origin) from None
    return tuple(map(re.compile, patterns))


@cache
def steps_of(pattern: str | bytes) -> int:
    """Return an upper bound of the steps that a pattern takes for each character of a text."""
    flags = re.compile(pattern).flags
    parser: Any = import_module("re._parser")
    items = list(parser.parse(pattern, flags))
    opening = [chr(value).casefold() for _, value in takewhile(_is_literal, items)]
    start = _Position(distance=_min_distance(opening))
    return _PatternWalk(flags).walk(items, start, last=True).steps


def _is_literal(item: tuple[object, object]) -> bool:
    return str(item[0]) == "LITERAL"


def _min_distance(letters: Sequence[str]) -> int:
    """Return the smallest distance between two occurrences of these letters in a text."""
    shifts = range(1, len(letters))
    return next(
        (shift for shift in shifts if letters[shift:] == letters[:-shift]), max(len(letters), 1)
    )


class _PatternWalk:
    """Walks through a parsed pattern with the flags of the current group."""

    def __init__(self, flags: int) -> None:
        self._flags = flags
        plain = not flags & re.UNICODE or bool(flags & re.ASCII)
        self._classes = _char_classes(plain=plain)

    def walk(self, items: Any, reached: _Position, *, last: bool) -> _Position:
        """Return the position behind some items; `last` says that nothing behind them can fail."""
        listed = list(items)
        for at, (op, value) in enumerate(listed):
            rest = listed[at + 1 :]
            sure = last and (
                self._can_be_empty(rest) or self._ends_itself(str(op), value, reached, rest)
            )
            reached = self._step(str(op), value, reached, rest, last=sure)
            if reached.steps > MAX_STEPS:
                raise _Refused(TOO_MANY + HINT)
        return reached

    def _step(self, op: str, value: Any, reached: _Position, rest: Any, *, last: bool) -> _Position:
        found = self._char_set(op, value)
        if found is not None:
            steps = reached.steps + reached.visits
            return replace(reached, before=found.possible, steps=steps)
        match op:
            case "SUBPATTERN":
                return self._in_group(value).walk(value[3], reached, last=last)
            case "ATOMIC_GROUP":
                return self.walk(value, reached, last=last)
            case "BRANCH":
                return self._branch(value[1], reached, last=last)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, inner = value
                return self._repeat(least, most, inner, reached, last=last)
            case "ASSERT" | "ASSERT_NOT":
                return self._assertion(op, value[0], value[1], reached)
            case "AT":
                return self._boundary(str(value), reached, rest)
            case _:
                raise _Refused("it refers back to what it has matched")

    def _in_group(self, group: Any) -> "_PatternWalk":
        """Return a walk for a group, which may have flags of its own."""
        _, added, taken, _ = group
        return _PatternWalk(self._flags & ~taken | added)

    def _branch(self, ways: Any, reached: _Position, *, last: bool) -> _Position:
        ends = [self.walk(way, replace(reached, steps=0), last=last) for way in ways]
        return _merge(ends, reached.steps + reached.visits + sum(end.steps for end in ends))

    def _repeat(
        self, least: int, most: int, inner: Any, reached: _Position, *, last: bool
    ) -> _Position:
        endless = str(most) == "MAXREPEAT"
        found = self.single(inner)
        if found is not None:
            return _repeat_char(
                least, None if endless else int(most), found.possible, reached, last=last
            )
        if endless:
            return self._endless(least, inner, reached, last=last)
        ends = [reached] if not least else []
        for count in range(1, int(most) + 1):
            reached = self.walk(inner, reached, last=last and count >= least)
            reached = replace(reached, steps=reached.steps + 1)
            ends += [reached] if count >= least else []
            if reached.steps > MAX_STEPS:
                raise _Refused(TOO_MANY + HINT)
        return _merge(ends, reached.steps) if ends else reached

    def _endless(self, least: int, inner: Any, reached: _Position, *, last: bool) -> _Position:
        """Accept an unbounded group only if its end is the end of a match."""
        if not last or not inner.getwidth()[0]:
            raise _Refused(UNBOUNDED + HINT)
        for _ in range(least):
            reached = self.walk(inner, reached, last=False)
        once = self.walk(inner, _Position(), last=True)
        steps = reached.steps + reached.visits * once.steps
        return _Position(reached.visits, reached.before | once.before, steps)

    def _assertion(self, op: str, way: int, inner: Any, reached: _Position) -> _Position:
        before = reached.before if way > 0 else ANY
        looked = self.walk(inner, _Position(reached.visits, before), last=False)
        steps = reached.steps + reached.visits + looked.steps
        found = self.single(inner) if way < 0 else None
        if found is not None:
            seen = found.possible if op == "ASSERT" else ANY & ~found.certain
            return replace(reached, before=reached.before & seen, steps=steps)
        return replace(reached, steps=steps)

    def _boundary(self, where: str, reached: _Position, rest: Any) -> _Position:
        before = reached.before
        if where == "AT_BEGINNING_STRING":
            before = 0
        elif where == "AT_BEGINNING":
            before = before & NEWLINE if self._flags & re.MULTILINE else 0
        elif where == "AT_BOUNDARY":
            word, first = self._classes["WORD"], self.first(rest)
            if first is not None and not first & ~word:
                before &= ANY & ~word
            elif first is not None and not first & word:
                before &= word
        return replace(reached, before=before, steps=reached.steps + reached.visits)

    def _ends_itself(self, op: str, value: Any, reached: _Position, rest: Any) -> bool:
        """Whether only an anchor follows a repetition, which always matches at its end."""
        if op != "MAX_REPEAT":
            return False
        least, most, inner = value
        found = self.single(inner)
        if found is None or str(most) != "MAXREPEAT" or len(rest) != 1 or str(rest[0][0]) != "AT":
            return False
        if str(rest[0][1]) == "AT_END":
            whole_line = not ANY & ~NEWLINE & ~found.certain
            return whole_line and bool(self._flags & re.MULTILINE)
        word = self._classes["WORD"]
        inside = bool(least) or not reached.before & ~word
        return (
            str(rest[0][1]) == "AT_BOUNDARY" and found.possible == found.certain == word and inside
        )

    def _can_be_empty(self, items: Any) -> bool:
        """Whether items match an empty text, so that they cannot fail."""
        for op, value in items:
            if str(op) == "SUBPATTERN" and self._can_be_empty(value[3]):
                continue
            if not str(op).endswith("_REPEAT") or value[0]:
                return False
        return True

    def first(self, items: Any) -> int | None:
        """Return the characters that some items can begin with; None if they may match nothing."""
        for op, value in items:
            found = self._char_set(str(op), value)
            if found is not None:
                return found.possible
            match str(op):
                case "SUBPATTERN":
                    return self._in_group(value).first(value[3])
                case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT" if value[0]:
                    return self.first(value[2])
                case "BRANCH":
                    firsts = [self.first(way) for way in value[1]]
                    known = [first for first in firsts if first is not None]
                    return _union(known) if len(known) == len(firsts) else None
                case _:
                    return None
        return None

    def single(self, inner: Any) -> _CharSet | None:
        """Return the set of a part that matches one character; None if it matches more."""
        items = list(inner)
        if len(items) != 1:
            return None
        op, value = items[0]
        if str(op) == "SUBPATTERN":
            return self._in_group(value).single(value[3])
        return self._char_set(str(op), value)

    def _char_set(self, op: str, value: Any) -> _CharSet | None:
        match op:
            case "LITERAL":
                return self._range(value, value)
            case "NOT_LITERAL":
                found = self._range(value, value)
                return _CharSet(ANY & ~found.certain, ANY & ~found.possible)
            case "ANY":
                taken = ANY if self._flags & re.DOTALL else ANY & ~NEWLINE
                return _CharSet(taken, taken)
            case "IN":
                return self._one_of(value)
            case _:
                return None

    def _one_of(self, items: Any) -> _CharSet:
        may = sure = 0
        negated = False
        for op, value in items:
            match str(op):
                case "NEGATE":
                    negated = True
                    continue
                case "LITERAL":
                    found = self._range(value, value)
                case "RANGE":
                    found = self._range(*value)
                case "CATEGORY":
                    kind = str(value).removeprefix("CATEGORY_").removeprefix("NOT_")
                    known = self._classes[kind]
                    taken = ANY & ~known if "_NOT_" in str(value) else known
                    found = _CharSet(taken, taken)
                case _:
                    found = _CharSet(ANY, 0)
            may, sure = may | found.possible, sure | found.certain
        return _CharSet(ANY & ~sure, ANY & ~may) if negated else _CharSet(may, sure)

    def _range(self, low: int, high: int) -> _CharSet:
        """Return the characters of a range, in both cases if case is ignored."""
        sure = 0
        for code in range(low, min(high, 127) + 1):
            sure |= 1 << code
            if self._flags & re.IGNORECASE and chr(code).isalpha():
                sure |= 1 << ord(chr(code).swapcase())
        may = sure
        if high > 127:
            may |= NON_ASCII if low != high else _class_of(chr(low))
        if self._flags & re.IGNORECASE:
            # Some ASCII letters have a non-ASCII case: k and the Kelvin sign.
            may |= ANY if high > 127 else NON_ASCII_WORD
        return _CharSet(may, sure)


def _repeat_char(
    least: int, most: int | None, taken: int, reached: _Position, *, last: bool
) -> _Position:
    """Return the position behind a repetition of one character; `most` None means unbounded."""
    before = taken if least else taken | reached.before
    visits, steps = reached.visits, reached.steps
    if not reached.before & taken:
        # It begins where a run of such characters begins, or matches none of them: the
        # character right before its end shows which.
        return _Position(visits, before, steps + visits)
    if last:
        return _Position(visits, before, steps + visits * max(least, 1))
    if most is None:
        raise _Refused(UNBOUNDED + HINT)
    ways = -(-(most - least + 1) // reached.distance)
    return _Position(visits * ways, before, steps + visits * -(-max(most, 1) // reached.distance))


def _merge(ends: Sequence[_Position], steps: int) -> _Position:
    """Merge the ends of several branches into one position."""
    before = _union(end.before for end in ends)
    return _Position(sum(end.visits for end in ends), before, steps)


def _char_classes(*, plain: bool) -> dict[str, int]:
    """Return the characters of each class; `plain` limits the classes to ASCII."""
    ascii_only = [chr(code) for code in range(128)]
    spaces = " \t\n\r\f\v" if plain else " \t\n\r\f\v\x1c\x1d\x1e\x1f"
    digit = _bits("0123456789")
    word = _bits("".join(char for char in ascii_only if char.isalnum() or char == "_"))
    if plain:
        return {"DIGIT": digit, "WORD": word, "SPACE": _bits(spaces)}
    return {
        "DIGIT": digit | NON_ASCII_DIGIT,
        "WORD": word | NON_ASCII_WORD | NON_ASCII_DIGIT,
        "SPACE": _bits(spaces) | NON_ASCII_SPACE,
    }


def _bits(letters: str) -> int:
    return _union(1 << ord(letter) for letter in letters)


def _union(sets: Iterable[int]) -> int:
    union = 0
    for char_set in sets:
        union |= char_set
    return union


def _class_of(letter: str) -> int:
    if letter.isdecimal():
        return NON_ASCII_DIGIT
    if letter.isalnum():
        return NON_ASCII_WORD
    return NON_ASCII_SPACE if letter.isspace() else NON_ASCII_OTHER
