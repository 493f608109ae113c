"""What a user typed while refusing a call: words of the user that stand where a tool speaks.

A client puts them into the result of the call that was refused. Results are no place for the user's
words, so only the very sentence that the client writes counts, at the very beginning of a failed
result, and only of tools whose results the client writes itself: what a command printed begins with
its exit code there, and what a server of somebody else's answered is never believed.
"""

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import ToolCalled, ToolReturned

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


@rule(False)
def refused(call: ToolCalled, result: ToolReturned) -> bool:
    """Whether the user did not let a call pass."""
    return result.failed and call.tool in _TOOLS and result.output.startswith(_REFUSED)


@rule("")
def words_of_refusal(call: ToolCalled, result: ToolReturned) -> str:
    """What the user said to it, word for word; nothing when the user said nothing."""
    if not refused(call, result):
        return ""
    _, said, words = result.output.removeprefix(_REFUSED).partition(_SAID)
    return words.strip() if said and not words.startswith(_CANNED) else ""
