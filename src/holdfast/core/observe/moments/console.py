"""Read the output that a program sent as a user's message: applied edits, a command's output."""

from collections.abc import Iterator

from holdfast.core.faults import row_rule
from holdfast.core.ledger.entry import EntryId, ToolReturned
from holdfast.core.observe.moments.changed import CHANGED_WEIGHT
from holdfast.core.observe.moments.moment import Moment, plain_line
from holdfast.core.observe.moments.ran import ran_moments
from holdfast.core.observe.results.failures import shows_failure
from holdfast.text.patterns import Pattern

EDGE_CHARS = 20_000
"""Characters of the beginning of a message in which a report of edits is searched."""
MIN_TESTED_CHARS = 1_000
"""A longer report of edits has the output of tests too."""
OUTPUT_STARTS = ("<returncode>", "OBSERVATION:", "Observation:")
# `Applied edit to src/a.py`, as aider prints it.
_APPLIED = Pattern(r"(?m)^Applied edit to ([^\n]{1,400})")
# `failed to exactly match lines in src/a.py`, as aider prints it.
_UNMATCHED = Pattern(r"failed to (?:exactly )?match lines in ([^\n]{1,400})")
# The start of a fenced command: three backquotes and `bash`; but not of `python`.
_SHELL_FENCE = Pattern(r"```(?:bash|sh|shell|mswea_bash_command)\n")


@row_rule
def console_moments(text: str, asked: str, entry: EntryId) -> Iterator[Moment]:
    """Yield the edits that an editor applied or refused, the tests after them, or a command.

    `asked` is the message of the agent before it, which has the command of an agent without tools.
    """
    fences = list(_SHELL_FENCE.finditer(asked)) if text.startswith(OUTPUT_STARTS) else []
    if fences:
        command = asked[fences[-1].end() :].rpartition("\n```")[0]
        failed = shows_failure(ToolReturned("", text))
        yield from ran_moments(command, text, entry, failed=failed)
        return
    head = text[:EDGE_CHARS]
    applied = dict.fromkeys(found[1].strip() for found in _APPLIED.finditer(head))
    for path in applied:
        yield Moment("changed", plain_line(f"edit applied to {path}"), entry, CHANGED_WEIGHT)
    for path in dict.fromkeys(found[1].strip() for found in _UNMATCHED.finditer(head)):
        if path not in applied:
            line = f"edit of {path} failed: the searched lines are not in the file"
            yield Moment("changed", plain_line(line), entry, CHANGED_WEIGHT)
    if applied and len(text) > MIN_TESTED_CHARS:
        failed = shows_failure(ToolReturned("", text))
        yield from ran_moments("tests after the edit", text, entry, failed=failed)
