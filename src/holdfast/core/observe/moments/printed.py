"""Read what a command printed: its outcome in one line, and the other lines that may be needed."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from holdfast.core.faults import row_rule, rule, rule_keeping
from holdfast.core.ledger.entry import EntryId
from holdfast.core.observe.moments.contents import (
    content_lines,
    content_moments,
    name_moments,
    new_line_moments,
)
from holdfast.core.observe.moments.moment import Moment, plain_line
from holdfast.core.observe.results.failures import FAILED_TEST, NOISE_LINE, plain_output
from holdfast.core.observe.results.tests import counts_in
from holdfast.text.clip import clip_and_mark
from holdfast.text.jsontext import Json, NotJson, parse
from holdfast.text.patterns import Pattern
from holdfast.text.utf8 import to_bytes

WHOLE_LINES, WHOLE_CHARS = 14, 520
"""An output with no more lines and characters is quoted whole."""
FAILED_LINES, FAILED_CHARS = 20, 700
"""An output of a failed command with no more lines and characters is quoted whole."""
MAX_KEY_LINES, MAX_KEY_CHARS, MAX_LINE_CHARS = 5, 600, 180
MAX_SHORT_ROW = 32
"""Shorter lines of an output, such as names, are one moment together."""
MAX_LISTED, MAX_FILES, MAX_ERRORS = 8, 12, 3
EDGE_CHARS = 20_000
"""Characters of the beginning of an output in which a diff is recognized."""
DETAIL_LINES, DETAIL_WEIGHT = 24, 0.3
RECORD_WEIGHT, NEW_LINE_WEIGHT = 0.6, 0.35
MAX_JSON_ROWS, MAX_JSON_CHARS = 40, 60_000
MAX_VALUE_CHARS, MAX_ROW_CHARS = 160, 400
BETWEEN = " · "
NO_OUTCOME = "no output"
KEY_WORDS = (
    *("error", "fail", "conflict", "exception", "panic", "fatal", "cannot", "not found"),
    *("undefined", "denied", "rejected", "missing", "\non branch ", "\ne   ", "\n["),
)
"""Texts of which a line of interest has one; `_KEY_LINE` decides."""
# `CONFLICT (content): …`, `[main 1a2b3c4] Fix it`, `--- FAIL: TestX`; but not `0 errors`.
_KEY_LINE = Pattern(
    r"(?i)(?<!0 )(?<!no )\b(?:\w{0,40}errors?|failed|failure|conflict|\w{0,40}exception|panic|fatal"
    r"|cannot|not found|undefined|denied|rejected|missing)\b"
    r"|^\[[\w/.() -]{1,80} [0-9a-f]{7,12}\] |^--- FAIL|^On branch |^E   "
)
# `from a.rb:3:in 'x'`, `File "a.py", line 3, in x`, `at x (a.js:3:1)`; but not `at once`.
_FRAME = Pattern(
    r"from \S{1,300}:\d{1,7}:in |File \"[^\"]{1,300}\", line \d{1,7}|at \S[^\n]{0,300}:\d{1,7}\)?$"
)
# `186- return fmt.Errorf("failed to`, `throw new Error(x);`, `12: if err != nil {`: code that a
# command printed; but not `error: failed to open a.py` and `ValueError: x`.
_CODE_LINE = Pattern(
    r"^\s{0,40}(?:\S{0,200}[-:])?\d{1,7}[-:]\s|\b(?:return|throw|raise) \w|\w\([\"'`]|[{;]\s{0,9}$"
)
# `1 failed, 2 passed`, `FAILED (errors=1)`, `2 failing`; but not `0 failed`.
_SOME_FAILED = Pattern(r"\b[1-9]\d{0,6} (?:failed|failing|errors?|FAIL|failures?)\b|FAILED")
# `npm notice …`, `Shell cwd was reset to …`, `45%`, `bash-$`; but not `npm ERR! …`.
_PROGRESS_LINE = Pattern(
    r"(?i)(?:npm (?:notice|warn)|shell cwd was reset|\d{1,3}%|[|/\\-]$|downloading\b|fetching\b"
    r"|cloning test database|creating test database|destroying test database|bash-\$"
    r"|\(open file: |\(current directory: |\d{1,6}/\d{1,6}\b.{0,40}$)"
)
# The header that a shell tool prints above the output: `Chunk ID: 1a\nWall time: 1 s\nOutput:\n`.
_HEADER = Pattern(r"(?:Chunk ID: |Exit code: |Wall time: )(?:[^\n]{0,80}\n){1,6}?Output:\n")
# `diff --git a/x.py b/x.py`, and the lines that are new or old, and the function of a hunk.
_DIFF_LINE = Pattern(
    r"(?m)^(?:diff --git a/(?P<path>[^\n ]{1,300}) b/[^\n]{1,300}|(?P<new>\+)(?!\+\+ )"
    r"|(?P<old>-)(?!-- )|@@ [^@\n]{3,60} @@ ?(?P<place>[^\n]{0,100}))"
)
# `  Line 106:   return x` and `106:return x`, below their file; but not `src/a.py:106: x`.
_HIT_BELOW = Pattern(r"\s{0,8}(?:Line )?(?P<number>\d{1,7}): {0,9}(?P<text>[^\n]{0,2000})$")


@rule_keeping(0)
def printed_text(output: str) -> str:
    """Return an output without the header and the wrapper that its host prints around it."""
    header = _HEADER.match(output)
    return output[header.end() :] if header else output


@rule_keeping(0)
def hits_with_files(text: str) -> str:
    """Return the hits of a search, each with its file, also where that is printed once above."""
    rows, path = list[str](), ""
    lines = text.split("\n")
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        hit = _HIT_BELOW.match(line)
        if hit and path:
            rows.append(f"{path}:{hit['number']}: {hit['text']}")
            continue
        path = _path_alone(line) if _HIT_BELOW.match(following) else ""
        rows += [] if path else [line]
    return "\n".join(rows)


def _path_alone(line: str) -> str:
    """Return the path that a line is; empty for any other line, such as `Found 5 matches`."""
    path = line.removesuffix(":")
    is_path = "/" in path or ("." in path and path.rpartition(".")[2][:1].isalpha())
    return path if is_path and path.split() == [path] and ":" not in path else ""


@rule(NO_OUTCOME)
def outcome_of(output: str, *, failed: bool = False) -> str:
    """Return a short output whole; of a long one errors, counts and commits, or both ends."""
    text = plain_output(printed_text(output)).strip()
    most_lines, most_chars = (FAILED_LINES, FAILED_CHARS) if failed else (WHOLE_LINES, WHOLE_CHARS)
    if len(text) <= 2 * most_chars:
        lines = _without_frames(_lines_of(text.split("\n")))
        if not lines:
            return NO_OUTCOME
        if len(lines) <= most_lines and sum(map(len, lines)) <= most_chars:
            return BETWEEN.join(lines)
    shown = (clip_and_mark(line, MAX_LINE_CHARS) for line in _shown(text, failed=failed))
    return BETWEEN.join(dict.fromkeys(shown))


def _shown(text: str, *, failed: bool) -> Sequence[str]:
    """Return the lines of a long output that state its outcome."""
    if changed := _changed_files(text):
        return changed
    if rows := json_rows(text):
        return rows if len(rows) < 3 else [rows[0], f"{len(rows)} records"]
    counts = plain_line(_counts(text))
    failed = failed or _SOME_FAILED.search(counts) is not None
    if counts and not failed:
        return [counts]
    tests, key = _failed_tests(text) if failed else [], _lines_of(_key_lines(text, MAX_KEY_LINES))
    if not failed:
        key = [line for line in key if not _CODE_LINE.search(line)]
    if tests:
        key = [line for line in key if not FAILED_TEST.match(line) and counts not in line]
        return [*tests, *key[:MAX_ERRORS], counts]
    if counts or (key and failed):
        return [*key, counts] if counts else [*key, *_lines_of(text[-400:].split("\n")[1:])[-1:]]
    lines = _lines_of(text[:4_000].split("\n"))
    last = _lines_of(text[-400:].split("\n"))[-1:]
    size = f"{text.count(chr(10)) + 1} lines"
    return [*key, *lines[: 2 if key else 3], *last, size]


@lru_cache(maxsize=2)
def _counts(text: str) -> str:
    """Return the counts of a test run; the outcome and the details of an output both ask."""
    return counts_in(text)


def _key_lines(text: str, limit: int) -> list[str]:
    """Return the first lines of a text that report an error, a conflict, a branch or a commit."""
    text = f"\n{text}"
    plain = text.lower()
    if len(plain) != len(text):
        plain = text
    starts = sorted({start for word in KEY_WORDS for start in _lines_with(word, plain, 3 * limit)})
    ends = (plain.find("\n", start) for start in starts)
    lines = (
        text[start : end if end >= 0 else len(text)]
        for start, end in zip(starts, ends, strict=True)
    )
    return list(islice((line for line in lines if _KEY_LINE.search(line[:MAX_KEY_CHARS])), limit))


def _lines_with(word: str, text: str, limit: int) -> Iterator[int]:
    """Yield where the first lines with a word start."""
    at = text.find(word)
    for _ in range(limit):
        if at < 0:
            return
        yield text.rfind("\n", 0, at + 1) + 1
        end = text.find("\n", at + 1)
        at = text.find(word, end) if end >= 0 else -1


def _failed_tests(text: str) -> list[str]:
    names = dict.fromkeys(
        next((group for group in match.groups() if group), match[0]).strip()
        for match in FAILED_TEST.finditer(text)
    )
    more = [f"{len(names) - MAX_LISTED} more tests failed"] if len(names) > MAX_LISTED else []
    return [*(f"FAILED {name}" for name in list(names)[:MAX_LISTED]), *more]


def _changed_files(text: str) -> list[str]:
    """Return for each file of a diff its name, its sizes and the places of its changes."""
    if not _is_diff(text):
        return []
    sizes: dict[str, list[int]] = {}
    places: dict[str, dict[str, None]] = {}
    path = ""
    for match in _DIFF_LINE.finditer(text):
        if match["path"]:
            path = match["path"]
            sizes[path], places[path] = [0, 0], {}
        elif path and match["place"] and "(" in match["place"]:
            places[path][match["place"].strip()] = None
        elif path and (match["new"] or match["old"]):
            sizes[path][0 if match["new"] else 1] += 1
    return [
        f"{path} +{new} −{old}"
        + (f" in {'; '.join(list(places[path])[:3])}" if places[path] else "")
        for path, (new, old) in sizes.items()
    ]


def _without_frames(lines: Sequence[str]) -> Sequence[str]:
    """Return lines with only the first and the last of the frames of a stack."""
    frames = [at for at, line in enumerate(lines) if _FRAME.match(line)]
    hidden = frozenset(frames[1:-1])
    return [line for at, line in enumerate(lines) if at not in hidden] if hidden else lines


def _lines_of(rows: Sequence[str] | Iterator[str]) -> list[str]:
    lines = (plain_line(row) for row in rows)
    return [
        line
        for line in lines
        if line and not NOISE_LINE.match(line) and not _PROGRESS_LINE.match(line)
    ]


@row_rule
def detail_moments(
    label: str, output: str, entry: EntryId, *, failed: bool = False
) -> Iterator[Moment]:
    """Yield the lines of an output that its outcome does not quote, each under its label.

    A test run that passed has none: its counts say it all.
    """
    text = plain_output(printed_text(output)).strip()
    if len(text) <= WHOLE_CHARS and text.count("\n") < WHOLE_LINES:
        return
    if _is_diff(text):
        for path, new in _new_lines(text):
            lines = content_lines(path, "\n".join(new))
            yield from content_moments(path, lines, entry, NEW_LINE_WEIGHT)
            yield from new_line_moments(path, new, entry, DETAIL_WEIGHT)
        yield from name_moments(label, text, entry)
        return
    counts = "" if failed else _counts(text)
    if counts and not _SOME_FAILED.search(counts):
        return
    rows, weight = json_rows(text), RECORD_WEIGHT
    if rows:
        # The outcome quotes the first record, or both.
        rows = rows[1:] if len(rows) > 2 else ()
    else:
        weight = DETAIL_WEIGHT
        lines = text.split("\n")
        some = DETAIL_LINES // 3
        ends = (
            lines
            if len(lines) <= DETAIL_LINES
            else [*lines[:some], *_key_lines(text, some), *lines[-some:]]
        )
        rows = [clip_and_mark(line, MAX_LINE_CHARS) for line in _lines_of(ends)]
    rows = dict.fromkeys(rows)
    for row in _joined_rows(rows):
        yield Moment("content", f"{label}: {row}" if label else row, entry, weight)
    yield from name_moments(label, text, entry, rows)


def _joined_rows(rows: Iterable[str]) -> Iterator[str]:
    """Yield rows; short ones, such as the names in a listing, several together."""
    parts = list[str]()
    for row in rows:
        is_short = len(row) <= MAX_SHORT_ROW
        if parts and (not is_short or sum(map(len, parts)) + len(row) > MAX_LINE_CHARS):
            yield BETWEEN.join(parts)
            parts = []
        if is_short:
            parts.append(row)
        else:
            yield row
    if parts:
        yield BETWEEN.join(parts)


def _is_diff(text: str) -> bool:
    return "diff --git " in text[:EDGE_CHARS]


def _new_lines(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each file of a diff with its new lines."""
    for part in text.split("\ndiff --git ")[:MAX_FILES]:
        lines = part.split("\n")
        path = lines[0].rpartition(" b/")[2]
        yield path, [line[1:] for line in lines[1:] if line[:1] == "+" and line[:4] != "+++ "]


@rule(())
def json_rows(text: str) -> Sequence[str]:
    """Return each record of a JSON document as one line of its values; none of another text."""
    if not text.startswith(("{", "[")) or len(text) > MAX_JSON_CHARS:
        return ()
    try:
        value, _ = parse(to_bytes(text))
    except NotJson:
        return ()
    rows: list[str] = []
    rest = _flat(value, rows)
    return [*([rest] if rest else []), *rows][:MAX_JSON_ROWS]


def _flat(value: Json, rows: list[str]) -> str:
    """Return the values of a record as `key value`; add those of its inner records to `rows`."""
    match value:
        case dict():
            parts = [
                f"{key} ({shown})" if isinstance(inner, dict) else f"{key} {shown}"
                for key, inner in value.items()
                if (shown := _flat(inner, rows))
            ]
            return clip_and_mark(", ".join(parts), MAX_ROW_CHARS)
        case list():
            shown = [_flat(inner, rows) for inner in value]
            if any(isinstance(inner, (dict, list)) for inner in value):
                rows += [row for row in shown if row]
                return ""
            return clip_and_mark(" ".join(shown), MAX_VALUE_CHARS)
        case None:
            return ""
        case bool():
            return str(value).lower()
        case _:
            return clip_and_mark(plain_line(str(value)), MAX_VALUE_CHARS)
