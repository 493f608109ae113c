"""Find the text that the user wrote in a message, without the text that programs add to it.

Host programs insert their own text into the user's messages: reminders, command output, summaries,
our stand-ins. The result consists of slices of the message, so they can be found there again.
`text/sentences.py` splits them into sentences.
"""

import re
from collections.abc import Iterator

from holdfast.core.faults import rule, rule_or
from holdfast.core.ledger.marks import DRIFT_WARNING, is_stand_in
from holdfast.text.patterns import Pattern
from holdfast.text.sentences import Sentence, sentences_in

PROGRAM_MESSAGE_STARTS = (
    DRIFT_WARNING,
    "## Session Summary [",
    "This session is being continued from a previous conversation",
    "Another language model started to solve this problem",
    "The conversation history before this point was compacted",
    "# Context Checkpoint",
    "Base directory for this skill:",
    "Summarize the task tool output above and continue",
    "Called the Read tool with the following input",
    "Please always provide EXACTLY ONE action",
    '{"type":"subtask"',
    "<returncode>",
)
"""Beginnings of messages that a program wrote completely."""

# `Stop hook feedback:` and `PreToolUse:Bash hook error`, but not `Add a Stop hook`.
HOOK_OUTPUT_START = Pattern(
    r"(?:Stop|SubagentStop|SessionStart|UserPromptSubmit|PreToolUse|PostToolUse|Notification)"
    r"(?::\w{1,60})? hook\b"
)

USER_TEXT_TAGS = frozenset(("command-args", "user_query", "user-memory-input"))
"""Tags around text that the user typed: the tags are removed, their content is kept."""

INSERTED_TEXT = Pattern(
    r"<(?P<tag>system-reminder|command-name|command-message|local-command-stdout"
    r"|local-command-stderr|local-command-caveat|bash-input|bash-stdout|bash-stderr"
    r"|task-notification|user-prompt-submit-hook|post-tool-use-hook|session-start-hook"
    r"|environment_context|environment_details|user_instructions|permissions instructions"
    r"|turn_aborted|subagent_notification|teammate-message|new-diagnostics|ide_opened_file"
    r"|ide_selection|ide_diagnostics|open_and_recently_viewed_files|attached_files|user_info"
    r"|tool_result|function_results|command-args|user_query|user-memory-input)"
    r"(?:\s[^<>\n]{0,200})?>"
    r"|</(?P<end>command-args|user_query|user-memory-input)>"
    r"|\[Request interrupted by user[^\]\n]{0,40}\]"
    r"|(?P<line>--- data (?P<token>[0-9a-f]{6}): [^\n]{0,300}"
    r"|Caveat: The messages below were generated[^\n]{0,2000}"
    r"|# (?P<agents>AGENTS\.md) instructions\b)"
)
"""Start of text that a program inserted. The group `line` counts only at the start of a line."""


MAX_PARTS = 32
"""Maximum number of user-written parts that are read from one message."""


def _whole_text(text: str) -> tuple[str, ...]:
    """Return the whole text: the fallback of `own_words`."""
    return (text,)


@rule_or(_whole_text)
def own_words(text: str) -> tuple[str, ...]:
    """Return the parts of a user message that the user wrote; none if a program wrote all of it."""
    start = text.lstrip()
    if (
        is_stand_in(start)
        or start.startswith(PROGRAM_MESSAGE_STARTS)
        or HOOK_OUTPUT_START.match(start)
    ):
        return ()
    inserted = list(_inserted_spans(text))
    if not inserted:
        return (start.rstrip(),) if start else ()
    parts: list[str] = []
    at = 0
    for start_of_cut, end_of_cut in [*inserted, (len(text), len(text))]:
        parts.append(text[at:start_of_cut].strip())
        at = end_of_cut
    # A bare number beside inserted text is the argument of a command: it has no meaning alone.
    written = [part for part in parts if any(char.isalpha() for char in part)]
    return tuple(
        written
        if len(written) <= MAX_PARTS
        else [*written[: MAX_PARTS // 2], *written[-MAX_PARTS // 2 :]]
    )


def _inserted_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each part that a program inserted."""
    at = 0
    missing: set[str] = set()
    for opening in INSERTED_TEXT.finditer(text):
        if opening.start() < at:
            continue
        end = _end_of_inserted(opening, text, missing)
        if end is not None:
            yield opening.start(), end
            at = end


def _end_of_inserted(opening: re.Match[str], text: str, missing: set[str]) -> int | None:
    closing = _closing_mark(opening)
    if opening["line"] and text[opening.start() - 1 : opening.start()] not in {"", "\n"}:
        return None
    if not closing:
        return opening.end()
    if text[opening.start() - 1 : opening.start()] == "`":
        return None  # the user mentions the tag in backquotes
    # A missing closing mark is searched for only once, so that the time stays linear.
    closed_at = -1 if closing in missing else text.find(closing, opening.end())
    if closed_at >= 0:
        return closed_at + len(closing)
    missing.add(closing)
    lead = text[max(0, opening.start() - 40) : opening.start()]
    return len(text) if not lead.rpartition("\n")[2].strip() else None


def _closing_mark(opening: re.Match[str]) -> str:
    tag, token = opening["tag"], opening["token"]
    if tag and tag not in USER_TEXT_TAGS:
        return f"</{tag}>"
    if token:
        return f"--- end {token} ---"
    return "</INSTRUCTIONS>" if opening["agents"] else ""


@rule(())
def sentences(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of prose in a text; none if the rule fails."""
    return sentences_in(text)
