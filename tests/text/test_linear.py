"""Patterns from settings: what is accepted takes time in proportion to the text."""

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from holdfast.errors import BadSetting
from holdfast.text.linear import MAX_STEPS, compile_checked, steps_of

SIMPLE = [
    r"sk-[A-Z0-9-]+",
    r"sk-[A-Za-z0-9]{20,}",
    r"CUST-[0-9]{6}",
    r"BLOB-[0-9a-f ]{1,20000}",
    r"export \d+",
    r"AKIA[0-9A-Z]{16}",
    r"[0-9a-f]{32}",
    r"\d+",
    r"Bearer .*",
    r"(?m)^secret.*$",
    r"(?i)password\s*[:=]\s*\S+",
    r"(?:password|passwd|secret)=\S+",
    r"(?<=key=)\w+",
    r"(?<!\w)\d+(?!\w)",
    r'"secret": "[^"]*"',
    r"key=\w+(?:;v\d+)?",
    r"\b\d{3}-\d{2}-\d{4}\b",
    r"\b(?:\d[ -]?){13,16}\b",
    r"\bACME\w*\b",
    r"10\.\d+\.\d+\.\d+",
    r"https?://[^\s/]+@\S+",
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}",
    r"eyJ[\w-]{1,2000}\.[\w-]{1,2000}\.[\w-]+",
    r"(?s)-----BEGIN.{1,5000}?-----END",
    r"秘密\w+",
    r"\b\w+@\w+\.com",
    r"[\w.+-]{1,64}@[\w-]{1,63}\.com",
]
SLOW = [
    r"(a+)+b",
    r"(a|aa)+$",
    r"(x+x+)+y",
    r"a+b",
    r"a*b*c*d",
    r"\w+@\w+\.com",
    r"secret.*$",
    r"BEGIN.*END",
    r"(?:\s*\w+)*;",
    r"(?:foo\w*\b)bar",
    r"(a?){20}a{20}",
    r"((a{100}){100}){100}",
    r"(?i)k+K",
    r"(?=.*a)b",
    r"[^é]+é",
    r"(a)\1+b",
    r"(?:)*b",
]


@pytest.mark.parametrize("pattern", SIMPLE)
def test_a_simple_pattern_is_used(pattern: str) -> None:
    assert compile_checked("redact.patterns", [pattern]) == (re.compile(pattern),)


@pytest.mark.parametrize("pattern", SLOW)
def test_a_pattern_that_could_take_very_long_is_refused(pattern: str) -> None:
    with pytest.raises(BadSetting, match="is not used: it ") as refused:
        compile_checked("redact.patterns", [pattern], "holdfast.toml")
    assert (refused.value.name, refused.value.origin) == ("redact.patterns", "holdfast.toml")


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "(" * 5_000, "a{99999999999}", "\ud800"])
def test_what_is_no_pattern_is_refused_in_a_sentence(pattern: str) -> None:
    with pytest.raises(BadSetting, match="is no pattern: "):
        compile_checked("redact.patterns", [pattern])


def test_many_patterns_have_one_bound_together() -> None:
    one = r"[a-z]{1,50}=[a-z]{1,50};"
    most = MAX_STEPS // steps_of(one)
    assert len(compile_checked("redact.patterns", [one] * most)) == most
    with pytest.raises(BadSetting, match="too many steps"):
        compile_checked("redact.patterns", [one] * (most + 1))


class TooManySteps(Exception):
    """A text took more steps than a pattern may take."""


class Backtracker:
    """Python's way to match, one way after the other, with every step counted."""

    def __init__(self, pattern: str, text: str, most: int) -> None:
        parser: Any = import_module("re._parser")
        self.items, self.text, self.left = parser.parse(pattern), text, most

    def search_all(self) -> None:
        at = 0
        while at <= len(self.text):
            end = self._match(list(self.items), at, lambda end: end)
            at = at + 1 if end is None or end == at else end

    def _match(self, items: list[Any], at: int, then: Callable[[int], int | None]) -> int | None:
        if not items:
            return then(at)
        self.left -= 1
        if self.left < 0:
            raise TooManySteps
        (op, value), rest = items[0], items[1:]

        def on(end: int) -> int | None:
            return self._match(rest, end, then)

        match str(op):
            case "SUBPATTERN":
                return self._match(list(value[3]), at, on)
            case "BRANCH":
                ends = (self._match(list(way), at, on) for way in value[1])
                return next((end for end in ends if end is not None), None)
            case "MAX_REPEAT":
                least, most, inner = value
                return self._repeated(least, most, inner, at, on)
            case "MIN_REPEAT":
                least, most, inner = value
                return self._seldom(least, most, inner, at, on)
            case "AT":
                return on(at) if self._is_at(str(value), at) else None
            case _:
                return on(at + 1) if at < len(self.text) and self._takes(op, value, at) else None

    def _repeated(self, least: Any, most: Any, inner: Any, at: int, on: Any) -> int | None:
        if most > 0:

            def again(end: int) -> int | None:
                if end == at and least <= 0:
                    return None
                more = most if str(most) == "MAXREPEAT" else most - 1
                return self._repeated(least - 1, more, inner, end, on)

            found = self._match(list(inner), at, again)
            if found is not None:
                return found
        return on(at) if least <= 0 else None

    def _seldom(self, least: Any, most: Any, inner: Any, at: int, on: Any) -> int | None:
        found = on(at) if least <= 0 else None
        if found is not None or most <= 0:
            return found

        def again(end: int) -> int | None:
            if end == at and least <= 0:
                return None
            more = most if str(most) == "MAXREPEAT" else most - 1
            return self._seldom(least - 1, more, inner, end, on)

        return self._match(list(inner), at, again)

    def _is_at(self, where: str, at: int) -> bool:
        mark = {"AT_BOUNDARY": r"\b", "AT_BEGINNING": "^", "AT_END": "$"}[where]
        return re.compile(mark).match(self.text, at) is not None

    def _takes(self, op: Any, value: Any, at: int) -> bool:
        letter = self.text[at]
        match str(op):
            case "LITERAL":
                return ord(letter) == value
            case "NOT_LITERAL":
                return ord(letter) != value
            case "ANY":
                return letter != "\n"
            case _:
                return _is_one_of(letter, value)


def _is_one_of(letter: str, items: Any) -> bool:
    found, turned = False, False
    for op, value in items:
        match str(op):
            case "NEGATE":
                turned = True
            case "LITERAL":
                found |= ord(letter) == value
            case "RANGE":
                found |= value[0] <= ord(letter) <= value[1]
            case _:
                word = letter.isalnum() or letter == "_"
                found |= {"WORD": word, "NOT_WORD": not word}[str(value).removeprefix("CATEGORY_")]
    return found is not turned


ATOMS = st.sampled_from(
    ["a", "b", "-", "aba", "ab", "[ab]", "[^a]", "[^-]", ".", r"\w", r"\W", r"\b"]
)
REPEATS = st.sampled_from(["*", "+", "?", "{1,3}", "{0,2}", "{2,}", "{3}", "*?", "+?", "{1,3}?"])


def joined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = inner.map(lambda one: f"(?:{one})")
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(group, REPEATS).map("".join),
    )


PATTERNS = st.recursive(
    st.one_of(ATOMS, st.tuples(ATOMS, REPEATS).map("".join)), joined, max_leaves=6
)
TEXTS = st.one_of(
    st.text("ab-\n", max_size=60),
    st.tuples(st.text("ab-", min_size=1, max_size=3), st.sampled_from(["", "-", "b", "\n"])).map(
        lambda two: (two[0] * 100)[:100] + two[1]
    ),
)


@given(PATTERNS, TEXTS)
@settings(max_examples=400, suppress_health_check=[HealthCheck.filter_too_much], deadline=None)
def test_what_is_accepted_takes_no_more_steps_than_it_says(pattern: str, text: str) -> None:
    try:
        compile_checked("redact.patterns", [pattern])
    except BadSetting:
        assume(False)
    # Some for each place, as a repetition and its end are looked at one by one here.
    Backtracker(pattern, text, 6 * (len(text) + 6) * max(steps_of(pattern), 1)).search_all()


def test_the_steps_of_a_refused_pattern_are_too_many() -> None:
    with pytest.raises(TooManySteps):
        Backtracker("(?:a+)+b", "a" * 30, 100_000).search_all()
