"""Which writes of the agent are on disk: only what was seen there may later be cut short."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from holdfast.core.ledger.entry import EntryId, ToolCalled, ToolReturned
from holdfast.core.ledger.window import Item
from holdfast.core.observe.calls import Pair, Scene, read_scene
from holdfast.core.plan.state import persisted

if TYPE_CHECKING:
    from holdfast.session import Session

SMALLEST = 1_000
"""Characters of arguments from which a write can be worth cutting short."""


class Writes:
    """The writes of one session, and which of them were looked for."""

    def __init__(self, session: "Session") -> None:
        self._session = session
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
        session = self._session
        if not session.root:
            self._waiting = set()
            return
        from holdfast.files.persisted import seen_on_disk  # late: only when something was written

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
