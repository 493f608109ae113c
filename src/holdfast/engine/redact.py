"""What is a secret in a session, kept up to date: a process looks at every entry once."""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Entry, EntryId
from holdfast.core.ledger.head import TITLE_LENGTH
from holdfast.core.ledger.window import Window
from holdfast.core.observe.redaction import (
    Known,
    learned,
    redacted,
    redacted_entry,
    redacted_window,
)
from holdfast.core.plan.policy import Redact
from holdfast.engine.cache import recalled, remember, rules_of
from holdfast.errors import BadSetting
from holdfast.stores.store import Store
from holdfast.text.linear import compiled
from holdfast.text.secrets import looks_random, may_begin_secret

ON, OFF = "on", "off"


SECRETS = "secrets"
MANY_NEW = 100
"""Entries from which on it pays to keep what was found in them."""
LONG_WORD = re.compile(r"[^\s\"'`\\<>(){}\[\],;|]{12,250}")
"""Words that are long enough to be a secret wherever they stand."""


def redacted_title(title: str, rules: Redact, store: Store | None = None, session: str = "") -> str:
    """The title of a session as anyone may see it; a secret may have been cut at its end."""
    # What is known of a session takes reading it: only for a title that could hold a secret.
    doubtful = any(looks_random(word) for word in LONG_WORD.findall(title))
    redactor = Redactor(rules, store if doubtful else None, session)
    shown = redactor.text(title)
    if len(title) < TITLE_LENGTH or rules.secrets != ON:
        return shown
    last = shown.rpartition(" ")[2]
    begun = bool(last) and any(value.startswith(last) for value in redactor.known.marks)
    return f"{shown[: len(shown) - len(last)]}…" if begun or may_begin_secret(last) else shown


class _Secrets(Struct, frozen=True, array_like=True):
    """What is kept of looking through a session."""

    marks: Mapping[str, str]
    clean: frozenset[EntryId]


class Redactor:
    """Redacts one session's texts, by what all of its entries hold."""

    def __init__(self, rules: Redact, store: Store | None = None, session: str = "") -> None:
        if rules.secrets not in (ON, OFF):
            reason = f"{rules.secrets!r} is neither on nor off"
            raise BadSetting("redact.secrets", reason, origin="policy")
        patterns = compiled("redact.patterns", rules.patterns)
        self.idle = rules.secrets == OFF
        self.known = Known(patterns)
        self._store, self._session = store, session
        self._rules = rules_of(rules.secrets, rules.patterns)
        self._seq = 0
        self._made: dict[EntryId, tuple[Entry, Entry]] = {}
        """By name: an entry as it was, and as anyone may see it."""

    def learn(self) -> bool:
        """Look at what is new in the session; whether that told of more secrets."""
        if self.idle or self._store is None:
            return False
        head = self._store.head(self._session)
        if head is None or head.seq == self._seq:
            return False
        before = len(self.known.marks)
        if not self._seq:
            self._recall(self._store)
        new = list(self._store.read(self._session, since=self._seq))
        self._seq = max(self._seq, *(entry.seq for entry in new)) if new else self._seq
        self.take(new)
        if len(new) >= MANY_NEW:
            found = _Secrets(self.known.marks, self.known.clean)
            remember(self._store, self._session, SECRETS, self._rules, head, found)
        return len(self.known.marks) > before

    def _recall(self, store: Store) -> None:
        """Begin with what an earlier process found: entries do not change."""
        kept = recalled(store, self._session, SECRETS, self._rules, _Secrets)
        if kept is not None:
            self._seq, found = kept
            # What was taken from elsewhere stays a secret; what was shown is looked at again.
            marks, clean = {**found.marks, **self.known.marks}, found.clean | self.known.clean
            self.known = replace(self.known, marks=marks, clean=clean)
            self._made.clear()

    def take(self, entries: Iterable[Entry]) -> bool:
        """Learn from entries that are not known yet; whether there are more secrets now."""
        before, self.known = self.known, learned(self.known, entries)
        if len(self.known.marks) == len(before.marks):
            return False
        # What was looked at before may hold what is known only now.
        self._made.clear()
        return True

    def text(self, text: str) -> str:
        """A text of the session, as anyone may see it."""
        if self.idle:
            return text
        self.learn()
        return redacted(text, self.known)

    def entries(self, entries: Iterable[Entry]) -> list[Entry]:
        """Entries as anyone may see them."""
        if self.idle:
            return list(entries)
        self.learn()
        return [self._entry(entry) for entry in entries]

    def _entry(self, entry: Entry) -> Entry:
        known = self._made.get(entry.id)
        # What was purged goes by its old name.
        if known is None or known[0] != entry:
            known = self._made[entry.id] = entry, redacted_entry(entry, self.known)
        return known[1]

    def window(self, window: Window) -> Window:
        """A window as anyone may see it."""
        if self.idle:
            return window
        return redacted_window(window, self.known, self.entries(window.ledger))


class Others:
    """Redacts what was found in other sessions, by what each of them holds as a whole.

    To know all that a session holds takes reading it. So entries are first redacted by what shows
    itself in them; the sessions of which something is to be shown are learned, and asked again.
    """

    def __init__(self, own: Redactor, rules: Redact, store: Store, session: str) -> None:
        self._own, self._rules, self._store, self._session = own, rules, store, session
        self._plain = Redactor(rules)
        self._learned: dict[str, Redactor] = {}

    def entries(self, session: str, entries: Iterable[Entry]) -> list[Entry]:
        """Entries of a session as anyone may see them."""
        if session == self._session:
            return self._own.entries(entries)
        return self._learned.get(session, self._plain).entries(entries)

    def learn(self, sessions: Iterable[str], *, everywhere: bool = False) -> bool:
        """Look through sessions of which something is to be shown; whether that told of secrets.

        `everywhere` when they may be of other projects that are kept in the same place.
        """
        if self._plain.idle:
            return False
        found = False
        for name in sorted(set(sessions) - {self._session, ""}):
            new = name not in self._learned
            redactor = self._learned.setdefault(name, Redactor(self._rules, self._store, name))
            found |= redactor.learn()
            # Sessions of two projects may have one name: what is secret in either is.
            for shelf in self._store.shelves() if everywhere and new else ():
                found |= shelf is not self._store and redactor.take(shelf.read(name))
        return found
