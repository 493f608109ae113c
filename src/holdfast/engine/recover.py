"""Search sessions: find passages with the index, rank them, and return excerpts.

Appending does not import this module.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import apsw
from msgspec.structs import replace

from holdfast.core.index.passages import Passage, passages_of, searchable_text, speaker
from holdfast.core.index.terms import PassageHit, PassagePool, Query, Term, parse_query
from holdfast.core.ledger.entry import Entry
from holdfast.core.ledger.head import Head
from holdfast.core.view.search.excerpts import (
    REF_CHARS,
    Hit,
    excerpt_of_passage,
    hits_within_budget,
)
from holdfast.core.view.search.ranking import (
    PassageCandidate,
    RankedPassage,
    Similar,
    Stems,
    rank_passages,
)
from holdfast.engine.fault_log import notes_faults
from holdfast.engine.live_window import LiveWindow
from holdfast.models.thesaurus import similar_words
from holdfast.stores.store import Store

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger

RedactEntries: TypeAlias = Callable[[str, Iterable[Entry]], Iterable[Entry]]
"""Redacts the entries of a session, by its name; called before excerpts are cut."""


def unredacted(_: str, entries: Iterable[Entry]) -> Iterable[Entry]:
    """Return entries unchanged."""
    return entries


POOL_PER_HIT, MIN_POOL, MAX_POOL = 8, 40, 160
"""Passages that are read for each hit wanted, and in all: minimum and maximum."""
MAX_COMPARED_CHARS = 8_000
"""Characters of excerpts that a model compares with the question: under a second of its time."""
MAX_SCANNED_ENTRIES = 20_000
"""Entries that are scanned, newest first, if the index has no word of the query."""


@cache
def stemmer() -> Stems:
    """Return the full-text engine's own tokenizer, so that words match those in the index."""
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
    redact: RedactEntries = unredacted,
) -> list[Hit]:
    """Find what a session said about something; or every session of its project or ledger.

    Raises:
        BadSetting: a model has to compare meanings, and it is not installed.
    """
    visible = {session: visible_entries(store, session)}
    similar = _model_similarity(text) if strong else None
    if scope == "ledger":
        stores = store.stores_of_all_projects()
        found = (
            search(each_store, text, limit=limit, similar=similar, redact=redact)
            for each_store in stores
        )
        hits = sorted(
            (hit for store_hits in found for hit in store_hits), key=lambda hit: -hit.score
        )[:limit]
    else:
        sessions = (session,) if scope == "session" else None
        hits = search(
            store,
            text,
            sessions=sessions,
            limit=limit,
            visible=visible,
            similar=similar,
            redact=redact,
        )
    if budget is None:
        return hits
    from holdfast.models.tokenizers import counter  # late: only a budget needs a tokenizer

    head = store.head(session) or Head()
    return hits_within_budget(hits, counter(head.vocabulary), budget)


def _model_similarity(text: str) -> Similar:
    from holdfast.models.similar import (
        similarity_to,  # late: optional, and slow to import
    )

    return similarity_to(text)


def search(
    store: Store,
    text: str,
    *,
    sessions: Sequence[str] | None = None,
    limit: int = 5,
    similar: Similar | None = None,
    visible: Mapping[str, Collection[str]] | None = None,
    redact: RedactEntries = unredacted,
) -> list[Hit]:
    """Return the excerpts that answer a query best, the best first; any text is a valid query.

    `visible` has the visible entries by session; entries of other sessions are never called hidden.
    """
    query = parse_query(text, similar_words)
    if limit <= 0 or not text.strip():
        return []
    names = None if sessions is None else tuple(sessions)
    size = min(max(POOL_PER_HIT * limit, MIN_POOL), MAX_POOL)
    for terms in (query.terms, query.filler):
        pooled = store.search(terms, sessions=names, limit=size) if terms else PassagePool()
        if pooled.found:
            rarity = dict(zip(terms, pooled.rarity, strict=True))
            pool = _PassagePool(
                _read_entries(store, pooled.found, redact), pooled.found, visible or {}
            )
            hits = _best_hits(pool, query, rarity, limit, similar)
            if hits:
                return hits
    return _scan(store, text, names, limit, visible or {}, redact)


class _PassagePool:
    """The passages that the index found, with their texts."""

    def __init__(
        self,
        entries: Mapping[tuple[str, int], Entry],
        found: Sequence[PassageHit],
        visible: Mapping[str, Collection[str]],
    ) -> None:
        self._entries = entries
        self.texts = {key: searchable_text(entry.body) for key, entry in self._entries.items()}
        self.cuts = {key: passages_of(text) for key, text in self.texts.items()}
        self.candidates = [
            self._candidate(passage, visible) for passage in found if self._is_there(passage)
        ]

    def _is_there(self, passage: PassageHit) -> bool:
        return passage.passage < len(self.cuts.get((passage.session, passage.seq), ()))

    def _candidate(
        self, passage: PassageHit, visible: Mapping[str, Collection[str]]
    ) -> PassageCandidate:
        key = (passage.session, passage.seq)
        cut, entry = self.cuts[key][passage.passage], self._entries[key]
        part = self.texts[key][cut.start : cut.stop]
        return PassageCandidate(
            passage, entry, speaker(entry.body), part, _is_hidden(entry, passage.session, visible)
        )


def _is_hidden(entry: Entry, session: str, visible: Mapping[str, Collection[str]]) -> bool:
    return session in visible and entry.id not in visible[session]


def _best_hits(
    pool: _PassagePool,
    query: Query,
    rarity: Mapping[Term, float],
    limit: int,
    similar: Similar | None,
) -> list[Hit]:
    ranked = rank_passages(query, rarity, pool.candidates, stems=stemmer())
    if similar is not None:
        ranked = rank_passages(
            query,
            rarity,
            pool.candidates,
            stems=stemmer(),
            alike=_similarities(ranked, pool, rarity, similar),
        )
    hits: dict[str, Hit] = {}
    for row in ranked:
        found = row.candidate.found
        key = (found.session, found.seq)
        hit = _make_hit(row, pool.texts[key], pool.cuts[key][found.passage], rarity)
        # Equal excerpts add nothing: a file that was read twice is shown once.
        hits.setdefault(hit.text, hit)
        if len(hits) == limit:
            break
    return list(hits.values())


def _similarities(
    ranked: Sequence[RankedPassage],
    pool: "_PassagePool",
    rarity: Mapping[Term, float],
    similar: Similar,
) -> dict[PassageHit, float]:
    """Return how similar in meaning the best passages are, within a limit of characters."""
    texts: dict[PassageHit, str] = {}
    chars_left = MAX_COMPARED_CHARS
    for row in ranked:
        found = row.candidate.found
        key = (found.session, found.seq)
        cut = pool.cuts[key][found.passage]
        texts[found] = _make_hit(row, pool.texts[key], cut, rarity).text
        chars_left -= len(texts[found])
        if chars_left < 0:
            break
    return dict(zip(texts, similar(list(texts.values())), strict=True))


def _read_entries(
    store: Store, found: Iterable[PassageHit], redact: RedactEntries
) -> dict[tuple[str, int], Entry]:
    numbers_by_session: dict[str, set[int]] = {}
    for passage in found:
        numbers_by_session.setdefault(passage.session, set()).add(passage.seq)
    return {
        (session, entry.seq): entry
        for session, numbers in numbers_by_session.items()
        for entry in redact(session, store.read(session, numbers=numbers))
    }


def _make_hit(row: RankedPassage, text: str, cut: Passage, rarity: Mapping[Term, float]) -> Hit:
    found, entry = row.candidate.found, row.candidate.entry
    part = excerpt_of_passage(text, cut, {term: rarity[term] * term.weight for term in row.terms})
    return Hit(
        text=part.text,
        ref=entry.id[:REF_CHARS],
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


def _scan(
    store: Store,
    text: str,
    sessions: Sequence[str] | None,
    limit: int,
    visible: Mapping[str, Collection[str]],
    redact: RedactEntries,
) -> list[Hit]:
    """Find entries that contain the query literally: for signs, or the middle of a word."""
    needle = text.strip().lower()
    names = [listed.name for listed in store.sessions()] if sessions is None else list(sessions)
    hits: dict[str, Hit] = {}
    entries_left = MAX_SCANNED_ENTRIES
    for name in names:
        head = store.head(name)
        last = head.seq if head else 0
        newest = redact(name, store.read(name, since=max(last - entries_left, 0)))
        for entry in reversed(list(newest)):
            hit = _hit_in(entry, needle, name)
            if hit is not None:
                hits.setdefault(hit.text, replace(hit, hidden=_is_hidden(entry, name, visible)))
            if len(hits) == limit:
                return list(hits.values())
        entries_left -= min(last, entries_left)
    return list(hits.values())


def _hit_in(entry: Entry, needle: str, session: str) -> Hit | None:
    text = searchable_text(entry.body)
    position = text.lower().find(needle)
    if position < 0:
        return None
    # Lowercasing can lengthen a text and shift positions: then use the first passage.
    cut = next(
        (
            candidate
            for candidate in passages_of(text)
            if candidate.start <= position < candidate.stop
        ),
        Passage(0, 0),
    )
    term = Term((needle,), text=needle)
    part = excerpt_of_passage(text, cut, {term: 1.0})
    found = PassageHit(session, entry.seq, 0, 0, 0)
    candidate = PassageCandidate(found, entry, speaker(entry.body), part.text)
    return _make_hit(RankedPassage(candidate, 1.0, 1.0, (term,)), text, cut, {term: 1.0})


def visible_entries(store: Store, session: str) -> frozenset[str]:
    """Return the entries that an agent of the session sees without a stand-in."""
    head = store.head(session) or Head()
    windows = (LiveWindow(store, session, lane).window() for lane in ("", *head.lanes))
    return frozenset(
        item.entry.id for window in windows for item in window.items if item.stand_in is None
    )


@notes_faults
def recover_redacted(
    ledger: "Ledger", query: str, limit: int, budget: int | None, *, scope: str
) -> list[Hit]:
    """Search, and repeat the search while the sessions of the hits add secrets to redact."""
    others = ledger.cross_session_redactor
    while True:
        hits = recover(
            ledger.store,
            ledger.name,
            query,
            limit,
            budget,
            scope=scope,
            strong=ledger.policy.search == "strong",
            redact=others.entries,
        )
        if not others.learn((hit.session for hit in hits), everywhere=scope == "ledger"):
            return hits
