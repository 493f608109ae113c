"""The role texts: what an orchestrator and a worker are told about context packets.

They are made from where packets lie in this project and from how the client spells our tools, so
that what they say can be done as it stands. A text is put into a file of instructions as a block
between two marks; what else stands in the file is left as it is, and a block that is there already
is brought up to date.
"""

from msgspec import Struct

from holdfast.errors import NotRecorded, Unreadable

ORCHESTRATOR, WORKER = "orchestrator", "worker"
ROLES = (ORCHESTRATOR, WORKER)
ANY = "{N}"
"""Where a path names a pane that is not known yet."""


class Spelling(Struct, frozen=True):
    """How things are called where the text will be read."""

    packets: str = ".holdfast/context/pane-{N}.yaml"
    feedback: str = ".holdfast/feedback/pane-{N}.md"
    prefix: str = ""
    """What the client puts before the name of a tool, such as `agentwire_`."""

    def packet(self, pane: int | str = ANY) -> str:
        """Where the packet of a pane lies."""
        return self.packets.replace(ANY, str(pane))

    def report(self, pane: int | str = ANY) -> str:
        """Where the feedback of a pane goes."""
        return self.feedback.replace(ANY, str(pane))


def spelling_of(layout: str, prefix: str = "") -> Spelling:
    """How things are called in a project with this layout."""
    from holdfast.project.layout import packet_of  # late: the texts alone need no layout

    packets = packet_of("pane-n", layout).replace("pane-n", f"pane-{ANY}")
    folder = packets.rpartition("/context/")[0]
    return Spelling(packets, f"{folder}/feedback/pane-{ANY}.md", prefix)


def role_text(role: str, spelling: Spelling | None = None, pane: int | str | None = None) -> str:
    """What an agent of this role is told.

    Raises:
        NotRecorded: there is no such role.
    """
    spelled = spelling or Spelling()
    if role == ORCHESTRATOR:
        return _orchestrator(spelled, 1 if pane is None else pane)
    if role == WORKER:
        return _worker(spelled, ANY if pane is None else pane)
    raise NotRecorded("role", role, where=f"{ORCHESTRATOR} and {WORKER}")


def _orchestrator(spelled: Spelling, pane: int | str) -> str:
    tool = spelled.prefix
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
   "{read_first(spelled, pane)}"
   For a worker that may not follow it, paste the packet itself behind that line.
5. When the worker is done, look at what it reported as missing before you hand over the next task.
   If something changed that it has to know, make its packet again and tell it to read it again."""


def _worker(spelled: Spelling, pane: int | str) -> str:
    tool = spelled.prefix
    return f"""\
## Context Protocol

At task start, before anything else:
1. Read your context packet: `{spelled.packet(pane)}`, or call `{tool}context_read()`
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
was missing or unused. Or write to: `{spelled.report(pane)}`"""


def read_first(spelling: Spelling, pane: int | str) -> str:
    """The line that a worker's task begins with, so that it is not a matter of remembering."""
    return f"Read your context packet first: {spelling.packet(pane)}"


def task_text(task: str, spelling: Spelling, pane: int | str, packet: str = "") -> str:
    """A worker's task as it is handed over: reading first; the packet inline when it is given."""
    inline = f"\n\n{packet.strip()}" if packet.strip() else ""
    tool = spelling.prefix
    return (
        f"{read_first(spelling, pane)}{inline}\n\nThen do this task:\n{task.strip()}\n\n"
        f"When you are done, call `{tool}context_feedback` or write {spelling.report(pane)}."
    )


def with_block(text: str, role: str, block: str) -> str:
    """A file of instructions with a role's text in it, once.

    Raises:
        Unreadable: a block of ours was begun there and not ended.
    """
    begin, end = f"<!-- holdfast: {role} -->", f"<!-- /holdfast: {role} -->"
    made = f"{begin}\n{block.strip()}\n{end}"
    if begin not in text:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}{made}\n"
    before, _, rest = text.partition(begin)
    if end not in rest:
        raise Unreadable("the file", f"{begin} stands in it without {end}")
    return f"{before}{made}{rest.partition(end)[2]}"


def without_block(text: str, role: str) -> str:
    """A file of instructions without a role's text: as it was before that was put there."""
    begin, end = f"<!-- holdfast: {role} -->", f"<!-- /holdfast: {role} -->"
    if begin not in text or end not in text.partition(begin)[2]:
        return text
    before, _, rest = text.partition(begin)
    return before.removesuffix("\n") + rest.partition(end)[2].removeprefix("\n")
