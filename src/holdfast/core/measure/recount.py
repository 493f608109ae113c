"""Correct the token sizes in compressions and undos after a purge erased some of their text."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from holdfast.core.ledger.entry import Body, Compressed, Derived, Entry, EntryId, Restored, Step
from holdfast.core.measure.tokens import CountTokens, count_body


class CompressionRecount:
    """Corrects the sizes in compressions, because the entries that they hide got smaller."""

    def __init__(
        self, count: CountTokens, gone: Iterable[Entry], emptied: Mapping[EntryId, Entry]
    ) -> None:
        self._count = count
        self._shrunk = {
            entry.id: self._tokens_lost(entry.body, emptied[entry.id].body) for entry in gone
        }
        """By entry: tokens by which the text in its place became smaller."""
        self._before: dict[EntryId, dict[EntryId, int]] = {}
        self._saved: dict[EntryId, int] = {}

    def recount(self, entry: Entry, changed: Entry) -> Entry:
        """Return a derived entry with its current sizes; `changed` is it without purged text."""
        was, body = entry.body, changed.body
        if isinstance(was, Compressed) and isinstance(body, Compressed):
            self._before[entry.id] = dict(self._shrunk)
            pairs = zip(was.steps, body.steps, strict=True)
            body = replace(body, steps=tuple(self._recount_step(old, new) for old, new in pairs))
            self._saved[entry.id] = _saved_tokens(was) - _saved_tokens(body)
        elif isinstance(body, Restored) and body.compressed in self._before:
            self._shrunk = self._before[body.compressed]
            body = replace(body, returns=body.returns - self._saved[body.compressed])
        return changed if body == changed.body else replace(entry, body=body)

    def _recount_step(self, old: Step, new: Step) -> Step:
        shrunk = sum(self._shrunk.pop(name, 0) for name in old.hides)
        less = self._tokens_lost(old.stand_in, new.stand_in)
        self._shrunk[old.hides[0]] = less
        return replace(new, before=old.before - shrunk, after=old.after - less)

    def _tokens_lost(self, old: Body | None, new: Body | None) -> int:
        if old is new or old is None or new is None:
            return 0
        assert not isinstance(old, Derived)
        assert not isinstance(new, Derived)
        return count_body(old, self._count) - count_body(new, self._count)


def _saved_tokens(body: Compressed) -> int:
    return sum(step.before - step.after for step in body.steps)
