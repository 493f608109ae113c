"""Redact the secrets of a session in texts that others read; each process reads an entry once."""

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Derived, Entry, EntryId, Source, text_of
from holdfast.core.ledger.head import MAX_TITLE_CHARS
from holdfast.core.ledger.window import Window
from holdfast.core.observe.redaction import (
    KnownSecrets,
    learn_secrets,
    redact_entry,
    redact_text,
    redact_window,
)
from holdfast.core.plan.policy import Redact
from holdfast.engine.cache import read_cached, rules_digest, write_cached
from holdfast.errors import BadSetting
from holdfast.stores.store import Store
from holdfast.text.linear import compile_checked
from holdfast.text.patterns import Pattern
from holdfast.text.secrets import looks_random, may_begin_secret

ON, OFF = "on", "off"


SECRETS_CACHE = "secrets"
MIN_NEW_TO_SAVE, MIN_CHARS_TO_SAVE = 100, 200_000
"""New entries, and characters in them, from which on the secrets are saved for later processes."""
MAX_UNUSED, MIN_KEPT = 2, 500
"""Of so many times the entries of a window, and some more, the redacted ones are kept."""
LONG_WORD = Pattern(r"[^\s\"'`\\<>(){}\[\],;|]{12,250}")
"""Words long enough to be a secret. Matches `ghp_0123456789abcdef`, not `short` or `a,b,c,d`."""


def redacted_title(title: str, rules: Redact, store: Store | None = None, session: str = "") -> str:
    """Return the redacted title of a session; its end may be the beginning of a secret."""
    # Finding a session's secrets takes reading it: only for a title that could hold one.
    doubtful = any(looks_random(word) for word in LONG_WORD.findall(title))
    redactor = Redactor(rules, store if doubtful else None, session)
    shown = redactor.text(title)
    if len(title) < MAX_TITLE_CHARS or rules.secrets != ON:
        return shown
    last = shown.rpartition(" ")[2]
    ends_in_secret = bool(last) and any(value.startswith(last) for value in redactor.known.marks)
    return (
        f"{shown[: len(shown) - len(last)]}…" if ends_in_secret or may_begin_secret(last) else shown
    )


def _characters_in(entries: Iterable[Entry]) -> int:
    bodies = (entry.body for entry in entries)
    return sum(len(text_of(body)) for body in bodies if not isinstance(body, Derived))


class _Secrets(Struct, frozen=True, array_like=True):
    """The secrets found in a session, as they are saved."""

    marks: Mapping[str, str]
    clean: frozenset[EntryId]


class Redactor:
    """Redacts one session's texts with the secrets of all of its entries."""

    def __init__(self, rules: Redact, store: Store | None = None, session: str = "") -> None:
        if rules.secrets not in (ON, OFF):
            reason = f"{rules.secrets!r} is neither on nor off"
            raise BadSetting("redact.secrets", reason, origin="policy")
        patterns = compile_checked("redact.patterns", rules.patterns)
        self.idle = rules.secrets == OFF
        self.known = KnownSecrets(patterns)
        self._store, self._session = store, session
        self._rules = rules_digest(rules.secrets, rules.patterns)
        self._seq = 0
        self._redacted: dict[EntryId, tuple[Entry, Entry]] = {}
        """By name: an entry as it was, and redacted."""
        self._stand_ins: dict[EntryId, tuple[Source, Source]] = {}
        """By the entry of its item: a stand-in of the last window as it was, and redacted."""

    def learn(self) -> bool:
        """Read the session's new entries; return whether they hold more secrets."""
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
        self.learn_from(new)
        if len(new) >= MIN_NEW_TO_SAVE or _characters_in(new) >= MIN_CHARS_TO_SAVE:
            found = _Secrets(self.known.marks, self.known.clean)
            write_cached(self._store, self._session, SECRETS_CACHE, self._rules, head, found)
        return len(self.known.marks) > before

    def _recall(self, store: Store) -> None:
        """Start with the secrets that an earlier process saved: entries do not change."""
        cached = read_cached(store, self._session, SECRETS_CACHE, self._rules, _Secrets)
        if cached is not None:
            self._seq, found = cached
            # Secrets learned from other sources stay; entries are redacted again.
            marks, clean = {**found.marks, **self.known.marks}, found.clean | self.known.clean
            self.known = replace(self.known, marks=marks, clean=clean)
            self._forget()

    def learn_from(self, entries: Iterable[Entry]) -> bool:
        """Learn from entries that are not known yet; return whether they hold more secrets."""
        before, self.known = self.known, learn_secrets(self.known, entries)
        if len(self.known.marks) == len(before.marks):
            return False
        # What was redacted before may contain the new secrets.
        self._forget()
        return True

    def _forget(self) -> None:
        self._redacted.clear()
        self._stand_ins.clear()

    def text(self, text: str) -> str:
        """Redact a text of the session."""
        if self.idle:
            return text
        self.learn()
        return redact_text(text, self.known)

    def entries(self, entries: Iterable[Entry]) -> list[Entry]:
        """Redact entries."""
        if self.idle:
            return list(entries)
        self.learn()
        return [self._redact_entry(entry) for entry in entries]

    def _redact_entry(self, entry: Entry) -> Entry:
        known = self._redacted.get(entry.id)
        # A purged entry keeps its name and changes its body.
        if known is None or known[0] != entry:
            known = self._redacted[entry.id] = entry, redact_entry(entry, self.known)
        return known[1]

    def window(self, window: Window) -> Window:
        """Redact a window."""
        if self.idle:
            return window
        entries = self.entries(window.ledger)
        if len(self._redacted) > MAX_UNUSED * len(entries) + MIN_KEPT:
            # What left the window is redacted again if somebody asks for it.
            shown = {entry.id for entry in entries}
            self._redacted = {id: pair for id, pair in self._redacted.items() if id in shown}
        redacted = redact_window(window, self.known, entries, self._stand_ins)
        self._stand_ins = {
            item.entry.id: (item.stand_in, shown.stand_in)
            for item, shown in zip(window.items, redacted.items, strict=True)
            if item.stand_in is not None and shown.stand_in is not None
        }
        return redacted


class CrossSessionRedactor:
    """Redacts entries found in other sessions, with the secrets of each whole session.

    Knowing all secrets of a session takes reading it. So entries are first redacted by the secrets
    in themselves; then the sessions of the hits are learned, and the search is repeated.
    """

    def __init__(self, own: Redactor, rules: Redact, store: Store, session: str) -> None:
        self._own, self._rules, self._store, self._session = own, rules, store, session
        self._plain = Redactor(rules)
        self._by_session: dict[str, Redactor] = {}

    def entries(self, session: str, entries: Iterable[Entry]) -> list[Entry]:
        """Redact entries of a session."""
        if session == self._session:
            return self._own.entries(entries)
        return self._by_session.get(session, self._plain).entries(entries)

    def learn(self, sessions: Iterable[str], *, everywhere: bool = False) -> bool:
        """Read the sessions of which something will be shown; return whether they hold new secrets.

        `everywhere` if they may belong to other projects in the same store.
        """
        if self._plain.idle:
            return False
        found = False
        for name in sorted(set(sessions) - {self._session, ""}):
            new = name not in self._by_session
            redactor = self._by_session.setdefault(name, Redactor(self._rules, self._store, name))
            found |= redactor.learn()
            # Sessions of two projects may share a name: secrets of both count.
            for store in self._store.stores_of_all_projects() if everywhere and new else ():
                found |= store is not self._store and redactor.learn_from(store.read(name))
        return found
