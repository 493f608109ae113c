"""What `holdfast purge` does: find what is meant, say what would go, and let it go everywhere.

Copies on disk go first: when they cannot be taken away, the ledger still has what they name.
"""

from collections.abc import Iterable
from itertools import chain

from msgspec import Struct

from holdfast.core.ledger.entry import Compressed, Derived, Entry
from holdfast.core.ledger.window import in_force
from holdfast.core.view.conversation import render_conversation
from holdfast.core.view.forms import render
from holdfast.engine.ledger import Ledger
from holdfast.engine.originals import repeats
from holdfast.engine.purge.descendants import Gone, heirs_of, links, unquote
from holdfast.engine.purge.rewrite import PURGED, erase_message, erase_session, message_of, size_of
from holdfast.engine.redact import redacted_title
from holdfast.project.layout import archive_of, summary_of
from holdfast.project.remove import copies_of, is_there, pages_of, remove, strays_of
from holdfast.project.write import project


class Purge(Struct, frozen=True):
    """What a purge takes, or would take."""

    session: str
    entries: int
    size: int
    """Bytes of what the entries say."""
    refs: tuple[str, ...] = ()
    """The entries, when not all of the session goes."""
    files: tuple[str, ...] = ()
    """Readable copies that go with it, below the project's root."""
    at: str = ""
    """When the session was last added to."""
    title: str = ""
    heirs: tuple[str, ...] = ()
    """Sessions that go on from this one, and lose what they quote of it."""


def whole(ledger: Ledger, *, quotes: bool = True) -> Purge:
    """What purging all of a session takes; `quotes` when also what others quote of it goes."""
    entries = list(ledger.store.read(ledger.name))
    said = [entry for entry in entries if not isinstance(entry.body, Derived)]
    head, gone = ledger.head(), Gone(ledger.name, tuple(entries), whole=True)
    return Purge(
        session=ledger.name,
        entries=len(said),
        size=size_of(said),
        files=_files(ledger, entries, copies_of(entries), pages_of(ledger.name, entries)),
        at=head.at,
        title=redacted_title(head.title, ledger.policy.redact, ledger.store, ledger.name),
        heirs=tuple(heirs_of(ledger.store, gone)) if quotes else (),
    )


def part(ledger: Ledger, ref: str) -> Purge:
    """What purging the message that a reference stands in takes.

    Raises:
        NotRecorded: there is no such entry, or it holds nothing of anyone's.
    """
    entries = list(ledger.store.read(ledger.name))
    gone = message_of(entries, ledger.find(ref).id)
    return Purge(
        session=ledger.name,
        entries=len(gone),
        size=size_of(gone),
        refs=tuple(entry.id for entry in gone),
        files=_files(
            ledger,
            gone,
            copies_of(entries, {entry.id for entry in gone}),
            copies_of(one for one in entries if repeats(one, gone)),
        ),
        at=gone[0].at,
        heirs=tuple(heirs_of(ledger.store, Gone(ledger.name, tuple(gone)))),
    )


def _files(ledger: Ledger, gone: Iterable[Entry], *named: Iterable[str]) -> tuple[str, ...]:
    """The files that tell of what goes: those that are named, and those that nothing names."""
    entries = list(ledger.store.read(ledger.name))
    known = {*copies_of(entries), *pages_of(ledger.name, entries)}
    strays = strays_of(ledger.root, ledger.name, gone, known)
    others = _of_others(ledger) if strays else set[str]()
    return _there(ledger, [*chain(*named), *(path for path in strays if path not in others)])


def _of_others(ledger: Ledger) -> set[str]:
    """The copies that other sessions name: one that went off from this has entries in common."""
    names = {one.name for one in ledger.store.sessions()} - {ledger.name}
    return {path for name in names for path in copies_of(ledger.store.events(name))}


def _there(ledger: Ledger, paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(path for path in paths if ledger.root and is_there(ledger.root, path))


def carry_out(ledger: Ledger, purge: Purge, *, at: str, reason: str = PURGED) -> int:
    """Let go of what a purge takes; returns how many bytes that were.

    Raises:
        NotWritten: a copy could not be taken away; the ledger is as it was.
        StoreBusy: it is erased, but its bytes are in the log until nobody reads it any more.
    """
    _reach_heirs(ledger, purge, at)
    for path in purge.files:
        remove(ledger.root, path)
    if not purge.refs:
        return erase_session(ledger.store, ledger.name, ledger.policy, reason=reason, at=at)
    size = erase_message(ledger.store, ledger.name, purge.refs[0], ledger.policy, at=at)
    _write_again(ledger)
    return size


def _reach_heirs(ledger: Ledger, purge: Purge, at: str) -> None:
    """Take it out of the sessions that go on from this one, and out of their pages."""
    if not purge.heirs:
        return
    gone = _gone(ledger, purge)
    link = links(ledger.store).get(ledger.name)
    for name in purge.heirs:
        others = [*(one for one in purge.heirs if one != name), *([link.session] if link else [])]
        unquote(ledger.store, name, gone, others, at=at)
        heir = Ledger(name, ledger.store, policy=ledger.policy, root=ledger.root)
        for path in _files(heir, (), copies_of(heir.store.read(name), set())):
            remove(heir.root, path)
        _write_again(heir)


def _gone(ledger: Ledger, purge: Purge) -> Gone:
    entries = list(ledger.store.read(ledger.name))
    if not purge.refs:
        return Gone(ledger.name, tuple(entries), whole=True)
    gone = tuple(one for one in entries if one.id in purge.refs)
    rest = tuple(one for one in entries if one.id not in purge.refs)
    return Gone(ledger.name, gone, rest)


def _write_again(ledger: Ledger) -> None:
    """The pages that told of it, without it, where there were any."""
    layout = ledger.policy.layout
    fresh = Ledger(ledger.name, ledger.store, policy=ledger.policy)
    told = _there(ledger, pages_of(ledger.name, fresh.store.read(ledger.name)))
    task = fresh.task()
    archive, page = archive_of(ledger.name, layout), summary_of(task or ledger.name, layout)
    for path in told:
        remove(ledger.root, path)
    if archive in told:
        text = render_conversation(ledger.name, fresh.redactor.entries(fresh.path()))
        project(ledger.root, archive, text.encode("utf-8", "surrogatepass"))
    body = _newest_summary(fresh)
    if page in told and body is not None and body.summary is not None:
        form = "anchored" if layout == "anchored" else "ctx-001"
        text = render(body.summary, form, session=ledger.name, task=task, archive=archive)
        project(ledger.root, page, text.encode("utf-8", "surrogatepass"))


def _newest_summary(ledger: Ledger) -> Compressed | None:
    made = (entry.body for entry in reversed(in_force(ledger.sight.window(whole=True))))
    bodies = (body for body in made if isinstance(body, Compressed) and body.summary is not None)
    return next(bodies, None)
