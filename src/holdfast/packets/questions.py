"""Answer a worker's question from the ledger: a decision, a statement, or "not known"."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256

import msgspec
from msgspec import Struct

from holdfast.core.index.passages import passages_of, searchable_text, speaker
from holdfast.core.index.terms import PassageHit, Term
from holdfast.core.ledger.entry import Entry, Noted, PacketSent, Resumed, Said
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.window import path_of
from holdfast.core.observe.requests.constraints import MACHINE_TEXT
from holdfast.core.observe.sentences import sentences
from holdfast.core.view.decisions.graph import (
    DecisionEdge,
    find_links,
    statements_of_all,
    text_terms,
)
from holdfast.core.view.questions.answer import QuestionAnswer, answer_question
from holdfast.core.view.questions.question import read_question, subjects_in
from holdfast.core.view.questions.statements import (
    SessionStatements,
    Statement,
    read_statements,
    without_silent,
)
from holdfast.engine.cache import read_cached, read_through_cache, rules_digest
from holdfast.engine.ledger import Ledger
from holdfast.engine.recover import RedactEntries, stemmer, unredacted
from holdfast.engine.redact import Redactor
from holdfast.errors import HoldfastError
from holdfast.models.thesaurus import similar_words
from holdfast.packets.records import packet_entries
from holdfast.stores.store import Store
from holdfast.text.sentences import announces_lookup
from holdfast.text.tech_terms import NAME_SIMILARITY, names_of_kind

MAX_PASSAGES = 160
"""Passages read for a question: for statements that are no decisions, and to choose sessions."""
STATEMENTS_CACHE, OWN_STATEMENTS_CACHE, LINKS_CACHE = "told", "told own", "links"
NOTES = (Noted, PacketSent, Resumed)
"""Derived entries from which statements are read."""
MAX_KEPT_ENTRIES = 20_000
"""Entries of a session up to which it is read before a question needs it: about a second."""
MAX_UNREAD_SESSIONS = 48
"""Sessions read for one question, besides those that were read before."""


class _ReadSession(Struct, frozen=True, array_like=True):
    """The statements of a session, and the terms of its texts, which only few questions need."""

    statements: SessionStatements
    terms: msgspec.Raw

    @classmethod
    def of(cls, statements: SessionStatements) -> "_ReadSession":
        return cls(statements, msgspec.Raw(msgspec.msgpack.encode(text_terms(statements))))


class ProjectDecisions:
    """The decisions and statements of a project's sessions, read again if a session changes."""

    def __init__(
        self,
        store: Store,
        redact: RedactEntries = unredacted,
        *,
        title: Callable[[str], str] = str,
        rules: str = "as they are",
        own: str = "",
    ) -> None:
        """Read the sessions of a store; `own` is the one that is redacted with its own secrets."""
        self.store, self.redact, self._title, self._own = store, redact, title, own
        self._rules = rules_digest(rules)
        self._known: dict[str, tuple[int, _ReadSession]] = {}

    def statements_of(self, session: str) -> SessionStatements:
        """Return the statements of one session."""
        if not self.has_read(session):
            head = self.store.head(session) or Head()
            made = read_through_cache(
                self.store,
                session,
                self._cache_name(session),
                self._rules,
                _ReadSession,
                partial(self._read_session, session),
            )
            self._known[session] = head.seq, made
        return self._known[session][1].statements

    def terms_of(self, read: SessionStatements) -> tuple[frozenset[str], ...]:
        """Return the terms of the texts of a session that was read."""
        terms = self._known[read.session][1].terms
        return msgspec.msgpack.decode(terms, type=tuple[frozenset[str], ...])

    def has_read(self, session: str) -> bool:
        """Return whether a session was read in its current state, here or by another process."""
        head = self.store.head(session) or Head()
        known = self._known.get(session)
        if known is not None and known[0] == head.seq:
            return True
        name = self._cache_name(session)
        cached = read_cached(self.store, session, name, self._rules, _ReadSession)
        if cached is not None and cached[0] == head.seq:
            self._known[session] = cached
            return True
        return False

    def _cache_name(self, session: str) -> str:
        """Return the name of a reading; a session is read in two ways, and both are kept."""
        return OWN_STATEMENTS_CACHE if session == self._own else STATEMENTS_CACHE

    def _read_session(self, session: str) -> _ReadSession:
        head = self.store.head(session) or Head()
        entries = [entry for entry in self.store.read(session) if not entry.lane]
        path = self._redact_path(session, path_of(entries))
        notes = self.redact(session, (e for e in entries if isinstance(e.body, NOTES)))
        title = self._title(head.title)
        return _ReadSession.of(read_statements(path, notes, session=session, title=title))

    def _redact_path(self, session: str, path: Sequence[Entry]) -> list[Entry]:
        """Redact a path; contents that hold no statement are left out instead, which is faster."""
        quiet = without_silent(path)
        shown = [entry for entry, whole in zip(quiet, path, strict=True) if entry is whole]
        redacted = dict(
            zip((entry.id for entry in shown), self.redact(session, shown), strict=True)
        )
        return [redacted.get(entry.id, entry) for entry in quiet]

    def all_statements(self, sessions: Iterable[str] | None = None) -> list[SessionStatements]:
        """Return the statements of some sessions, or of the whole project, oldest first."""
        touched = {session.name: session.touched for session in self.store.sessions()}
        names = touched if sessions is None else sessions
        read = [
            self.statements_of(name)
            for name in sorted(names, key=lambda name: touched.get(name, 0))
        ]
        timed = all(session.began for session in read)
        return sorted(read, key=lambda session: session.began) if timed else read


def project_decisions(ledger: Ledger) -> ProjectDecisions:
    """Return the decisions of a session's project, redacted."""
    return _redacted_decisions(ledger, ledger.name)


def keep_readings(ledger: Ledger) -> None:
    """Read of a session what questions to its project need, so that they find it in the cache.

    Not of a very long session: that takes much memory, and many seconds.
    """
    with suppress(HoldfastError):  # It is then read for the first question.
        head = ledger.store.head(ledger.name)
        if head is None or head.seq > MAX_KEPT_ENTRIES:
            return
        _redacted_decisions(ledger).statements_of(ledger.name)
        packet_entries(ledger.store, ledger.name)
        ledger.store.index([ledger.name])


def _redacted_decisions(ledger: Ledger, own: str = "") -> ProjectDecisions:
    plain = Redactor(ledger.policy.redact)

    def redact(name: str, entries: Iterable[Entry]) -> Iterable[Entry]:
        return (ledger.redactor if name == own else plain).entries(entries)

    rules = repr((ledger.policy.redact.secrets, ledger.policy.redact.patterns))
    return ProjectDecisions(ledger.store, redact, title=plain.text, rules=rules, own=own)


def cached_edges(
    settled: ProjectDecisions,
    read: Sequence[SessionStatements],
    name: str,
    make: Callable[[], tuple[DecisionEdge, ...]],
) -> tuple[DecisionEdge, ...]:
    """Return the edges that `make` finds in sessions, from the cache if it has them."""
    try:
        statements = sha256(msgspec.msgpack.encode(read)).hexdigest()
    except UnicodeEncodeError:  # a lone surrogate
        return make()
    # Edges are only names and ids, so they may be cached with another session than their own.
    first, rules = settled.store.sessions()[0].name, rules_digest(statements)
    return read_through_cache(settled.store, first, name, rules, tuple[DecisionEdge, ...], make)


def links_of(
    settled: ProjectDecisions, read: Sequence[SessionStatements]
) -> tuple[DecisionEdge, ...]:
    """Return which decisions and sessions replace or continue others."""
    return cached_edges(settled, read, LINKS_CACHE, partial(find_links, read)) if read else ()


def context_query(
    settled: ProjectDecisions, question: str, *, sessions: Sequence[str] | None = None
) -> QuestionAnswer:
    """Answer a question from the named sessions, by default from all of the project."""
    words = subjects_in(question)
    if not words:
        return QuestionAnswer(question)
    names = None if sessions is None else tuple(sessions)
    pooled = settled.store.search(
        [_term(word) for word in words], sessions=names, limit=MAX_PASSAGES
    )
    rarity = dict(zip(words, pooled.rarity, strict=True))
    parsed = read_question(
        question, rarity=lambda word: rarity.get(word, 0.0), like=similar_words, stems=stemmer()
    )
    found = list(dict.fromkeys(passage.session for passage in pooled.found))
    read = settled.all_statements(_sessions_to_read(settled, found, sessions))
    return answer_question(
        parsed,
        statements_of_all(read, links_of(settled, read)),
        list(_passage_statements(settled, pooled.found)),
        stems=stemmer(),
    )


def _sessions_to_read(
    settled: ProjectDecisions, found: Sequence[str], named: Sequence[str] | None
) -> list[str]:
    """Return the sessions read before, and of the others the best matches and the newest."""
    newest = [session.name for session in settled.store.sessions()] if named is None else named
    names = list(dict.fromkeys((*found, *newest)))
    if len(names) <= MAX_UNREAD_SESSIONS:
        return names
    fresh = [name for name in names if not settled.has_read(name)]
    late = set(fresh[MAX_UNREAD_SESSIONS:])
    return [name for name in names if name not in late]


def _term(word: str) -> Term:
    return Term(
        (word,),
        similar=(*similar_words(word), *((name, NAME_SIMILARITY) for name in names_of_kind(word))),
    )


def _passage_statements(
    settled: ProjectDecisions, found: Sequence[PassageHit]
) -> Iterator[Statement]:
    """Yield the sentences of passages that match, if a person or the agent said them."""
    passages: dict[str, dict[int, list[PassageHit]]] = {}
    for passage in found:
        passages.setdefault(passage.session, {}).setdefault(passage.seq, []).append(passage)
    for session, by_number in passages.items():
        entries = settled.store.read(session, numbers=by_number)
        messages = [entry for entry in entries if _is_said(entry)]
        for entry in settled.redact(session, messages):
            yield from _sentence_statements(entry, session, by_number[entry.seq])


def _is_said(entry: Entry) -> bool:
    """Return whether an entry is a message of a person or agent, not of a tool or of ours."""
    return isinstance(entry.body, Said) and not entry.body.by


def _sentence_statements(
    entry: Entry, session: str, found: Sequence[PassageHit]
) -> Iterator[Statement]:
    text = searchable_text(entry.body)
    cuts = passages_of(text)
    for passage in found:
        if passage.passage >= len(cuts):
            continue
        cut = cuts[passage.passage]
        for sentence in sentences(text[cut.start : cut.stop]):
            # A question or an announced search is no answer.
            asks = sentence.text.rstrip(" \"'`*_)").endswith("?") or announces_lookup(sentence.text)
            if not asks and not MACHINE_TEXT.search(sentence.text):
                yield Statement(
                    "passage",
                    sentence.text,
                    entry.id,
                    by=_speaker(entry),
                    session=session,
                    turn=passage.step,
                    at=entry.at,
                )


def _speaker(entry: Entry) -> str:
    role = speaker(entry.body)
    return "agent" if role == "assistant" else role
