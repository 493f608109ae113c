"""Build the graph of a project's decisions: which replaced which, and which sessions refer to them.

A decision is a node. An edge says that a newer decision supersedes it, in its own session or a
later one, or that a later session refers to it: it names the entry, received it in a packet, or
speaks of the same things. Sessions that continue another one get an edge too. The graph is computed
from the entries and never stored.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.observe.results.choices import RejectedSubject, rejected_subject, terms_of
from holdfast.core.view.questions.statements import SessionStatements, Statement
from holdfast.core.view.search.excerpts import REF_CHARS
from holdfast.text.patterns import Pattern

EdgeKind: TypeAlias = Literal["supersedes", "references", "continues"]
TermsOfTexts: TypeAlias = Callable[[SessionStatements], Sequence[frozenset[str]]]

MIN_TERM_SHARE = 0.5
"""Share of a decision's terms that a text must contain to be about the decision."""
MAX_DECISIONS_PER_NAME = 3
"""Decisions that may contain a name; a name in more of them does not identify any."""
MAX_SESSION_SHARE = 0.3
"""Share of sessions that may contain a term; a term in more of them does not identify any."""
# Matches "PostgreSQL" and "app.py"; not "database" or "Stripe".
NAME_SPELLING = Pattern(
    r"(?<![\w./-])(?:[A-Za-z]{1,40}\d[\w.-]{0,40}|\d{1,8}[A-Za-z][\w.-]{0,40}|\w{1,40}[A-Z]\w{0,40}"
    r"|\w{2,40}(?:[._/]\w{1,40}){1,6})"
)
"""A word that is a name by its spelling: `JWT`, `PostgreSQL`, `app.py`, `RS256`."""
# Matches "Stripe" in "we use Stripe"; not "We" at the start of a sentence.
CAPITALISED_WORD = Pattern(r"(?<=[a-z,;] )[A-Z]\w{1,40}")
"""A word that may be a name, such as `Stripe`, or the first word of a title."""
# An entry id or its beginning. Matches "3f9a0c1b2d4e"; not "deadbeef".
ENTRY_REF = Pattern(r"\b[0-9a-f]{12,32}\b")


class DecisionNode(Struct, frozen=True, omit_defaults=True):
    """A decision and its fate."""

    id: str
    session: str
    choice: str
    reason: str = ""
    by: str = ""
    turn: int = 0
    at: str = ""
    superseded_by: str = ""
    """The decision that replaced it; empty while it is in force."""
    referenced_by: tuple[str, ...] = ()
    """Later sessions that refer to it."""


class DecisionEdge(Struct, frozen=True):
    """An edge from newer to older; an end is a node id or the name of a session."""

    source: str
    target: str
    kind: EdgeKind


class DecisionGraph(Struct, frozen=True):
    """The decisions of a project."""

    nodes: tuple[DecisionNode, ...] = ()
    edges: tuple[DecisionEdge, ...] = ()
    sessions: tuple[tuple[str, str], ...] = ()
    """Names and titles of the sessions, the oldest first."""

    def node(self, name: str) -> DecisionNode | None:
        """Return the decision with that id; None when there is none."""
        return next((node for node in self.nodes if node.id == name), None)


def build_graph(sessions: Sequence[SessionStatements], *, references: bool = True) -> DecisionGraph:
    """Build the graph of sessions, given oldest first; references only if asked for."""
    return graph_with(find_edges(sessions) if references else find_links(sessions), sessions)


def text_terms(session: SessionStatements) -> tuple[frozenset[str], ...]:
    """Return the terms of each request and statement of a session."""
    return tuple(map(terms_of, _texts_of(session)))


def find_links(sessions: Sequence[SessionStatements]) -> tuple[DecisionEdge, ...]:
    """Return the edges of sessions, given oldest first, besides the references."""
    return tuple(dict.fromkeys(_links(sessions, _with_terms(sessions), _places(sessions))))


def find_edges(
    sessions: Sequence[SessionStatements], terms_of_texts: TermsOfTexts = text_terms
) -> tuple[DecisionEdge, ...]:
    """Return the edges of the graph of sessions, given oldest first."""
    decisions, place = _with_terms(sessions), _places(sessions)
    links = _links(sessions, decisions, place)
    read = [terms_of_texts(session) for session in sessions]
    references = _references_edges(sessions, read, decisions, place)
    return tuple(dict.fromkeys((*links, *references)))


def _places(sessions: Sequence[SessionStatements]) -> Mapping[str, int]:
    return {session.session: at for at, session in enumerate(sessions)}


def _links(
    sessions: Sequence[SessionStatements],
    decisions: Sequence["_DecisionTerms"],
    place: Mapping[str, int],
) -> Iterator[DecisionEdge]:
    yield from _supersedes_edges(decisions, place)
    yield from _continues_edges(sessions)


def graph_with(
    edges: tuple[DecisionEdge, ...], sessions: Sequence[SessionStatements]
) -> DecisionGraph:
    """Return the graph of the same sessions with the edges that were found in them."""
    incoming: dict[str, list[DecisionEdge]] = {}
    for edge in edges:
        incoming.setdefault(edge.target, []).append(edge)
    return DecisionGraph(
        tuple(
            _node(name, statement, incoming.get(name, ()))
            for name, statement in _all_decisions(sessions)
        ),
        edges,
        tuple((session.session, session.title) for session in sessions),
    )


def _lower(pattern: Pattern[str], text: str) -> frozenset[str]:
    return frozenset(found[0].lower().strip("./-") for found in pattern.finditer(text))


def _names_in(text: str) -> frozenset[str]:
    """Return the words that are names by their spelling."""
    return _lower(NAME_SPELLING, text)


def _capitalised_in(text: str) -> frozenset[str]:
    """Return the capitalised words, which may be names."""
    return _lower(CAPITALISED_WORD, text)


class _DecisionTerms(Struct, frozen=True):
    """A decision with its name and its terms."""

    name: str
    statement: Statement
    terms: frozenset[str]
    """The words that say what the decision is about."""


def _all_decisions(sessions: Sequence[SessionStatements]) -> Iterator[tuple[str, Statement]]:
    """Yield every decision once, with its name: sessions with a common beginning share some."""
    seen: set[tuple[str, str]] = set()
    of_entry: Counter[str] = Counter()
    for statement in (
        statement
        for session in sessions
        for statement in session.settled
        if statement.kind == "decision"
    ):
        if statement.key in seen:
            continue
        seen.add(statement.key)
        name = statement.ref[:REF_CHARS]
        of_entry[name] += 1
        yield (f"{name}.{of_entry[name]}" if of_entry[name] > 1 else name), statement


def _with_terms(sessions: Sequence[SessionStatements]) -> list[_DecisionTerms]:
    return [
        _DecisionTerms(name, statement, terms_of(statement.text))
        for name, statement in _all_decisions(sessions)
    ]


def _supersedes_edges(
    decisions: Sequence[_DecisionTerms], place: Mapping[str, int]
) -> Iterator[DecisionEdge]:
    """Yield an edge for each decision that replaces another, in its session or an earlier one."""
    of_entry = {
        (decision.statement.session, decision.statement.ref): decision.name
        for decision in reversed(decisions)
    }
    by_term: dict[str, list[int]] = {}
    for number, decision in enumerate(decisions):
        statement = decision.statement
        older = (
            of_entry.get((statement.session, statement.replaces)) if statement.replaces else None
        )
        if older:
            yield DecisionEdge(decision.name, older, "supersedes")
        else:
            before = _earlier_decision(decision, decisions, by_term, place)
            if before is not None:
                yield DecisionEdge(decision.name, before.name, "supersedes")
        for term in decision.terms:
            by_term.setdefault(term, []).append(number)


def _earlier_decision(
    decision: _DecisionTerms,
    decisions: Sequence[_DecisionTerms],
    by_term: Mapping[str, Sequence[int]],
    place: Mapping[str, int],
) -> _DecisionTerms | None:
    """Return the first decision that this one reverses, of the newest such earlier session."""
    reversal = rejected_subject(decision.statement.text)
    if not reversal.against:
        return None
    here, newest = place[decision.statement.session], 0
    found: _DecisionTerms | None = None
    for number in _candidates(reversal, by_term):
        other = decisions[number]
        at = place[other.statement.session]
        if found is not None and at < newest:
            break
        if (
            at < here
            and not other.statement.replaced_by
            and _is_reversed(reversal, decision.terms, other.terms)
        ):
            found, newest = other, at
    return found


def _candidates(reversal: RejectedSubject, by_term: Mapping[str, Sequence[int]]) -> Iterable[int]:
    """Return the numbers of decisions that may be reversed, from the newest on."""
    numbers = [by_term.get(term, ()) for term in reversal.against]
    if reversal.named:
        return reversed(min(numbers, key=len))
    times = Counter(number for each in numbers for number in each)
    return sorted((number for number, shared in times.items() if shared > 1), reverse=True)


def _is_reversed(reversal: RejectedSubject, terms: frozenset[str], older: frozenset[str]) -> bool:
    # One common word is chance: all reversed terms must match, or a further term as well.
    if not reversal.named:
        return len(older & reversal.against) > 1
    if not reversal.against <= older:
        return False
    return len(reversal.against) > 1 or not older.isdisjoint(terms - reversal.against)


def _continues_edges(sessions: Sequence[SessionStatements]) -> Iterator[DecisionEdge]:
    names = {session.session for session in sessions}
    return (
        DecisionEdge(session.session, session.after, "continues")
        for session in sessions
        if session.after in names
    )


def _references_edges(
    sessions: Sequence[SessionStatements],
    read: Sequence[Sequence[frozenset[str]]],
    decisions: Sequence[_DecisionTerms],
    place: Mapping[str, int],
) -> Iterator[DecisionEdge]:
    """Yield one edge for each later session and decision that it refers to."""
    index = _index_terms(decisions, _frequent_terms(read))
    by_name = {decision.name: decision for decision in decisions}
    for session, terms_of_texts in zip(sessions, read, strict=True):
        here = place[session.session]
        found = dict.fromkeys(name for name in _refs_named(session) if name in by_name)
        for text, terms in zip(_texts_of(session), terms_of_texts, strict=True):
            found |= dict.fromkeys(_names_about(text, terms, index))
        yield from (
            DecisionEdge(session.session, name, "references")
            for name in found
            if place[by_name[name].statement.session] < here
        )


def _refs_named(session: SessionStatements) -> Iterator[str]:
    """Yield entries that a session passed on in packets or that its requests name."""
    yield from (ref[:REF_CHARS] for ref in session.handed)
    for quote in session.requests:
        yield from (found[0][:REF_CHARS] for found in ENTRY_REF.finditer(quote.text[:20_000]))


def _texts_of(session: SessionStatements) -> Iterator[str]:
    """Yield each request and statement of a session."""
    yield from (quote.text[:2_000] for quote in session.requests)
    yield from (statement.words for statement in session.settled)


def _frequent_terms(read: Sequence[Sequence[frozenset[str]]]) -> Collection[str]:
    """Return terms that occur in so many sessions that they identify nothing."""
    counts: Counter[str] = Counter()
    for terms_of_texts in read:
        counts.update(frozenset[str]().union(*terms_of_texts))
    most = max(3, MAX_SESSION_SHARE * len(read))
    return {term for term, times in counts.items() if times > most}


class _TermIndex(Struct, frozen=True):
    """The decisions that contain each term which identifies something."""

    by_term: Mapping[str, Sequence[str]]
    specific: Mapping[str, int]
    """By decision, the number of its terms that identify something."""
    rare: frozenset[str]
    """The terms that few decisions contain."""
    by_name: Mapping[str, Sequence[str]]
    by_capital: Mapping[str, Sequence[str]]
    """The decisions of which such a term is a name, or else a capitalised word."""

    def named(self, terms: Collection[str], text: str) -> Collection[str]:
        """Return the decisions of which one of a text's terms is a name in both."""
        found = {name for term in terms for name in self.by_name.get(term, ())}
        if not self.by_capital.keys().isdisjoint(terms):
            # A capitalised word is a name only if it is one in both.
            own = (_capitalised_in(text) | _names_in(text)).intersection(terms)
            found.update(name for term in own for name in self.by_capital.get(term, ()))
        return found


def _index_terms(decisions: Sequence[_DecisionTerms], frequent: Collection[str] = ()) -> _TermIndex:
    by_term: dict[str, list[str]] = {}
    specific: dict[str, int] = {}
    for decision in decisions:
        terms = decision.terms.difference(frequent)
        specific[decision.name] = len(terms or decision.terms)
        for term in terms:
            by_term.setdefault(term, []).append(decision.name)
    rare = frozenset(
        term for term, found in by_term.items() if len(found) <= MAX_DECISIONS_PER_NAME
    )
    by_name: dict[str, list[str]] = {}
    by_capital: dict[str, list[str]] = {}
    for decision in decisions:
        terms = decision.terms & rare
        names = terms & _names_in(decision.statement.text) if terms else terms
        for term in names:
            by_name.setdefault(term, []).append(decision.name)
        others = terms - names
        for term in others & _capitalised_in(decision.statement.text) if others else ():
            by_capital.setdefault(term, []).append(decision.name)
    return _TermIndex(by_term, specific, rare, by_name, by_capital)


def _names_about(text: str, words: frozenset[str], index: _TermIndex) -> list[str]:
    """Return the names of the decisions that are about the same things as a text."""
    terms = index.by_term.keys() & words
    named = () if index.rare.isdisjoint(terms) else index.named(terms, text)
    # A single plain word is shared by chance; a name in few decisions is not.
    if len(terms) < 2 and not named:
        return []
    shared: dict[str, int] = {}
    for term in sorted(terms):
        for name in index.by_term[term]:
            shared[name] = shared.get(name, 0) + 1
    return [
        name
        for name, times in shared.items()
        if name in named or (times > 1 and times >= MIN_TERM_SHARE * index.specific[name])
    ]


def _node(name: str, statement: Statement, incoming: Sequence[DecisionEdge]) -> DecisionNode:
    newer = [edge.source for edge in incoming if edge.kind == "supersedes"]
    return DecisionNode(
        id=name,
        session=statement.session,
        choice=statement.text,
        reason=statement.reason,
        by=statement.by,
        turn=statement.turn,
        at=statement.at,
        superseded_by=newer[-1] if newer else "",
        referenced_by=tuple(edge.source for edge in incoming if edge.kind == "references"),
    )


def decisions_about(task: str, sessions: Sequence[SessionStatements]) -> list[Statement]:
    """Return the decisions that a task speaks of, in their order."""
    decisions, text = _with_terms(sessions), task[:2_000]
    found = frozenset(_names_about(text, terms_of(text), _index_terms(decisions)))
    return [decision.statement for decision in decisions if decision.name in found]


def statements_of_all(
    sessions: Sequence[SessionStatements], links: Iterable[DecisionEdge] | None = None
) -> list[Statement]:
    """Return the statements of all sessions; those that a later session replaced are marked.

    `links` are the result of `find_links`, if it is known.
    """
    named = dict(_all_decisions(sessions))
    replaced = {
        named[edge.target].key: named[edge.source].ref
        for edge in (find_links(sessions) if links is None else links)
        if edge.kind == "supersedes"
    }
    return [
        _replaced(statement, replaced.get(statement.key, ""))
        for session in sessions
        for statement in session.settled
    ]


def _replaced(statement: Statement, by: str) -> Statement:
    return replace(statement, replaced_by=by) if by and not statement.replaced_by else statement
