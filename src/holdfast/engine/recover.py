"""Finding what was said: the index gives passages, the core says how well they answer.

Nothing here is loaded by whoever only appends.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import apsw
from msgspec.structs import replace

from holdfast.core.index.passages import Passage, passages_of, readable, speaker
from holdfast.core.index.terms import Found, Pooled, Query, Term, parse_query
from holdfast.core.ledger.entry import Entry
from holdfast.core.ledger.head import Head
from holdfast.core.view.search.excerpts import REFERENCE, Hit, shown, within
from holdfast.core.view.search.ranking import Candidate, Ranked, Similar, Stems, rank
from holdfast.engine.live_window import Sight
from holdfast.models.thesaurus import like
from holdfast.stores.store import Store

if TYPE_CHECKING:
    from holdfast.engine.redact import Others

Redact: TypeAlias = Callable[[str, Iterable[Entry]], Iterable[Entry]]
"""What may be seen of a session's entries, by its name: looked at before anything is cut short."""


def as_they_are(_: str, entries: Iterable[Entry]) -> Iterable[Entry]:
    """Entries with all that they hold."""
    return entries


POOL, LEAST, MOST = 8, 40, 160
"""Passages that are read for each that is wanted, and in all: at the least and at the most."""
COMPARED = 8_000
"""Characters of excerpts that a model compares with the question: under a second of its time."""
SCANNED = 20_000
"""Entries that are read, the newest first, when the index has no word for what is looked for."""


@cache
def stemmer() -> Stems:
    """The engine's own way from text to words, so that what it finds is found again here."""
    tokens = apsw.Connection(":memory:").fts5_tokenizer(
        "porter", ["unicode61", "remove_diacritics", "2"]
    )

    def stems(text: str) -> list[str]:
        data = text.encode("utf-8", "replace")
        found = tokens(data, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False)
        return [str(row[0]) for row in found]

    return stems


def recover(
    store: Store,
    session: str,
    text: str,
    limit: int = 5,
    budget: int | None = None,
    *,
    scope: str = "session",
    strong: bool = False,
    redact: Redact = as_they_are,
) -> list[Hit]:
    """What a session said about something, or every session of its project or of its ledger.

    Raises:
        BadSetting: a model is to compare meanings, and it is not installed.
    """
    sight = {session: in_sight(store, session)}
    similar = _strong(text) if strong else None
    if scope == "ledger":
        stores = store.shelves()
        found = (search(one, text, limit=limit, similar=similar, redact=redact) for one in stores)
        hits = sorted((hit for some in found for hit in some), key=lambda hit: -hit.score)[:limit]
    else:
        sessions = (session,) if scope == "session" else None
        hits = search(
            store,
            text,
            sessions=sessions,
            limit=limit,
            sight=sight,
            similar=similar,
            redact=redact,
        )
    if budget is None:
        return hits
    from holdfast.models.tokenizers import counter  # late: only a budget needs a tokenizer

    head = store.head(session) or Head()
    return within(hits, counter(head.vocabulary), budget)


def _strong(text: str) -> Similar:
    from holdfast.models.similar import likeness  # late: an extra, and it takes a second to load

    return likeness(text)


def search(
    store: Store,
    text: str,
    *,
    sessions: Sequence[str] | None = None,
    limit: int = 5,
    similar: Similar | None = None,
    sight: Mapping[str, Collection[str]] | None = None,
    redact: Redact = as_they_are,
) -> list[Hit]:
    """The excerpts that answer best, the best first; any text at all may be asked.

    `sight` names the entries in sight by session; of a session not in it, nothing is called hidden.
    """
    query = parse_query(text, like)
    if limit <= 0 or not text.strip():
        return []
    names = None if sessions is None else tuple(sessions)
    size = min(max(POOL * limit, LEAST), MOST)
    for terms in (query.terms, query.filler):
        pooled = store.search(terms, sessions=names, limit=size) if terms else Pooled()
        if pooled.found:
            rarity = dict(zip(terms, pooled.rarity, strict=True))
            reading = _Reading(_read(store, pooled.found, redact), pooled.found, sight or {})
            hits = _answers(reading, query, rarity, limit, similar)
            if hits:
                return hits
    return _scanned(store, text, names, limit, sight or {}, redact)


class _Reading:
    """The passages of a pool as they were read."""

    def __init__(
        self,
        entries: Mapping[tuple[str, int], Entry],
        found: Sequence[Found],
        sight: Mapping[str, Collection[str]],
    ) -> None:
        self._entries = entries
        self.texts = {key: readable(entry.body) for key, entry in self._entries.items()}
        self.cuts = {key: passages_of(text) for key, text in self.texts.items()}
        self.candidates = [self._candidate(one, sight) for one in found if self._is_there(one)]

    def _is_there(self, one: Found) -> bool:
        return one.passage < len(self.cuts.get((one.session, one.seq), ()))

    def _candidate(self, one: Found, sight: Mapping[str, Collection[str]]) -> Candidate:
        key = (one.session, one.seq)
        cut, entry = self.cuts[key][one.passage], self._entries[key]
        part = self.texts[key][cut.start : cut.stop]
        return Candidate(
            one, entry, speaker(entry.body), part, _is_hidden(entry, one.session, sight)
        )


def _is_hidden(entry: Entry, session: str, sight: Mapping[str, Collection[str]]) -> bool:
    return session in sight and entry.id not in sight[session]


def _answers(
    reading: _Reading,
    query: Query,
    rarity: Mapping[Term, float],
    limit: int,
    similar: Similar | None,
) -> list[Hit]:
    ranked = rank(query, rarity, reading.candidates, stems=stemmer())
    if similar is not None:
        ranked = rank(
            query,
            rarity,
            reading.candidates,
            stems=stemmer(),
            alike=_alike(ranked, reading, rarity, similar),
        )
    hits: dict[str, Hit] = {}
    for row in ranked:
        found = row.candidate.found
        key = (found.session, found.seq)
        hit = _hit(row, reading.texts[key], reading.cuts[key][found.passage], rarity)
        # The same words again say nothing more: a file that was read twice is shown once.
        hits.setdefault(hit.text, hit)
        if len(hits) == limit:
            break
    return list(hits.values())


def _alike(
    ranked: Sequence[Ranked], reading: "_Reading", rarity: Mapping[Term, float], similar: Similar
) -> dict[Found, float]:
    """How alike in meaning the best passages are, as far as their excerpts are worth the time."""
    texts: dict[Found, str] = {}
    left = COMPARED
    for row in ranked:
        found = row.candidate.found
        key = (found.session, found.seq)
        cut = reading.cuts[key][found.passage]
        texts[found] = _hit(row, reading.texts[key], cut, rarity).text
        left -= len(texts[found])
        if left < 0:
            break
    return dict(zip(texts, similar(list(texts.values())), strict=True))


def _read(store: Store, found: Iterable[Found], redact: Redact) -> dict[tuple[str, int], Entry]:
    wanted: dict[str, set[int]] = {}
    for one in found:
        wanted.setdefault(one.session, set()).add(one.seq)
    return {
        (session, entry.seq): entry
        for session, numbers in wanted.items()
        for entry in redact(session, store.read(session, numbers=numbers))
    }


def _hit(row: Ranked, text: str, cut: Passage, rarity: Mapping[Term, float]) -> Hit:
    found, entry = row.candidate.found, row.candidate.entry
    part = shown(text, cut, {term: rarity[term] * term.weight for term in row.terms})
    return Hit(
        text=part.text,
        ref=entry.id[:REFERENCE],
        score=round(row.score, 4),
        role=row.candidate.role,
        turn=found.step,
        first=part.first,
        last=part.last,
        lines=part.lines,
        hidden=row.candidate.hidden,
        agent=entry.lane,
        session=found.session,
    )


def _scanned(
    store: Store,
    text: str,
    sessions: Sequence[str] | None,
    limit: int,
    sight: Mapping[str, Collection[str]],
    redact: Redact,
) -> list[Hit]:
    """What holds the question letter by letter: for what is no word, or the middle of one."""
    needle = text.strip().lower()
    names = [listed.name for listed in store.sessions()] if sessions is None else list(sessions)
    hits: dict[str, Hit] = {}
    left = SCANNED
    for name in names:
        head = store.head(name)
        last = head.seq if head else 0
        newest = redact(name, store.read(name, since=max(last - left, 0)))
        for entry in reversed(list(newest)):
            hit = _holding(entry, needle, name)
            if hit is not None:
                hits.setdefault(hit.text, replace(hit, hidden=_is_hidden(entry, name, sight)))
            if len(hits) == limit:
                return list(hits.values())
        left -= min(last, left)
    return list(hits.values())


def _holding(entry: Entry, needle: str, session: str) -> Hit | None:
    text = readable(entry.body)
    at = text.lower().find(needle)
    if at < 0:
        return None
    # In small letters a text may be longer than it was: then the beginning has to do.
    cut = next((one for one in passages_of(text) if one.start <= at < one.stop), Passage(0, 0))
    term = Term((needle,), text=needle)
    part = shown(text, cut, {term: 1.0})
    found = Found(session, entry.seq, 0, 0, 0)
    one = Candidate(found, entry, speaker(entry.body), part.text)
    return _hit(Ranked(one, 1.0, 1.0, (term,)), text, cut, {term: 1.0})


def in_sight(store: Store, session: str) -> frozenset[str]:
    """The entries that an agent of the session sees as they are."""
    head = store.head(session) or Head()
    windows = (Sight(store, session, lane).window() for lane in ("", *head.lanes))
    return frozenset(
        item.entry.id for window in windows for item in window.items if item.stand_in is None
    )


def recover_redacted(
    store: Store,
    session: str,
    query: str,
    limit: int,
    budget: int | None,
    *,
    scope: str,
    strong: bool,
    by: "Others",
) -> list[Hit]:
    """Search, and again as long as the sessions of the hits add secrets to redact."""
    while True:
        hits = recover(
            store, session, query, limit, budget, scope=scope, strong=strong, redact=by.entries
        )
        if not by.learn((hit.session for hit in hits), everywhere=scope == "ledger"):
            return hits
