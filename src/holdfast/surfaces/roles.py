"""Instructions on context packets for orchestrators and workers, and their block in a file.

The texts contain the paths of packets in this project and the names of our tools in the client. In
a file of instructions (CLAUDE.md, AGENTS.md), a text is a block between two marks: an existing
block is replaced, and the rest of the file is not changed.
"""

from msgspec import Struct

from holdfast.errors import NotRecorded, Unreadable

ORCHESTRATOR, WORKER = "orchestrator", "worker"
ROLES = (ORCHESTRATOR, WORKER)
PANE_PLACEHOLDER = "{N}"
"""Placeholder in a path for the number of a pane."""


class RoleVariables(Struct, frozen=True):
    """Paths and the tool prefix that a role's text contains."""

    packet_template: str = ".holdfast/context/pane-{N}.yaml"
    feedback_template: str = ".holdfast/feedback/pane-{N}.md"
    tool_prefix: str = ""
    """Prefix of tool names in the client, such as `agentwire_`."""

    def packet_path(self, pane: int | str = PANE_PLACEHOLDER) -> str:
        """Return the path of the packet of a pane."""
        return self.packet_template.replace(PANE_PLACEHOLDER, str(pane))

    def feedback_path(self, pane: int | str = PANE_PLACEHOLDER) -> str:
        """Return the path of the feedback file of a pane."""
        return self.feedback_template.replace(PANE_PLACEHOLDER, str(pane))


def role_variables(layout: str, tool_prefix: str = "") -> RoleVariables:
    """Return the paths of a project with this layout, and the tool prefix."""
    from holdfast.project.layout import packet_path  # late: the texts alone need no layout

    packets = packet_path("pane-n", layout).replace("pane-n", f"pane-{PANE_PLACEHOLDER}")
    folder = packets.rpartition("/context/")[0]
    return RoleVariables(packets, f"{folder}/feedback/pane-{PANE_PLACEHOLDER}.md", tool_prefix)


def role_text(
    role: str, variables: RoleVariables | None = None, pane: int | str | None = None
) -> str:
    """Return the instructions for a role.

    Raises:
        NotRecorded: there is no such role.
    """
    values = variables or RoleVariables()
    if role == ORCHESTRATOR:
        return _orchestrator(values, 1 if pane is None else pane)
    if role == WORKER:
        return _worker(values, PANE_PLACEHOLDER if pane is None else pane)
    raise NotRecorded("role", role, where=f"{ORCHESTRATOR} and {WORKER}")


def _orchestrator(variables: RoleVariables, pane: int | str) -> str:
    tool = variables.tool_prefix
    return f"""\
## Context Handoff

Before you start a worker, hand it a context packet:

1. Identify how complex the task is: simple, standard or complex.
2. Choose the depth by it:
   - Simple, `minimal`: goal and constraints only
   - Standard, `standard`: also decisions and codebase patterns
   - Complex, `deep`: also failed attempts and history
3. Write the packet:
   `{tool}context_generate(task="...", depth="standard", pane={pane})`
   Read what it returns. If the goal or a constraint is wrong, say so in the task and make it again.
4. Begin the worker's task with this line, word for word:
   "{opening_line(variables, pane)}"
   For a worker that may not follow it, paste the packet itself behind that line.
5. When the worker is done, look at what it reported as missing before you hand over the next task.
   If something changed that it has to know, make its packet again and tell it to read it again."""


def _worker(variables: RoleVariables, pane: int | str) -> str:
    tool = variables.tool_prefix
    return f"""\
## Context Protocol

At task start, before anything else:
1. Read your context packet: `{variables.packet_path(pane)}`, or call `{tool}context_read()`
2. Note decisions already made (don't re-decide)
3. Follow noted constraints exactly

While you work:
- Something is missing: ask `{tool}context_query(question="...")` before you decide it yourself.
- The answer is not known and you cannot go on: stop and report `blocked`, with what you need.

At task end, report gaps:
- What context would have helped?
- What context was provided but unused?
- How did it end: done, blocked or failed?

Call `{tool}context_feedback(gaps=[...], unused=[...], outcome="done")`, with empty lists if nothing
was missing or unused. Or write to: `{variables.feedback_path(pane)}`"""


def opening_line(variables: RoleVariables, pane: int | str) -> str:
    """Return the first line of a worker's task, which tells it to read its packet."""
    return f"Read your context packet first: {variables.packet_path(pane)}"


def task_text(task: str, variables: RoleVariables, pane: int | str, packet: str = "") -> str:
    """Return a worker's task with the line to read its packet first, and the packet if given."""
    inline = f"\n\n{packet.strip()}" if packet.strip() else ""
    tool, report = variables.tool_prefix, variables.feedback_path(pane)
    return (
        f"{opening_line(variables, pane)}{inline}\n\nThen do this task:\n{task.strip()}\n\nWhen "
        f"you are done, call `{tool}context_feedback` or write {report}."
    )


def with_block(text: str, role: str, block: str) -> str:
    """Add a role's block to the text of a file, or replace the block that is there.

    Raises:
        Unreadable: the block there has no mark of its end.
    """
    begin, end = f"<!-- holdfast: {role} -->", f"<!-- /holdfast: {role} -->"
    section = f"{begin}\n{block.strip()}\n{end}"
    if begin not in text:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}{section}\n"
    before, _, rest = text.partition(begin)
    if end not in rest:
        raise Unreadable("the file", f"it has {begin} but no {end} after it")
    return f"{before}{section}{rest.partition(end)[2]}"


def without_block(text: str, role: str) -> str:
    """Remove a role's block from the text of a file."""
    begin, end = f"<!-- holdfast: {role} -->", f"<!-- /holdfast: {role} -->"
    if begin not in text or end not in text.partition(begin)[2]:
        return text
    before, _, rest = text.partition(begin)
    return before.removesuffix("\n") + rest.partition(end)[2].removeprefix("\n")
