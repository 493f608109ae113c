"""Tally: the sizes that compressions tell of, kept true when something is taken out of them."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from holdfast.core.ledger.entry import Body, Compressed, Derived, Entry, EntryId, Restored, Step
from holdfast.core.measure.tokens import CountTokens, count_body


class Tally:
    """Keeps the sizes that compressions tell of true, as what they hide gets smaller."""

    def __init__(
        self, count: CountTokens, gone: Iterable[Entry], emptied: Mapping[EntryId, Entry]
    ) -> None:
        self._count = count
        self._shrunk = {one.id: self._lost(one.body, emptied[one.id].body) for one in gone}
        """By entry: tokens by which what stands in its place is less than it was."""
        self._before: dict[EntryId, dict[EntryId, int]] = {}
        self._saved: dict[EntryId, int] = {}

    def take(self, entry: Entry, changed: Entry) -> Entry:
        """A derived entry with its sizes as they are now, given it without what it quoted."""
        was, body = entry.body, changed.body
        if isinstance(was, Compressed) and isinstance(body, Compressed):
            self._before[entry.id] = dict(self._shrunk)
            pairs = zip(was.steps, body.steps, strict=True)
            body = replace(body, steps=tuple(self._step(old, new) for old, new in pairs))
            self._saved[entry.id] = _saved(was) - _saved(body)
        elif isinstance(body, Restored) and body.compressed in self._before:
            self._shrunk = self._before[body.compressed]
            body = replace(body, returns=body.returns - self._saved[body.compressed])
        return changed if body == changed.body else replace(entry, body=body)

    def _step(self, old: Step, new: Step) -> Step:
        shrunk = sum(self._shrunk.pop(name, 0) for name in old.hides)
        less = self._lost(old.stand_in, new.stand_in)
        self._shrunk[old.hides[0]] = less
        return replace(new, before=old.before - shrunk, after=old.after - less)

    def _lost(self, old: Body | None, new: Body | None) -> int:
        if old is new or old is None or new is None:
            return 0
        assert not isinstance(old, Derived)
        assert not isinstance(new, Derived)
        return count_body(old, self._count) - count_body(new, self._count)


def _saved(body: Compressed) -> int:
    return sum(step.before - step.after for step in body.steps)
