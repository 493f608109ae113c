"""Read the user's replies to tools: answers, approved plans, and words of a refusal."""

from collections.abc import Iterator, Mapping

from holdfast.core.faults import row_rule, rule, rule_keeping
from holdfast.core.ledger.entry import ToolCalled, ToolReturned
from holdfast.core.observe.results.choices import MAX_CHOICE_CHARS, StatedChoice, clip_choice
from holdfast.text.jsontext import Json, NotJson, as_list, as_object, as_text, parse
from holdfast.text.patterns import Pattern
from holdfast.text.utf8 import to_bytes

QUESTION_TOOLS = frozenset(
    ("askuserquestion", "question", "ask_user", "request_user_input", "ask_followup_question")
)
"""Tools that ask the user a question."""
PLAN_TOOLS = frozenset(("exitplanmode", "exit_plan_mode", "plan_exit"))
"""Tools that present a plan to the user."""
_ONWARDS = Pattern(
    r"(?i)^(?:next|continue|done|move on|proceed|go on)\b"
    r"|^(?:you (?:decide|choose|pick)|your (?:call|choice)|up to you|no preference|whatever)\b"
)
"""Answers that only lead on to the next question, or leave it to the agent."""


@row_rule
def approved_plan(at: int, arguments: Mapping[str, Json], output: str) -> Iterator[StatedChoice]:
    """Yield the plan that the user approved, as its first line."""
    plan = as_text(arguments.get("plan")).lstrip("# \n").partition("\n")[0].strip()
    if plan and "approved" in output[:200]:
        yield StatedChoice(at, clip_choice(plan), by="user")


@row_rule
def answers_to_questions(
    at: int, arguments: Mapping[str, Json], output: str
) -> Iterator[StatedChoice]:
    """Yield the answers of the user, each with its question."""
    asked = [as_object(one) for one in as_list(arguments.get("questions"))] or [dict(arguments)]
    given = _given(output)
    for number, one in enumerate(asked):
        question = as_text(one.get("question"))
        told = _quoted_answer(question, output) or given.get(as_text(one.get("id")), "")
        if not told and len(asked) == 1 and number == 0 and '"="' not in output and not given:
            told = output.strip()
        if question and told and len(told) <= MAX_CHOICE_CHARS and not _ONWARDS.match(told):
            header = as_text(one.get("header")) or question
            whole = f"{question} {told}"
            choice = whole if len(whole) <= MAX_CHOICE_CHARS else f"{header}: {told}"
            yield StatedChoice(at, clip_choice(choice), by="user", about=question)


def _quoted_answer(question: str, output: str) -> str:
    _, found, rest = output.partition(f'"{question}"="')
    if not found:
        return ""
    ends = [end for end in (rest.find('", "'), rest.find('". ')) if end >= 0]
    return rest[: min(ends)] if ends else rest.rstrip('". \n')


def _given(output: str) -> dict[str, str]:
    """The answers of an output that is JSON, by the id of the question."""
    try:
        value, _ = parse(to_bytes(output))
    except NotJson:
        return {}
    answers = as_object(as_object(value).get("answers"))
    told: dict[str, str] = {}
    for name, answer in answers.items():
        parts = as_list(as_object(answer).get("answers")) or [answer]
        told[name] = ", ".join(text for part in parts if (text := as_text(part)))
    return told


# What a user typed while refusing a call: words of the user that stand where a tool speaks.
#
# A client puts them into the result of the call that was refused. Results are no place for the
# user's words, so only the very sentence that the client writes counts, at the very beginning of a
# failed result, and only of tools whose results the client writes itself: what a command printed
# begins with its exit code there, and what a server of somebody else's answered is never believed.
# Some formats do not say whether a call failed: there, only tools that return nothing but words of
# the client are believed.


_REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file)."
)
_SAID = " To tell you how to proceed, the user said:\n"
_CANNED = "The user wants to clarify these questions."
"""What the client writes in the user's place."""
_TOOLS = frozenset(
    ("Bash", "Edit", "ExitPlanMode", "AskUserQuestion", "MultiEdit", "NotebookEdit", "Task")
) | {"Agent", "Glob", "Grep", "Read", "TodoWrite", "WebFetch", "WebSearch", "Write"}
_OWN_WORDS = frozenset(
    ("Edit", "MultiEdit", "NotebookEdit", "Write", "TodoWrite", "ExitPlanMode", "AskUserQuestion")
)
"""Tools of which a result has only words of the client, none from a file or a program."""


@rule(False)
def is_refusal(call: ToolCalled, result: ToolReturned) -> bool:
    """Return whether the user refused a call."""
    trusted = _TOOLS if result.failed else _OWN_WORDS
    return call.tool in trusted and result.output.startswith(_REFUSED)


@rule("")
def words_of_refusal(call: ToolCalled, result: ToolReturned) -> str:
    """Return the words with which the user refused a call; empty if there are none."""
    if not is_refusal(call, result):
        return ""
    _, said, words = result.output.removeprefix(_REFUSED).partition(_SAID)
    return words.strip() if said and not words.startswith(_CANNED) else ""


@rule_keeping(0)
def without_refusal_text(output: str) -> str:
    """Return a result without the sentences that a client adds to the words of a refusal."""
    if not output.startswith(_REFUSED):
        return output
    _, said, words = output.removeprefix(_REFUSED).partition(_SAID)
    return f"refused by the user: {words.strip()}" if said else "refused by the user"
