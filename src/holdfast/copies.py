"""Readable copies of what leaves a window: where they are to be, written, and kept free of secrets.

They are there before the window that names them. What is true stands in the ledger.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.core.ledger.entry import Compressed, text_of
from holdfast.core.ledger.window import Item
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.state import State
from holdfast.core.plan.steps import Proposal
from holdfast.core.shrink.step import nowhere
from holdfast.errors import NotWritten
from holdfast.files.layout import archive_of, pages_name, path_of, summary_of

if TYPE_CHECKING:
    from holdfast.session import Session


def address_in(session: "Session", policy: Policy) -> Callable[[Proposal, Item], str]:
    """Where the copy of what leaves will be; nowhere for a session that has no folder."""
    if not session.root:
        return nowhere
    return lambda one, item: path_of(item.entry, one.kind, one.tool, policy.layout)


def archive_in(session: "Session", policy: Policy) -> str:
    """Where the whole conversation can be read once a summary stands for part of it."""
    return archive_of(_name(session), policy.layout) if session.root else ""


def write_copies(session: "Session", body: Compressed, state: State) -> None:
    """Write down all that a compression names, before it is one.

    Raises:
        NotWritten: a copy could not be written.
    """
    if not session.root:
        return
    from holdfast.files.projecting import project  # late: most turns write nothing

    entries = {item.entry.id: item.body for item in state.window.items}
    for step in body.steps:
        if step.file:
            project(session.root, step.file, _bytes(text_of(entries[step.hides[0]])))
    if body.summary is not None:
        _write_summary(session, body, state.policy.layout)


def _write_summary(session: "Session", body: Compressed, layout: str) -> None:
    """Write the whole conversation and the summary down before the one replaces the other."""
    from holdfast.core.view.conversation import render_conversation  # late: only tier 3 does
    from holdfast.core.view.forms import render
    from holdfast.files.projecting import project

    assert body.summary is not None
    archive = archive_of(_name(session), layout)
    whole = render_conversation(session.name, session.redactor.entries(session.path()))
    project(session.root, archive, _bytes(whole))
    form = "anchored" if layout == "anchored" else "ctx-001"
    task = session.task()
    page = render(body.summary, form, session=session.name, task=task, archive=archive)
    project(session.root, summary_of(task or _name(session), layout), _bytes(page))


def _name(session: "Session") -> str:
    return pages_name(session.name, session.agent)


def redact_copies(session: "Session") -> None:
    """Take what is known as a secret only now out of the copies that were written before."""
    if not session.root:
        return
    from holdfast.files.projecting import rewrite  # late: few sessions learn of a secret
    from holdfast.files.removing import copies_of, pages_of, strays_of

    entries = list(session.store.read(session.name))
    known = {*copies_of(entries), *pages_of(session.name, entries)}
    for path in {*known, *strays_of(session.root, session.name, entries, known)}:
        with suppress(NotWritten, UnicodeDecodeError):  # Tried again with the next plan.
            rewrite(session.root, path, session.redactor.text)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
