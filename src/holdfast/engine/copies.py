"""Write readable copies of hidden entries, redact them later, and note which writes are on disk.

Copies are written before the window that names them. The ledger remains the source of truth.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from holdfast.core.ledger.entry import Compressed, Entry, EntryId, ToolCalled, ToolReturned, text_of
from holdfast.core.ledger.notes import Persisted
from holdfast.core.ledger.window import Item, path_to
from holdfast.core.observe.scene import Pair, Scene, read_scene
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.proposals import Proposal
from holdfast.core.plan.state import State, persisted_calls
from holdfast.core.shrink.step import no_address
from holdfast.engine.cache import read_cached, rules_digest, write_cached
from holdfast.errors import NotWritten
from holdfast.project.layout import archive_path, copy_path, pages_name, summary_path
from holdfast.text.utf8 import to_bytes

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger


def copy_addresses(ledger: "Ledger", policy: Policy) -> Callable[[Proposal, Item], str]:
    """Return the function that gives the path of an item's copy; no path without a project."""
    if not ledger.root:
        return no_address
    return lambda proposal, item: copy_path(item.entry, proposal.kind, proposal.tool, policy.layout)


def archive_address(ledger: "Ledger", policy: Policy) -> str:
    """Return the path of the whole conversation, for when a summary replaces part of it."""
    return archive_path(_page_name(ledger), policy.layout) if ledger.root else ""


def write_copies(ledger: "Ledger", body: Compressed, state: State) -> None:
    """Write every file that a compression names, before it is committed.

    Raises:
        NotWritten: a copy could not be written.
    """
    if not ledger.root:
        return
    from holdfast.project.write import write_copy  # late: most turns write nothing

    entries = {item.entry.id: item.body for item in state.window.items}
    for step in body.steps:
        if step.file:
            write_copy(ledger.root, step.file, _bytes(text_of(entries[step.hides[0]])))
    if body.summary is not None:
        _write_summary(ledger, body, state.policy.layout)


def _write_summary(ledger: "Ledger", body: Compressed, layout: str) -> None:
    """Write the whole conversation and the summary before the latter replaces the former."""
    from holdfast.core.view.forms import render_form  # late: only tier 3 does
    from holdfast.project.write import write_copy

    assert body.summary is not None
    archive = archive_path(_page_name(ledger), layout)
    ledger.archive.write(archive)
    form = "anchored" if layout == "anchored" else "ctx-001"
    task = ledger.task()
    page = render_form(body.summary, form, session=ledger.name, task=task, archive=archive)
    write_copy(ledger.root, summary_path(task or _page_name(ledger), layout), _bytes(page))


class ArchivePosition(Struct, frozen=True, array_like=True):
    """How far the page of a conversation is written."""

    path: str = ""
    size: int = 0
    secrets: int = 0
    end: EntryId = ""
    seq: int = 0
    """The last entry on the page."""


class Archive:
    """The page of a whole conversation: later entries are appended to it, by any process."""

    def __init__(self, ledger: "Ledger") -> None:
        self._ledger = ledger

    def write(self, path: str) -> None:
        """Bring the page up to date; write it as a whole if it is not the one written before.

        Raises:
            NotWritten: it could not be written.
        """
        from holdfast.core.view.conversation import entry_pages, render_conversation
        from holdfast.project.write import append_copy, write_copy

        session = self._ledger
        session.redactor.learn()
        known, secrets = self._position(), len(session.redactor.known.marks)
        end = session.window().end
        later = self._entries_after(known, end)
        pages = _bytes(entry_pages(session.redactor.entries(later or ())))
        size, last = known.size, later[-1] if later else None
        if (
            later is None
            or (path, secrets) != (known.path, known.secrets)
            or not append_copy(session.root, path, pages, after=size)
        ):
            entries = session.redactor.entries(session.path())
            pages, size = _bytes(render_conversation(session.name, entries)), 0
            last = entries[-1] if entries else None
            write_copy(session.root, path, pages)
        if last is not None:
            self._save(ArchivePosition(path, size + len(pages), secrets, last.id, last.seq))

    def _entries_after(self, known: ArchivePosition, end: EntryId | None) -> list[Entry] | None:
        """Return the entries that are not on the page; None if it has others than the path."""
        if not known.end:
            return None
        session = self._ledger
        found = session.store.read(session.name, since=known.seq)
        path = path_to(end, [entry for entry in found if entry.lane == session.agent])
        return path if (path[0].parent if path else end) == known.end else None

    @property
    def _name(self) -> str:
        return f"archive {self._ledger.agent}".rstrip()

    def _position(self) -> ArchivePosition:
        """Return how far the page is written; nothing that was purged since may be on it."""
        session = self._ledger
        rules = rules_digest("archive", session.erased_upto)
        found = read_cached(session.store, session.name, self._name, rules, ArchivePosition)
        return found[1] if found is not None else ArchivePosition()

    def _save(self, position: ArchivePosition) -> None:
        session = self._ledger
        head = session.store.head(session.name)
        if head is not None:
            rules = rules_digest("archive", session.erased_upto)
            write_cached(session.store, session.name, self._name, rules, head, position)


def _page_name(ledger: "Ledger") -> str:
    return pages_name(ledger.name, ledger.agent)


def redact_copies(ledger: "Ledger") -> None:
    """Redact newly found secrets in copies that were written before."""
    if not ledger.root:
        return
    from holdfast.project.remove import copy_paths, find_strays, page_paths
    from holdfast.project.write import rewrite_copy  # late: few sessions learn of a secret

    entries = list(ledger.store.read(ledger.name))
    known = {*copy_paths(entries), *page_paths(ledger.name, entries)}
    for path in {*known, *find_strays(ledger.root, ledger.name, entries, known)}:
        with suppress(NotWritten, UnicodeDecodeError):  # Retried with the next plan.
            rewrite_copy(ledger.root, path, ledger.redactor.text)


def _bytes(text: str) -> bytes:
    return to_bytes(text)


MIN_WRITE_CHARS = 1_000
"""Minimum characters of a call's arguments for which truncating them can pay."""


class DiskWrites:
    """The agent's writes in one session, and which of them were checked on disk."""

    def __init__(self, ledger: "Ledger") -> None:
        self._ledger = ledger
        self._waiting: set[EntryId] = set()
        """Calls that may have written a file, until their result has arrived and was checked."""
        self._checked: set[EntryId] = set()

    def check_new(self, fresh: Sequence[Item]) -> None:
        """Check what new calls may have written, as soon as their results have arrived."""
        self._waiting |= {item.entry.id for item in fresh if _is_large_call(item)}
        if self._waiting:
            self.check_all()

    def check_all(self) -> None:
        """Note which visible writes are on disk."""
        session = self._ledger
        if not session.root:
            self._waiting = set()
            return
        from holdfast.project.persisted import find_on_disk  # late: only when something was written

        known: Mapping[EntryId, str] | None = None
        scene = read_scene(session.window().items)
        for pair in self._unchecked(scene):
            entry = scene.items[pair.call].entry.id
            self._checked.add(entry)
            # Another process may have noted it already.
            known = persisted_calls(session.notes()) if known is None else known
            found = find_on_disk(pair.body, session.root) if entry not in known else None
            if found is not None:
                session.note(Persisted(entry, path=found[0], sha256=found[1]))
        self._waiting &= {scene.items[at].entry.id for at in _open_calls(scene)}

    def _unchecked(self, scene: Scene) -> list[Pair]:
        """Return successful writes that were not checked on disk yet."""
        return [
            pair
            for pair in scene.pairs
            if pair.result is not None
            and scene.items[pair.call].entry.id not in self._checked
            and _is_large_call(scene.items[pair.call])
            and not _has_failed(scene.items[pair.result])
        ]


def _open_calls(scene: Scene) -> list[int]:
    """Return the positions of the calls whose results have not arrived."""
    return [p.call for p in scene.pairs if p.result is None and p.step == scene.step_count]


def _is_large_call(item: Item) -> bool:
    body = item.body
    return isinstance(body, ToolCalled) and len(body.arguments) > MIN_WRITE_CHARS


def _has_failed(item: Item) -> bool:
    return isinstance(item.body, ToolReturned) and item.body.failed
