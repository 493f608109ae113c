"""Read the story of a session's path: only the entries after the chapters that were read before.

The chapters are cached in the store, so that the next process does not read them again.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.core.ledger.entry import Derived, Entry, EntryId
from holdfast.core.ledger.inherited import inherited_summary
from holdfast.core.ledger.notes import Purged, is_note
from holdfast.core.ledger.window import Item, path_to
from holdfast.core.observe.moments.story import Story, StoryReading
from holdfast.core.shrink.summary.story import read_on, story_from
from holdfast.engine.cache import read_cached, rules_digest, write_cached

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger


class StoryReader:
    """Reads the story of one agent's lane, and remembers the chapters."""

    def __init__(self, ledger: "Ledger") -> None:
        self._ledger = ledger
        self._story = Story()
        self._reading = StoryReading()
        self._end: EntryId | None = None
        """The last reading, and the entry that it ends at."""
        self._later: list[Entry] = []
        self._since = self._read_upto = self._erased_upto = 0
        """The source entries after the last chapter, and purges; the last entry before them; the
        last that was read; the last purge till then.
        """
        self._rules: str = ""
        self._purged = 0
        """The newest purge that the chapters take into account."""

    def read(self, end: EntryId | None) -> StoryReading:
        """Return what the path to an entry says."""
        self._recall()
        later = self._entries_after(self._story, end)
        if later is None:
            later = self._whole_path(end)
        context = self._ledger.store.read(self._ledger.name, numbers=self._story.context)
        entries = self._ledger.redactor.entries([*context, *later])
        known = self._reading
        same = known.story is self._story and [i.entry for i in known.rest] == entries
        if same and end == self._end:
            return known
        reading = read_on(self._story, [Item(entry) for entry in entries])
        self._reading, self._end = reading, end
        if reading.story != self._story:
            self._story = reading.story
            self._save()
        return reading

    def _recall(self) -> None:
        """Take the chapters that another process read; forget them if there are new secrets."""
        ledger = self._ledger
        ledger.redactor.learn()
        marks = sorted(ledger.redactor.known.marks.items())
        rules = rules_digest("story", marks, ledger.policy.redact)
        if rules == self._rules:
            return
        self._rules = rules
        cached = read_cached(ledger.store, ledger.name, self._name, rules, Story)
        self._story = cached[1] if cached is not None else Story()

    @property
    def _name(self) -> str:
        return f"story {self._ledger.agent}".rstrip()

    def _entries_after(self, story: Story, end: EntryId | None) -> list[Entry] | None:
        """Return the entries after the last chapter; None if the path does not lead through it."""
        found = self._read_since(story.seq)
        purged = max((entry.seq for entry in found if is_note(entry.body, Purged)), default=0)
        if purged > self._purged:
            self._purged = purged
            return None
        lane = [entry for entry in found if entry.lane == self._ledger.agent]
        path = path_to(end, lane)
        if not story.seq and not path:
            return None
        before = path[0].parent if path else end
        return path if before == story.end and story.seq else None

    def _read_since(self, seq: int) -> list[Entry]:
        """Return the entries after one; reads only those that the last call did not return."""
        erased = self._ledger.erased_upto
        is_valid = self._since <= seq and self._erased_upto == erased
        known = [entry for entry in self._later if entry.seq > seq] if is_valid else []
        last = max(self._read_upto, seq) if is_valid else seq
        for entry in self._ledger.store.read(self._ledger.name, since=last):
            last = entry.seq
            # Of the derived entries, which hold whole summaries, only purges matter.
            if not isinstance(entry.body, Derived) or is_note(entry.body, Purged):
                known.append(entry)
        self._later, self._read_upto = known, last
        self._since, self._erased_upto = seq, erased
        return self._later

    def _whole_path(self, end: EntryId | None) -> list[Entry]:
        """Begin again, with the story of the session that this one continues."""
        entries = [
            entry
            for entry in self._ledger.store.read(self._ledger.name)
            if entry.lane == self._ledger.agent
        ]
        derived: Sequence[Entry] = [e for e in entries if isinstance(e.body, Derived)]
        self._story = story_from(inherited_summary(derived))
        return path_to(end, entries)

    def _save(self) -> None:
        ledger = self._ledger
        head = ledger.store.head(ledger.name)
        if head is not None:
            write_cached(ledger.store, ledger.name, self._name, self._rules, head, self._story)
