"""Detect the kind of a text (JSON, diff, log, code …) from a bounded sample of its content.

`KIND_CHECKS` are tried in order, the strictest first; a text that fits none is prose. Shares are
shares of the lines that are not blank.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.shrink.outline.binary import is_blob
from holdfast.core.shrink.outline.listing import is_path
from holdfast.core.shrink.outline.reading import MAX_LINE_CHARS, read_text
from holdfast.core.shrink.outline.table import layout_of
from holdfast.text.code import language_of
from holdfast.text.patterns import Pattern

HEAD_CHARS, MIDDLE_CHARS, TAIL_CHARS = 8_000, 3_000, 4_000
MAX_JSON_TOKENS = 24
"""So many JSON tokens in a valid order prove that a text is JSON."""
MAX_SAMPLE_ROWS = 160
"""Lines of a sample that are checked."""

JSON_TOKEN = Pattern(
    r'(?:([{\[])|([}\]])|([,:])|("[^"\\]*+(?:\\.[^"\\]*+)*+"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?'
    r"(?![\w.:/-])|true\b|false\b|null\b))",
    re.DOTALL,
)
BLANK = Pattern(r"\s*+")
DIFF_ROW = Pattern(
    r"^(?:diff --git |@@ -\d+(?:,\d+)? \+\d+|Index: \S|\*\*\* (?:Update|Add|Delete) File)"
)
TEST_RUN_ROW = Pattern(
    r"^={3,} (?:test session starts|FAILURES|ERRORS|short test summary info)"
    r"|^={3,} .{0,120}\b\d+ (?:passed|failed|errors?|skipped)\b"
    r"|^\d+ (?:passed|failed).{0,80} in [\d.]+s"
    r"|^\s{0,16}--- (?:PASS|FAIL|SKIP): |^=== RUN |^(?:ok|FAIL|\?) {0,3}\t\S+\t"
    r"|^test result: (?:ok|FAILED)\.|^test \S+ \.\.\. (?:ok|FAILED|ignored)$|^running \d+ tests?$"
    r"|^\s{0,8}Tests?(?: Suites| Files)?:? {1,12}\d+ (?:failed|passed|skipped)|^ ?(?:PASS"
    r"|FAIL) {1,3}\S+\.\w+"
    r"|^Ran \d+ tests? in |^FAILED \((?:failures|errors)=|^(?:FAILED|PASSED"
    r"|ERROR) [^\s:]{1,300}::\S"
    r"|^\s{1,8}\d+ (?:passing|failing|pending|passed|failed|skipped|flaky)(?: \(.{1,12}\))?$"
    r"|^not ok \d|^# (?:pass|fail) \d|^\s{2,8}● .{3}"
    r"|^\S+\.py [.FEsxX]{1,200} {0,80}\[ {0,2}\d+%\]|^[^\s:]{1,300}::\S{1,300} (?:PASSED|FAILED"
    r"|SKIPPED|ERROR)\b"
)
FRAME_ROW = Pattern(
    r'^\s{1,12}File "[^"]{1,300}", line \d|^\s{1,12}at .{1,300}[:)]\d{0,7}\)?$'
    r"|^\s{1,12}at \S{1,300}\(.{0,200}\)$|^\t\S+\.go:\d+|^\s{1,12}\d{1,4}: {1,3}\S{1,200}::\S"
    r"|^\s{1,12}\S{1,200}:\d{1,6}:in "
)
THROWN_ROW = Pattern(
    r"^Traceback \(most recent call last\)|^panic: |^thread '.{1,80}' panicked at"
    r"|^Exception in thread |^Caused by: |^(?:Uncaught )?[A-Za-z_.]{0,80}(?:Error"
    r"|Exception)\b.{0,20}:"
)
TIME_STAMP = Pattern(
    r"^\W{0,3}(?:\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d:\d\d:\d\d\b|\w{3} [ \d]\d \d\d:\d\d:\d\d "
    r"|\d\d/\w{3}/\d{4}:|\[\w{3} \w{3}|\d{1,2}:\d\d:\d\d [AP]M)"
    r"|^[\d.]{7,15} \S+ \S+ \[\d\d/\w{3}|^\[\w{3,12}\] .{0,40}\d\d/\d\d/\d{4},|^time=\S|^ts=\S"
)
LEVEL_ROW = Pattern(
    r"^\W{0,3}(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b"
    r"|^(?:error|warning|note|help|fatal|npm (?:ERR!|WARN|error|warn))(?:\[\w{1,12}\])?[: ]"
    r"|^\s{0,8}\S{1,200}[(:]\d+[:,]\d+\)?:? {0,3}-? ?(?:error|warning|note|fatal)\b"
    r"|^\s{1,8}\d+:\d+ +(?:error|warning) |^##\[(?:error|warning|group|endgroup)\]"
    r"|^\s{0,6}\d{1,6} {1,4}\| |^\s{2,6}\| |^\s{1,6}--> \S+:\d+|^\s{1,12}Compiling \S+ v\d"
)
GREP_ROW = Pattern(
    r"^(?:[A-Za-z]:)?[^\s:][^:\n]{0,300}:\d{1,7}[:\-]|^[^\s:]{1,300}-\d{1,7}-|^\d{1,7}[:\-](?!\d\d)"
    r"|^\s{2}Line \d{1,7}: |^--$|^Found \d{1,7} match"
)
GREP_MATCH = Pattern(
    r"^(?:[A-Za-z]:)?[^\s:][^:\n]{0,300}:\d{1,7}:|^\s{2}Line \d{1,7}: |^\d{1,7}:(?!\d\d)"
)
TAG_ROW = Pattern(r"^\s*+</?(?:[a-z][a-z0-9-]*+|!DOCTYPE|\?xml|!--)[\s>/]?", re.IGNORECASE)
LS_ROW = Pattern(r"^[-dlbcps][-rwxsStT]{9}[@+.]?\s|^total \d+$")
TREE_ROW = Pattern(r"^[\s│|]*+(?:├|└|[|`]--)")
MARKDOWN_ROW = Pattern(r"^#{1,6} \S|^[-*] \*\*|^\*\*[^*]{1,120}\*\*|^> |^- \[[ x]\] |^```")
SENTENCE_ROW = Pattern(
    r"^\s{0,8}(?:[-*•] |\d{1,3}\. )?[A-Z“\"'(`*]?[\w'’,()`*/-]+ (?:[\w'’,()`*:;/.-]+ ){3}"
)


class TextSample(Struct, frozen=True):
    """The part of a text that is checked."""

    text: str
    rows: Sequence[str]
    """Lines that are not blank, without their prefix."""
    numbered: bool = False
    stamped: bool = False

    def share(self, pattern: Pattern[str]) -> float:
        """Return the share of the lines that match, from 0 to 1."""
        return sum(1 for row in self.rows if pattern.match(row)) / max(len(self.rows), 1)

    def matching_rows(self, pattern: Pattern[str]) -> int:
        """Return the number of lines that match."""
        return sum(1 for row in self.rows if pattern.match(row))


@rule("prose")
def detect_kind(text: str) -> str:
    """Return the kind of a text: a key of `OUTLINES`."""
    if not text or text.isspace():
        return "empty"
    if is_blob(text):
        return "binary"
    sample = _take_sample(text)
    if not sample.rows:
        return "prose"
    return next((kind for kind, matches in KIND_CHECKS if matches(sample)), "prose")


def _take_sample(text: str) -> TextSample:
    if len(text) <= HEAD_CHARS + MIDDLE_CHARS + TAIL_CHARS:
        parts = [text]
    else:
        middle = len(text) // 2
        parts = [text[:HEAD_CHARS], text[middle : middle + MIDDLE_CHARS], text[-TAIL_CHARS:]]
    rows: list[str] = []
    numbered = stamped = False
    for at, part in enumerate(parts):
        reading = read_text(part)
        numbered = numbered or reading.numbered
        stamped = stamped or reading.stamped
        # The parts of a long text start and end inside a line; such a piece is left out.
        whole_rows = reading.rows if len(parts) == 1 else _whole_rows(reading.rows, at, len(parts))
        filled = [row for row in whole_rows if row.strip()]
        rows += filled[:MAX_SAMPLE_ROWS] if at == 0 else filled[: MAX_SAMPLE_ROWS // 4]
    return TextSample("\n".join(parts), rows, numbered, stamped)


def _whole_rows(rows: Sequence[str], at: int, parts: int) -> Sequence[str]:
    first = 0 if at == 0 else 1
    last = len(rows) if at == parts - 1 else len(rows) - 1
    return rows[first:last] or rows


def _is_json(sample: TextSample) -> bool:
    """Return whether the first tokens are those of a JSON document."""
    head = _start_of_document(sample.rows)
    if head[:1] not in {"{", "["}:
        return False
    at, depth, after_value, tokens = 0, 0, False, 0
    while tokens < MAX_JSON_TOKENS and (match := JSON_TOKEN.match(head, _after_blank(head, at))):
        opened, closed, between, _ = match.groups()
        if after_value and (opened or not (closed or between)) and depth:
            return False
        depth += bool(opened) - bool(closed)
        after_value = not (opened or between)
        at = match.end()
        tokens += 1
    # The sample may end inside a word or a number, so a few characters may be left.
    return tokens >= 2 and (tokens == MAX_JSON_TOKENS or len(head) - at < 8)


def _start_of_document(rows: Sequence[str]) -> str:
    """Return the first lines, up to one that was cut: the next line does not continue it."""
    cut = next((at for at, row in enumerate(rows[:40]) if len(row) >= MAX_LINE_CHARS), 39)
    return "\n".join(rows[: cut + 1]).strip("\ufeff \t\n")


def _after_blank(text: str, at: int) -> int:
    match = BLANK.match(text, at)
    return match.end() if match else at


def _is_jsonl(sample: TextSample) -> bool:
    rows = sample.rows[:20]
    opened = [row for row in rows if row[0] in "{["]
    closed = sum(1 for row in opened if row.rstrip()[-1] in "}]" or len(row) >= MAX_LINE_CHARS)
    mostly = len(opened) >= 2 and closed * 10 >= len(rows) * 7
    return mostly and len(rows[0]) > 2 and _is_json(TextSample("", rows[:1]))


def _is_diff(sample: TextSample) -> bool:
    marked = sum(1 for row in sample.rows if row[0] in "+-@ \\" or DIFF_ROW.match(row))
    headed = sample.matching_rows(DIFF_ROW)
    pairs = any(a.startswith("--- ") and b.startswith("+++ ") for a, b in pairwise(sample.rows))
    return (headed >= 2 or (headed == 1 and pairs)) and marked * 10 >= len(sample.rows) * 6


def _is_test_run(sample: TextSample) -> bool:
    if sample.numbered:
        return False
    matches = sample.matching_rows(TEST_RUN_ROW)
    return matches >= 2 or (
        matches == 1 and (len(sample.rows) <= 12 or bool(TEST_RUN_ROW.match(sample.rows[-1])))
    )


def _is_trace(sample: TextSample) -> bool:
    frames = sample.matching_rows(FRAME_ROW)
    thrown = sample.matching_rows(THROWN_ROW)
    # A log may contain stack traces; then it is outlined as a log.
    plain = not sample.numbered and sample.share(TIME_STAMP) < 0.2
    return plain and thrown > 0 and frames > 0 and frames * 8 >= len(sample.rows)


def _is_log(sample: TextSample) -> bool:
    if sample.numbered or sample.stamped:
        return sample.stamped
    stamped = sum(1 for row in sample.rows if TIME_STAMP.match(row) or LEVEL_ROW.match(row))
    return stamped >= 2 and stamped * 10 >= len(sample.rows) * 4


def _is_grep(sample: TextSample) -> bool:
    rows = [row for row in sample.rows if not TIME_STAMP.match(row)]
    matches = sum(1 for row in rows if GREP_ROW.match(row) or _names_a_file(row))
    # A path or a date may look like a line of context, but not like a match.
    has_match = any(GREP_MATCH.match(row) for row in rows)
    return (
        not sample.numbered and has_match and matches >= 2 and matches * 10 >= len(sample.rows) * 7
    )


def _names_a_file(row: str) -> bool:
    return row.endswith(":") and is_path(row[:-1])


def _is_html(sample: TextSample) -> bool:
    start = sample.rows[0].lstrip().lower()
    if start.startswith(("<!doctype html", "<html", "<body", "<head>", "<?xml")):
        return True
    closing = sum(sample.text.count(tag) for tag in ("</div>", "</p>", "</a>", "</span>", "</li>"))
    return start.startswith("<") and (closing >= 3 or sample.share(TAG_ROW) > 0.5)


def _is_listing(sample: TextSample) -> bool:
    if sample.numbered:
        return False
    matches = sum(
        1 for row in sample.rows if LS_ROW.match(row) or TREE_ROW.match(row) or is_path(row)
    )
    return matches >= 2 and matches * 10 >= len(sample.rows) * 7


def _is_table(sample: TextSample) -> bool:
    return layout_of(sample.rows) is not None


def _is_code(sample: TextSample) -> bool:
    if not sample.numbered and sample.share(MARKDOWN_ROW) > 0.12:
        return False
    return bool(language_of(sample.rows)) and (sample.numbered or sample.share(SENTENCE_ROW) < 0.5)


KIND_CHECKS: tuple[tuple[str, Callable[[TextSample], bool]], ...] = (
    ("jsonl", _is_jsonl),
    ("json", _is_json),
    ("diff", _is_diff),
    ("tests", _is_test_run),
    ("trace", _is_trace),
    ("log", _is_log),
    ("grep", _is_grep),
    ("html", _is_html),
    ("listing", _is_listing),
    ("table", _is_table),
    ("code", _is_code),
)
