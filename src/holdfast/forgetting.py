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
from holdfast.files.layout import archive_of, summary_of
from holdfast.files.projecting import project
from holdfast.files.removing import copies_of, is_there, pages_of, remove, strays_of
from holdfast.heirs import Gone, heirs_of, links, unquote
from holdfast.originals import repeats
from holdfast.purging import PURGED, erase_message, erase_session, message_of, size_of
from holdfast.redacting import redacted_title
from holdfast.session import Session


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


def whole(session: Session, *, quotes: bool = True) -> Purge:
    """What purging all of a session takes; `quotes` when also what others quote of it goes."""
    entries = list(session.store.read(session.name))
    said = [entry for entry in entries if not isinstance(entry.body, Derived)]
    head, gone = session.head(), Gone(session.name, tuple(entries), whole=True)
    return Purge(
        session=session.name,
        entries=len(said),
        size=size_of(said),
        files=_files(session, entries, copies_of(entries), pages_of(session.name, entries)),
        at=head.at,
        title=redacted_title(head.title, session.policy.redact, session.store, session.name),
        heirs=tuple(heirs_of(session.store, gone)) if quotes else (),
    )


def part(session: Session, ref: str) -> Purge:
    """What purging the message that a reference stands in takes.

    Raises:
        NotRecorded: there is no such entry, or it holds nothing of anyone's.
    """
    entries = list(session.store.read(session.name))
    gone = message_of(entries, session.find(ref).id)
    return Purge(
        session=session.name,
        entries=len(gone),
        size=size_of(gone),
        refs=tuple(entry.id for entry in gone),
        files=_files(
            session,
            gone,
            copies_of(entries, {entry.id for entry in gone}),
            copies_of(one for one in entries if repeats(one, gone)),
        ),
        at=gone[0].at,
        heirs=tuple(heirs_of(session.store, Gone(session.name, tuple(gone)))),
    )


def _files(session: Session, gone: Iterable[Entry], *named: Iterable[str]) -> tuple[str, ...]:
    """The files that tell of what goes: those that are named, and those that nothing names."""
    entries = list(session.store.read(session.name))
    known = {*copies_of(entries), *pages_of(session.name, entries)}
    strays = strays_of(session.root, session.name, gone, known)
    others = _of_others(session) if strays else set[str]()
    return _there(session, [*chain(*named), *(path for path in strays if path not in others)])


def _of_others(session: Session) -> set[str]:
    """The copies that other sessions name: one that went off from this has entries in common."""
    names = {one.name for one in session.store.sessions()} - {session.name}
    return {path for name in names for path in copies_of(session.store.events(name))}


def _there(session: Session, paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(path for path in paths if session.root and is_there(session.root, path))


def carry_out(session: Session, purge: Purge, *, at: str, reason: str = PURGED) -> int:
    """Let go of what a purge takes; returns how many bytes that were.

    Raises:
        NotWritten: a copy could not be taken away; the ledger is as it was.
        StoreBusy: it is erased, but its bytes are in the log until nobody reads it any more.
    """
    _reach_heirs(session, purge, at)
    for path in purge.files:
        remove(session.root, path)
    if not purge.refs:
        return erase_session(session.store, session.name, session.policy, reason=reason, at=at)
    size = erase_message(session.store, session.name, purge.refs[0], session.policy, at=at)
    _write_again(session)
    return size


def _reach_heirs(session: Session, purge: Purge, at: str) -> None:
    """Take it out of the sessions that go on from this one, and out of their pages."""
    if not purge.heirs:
        return
    gone = _gone(session, purge)
    link = links(session.store).get(session.name)
    for name in purge.heirs:
        others = [*(one for one in purge.heirs if one != name), *([link.session] if link else [])]
        unquote(session.store, name, gone, others, at=at)
        heir = Session(
            name, session.store, policy=session.policy, root=session.root, owns_store=False
        )
        for path in _files(heir, (), copies_of(heir.store.read(name), set())):
            remove(heir.root, path)
        _write_again(heir)


def _gone(session: Session, purge: Purge) -> Gone:
    entries = list(session.store.read(session.name))
    if not purge.refs:
        return Gone(session.name, tuple(entries), whole=True)
    gone = tuple(one for one in entries if one.id in purge.refs)
    rest = tuple(one for one in entries if one.id not in purge.refs)
    return Gone(session.name, gone, rest)


def _write_again(session: Session) -> None:
    """The pages that told of it, without it, where there were any."""
    layout = session.policy.layout
    fresh = Session(session.name, session.store, policy=session.policy, owns_store=False)
    told = _there(session, pages_of(session.name, fresh.store.read(session.name)))
    task = fresh.task()
    archive, page = archive_of(session.name, layout), summary_of(task or session.name, layout)
    for path in told:
        remove(session.root, path)
    if archive in told:
        text = render_conversation(session.name, fresh.redactor.entries(fresh.path()))
        project(session.root, archive, text.encode("utf-8", "surrogatepass"))
    body = _newest_summary(fresh)
    if page in told and body is not None and body.summary is not None:
        form = "anchored" if layout == "anchored" else "ctx-001"
        text = render(body.summary, form, session=session.name, task=task, archive=archive)
        project(session.root, page, text.encode("utf-8", "surrogatepass"))


def _newest_summary(session: Session) -> Compressed | None:
    made = (entry.body for entry in reversed(in_force(session.sight.window(whole=True))))
    bodies = (body for body in made if isinstance(body, Compressed) and body.summary is not None)
    return next(bodies, None)
