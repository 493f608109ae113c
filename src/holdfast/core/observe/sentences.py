"""Find the text that the user wrote in a message, without the text that programs add to it.

Host programs insert their own text into the user's messages: reminders, command output, summaries,
our stand-ins. The result consists of slices of the message, so they can be found there again.
`text/sentences.py` splits them into sentences.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from holdfast.core.faults import rule, rule_or
from holdfast.core.ledger.entry import Said
from holdfast.core.ledger.marks import DRIFT_WARNING, is_stand_in
from holdfast.text.patterns import Pattern
from holdfast.text.sentences import Sentence, sentences_in

HOST_SUMMARY_STARTS = (
    "This session is being continued from a previous conversation",
    "Another language model started to solve this problem",
    "The conversation history before this point was compacted",
    "# Context Checkpoint",
)
"""Beginnings of summaries that an agent's own program wrote of what left its window."""
PROGRAM_MESSAGE_STARTS = (
    *HOST_SUMMARY_STARTS,
    DRIFT_WARNING,
    "## Session Summary [",
    "Base directory for this skill:",
    "Summarize the task tool output above and continue",
    "Called the Read tool with the following input",
    "Please always provide EXACTLY ONE action",
    '{"type":"subtask"',
    "<returncode>",
)
"""Beginnings of messages that a program wrote completely."""

# `Stop hook feedback:`, `PreToolUse:Bash hook error`, `Applied edit to a.py`, but not
# `Add a Stop hook` and `Applied edit to a.py is wrong`.
PROGRAM_OUTPUT_START = Pattern(
    r"(?:Stop|SubagentStop|SessionStart|UserPromptSubmit|PreToolUse|PostToolUse|Notification)"
    r"(?::\w{1,60})? hook\b"
    r"|# aider chat started at |The LLM did not conform to the edit format"
    r"|Applied edit to \S{1,300}[ \r]{0,4}(?:\n|$)|Allow creation of new file \S{1,300}\? "
)
# `1,200 prompt tokens, 30 completion tokens, $0.02 cost`, but not `It has 30 prompt tokens.`
PROGRAM_OUTPUT_END = Pattern(r"\d prompt tokens, [^\n]{1,80} cost\s{0,9}$")
MAX_OUTPUT_END_CHARS = 200

USER_TEXT_TAGS = frozenset(("command-name", "command-args", "user_query", "user-memory-input"))
"""Tags around text that the user typed: the tags are removed, their content is kept."""
COMMAND_TAGS = frozenset(("command-name", "command-args"))

# `<command-name>/exit</command-name>` and `/model large`, but not `/review the parser`.
PROGRAM_COMMAND = Pattern(
    r"(?:^|<command-name>)/(?:clear|compact|config|context|cost|doctor|exit|help|hooks|ide|login"
    r"|logout|mcp|memory|modes?|models?|permissions|plugin|quit|resume|status|theme|usage|vim)"
    r"(?=[<\s]|$)"
)
"""A command to the program, which asks nothing of the agent."""

INSERTED_TEXT = Pattern(
    r"<(?P<tag>system-reminder|command-name|command-message|local-command-stdout"
    r"|local-command-stderr|local-command-caveat|bash-input|bash-stdout|bash-stderr"
    r"|task-notification|user-prompt-submit-hook|post-tool-use-hook|session-start-hook"
    r"|environment_context|environment_details|user_instructions|permissions instructions"
    r"|turn_aborted|subagent_notification|teammate-message|new-diagnostics|ide_opened_file"
    r"|ide_selection|ide_diagnostics|open_and_recently_viewed_files|attached_files|user_info"
    r"|system_reminder|current_datetime|current_date|available_skills|workspace_info"
    r"|environment_info|reminderInstructions|editorContext|attachments"
    r"|tool_result|function_results|command-args|user_query|user-memory-input)"
    r"(?:\s[^<>\n]{0,200})?>"
    r"|</(?P<end>command-name|command-args|user_query|user-memory-input)>"
    r"|\[Request interrupted by user[^\]\n]{0,40}\]|###[A-Z][A-Z_]{2,30}###"
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


MAX_CACHED_TEXTS = 48
"""Messages whose parts are cached: several readers ask for them."""


@rule_or(_whole_text)
def own_words(text: str) -> tuple[str, ...]:
    """Return the parts of a user message that the user wrote; none if a program wrote all of it."""
    return _written_parts(text)


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _written_parts(text: str) -> tuple[str, ...]:
    start = text.lstrip()
    if (
        is_stand_in(start)
        or start.startswith(PROGRAM_MESSAGE_STARTS)
        or PROGRAM_OUTPUT_START.match(start)
        or PROGRAM_OUTPUT_END.search(text[-MAX_OUTPUT_END_CHARS:])
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
    typed = USER_TEXT_TAGS - COMMAND_TAGS if PROGRAM_COMMAND.search(text) else USER_TEXT_TAGS
    for opening in INSERTED_TEXT.finditer(text):
        if opening.start() < at:
            continue
        end = _end_of_inserted(opening, text, missing, _closing_mark(opening, typed))
        if end is not None:
            yield opening.start(), end
            at = end


def _end_of_inserted(
    opening: re.Match[str], text: str, missing: set[str], closing: str
) -> int | None:
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


def _closing_mark(opening: re.Match[str], typed: frozenset[str]) -> str:
    tag, token = opening["tag"], opening["token"]
    if tag and tag not in typed:
        return f"</{tag}>"
    if token:
        return f"--- end {token} ---"
    return "</INSTRUCTIONS>" if opening["agents"] else ""


def is_host_summary(body: Said) -> bool:
    """Return whether a message is a summary by the agent's own program."""
    return body.by == "summary" or body.text.lstrip().startswith(HOST_SUMMARY_STARTS)


@rule(())
def sentences(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of prose in a text; none if the rule fails."""
    return sentences_in(text)


# `# AGENTS.md instructions for /repo`, `Contents of /repo/CLAUDE.md (project instructions):`, but
# not `Read CLAUDE.md.`
RULE_FILE_START = Pattern(
    r"(?:^|\n)(?:# AGENTS\.md instructions\b[^\n]{0,300}\n{1,3}<INSTRUCTIONS>|<user_instructions>"
    r"|Contents of [^\n]{1,300}(?:AGENTS|CLAUDE|GEMINI)(?:\.local)?\.md\b[^\n]{0,200}:\n)"
)
RULE_FILE_END = Pattern(
    r"</INSTRUCTIONS>|</user_instructions>|</system-reminder>|\nContents of /|\n## Skills\n"
)


def rule_files_in(text: str) -> Iterator[str]:
    """Yield the content of each rule file of the project that a program inserted into a text."""
    for start in RULE_FILE_START.finditer(text):
        end = RULE_FILE_END.search(text, start.end())
        yield text[start.end() : end.start() if end else len(text)]


MIN_PROMPT_CHARS = 800
"""A shorter message was typed, also if it begins like the prompt of a program."""

# `<pr_description>` on a line, `You are a code reviewer.`, but not `You are right`.
PROMPT_START = Pattern(
    r"<[a-z][\w-]{1,40}>[ \r]{0,4}\n|You are an? \w|We're currently solving the following issue"
)
# A line `<instructions>` or `INSTRUCTIONS:`, but not `the instructions:`.
INSTRUCTIONS_START = Pattern(r"(?:^|\n)(?:<instructions>|# Task Instructions|INSTRUCTIONS:)")


def prompt_rules(text: str) -> str | None:
    """Return the part of a program's prompt that may set rules; None for other messages.

    Programs wrap a task into a prompt and send it in the user's place: benchmarks, commands and
    agents that start others. The task is described before the instructions.
    """
    if len(text) < MIN_PROMPT_CHARS or PROMPT_START.match(text.lstrip()) is None:
        return None
    marked = INSTRUCTIONS_START.search(text)
    return text[marked.start() :] if marked else text
