"""Patterns of a user or of a repository: only those that take time in proportion to the text.

Python's engine tries one way after the other, and for some patterns and texts there are more ways
than anyone can wait for. So a pattern is looked at before it is used. For each of its places it is
worked out how often the engine can come there at one position of a text, from all the positions it
may have begun at together; the sum over the places is the number of steps for each character.

A repetition without a bound is fine in two cases. What stands before it cannot be a character that
it repeats: then it begins at one position of each run of such characters. Or nothing behind it can
fail: then it is a match, and the search goes on behind it. Every other one is refused, as is a
pattern with too many steps. What is accepted takes at most `MOST` steps for each character.
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

MOST = 10_000
"""Steps for each character of a text, over all patterns of a setting."""

WORD_BEYOND, DIGIT_BEYOND, SPACE_BEYOND, OTHER_BEYOND = (1 << at for at in range(128, 132))
"""Sets of characters are bits: one for each of ASCII, and these for all the others by kind."""
BEYOND = WORD_BEYOND | DIGIT_BEYOND | SPACE_BEYOND | OTHER_BEYOND
ANY = (1 << 132) - 1
NEWLINE = 1 << 10
UNBOUNDED = "it repeats without a bound where a text can be read in many ways"
TOO_MANY = "it takes too many steps for each character"
HINT = "; write bounds such as {1,100}"


class _Refused(Exception):
    """Why a pattern is not used."""


class _Reached(Struct, frozen=True):
    """A place in a pattern."""

    visits: int = 1
    """How often it can be reached at one position of a text."""
    before: int = ANY
    """The characters that may stand right before it."""
    steps: int = 0
    """For each character of a text, up to here."""
    apart: int = 1
    """Positions between two from which it can be reached, as long as all ways there are equal."""


class _Set(Struct, frozen=True):
    """Characters that one place of a pattern takes."""

    may: int
    """At least all of them."""
    sure: int
    """At most all of them: what a set that is turned around surely leaves out."""


def compiled(
    setting: str, patterns: Sequence[str], origin: str = "policy"
) -> tuple[re.Pattern[str], ...]:
    """The patterns of a setting, ready to use.

    Raises:
        BadSetting: one of them is no pattern, or could take very long on some texts.
    """
    steps = 0
    for pattern in patterns:
        try:
            # Bytes are looked through too, and mean other characters.
            steps += max(steps_of(pattern), steps_of(pattern.encode()))
            if steps > MOST:
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
    """Steps that a pattern takes for each character of a text, at the most."""
    flags = re.compile(pattern).flags
    parser: Any = import_module("re._parser")
    items = list(parser.parse(pattern, flags))
    opening = [chr(value).casefold() for _, value in takewhile(_is_literal, items)]
    begun = _Reached(apart=_apart(opening))
    return _Walk(flags).through(items, begun, last=True).steps


def _is_literal(item: tuple[object, object]) -> bool:
    return str(item[0]) == "LITERAL"


def _apart(letters: Sequence[str]) -> int:
    """How far apart two places at least are where a text has these letters."""
    shifts = range(1, len(letters))
    return next((one for one in shifts if letters[one:] == letters[:-one]), max(len(letters), 1))


class _Walk:
    """A walk through a pattern as Python parsed it, under the flags that hold there."""

    def __init__(self, flags: int) -> None:
        self._flags = flags
        plain = not flags & re.UNICODE or bool(flags & re.ASCII)
        self._kinds = _kinds(plain=plain)

    def through(self, items: Any, reached: _Reached, *, last: bool) -> _Reached:
        """The place behind some items; `last` when nothing behind them can fail."""
        listed = list(items)
        for at, (op, value) in enumerate(listed):
            rest = listed[at + 1 :]
            sure = last and (self._holds(rest) or self._ends(str(op), value, reached, rest))
            reached = self._step(str(op), value, reached, rest, last=sure)
            if reached.steps > MOST:
                raise _Refused(TOO_MANY + HINT)
        return reached

    def _step(self, op: str, value: Any, reached: _Reached, rest: Any, *, last: bool) -> _Reached:
        found = self._set(op, value)
        if found is not None:
            steps = reached.steps + reached.visits
            return replace(reached, before=found.may, steps=steps)
        match op:
            case "SUBPATTERN":
                return self._under(value).through(value[3], reached, last=last)
            case "ATOMIC_GROUP":
                return self.through(value, reached, last=last)
            case "BRANCH":
                return self._branch(value[1], reached, last=last)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, inner = value
                return self._repeat(least, most, inner, reached, last=last)
            case "ASSERT" | "ASSERT_NOT":
                return self._assertion(op, value[0], value[1], reached)
            case "AT":
                return self._at(str(value), reached, rest)
            case _:
                raise _Refused("it refers back to what it has matched")

    def _under(self, group: Any) -> "_Walk":
        """The walk through a group, which may have flags of its own."""
        _, added, taken, _ = group
        return _Walk(self._flags & ~taken | added)

    def _branch(self, ways: Any, reached: _Reached, *, last: bool) -> _Reached:
        ends = [self.through(way, replace(reached, steps=0), last=last) for way in ways]
        return _joined(ends, reached.steps + reached.visits + sum(end.steps for end in ends))

    def _repeat(
        self, least: int, most: int, inner: Any, reached: _Reached, *, last: bool
    ) -> _Reached:
        endless = str(most) == "MAXREPEAT"
        found = self.single(inner)
        if found is not None:
            return _run(least, None if endless else int(most), found.may, reached, last=last)
        if endless:
            return self._endless(least, inner, reached, last=last)
        ends = [reached] if not least else []
        for count in range(1, int(most) + 1):
            reached = self.through(inner, reached, last=last and count >= least)
            reached = replace(reached, steps=reached.steps + 1)
            ends += [reached] if count >= least else []
            if reached.steps > MOST:
                raise _Refused(TOO_MANY + HINT)
        return _joined(ends, reached.steps) if ends else reached

    def _endless(self, least: int, inner: Any, reached: _Reached, *, last: bool) -> _Reached:
        """A group without a bound: only where its end is the end of a match."""
        if not last or not inner.getwidth()[0]:
            raise _Refused(UNBOUNDED + HINT)
        for _ in range(least):
            reached = self.through(inner, reached, last=False)
        once = self.through(inner, _Reached(), last=True)
        steps = reached.steps + reached.visits * once.steps
        return _Reached(reached.visits, reached.before | once.before, steps)

    def _assertion(self, op: str, way: int, inner: Any, reached: _Reached) -> _Reached:
        before = reached.before if way > 0 else ANY
        looked = self.through(inner, _Reached(reached.visits, before), last=False)
        steps = reached.steps + reached.visits + looked.steps
        found = self.single(inner) if way < 0 else None
        if found is not None:
            seen = found.may if op == "ASSERT" else ANY & ~found.sure
            return replace(reached, before=reached.before & seen, steps=steps)
        return replace(reached, steps=steps)

    def _at(self, where: str, reached: _Reached, rest: Any) -> _Reached:
        before = reached.before
        if where == "AT_BEGINNING_STRING":
            before = 0
        elif where == "AT_BEGINNING":
            before = before & NEWLINE if self._flags & re.MULTILINE else 0
        elif where == "AT_BOUNDARY":
            word, first = self._kinds["WORD"], self.first(rest)
            if first is not None and not first & ~word:
                before &= ANY & ~word
            elif first is not None and not first & word:
                before &= word
        return replace(reached, before=before, steps=reached.steps + reached.visits)

    def _ends(self, op: str, value: Any, reached: _Reached, rest: Any) -> bool:
        """Whether all that follows a repetition is its own end, so that it cannot fail."""
        if op != "MAX_REPEAT":
            return False
        least, most, inner = value
        found = self.single(inner)
        if found is None or str(most) != "MAXREPEAT" or len(rest) != 1 or str(rest[0][0]) != "AT":
            return False
        if str(rest[0][1]) == "AT_END":
            whole_line = not ANY & ~NEWLINE & ~found.sure
            return whole_line and bool(self._flags & re.MULTILINE)
        word = self._kinds["WORD"]
        inside = bool(least) or not reached.before & ~word
        return str(rest[0][1]) == "AT_BOUNDARY" and found.may == found.sure == word and inside

    def _holds(self, items: Any) -> bool:
        """Whether items can always be passed, whatever the text is."""
        for op, value in items:
            if str(op) == "SUBPATTERN" and self._holds(value[3]):
                continue
            if not str(op).endswith("_REPEAT") or value[0]:
                return False
        return True

    def first(self, items: Any) -> int | None:
        """The characters that some items can begin with; None where they may take none."""
        for op, value in items:
            found = self._set(str(op), value)
            if found is not None:
                return found.may
            match str(op):
                case "SUBPATTERN":
                    return self._under(value).first(value[3])
                case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT" if value[0]:
                    return self.first(value[2])
                case "BRANCH":
                    firsts = [self.first(way) for way in value[1]]
                    known = [first for first in firsts if first is not None]
                    return _union(known) if len(known) == len(firsts) else None
                case _:
                    return None
        return None

    def single(self, inner: Any) -> _Set | None:
        """The set that a part of a pattern takes one character of; None where it is more."""
        items = list(inner)
        if len(items) != 1:
            return None
        op, value = items[0]
        if str(op) == "SUBPATTERN":
            return self._under(value).single(value[3])
        return self._set(str(op), value)

    def _set(self, op: str, value: Any) -> _Set | None:
        match op:
            case "LITERAL":
                return self._range(value, value)
            case "NOT_LITERAL":
                found = self._range(value, value)
                return _Set(ANY & ~found.sure, ANY & ~found.may)
            case "ANY":
                taken = ANY if self._flags & re.DOTALL else ANY & ~NEWLINE
                return _Set(taken, taken)
            case "IN":
                return self._one_of(value)
            case _:
                return None

    def _one_of(self, items: Any) -> _Set:
        may = sure = 0
        turned = False
        for op, value in items:
            match str(op):
                case "NEGATE":
                    turned = True
                    continue
                case "LITERAL":
                    found = self._range(value, value)
                case "RANGE":
                    found = self._range(*value)
                case "CATEGORY":
                    kind = str(value).removeprefix("CATEGORY_").removeprefix("NOT_")
                    known = self._kinds[kind]
                    taken = ANY & ~known if "_NOT_" in str(value) else known
                    found = _Set(taken, taken)
                case _:
                    found = _Set(ANY, 0)
            may, sure = may | found.may, sure | found.sure
        return _Set(ANY & ~sure, ANY & ~may) if turned else _Set(may, sure)

    def _range(self, low: int, high: int) -> _Set:
        """The characters from one to another, in either case where cases do not matter."""
        sure = 0
        for code in range(low, min(high, 127) + 1):
            sure |= 1 << code
            if self._flags & re.IGNORECASE and chr(code).isalpha():
                sure |= 1 << ord(chr(code).swapcase())
        may = sure
        if high > 127:
            may |= BEYOND if low != high else _kind_of(chr(low))
        if self._flags & re.IGNORECASE:
            # Some letters have a second case of another kind: k and the sign for kelvin.
            may |= ANY if high > 127 else WORD_BEYOND
        return _Set(may, sure)


def _run(least: int, most: int | None, taken: int, reached: _Reached, *, last: bool) -> _Reached:
    """A repetition of one character; `most` is None where it has no bound."""
    before = taken if least else taken | reached.before
    visits, steps = reached.visits, reached.steps
    if not reached.before & taken:
        # It begins where a run of such characters begins, or takes none of them: what stands
        # right before its end tells which.
        return _Reached(visits, before, steps + visits)
    if last:
        return _Reached(visits, before, steps + visits * max(least, 1))
    if most is None:
        raise _Refused(UNBOUNDED + HINT)
    ways = -(-(most - least + 1) // reached.apart)
    return _Reached(visits * ways, before, steps + visits * -(-max(most, 1) // reached.apart))


def _joined(ends: Sequence[_Reached], steps: int) -> _Reached:
    """One place that is reached in several ways."""
    before = _union(end.before for end in ends)
    return _Reached(sum(end.visits for end in ends), before, steps)


def _kinds(*, plain: bool) -> dict[str, int]:
    """The characters of each kind; `plain` where only those of ASCII have one."""
    ascii_only = [chr(code) for code in range(128)]
    spaces = " \t\n\r\f\v" if plain else " \t\n\r\f\v\x1c\x1d\x1e\x1f"
    digit = _bits("0123456789")
    word = _bits("".join(one for one in ascii_only if one.isalnum() or one == "_"))
    if plain:
        return {"DIGIT": digit, "WORD": word, "SPACE": _bits(spaces)}
    return {
        "DIGIT": digit | DIGIT_BEYOND,
        "WORD": word | WORD_BEYOND | DIGIT_BEYOND,
        "SPACE": _bits(spaces) | SPACE_BEYOND,
    }


def _bits(letters: str) -> int:
    return _union(1 << ord(letter) for letter in letters)


def _union(sets: Iterable[int]) -> int:
    found = 0
    for one in sets:
        found |= one
    return found


def _kind_of(letter: str) -> int:
    if letter.isdecimal():
        return DIGIT_BEYOND
    if letter.isalnum():
        return WORD_BEYOND
    return SPACE_BEYOND if letter.isspace() else OTHER_BEYOND
