"""Readable copies of what leaves a window: where they are to be, written, and kept free of secrets.

They are there before the window that names them. What is true stands in the ledger.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.core.ledger.entry import Compressed, EntryId, ToolCalled, ToolReturned, text_of
from holdfast.core.ledger.window import Item
from holdfast.core.observe.scene import Pair, Scene, read_scene
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.proposals import Proposal
from holdfast.core.plan.state import State, persisted
from holdfast.core.shrink.step import nowhere
from holdfast.errors import NotWritten
from holdfast.project.layout import archive_of, pages_name, path_of, summary_of

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger


def address_in(ledger: "Ledger", policy: Policy) -> Callable[[Proposal, Item], str]:
    """Where the copy of what leaves will be; nowhere for a session that has no folder."""
    if not ledger.root:
        return nowhere
    return lambda one, item: path_of(item.entry, one.kind, one.tool, policy.layout)


def archive_in(ledger: "Ledger", policy: Policy) -> str:
    """Where the whole conversation can be read once a summary stands for part of it."""
    return archive_of(_name(ledger), policy.layout) if ledger.root else ""


def write_copies(ledger: "Ledger", body: Compressed, state: State) -> None:
    """Write down all that a compression names, before it is one.

    Raises:
        NotWritten: a copy could not be written.
    """
    if not ledger.root:
        return
    from holdfast.project.write import project  # late: most turns write nothing

    entries = {item.entry.id: item.body for item in state.window.items}
    for step in body.steps:
        if step.file:
            project(ledger.root, step.file, _bytes(text_of(entries[step.hides[0]])))
    if body.summary is not None:
        _write_summary(ledger, body, state.policy.layout)


def _write_summary(ledger: "Ledger", body: Compressed, layout: str) -> None:
    """Write the whole conversation and the summary down before the one replaces the other."""
    from holdfast.core.view.conversation import render_conversation  # late: only tier 3 does
    from holdfast.core.view.forms import render
    from holdfast.project.write import project

    assert body.summary is not None
    archive = archive_of(_name(ledger), layout)
    whole = render_conversation(ledger.name, ledger.redactor.entries(ledger.path()))
    project(ledger.root, archive, _bytes(whole))
    form = "anchored" if layout == "anchored" else "ctx-001"
    task = ledger.task()
    page = render(body.summary, form, session=ledger.name, task=task, archive=archive)
    project(ledger.root, summary_of(task or _name(ledger), layout), _bytes(page))


def _name(ledger: "Ledger") -> str:
    return pages_name(ledger.name, ledger.agent)


def redact_copies(ledger: "Ledger") -> None:
    """Take what is known as a secret only now out of the copies that were written before."""
    if not ledger.root:
        return
    from holdfast.project.remove import copies_of, pages_of, strays_of
    from holdfast.project.write import rewrite  # late: few sessions learn of a secret

    entries = list(ledger.store.read(ledger.name))
    known = {*copies_of(entries), *pages_of(ledger.name, entries)}
    for path in {*known, *strays_of(ledger.root, ledger.name, entries, known)}:
        with suppress(NotWritten, UnicodeDecodeError):  # Tried again with the next plan.
            rewrite(ledger.root, path, ledger.redactor.text)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


# Which writes of the agent are on disk: only what was seen there may later be cut short.


SMALLEST = 1_000
"""Characters of arguments from which a write can be worth cutting short."""


class Writes:
    """The writes of one session, and which of them were looked for."""

    def __init__(self, ledger: "Ledger") -> None:
        self._ledger = ledger
        self._waiting: set[EntryId] = set()
        """Calls that may have written a file, until their result has come and was looked at."""
        self._checked: set[EntryId] = set()

    def take(self, fresh: Sequence[Item]) -> None:
        """Look for what new calls may have written, as soon as their results are there."""
        self._waiting |= {item.entry.id for item in fresh if _is_large(item)}
        if self._waiting:
            self.look()

    def look(self) -> None:
        """Note which writes in sight are on disk."""
        session = self._ledger
        if not session.root:
            self._waiting = set()
            return
        from holdfast.project.persisted import seen_on_disk  # late: only when something was written

        known: Mapping[EntryId, str] | None = None
        scene = read_scene(session.window().items)
        for pair in self._unchecked(scene):
            entry = scene.items[pair.call].entry.id
            self._checked.add(entry)
            # Another process may have looked: what is noted once is enough.
            known = persisted(session.sight.window(whole=True).ledger) if known is None else known
            seen = seen_on_disk(pair.body, session.root) if entry not in known else None
            if seen is not None:
                session.note("persisted", entry=entry, path=seen[0], sha256=seen[1])
        self._waiting &= {scene.items[at].entry.id for at in _open(scene)}

    def _unchecked(self, scene: Scene) -> list[Pair]:
        """Writes that went well and that nobody looked for on disk yet."""
        return [
            pair
            for pair in scene.pairs
            if pair.result is not None
            and scene.items[pair.call].entry.id not in self._checked
            and _is_large(scene.items[pair.call])
            and not _failed(scene.items[pair.result])
        ]


def _open(scene: Scene) -> list[int]:
    """Where the calls stand whose results are still to come."""
    return [p.call for p in scene.pairs if p.result is None and p.step == scene.step_count]


def _is_large(item: Item) -> bool:
    body = item.body
    return isinstance(body, ToolCalled) and len(body.arguments) > SMALLEST


def _failed(item: Item) -> bool:
    return isinstance(item.body, ToolReturned) and item.body.failed
