"""The decisions of all sessions of a project as one graph: what replaced what, who relies on it.

A decision is a node. An edge says that a newer one takes its place, in its own session or in a
later one, or that a later session refers to it: it names the entry, was handed it in a packet, or
speaks of the same things. Sessions that go on from another are joined as well. Everything here is
read off the record; nothing is kept but the entries.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.observe.results.choices import terms_of, turned_from
from holdfast.core.view.questions.statements import Statement, Told
from holdfast.core.view.search.excerpts import REFERENCE

Link: TypeAlias = Literal["supersedes", "references", "continues"]

TOUCHES = 0.5
"""The share of what a decision is about that words must hold to be about it as well."""
FEW = 3
"""Decisions that may hold a name before it tells nothing any more."""
SPREAD = 0.3
"""The share of sessions that may speak of a thing before its name tells nothing any more."""
NAME = re.compile(
    r"(?<![\w./-])(?:[A-Za-z]{1,40}\d[\w.-]{0,40}|\d{1,8}[A-Za-z][\w.-]{0,40}|\w{1,40}[A-Z]\w{0,40}"
    r"|\w{2,40}(?:[._/]\w{1,40}){1,6})"
)
"""What is a name by its spelling: `JWT`, `PostgreSQL`, `app.py`, `RS256`."""
CAPITAL = re.compile(r"(?<=[a-z,;] )[A-Z]\w{1,40}")
"""What may be one: `Stripe`; or it is the head of a title."""
HEX = re.compile(r"\b[0-9a-f]{12,32}\b")


class Node(Struct, frozen=True, omit_defaults=True):
    """A decision, and what became of it."""

    id: str
    session: str
    choice: str
    reason: str = ""
    by: str = ""
    turn: int = 0
    at: str = ""
    superseded_by: str = ""
    """The decision that took its place; empty while it holds."""
    referenced_by: tuple[str, ...] = ()
    """Later sessions that refer to it."""


class Edge(Struct, frozen=True):
    """From the newer to the older: a node's id, or the name of a session."""

    source: str
    target: str
    kind: Link


class Graph(Struct, frozen=True):
    """The decisions of a project."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    sessions: tuple[tuple[str, str], ...] = ()
    """Names and titles, the oldest first."""

    def node(self, name: str) -> Node | None:
        """The decision of that id."""
        return next((one for one in self.nodes if one.id == name), None)


def graph_of(told: Sequence[Told]) -> Graph:
    """The graph of sessions given oldest first."""
    decided = _all_decided(told)
    place = {each.session: at for at, each in enumerate(told)}
    edges = [*_replaced(decided, place), *_continued(told)]
    edges += _referring(told, decided, place)
    once = tuple(dict.fromkeys(edges))
    nodes = tuple(_node(one, once) for one in decided)
    return Graph(nodes, once, tuple((each.session, each.title) for each in told))


class _Words(Struct, frozen=True):
    """What some words are about, and which of it are names."""

    terms: frozenset[str]
    names: frozenset[str]
    capital: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "_Words":
        return cls(terms_of(text), _lower(NAME, text), _lower(CAPITAL, text))

    def calls(self, other: "_Words") -> frozenset[str]:
        """The names of these words that others use: a mere capital must be one on both sides."""
        return (self.names & other.terms) | (self.capital & (other.capital | other.names))


def _lower(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset(found[0].lower().strip("./-") for found in pattern.finditer(text))


class _Decided(Struct, frozen=True):
    """A decision, with what it is about."""

    name: str
    statement: Statement
    words: _Words

    @property
    def terms(self) -> frozenset[str]:
        """The words that say what it is about."""
        return self.words.terms


def _all_decided(told: Sequence[Told]) -> list[_Decided]:
    """Every decision once, by the name of its entry: sessions that share a beginning share it."""
    seen: set[tuple[str, str]] = set()
    of_entry: Counter[str] = Counter()
    decided: list[_Decided] = []
    for one in (one for each in told for one in each.settled if one.kind == "decision"):
        if one.key in seen:
            continue
        seen.add(one.key)
        name = one.ref[:REFERENCE]
        of_entry[name] += 1
        number = f".{of_entry[name]}" if of_entry[name] > 1 else ""
        decided.append(_Decided(name + number, one, _Words.of(one.text)))
    return decided


def _replaced(decided: Sequence[_Decided], place: Mapping[str, int]) -> Iterator[Edge]:
    """What took the place of what: as its session says, or as words of a later session do."""
    of_entry = {(one.statement.session, one.statement.ref): one.name for one in reversed(decided)}
    by_term: dict[str, list[_Decided]] = {}
    for one in decided:
        said = one.statement
        older = of_entry.get((said.session, said.replaces)) if said.replaces else None
        if older:
            yield Edge(one.name, older, "supersedes")
        else:
            before = _of_earlier(one, by_term, place)
            if before is not None:
                yield Edge(one.name, before.name, "supersedes")
        for term in one.terms:
            by_term.setdefault(term, []).append(one)


def _of_earlier(
    one: _Decided, by_term: Mapping[str, Sequence[_Decided]], place: Mapping[str, int]
) -> _Decided | None:
    """The newest decision of an earlier session that a decision turns from."""
    turned = turned_from(one.statement.text)
    if not turned.against:
        return None
    # One word in common is chance: what is turned from must be there whole, or a word beside it.
    found = [
        other
        for term in turned.against
        for other in by_term.get(term, ())
        if place[other.statement.session] < place[one.statement.session]
        and not other.statement.replaced_by
        and _turns_from(turned.against, turned.named, one.terms, other.terms)
    ]
    return max(found, key=lambda other: place[other.statement.session], default=None)


def _turns_from(
    against: Collection[str], named: bool, terms: frozenset[str], older: frozenset[str]
) -> bool:
    shared = older & frozenset(against)
    beside = (older & terms) - shared
    if named:
        return len(shared) == len(against) and (len(shared) > 1 or bool(beside))
    return len(shared) >= 2


def _continued(told: Sequence[Told]) -> Iterator[Edge]:
    known = {each.session for each in told}
    return (Edge(each.session, each.after, "continues") for each in told if each.after in known)


def _referring(
    told: Sequence[Told],
    decided: Sequence[_Decided],
    place: Mapping[str, int],
) -> Iterator[Edge]:
    """Which later session refers to which decision: once each, whatever it says how often."""
    frequent = _frequent(told)
    by_term: dict[str, list[_Decided]] = {}
    for one in decided:
        for term in one.terms:
            by_term.setdefault(term, []).append(one)
    by_name = {one.name: one for one in decided}
    for each in told:
        here = place[each.session]
        named = [by_name[name] for name in _named(each) if name in by_name]
        spoken = (one for words in _spoken(each) for one in _touched(words, by_term, frequent))
        found = dict.fromkeys(one.name for one in (*named, *spoken))
        earlier = (by_name[name] for name in found)
        yield from (
            Edge(each.session, one.name, "references")
            for one in earlier
            if place[one.statement.session] < here
        )


def _named(each: Told) -> Iterator[str]:
    """Entries that a session was handed, or that are named in it."""
    yield from (ref[:REFERENCE] for ref in each.handed)
    for quote in each.requests:
        yield from (found[0][:REFERENCE] for found in HEX.finditer(quote.text[:20_000]))


def _spoken(each: Told) -> Iterator[_Words]:
    """What the words of a session are about, one saying at a time."""
    yield from (_Words.of(quote.text[:2_000]) for quote in each.requests)
    yield from (_Words.of(one.words) for one in each.settled)


def _frequent(told: Sequence[Told]) -> Collection[str]:
    """Terms that so many sessions speak of that they tell nothing."""
    counts: Counter[str] = Counter()
    for each in told:
        counts.update({term for words in _spoken(each) for term in words.terms})
    most = max(3, SPREAD * len(told))
    return {term for term, times in counts.items() if times > most}


def _touched(
    words: _Words,
    by_term: Mapping[str, Sequence[_Decided]],
    frequent: Collection[str],
) -> Iterator[_Decided]:
    """The decisions that are about the same as some words."""
    shared: dict[str, list[str]] = {}
    held: dict[str, _Decided] = {}
    for term in sorted(words.terms.difference(frequent)):
        for one in by_term.get(term, ()):
            shared.setdefault(one.name, []).append(term)
            held[one.name] = one
    for name, terms in shared.items():
        one = held[name]
        telling = one.terms.difference(frequent) or one.terms
        called = one.words.calls(words)
        names = [term for term in terms if term in called and len(by_term[term]) <= FEW]
        # A single plain word is shared by chance; a name that few decisions hold is not.
        if names or (len(terms) > 1 and len(terms) >= TOUCHES * len(telling)):
            yield one


def _node(one: _Decided, edges: Iterable[Edge]) -> Node:
    said = one.statement
    to_it = [edge for edge in edges if edge.target == one.name]
    newer = [edge.source for edge in to_it if edge.kind == "supersedes"]
    return Node(
        id=one.name,
        session=said.session,
        choice=said.text,
        reason=said.reason,
        by=said.by,
        turn=said.turn,
        at=said.at,
        superseded_by=newer[-1] if newer else "",
        referenced_by=tuple(edge.source for edge in to_it if edge.kind == "references"),
    )


def touched_by(task: str, told: Sequence[Told]) -> list[Statement]:
    """The decisions that a task speaks of, in their order."""
    decided = _all_decided(told)
    by_term: dict[str, list[_Decided]] = {}
    for one in decided:
        for term in one.terms:
            by_term.setdefault(term, []).append(one)
    found = {one.name for one in _touched(_Words.of(task[:2_000]), by_term, ())}
    return [one.statement for one in decided if one.name in found]


def settled_in(told: Sequence[Told]) -> list[Statement]:
    """What all the sessions settled, with what later sessions took the place of marked as gone."""
    decided = _all_decided(told)
    place = {each.session: at for at, each in enumerate(told)}
    named = {one.name: one.statement for one in decided}
    edges = _replaced(decided, place)
    gone = {named[edge.target].key: named[edge.source].ref for edge in edges}
    return [
        replace(one, replaced_by=one.replaced_by or gone.get(one.key, ""))
        for each in told
        for one in each.settled
    ]
