"""Read a command, or a call of another tool, and its outcome as moments."""

from collections.abc import Iterator

from holdfast.core.faults import row_rule, rule, rule_keeping
from holdfast.core.ledger.entry import EntryId
from holdfast.core.observe.moments.moment import Moment, plain_line
from holdfast.core.observe.moments.printed import detail_moments, outcome_of
from holdfast.core.observe.requests.replies import without_refusal_text
from holdfast.core.observe.results.checks import checks_of
from holdfast.text.clip import clip_and_mark, clip_middle, clip_words
from holdfast.text.patterns import Pattern

COMMAND_HEAD, COMMAND_TAIL = 120, 50
"""Characters of a long command that are shown, from its beginning and its end."""
LABEL_CHARS = 40
MAX_PASSED_CHARS = 80
"""Characters that are shown of the output of a check that passed."""
RAN_WEIGHT, FAILED_WEIGHT, FAILED_CALL_WEIGHT = 1.2, 1.3, 0.4
# `cd /src && `, but not `cd /src`.
_MOVES = Pattern(r"cd \S{1,300} ?(?:&&|;) ?")
# ` 2>&1`, ` 2>/dev/null`, ` | tail -20` at the end: what is printed, not what is done.
_REDIRECTS = Pattern(r" 2>(?:&1|/dev/null)| \| (?:head|tail)(?: -n)? -?\d{1,5}$")
_MESSAGE_START = "$(cat <<"
"""The start of a text that a shell reads from the lines below, such as a commit message."""


@row_rule
def ran_moments(
    what: str, output: str, entry: EntryId, *, failed: bool, is_command: bool = True
) -> Iterator[Moment]:
    """Yield what was run with its outcome, and the other lines that it printed.

    A call of a tool that is not a command fails because of its arguments, and is made again.
    """
    command, output = shown_command(what), without_refusal_text(output)
    mark, weight = ("failed: ", FAILED_WEIGHT) if failed else ("", RAN_WEIGHT)
    if failed and not is_command:
        weight = FAILED_CALL_WEIGHT
    outcome = outcome_of(output, failed=failed)
    passed = not failed and _only_checks(what)
    if passed:
        outcome = clip_and_mark(outcome, MAX_PASSED_CHARS)
    yield Moment("ran", f"$ {command} → {mark}{outcome}", entry, weight)
    if passed:
        return
    label = clip_words(command, LABEL_CHARS, "…")
    yield from detail_moments(label, output, entry, failed=failed)


@rule(False)
def _only_checks(command: str) -> bool:
    """Return whether a command only checks the work: that it passed says it all."""
    checks = checks_of(command)
    return bool(checks) and all(check.known for check in checks)


@rule_keeping(0)
def shown_command(what: str) -> str:
    """Return a command in one line without a leading `cd`; of a long one both ends."""
    line = _MOVES.sub("", plain_line(_with_short_message(without_comments(what))), 1)
    return clip_middle(_REDIRECTS.sub("", line), COMMAND_HEAD, COMMAND_TAIL, " … ")


def _with_short_message(command: str) -> str:
    """Return a command with only the first line of a message that it reads from the lines below."""
    before, start, rest = command.partition(_MESSAGE_START)
    lines = rest.split("\n")
    mark = lines[0].strip("-'\" ")
    ends = (at for at, line in enumerate(lines) if at and line.strip() == mark)
    end = next(ends, 0)
    if not start or end < 2:
        return command
    first = next((line for line in lines[1:end] if line.strip()), "")
    after = "\n".join(lines[end + 1 :]).strip().removeprefix(")")
    return f"{before}{first.strip()}{after}"


@rule_keeping(0)
def without_comments(command: str) -> str:
    """Return a command without its lines that are comments, unless it has no others."""
    if "#" not in command:
        return command
    lines = [line for line in command.split("\n") if not line.lstrip().startswith("#")]
    return "\n".join(lines).strip() or command
