"""Tells what a text is by its content alone, from a bounded sample of it.

Each test asks for the form that only its kind has, the strictest first; what no test claims
is prose. Shares are of the lines that are not blank.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.shrink.outline.binary import is_blob
from holdfast.core.shrink.outline.listing import is_path
from holdfast.core.shrink.outline.reading import LONG, read
from holdfast.core.shrink.outline.table import layout_of
from holdfast.text.code import language_of

HEAD, MIDDLE, TAIL = 8_000, 3_000, 4_000
TOKENS = 24
"""Tokens of JSON that are proof enough."""
ROWS = 160
"""Lines looked at."""

TOKEN = re.compile(
    r'(?:([{\[])|([}\]])|([,:])|("[^"\\]*+(?:\\.[^"\\]*+)*+"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?'
    r"(?![\w.:/-])|true\b|false\b|null\b))",
    re.DOTALL,
)
BLANK = re.compile(r"\s*+")
DIFF = re.compile(
    r"^(?:diff --git |@@ -\d+(?:,\d+)? \+\d+|Index: \S|\*\*\* (?:Update|Add|Delete) File)"
)
RUN = re.compile(
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
FRAME = re.compile(
    r'^\s{1,12}File "[^"]{1,300}", line \d|^\s{1,12}at .{1,300}[:)]\d{0,7}\)?$'
    r"|^\s{1,12}at \S{1,300}\(.{0,200}\)$|^\t\S+\.go:\d+|^\s{1,12}\d{1,4}: {1,3}\S{1,200}::\S"
    r"|^\s{1,12}\S{1,200}:\d{1,6}:in "
)
THROWN = re.compile(
    r"^Traceback \(most recent call last\)|^panic: |^thread '.{1,80}' panicked at"
    r"|^Exception in thread |^Caused by: |^(?:Uncaught )?[A-Za-z_.]{0,80}(?:Error"
    r"|Exception)\b.{0,20}:"
)
STAMP = re.compile(
    r"^\W{0,3}(?:\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d:\d\d:\d\d\b|\w{3} [ \d]\d \d\d:\d\d:\d\d "
    r"|\d\d/\w{3}/\d{4}:|\[\w{3} \w{3}|\d{1,2}:\d\d:\d\d [AP]M)"
    r"|^[\d.]{7,15} \S+ \S+ \[\d\d/\w{3}|^\[\w{3,12}\] .{0,40}\d\d/\d\d/\d{4},|^time=\S|^ts=\S"
)
LEVEL = re.compile(
    r"^\W{0,3}(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b"
    r"|^(?:error|warning|note|help|fatal|npm (?:ERR!|WARN|error|warn))(?:\[\w{1,12}\])?[: ]"
    r"|^\s{0,8}\S{1,200}[(:]\d+[:,]\d+\)?:? {0,3}-? ?(?:error|warning|note|fatal)\b"
    r"|^\s{1,8}\d+:\d+ +(?:error|warning) |^##\[(?:error|warning|group|endgroup)\]"
    r"|^\s{0,6}\d{1,6} {1,4}\| |^\s{2,6}\| |^\s{1,6}--> \S+:\d+|^\s{1,12}Compiling \S+ v\d"
)
MATCH = re.compile(
    r"^(?:[A-Za-z]:)?[^\s:][^:\n]{0,300}:\d{1,7}[:\-]|^[^\s:]{1,300}-\d{1,7}-|^\d{1,7}[:\-](?!\d\d)"
    r"|^\s{2}Line \d{1,7}: |^--$|^Found \d{1,7} match"
)
FOUND = re.compile(
    r"^(?:[A-Za-z]:)?[^\s:][^:\n]{0,300}:\d{1,7}:|^\s{2}Line \d{1,7}: |^\d{1,7}:(?!\d\d)"
)
TAG = re.compile(r"^\s*+</?(?:[a-z][a-z0-9-]*+|!DOCTYPE|\?xml|!--)[\s>/]?", re.IGNORECASE)
LONG_LISTING = re.compile(r"^[-dlbcps][-rwxsStT]{9}[@+.]?\s|^total \d+$")
BRANCH = re.compile(r"^[\s│|]*+(?:├|└|[|`]--)")
HEADING = re.compile(r"^#{1,6} \S|^[-*] \*\*|^\*\*[^*]{1,120}\*\*|^> |^- \[[ x]\] |^```")
SENTENCE = re.compile(
    r"^\s{0,8}(?:[-*•] |\d{1,3}\. )?[A-Z“\"'(`*]?[\w'’,()`*/-]+ (?:[\w'’,()`*:;/.-]+ ){3}"
)


class Sample(Struct, frozen=True):
    """The part of a text that is looked at."""

    text: str
    rows: Sequence[str]
    """Lines that are not blank, less their prefix."""
    numbered: bool = False
    stamped: bool = False

    def share(self, pattern: re.Pattern[str]) -> float:
        """How many of the lines match."""
        return sum(1 for row in self.rows if pattern.match(row)) / max(len(self.rows), 1)

    def some(self, pattern: re.Pattern[str]) -> int:
        """The number of lines that match."""
        return sum(1 for row in self.rows if pattern.match(row))


@rule("prose")
def kind_of(text: str) -> str:
    """What a text is, by its content."""
    if not text or text.isspace():
        return "empty"
    if is_blob(text):
        return "binary"
    sample = _sample(text)
    if not sample.rows:
        return "prose"
    return next((kind for kind, is_it in TESTS if is_it(sample)), "prose")


def _sample(text: str) -> Sample:
    if len(text) <= HEAD + MIDDLE + TAIL:
        parts = [text]
    else:
        middle = len(text) // 2
        parts = [text[:HEAD], text[middle : middle + MIDDLE], text[-TAIL:]]
    rows: list[str] = []
    numbered = stamped = False
    for at, part in enumerate(parts):
        reading = read(part)
        numbered = numbered or reading.numbered
        stamped = stamped or reading.stamped
        # A window starts and ends inside a line; such a piece says nothing.
        found = reading.rows if len(parts) == 1 else _whole_rows(reading.rows, at, len(parts))
        kept = [row for row in found if row.strip()]
        rows += kept[:ROWS] if at == 0 else kept[: ROWS // 4]
    return Sample("\n".join(parts), rows, numbered, stamped)


def _whole_rows(rows: Sequence[str], at: int, parts: int) -> Sequence[str]:
    first = 0 if at == 0 else 1
    last = len(rows) if at == parts - 1 else len(rows) - 1
    return rows[first:last] or rows


def _is_json(sample: Sample) -> bool:
    """Whether the first tokens are those of a JSON document."""
    head = _start_of(sample.rows)
    if head[:1] not in {"{", "["}:
        return False
    at, depth, after_value, tokens = 0, 0, False, 0
    while tokens < TOKENS and (match := TOKEN.match(head, _after_blank(head, at))):
        opened, closed, between, _ = match.groups()
        if after_value and (opened or not (closed or between)) and depth:
            return False
        depth += bool(opened) - bool(closed)
        after_value = not (opened or between)
        at = match.end()
        tokens += 1
    # The sample may end inside a word or a number, so a few characters may be left.
    return tokens >= 2 and (tokens == TOKENS or len(head) - at < 8)


def _start_of(rows: Sequence[str]) -> str:
    """The first lines, up to one that was cut: what follows that does not continue it."""
    cut = next((at for at, row in enumerate(rows[:40]) if len(row) >= LONG), 39)
    return "\n".join(rows[: cut + 1]).strip("\ufeff \t\n")


def _after_blank(text: str, at: int) -> int:
    match = BLANK.match(text, at)
    return match.end() if match else at


def _is_jsonl(sample: Sample) -> bool:
    rows = sample.rows[:20]
    opened = [row for row in rows if row[0] in "{["]
    closed = sum(1 for row in opened if row.rstrip()[-1] in "}]" or len(row) >= LONG)
    most = len(opened) >= 2 and closed * 10 >= len(rows) * 7
    return most and len(rows[0]) > 2 and _is_json(Sample("", rows[:1]))


def _is_diff(sample: Sample) -> bool:
    marked = sum(1 for row in sample.rows if row[0] in "+-@ \\" or DIFF.match(row))
    headed = sample.some(DIFF)
    pairs = any(a.startswith("--- ") and b.startswith("+++ ") for a, b in pairwise(sample.rows))
    return (headed >= 2 or (headed == 1 and pairs)) and marked * 10 >= len(sample.rows) * 6


def _is_run(sample: Sample) -> bool:
    if sample.numbered:
        return False
    found = sample.some(RUN)
    return found >= 2 or (
        found == 1 and (len(sample.rows) <= 12 or bool(RUN.match(sample.rows[-1])))
    )


def _is_trace(sample: Sample) -> bool:
    frames = sample.some(FRAME)
    thrown = sample.some(THROWN)
    # A log may hold traces; it is a log all the same.
    plain = not sample.numbered and sample.share(STAMP) < 0.2
    return plain and thrown > 0 and frames > 0 and frames * 8 >= len(sample.rows)


def _is_log(sample: Sample) -> bool:
    if sample.numbered or sample.stamped:
        return sample.stamped
    stamped = sum(1 for row in sample.rows if STAMP.match(row) or LEVEL.match(row))
    return stamped >= 2 and stamped * 10 >= len(sample.rows) * 4


def _is_grep(sample: Sample) -> bool:
    rows = [row for row in sample.rows if not STAMP.match(row)]
    found = sum(1 for row in rows if MATCH.match(row) or _names_a_file(row))
    # A path or a date may look like a line of context, but not like what was found.
    real = any(FOUND.match(row) for row in rows)
    return not sample.numbered and real and found >= 2 and found * 10 >= len(sample.rows) * 7


def _names_a_file(row: str) -> bool:
    return row.endswith(":") and is_path(row[:-1])


def _is_html(sample: Sample) -> bool:
    start = sample.rows[0].lstrip().lower()
    if start.startswith(("<!doctype html", "<html", "<body", "<head>", "<?xml")):
        return True
    closing = sum(sample.text.count(tag) for tag in ("</div>", "</p>", "</a>", "</span>", "</li>"))
    return start.startswith("<") and (closing >= 3 or sample.share(TAG) > 0.5)


def _is_listing(sample: Sample) -> bool:
    if sample.numbered:
        return False
    shown = sum(
        1 for row in sample.rows if LONG_LISTING.match(row) or BRANCH.match(row) or is_path(row)
    )
    return shown >= 2 and shown * 10 >= len(sample.rows) * 7


def _is_table(sample: Sample) -> bool:
    return layout_of(sample.rows) is not None


def _is_code(sample: Sample) -> bool:
    if not sample.numbered and sample.share(HEADING) > 0.12:
        return False
    return bool(language_of(sample.rows)) and (sample.numbered or sample.share(SENTENCE) < 0.5)


TESTS: tuple[tuple[str, Callable[[Sample], bool]], ...] = (
    ("jsonl", _is_jsonl),
    ("json", _is_json),
    ("diff", _is_diff),
    ("tests", _is_run),
    ("trace", _is_trace),
    ("log", _is_log),
    ("grep", _is_grep),
    ("html", _is_html),
    ("listing", _is_listing),
    ("table", _is_table),
    ("code", _is_code),
)
