"""Purge a session or a message: plan what is removed, then remove it from disk and ledger.

Copies on disk are removed first: if that fails, the ledger still has what they name.
"""

from collections.abc import Iterable
from itertools import chain

from msgspec import Struct

from holdfast.core.ledger.entry import Compressed, Derived, Entry
from holdfast.core.ledger.window import in_force
from holdfast.core.view.conversation import render_conversation
from holdfast.core.view.forms import render_form
from holdfast.engine.ledger import Ledger
from holdfast.engine.originals import repeats_erased
from holdfast.engine.purge.descendants import (
    PurgedEntries,
    descendants_of,
    remove_quotes,
    resume_links,
)
from holdfast.engine.purge.rewrite import (
    PURGED,
    erase_message,
    erase_session,
    message_of,
    text_bytes,
)
from holdfast.engine.redact import redacted_title
from holdfast.project.layout import archive_path, summary_path
from holdfast.project.remove import copy_exists, copy_paths, find_strays, page_paths, remove_copy
from holdfast.project.write import write_copy
from holdfast.text.utf8 import to_bytes


class Purge(Struct, frozen=True):
    """What a purge removes, or would remove."""

    session: str
    entries: int
    size: int
    """Bytes of the entries' text."""
    refs: tuple[str, ...] = ()
    """The entries, if only part of the session is purged."""
    files: tuple[str, ...] = ()
    """Readable copies to remove, relative to the project's root."""
    at: str = ""
    """When the session was last appended to."""
    title: str = ""
    heirs: tuple[str, ...] = ()
    """Sessions that continue this one, and lose what they quote of it."""


def plan_session_purge(ledger: Ledger, *, quotes: bool = True) -> Purge:
    """Return what purging a whole session removes; with `quotes`, also quotes in others."""
    entries = list(ledger.store.read(ledger.name))
    sources = [entry for entry in entries if not isinstance(entry.body, Derived)]
    head, purged = ledger.head(), PurgedEntries(ledger.name, tuple(entries), whole=True)
    return Purge(
        session=ledger.name,
        entries=len(sources),
        size=text_bytes(sources),
        files=_files_to_remove(
            ledger, entries, copy_paths(entries), page_paths(ledger.name, entries)
        ),
        at=head.at,
        title=redacted_title(head.title, ledger.policy.redact, ledger.store, ledger.name),
        heirs=tuple(descendants_of(ledger.store, purged)) if quotes else (),
    )


def plan_message_purge(ledger: Ledger, ref: str) -> Purge:
    """Return what purging the message of an entry removes.

    Raises:
        NotRecorded: there is no such entry, or it is no part of a message.
    """
    entries = list(ledger.store.read(ledger.name))
    purged = message_of(entries, ledger.find(ref).id)
    return Purge(
        session=ledger.name,
        entries=len(purged),
        size=text_bytes(purged),
        refs=tuple(entry.id for entry in purged),
        files=_files_to_remove(
            ledger,
            purged,
            copy_paths(entries, {entry.id for entry in purged}),
            copy_paths(note for note in entries if repeats_erased(note, purged)),
        ),
        at=purged[0].at,
        heirs=tuple(descendants_of(ledger.store, PurgedEntries(ledger.name, tuple(purged)))),
    )


def _files_to_remove(
    ledger: Ledger, purged: Iterable[Entry], *named: Iterable[str]
) -> tuple[str, ...]:
    """Return the existing files with purged text: named copies, and strays that no entry names."""
    entries = list(ledger.store.read(ledger.name))
    known = {*copy_paths(entries), *page_paths(ledger.name, entries)}
    strays = find_strays(ledger.root, ledger.name, purged, known)
    others = _copies_of_other_sessions(ledger) if strays else set[str]()
    return _existing(ledger, [*chain(*named), *(path for path in strays if path not in others)])


def _copies_of_other_sessions(ledger: Ledger) -> set[str]:
    """Return the copies that other sessions name: a fork has entries in common with this one."""
    names = {session.name for session in ledger.store.sessions()} - {ledger.name}
    return {path for name in names for path in copy_paths(ledger.store.events(name))}


def _existing(ledger: Ledger, paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(path for path in paths if ledger.root and copy_exists(ledger.root, path))


def apply_purge(ledger: Ledger, purge: Purge, *, at: str, reason: str = PURGED) -> int:
    """Remove everything that a purge names; return how many bytes of text that were.

    Raises:
        NotWritten: a copy could not be removed; the ledger is unchanged.
        StoreBusy: it is erased, but its bytes are in the log until all readers have finished.
    """
    _purge_descendants(ledger, purge, at)
    for path in purge.files:
        remove_copy(ledger.root, path)
    if not purge.refs:
        return erase_session(ledger.store, ledger.name, ledger.policy, reason=reason, at=at)
    size = erase_message(ledger.store, ledger.name, purge.refs[0], ledger.policy, at=at)
    _rewrite_pages(ledger)
    return size


def _purge_descendants(ledger: Ledger, purge: Purge, at: str) -> None:
    """Remove the purged text from sessions that continue this one, and from their pages."""
    if not purge.heirs:
        return
    purged = _purged_entries(ledger, purge)
    link = resume_links(ledger.store).get(ledger.name)
    for name in purge.heirs:
        others = [
            *(other for other in purge.heirs if other != name),
            *([link.session] if link else []),
        ]
        remove_quotes(ledger.store, name, purged, others, at=at)
        descendant = Ledger(name, ledger.store, policy=ledger.policy, root=ledger.root)
        for path in _files_to_remove(
            descendant, (), copy_paths(descendant.store.read(name), set())
        ):
            remove_copy(descendant.root, path)
        _rewrite_pages(descendant)


def _purged_entries(ledger: Ledger, purge: Purge) -> PurgedEntries:
    entries = list(ledger.store.read(ledger.name))
    if not purge.refs:
        return PurgedEntries(ledger.name, tuple(entries), whole=True)
    purged = tuple(entry for entry in entries if entry.id in purge.refs)
    rest = tuple(entry for entry in entries if entry.id not in purge.refs)
    return PurgedEntries(ledger.name, purged, rest)


def _rewrite_pages(ledger: Ledger) -> None:
    """Rewrite the existing pages of a session without the purged text."""
    layout = ledger.policy.layout
    fresh = Ledger(ledger.name, ledger.store, policy=ledger.policy)
    pages = _existing(ledger, page_paths(ledger.name, fresh.store.read(ledger.name)))
    task = fresh.task()
    archive, page = archive_path(ledger.name, layout), summary_path(task or ledger.name, layout)
    for path in pages:
        remove_copy(ledger.root, path)
    if archive in pages:
        text = render_conversation(ledger.name, fresh.redactor.entries(fresh.path()))
        write_copy(ledger.root, archive, to_bytes(text))
    body = _newest_summary(fresh)
    if page in pages and body is not None and body.summary is not None:
        form = "anchored" if layout == "anchored" else "ctx-001"
        text = render_form(body.summary, form, session=ledger.name, task=task, archive=archive)
        write_copy(ledger.root, page, to_bytes(text))


def _newest_summary(ledger: Ledger) -> Compressed | None:
    derived = (entry.body for entry in reversed(in_force(ledger.whole_window())))
    bodies = (body for body in derived if isinstance(body, Compressed) and body.summary is not None)
    return next(bodies, None)
