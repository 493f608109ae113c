"""Build the graph of a project's decisions: which replaced which, and which sessions refer to them.

A decision is a node. An edge says that a newer decision supersedes it, in its own session or a
later one, or that a later session refers to it: it names the entry, received it in a packet, or
speaks of the same things. Sessions that continue another one get an edge too. The graph is computed
from the entries and never stored.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.observe.results.choices import rejected_subject, terms_of
from holdfast.core.view.questions.statements import SessionStatements, Statement
from holdfast.core.view.search.excerpts import REF_CHARS
from holdfast.text.patterns import Pattern

EdgeKind: TypeAlias = Literal["supersedes", "references", "continues"]

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


def build_graph(sessions: Sequence[SessionStatements]) -> DecisionGraph:
    """Build the graph of sessions, given oldest first."""
    decisions = _all_decisions(sessions)
    place = {session.session: at for at, session in enumerate(sessions)}
    edges = [*_supersedes_edges(decisions, place), *_continues_edges(sessions)]
    edges += _references_edges(sessions, decisions, place)
    unique_edges = tuple(dict.fromkeys(edges))
    nodes = tuple(_node(decision, unique_edges) for decision in decisions)
    return DecisionGraph(
        nodes, unique_edges, tuple((session.session, session.title) for session in sessions)
    )


class _TermSet(Struct, frozen=True):
    """The terms of a text, and those of them that are names."""

    terms: frozenset[str]
    names: frozenset[str]
    capital: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "_TermSet":
        return cls(terms_of(text), _lower(NAME_SPELLING, text), _lower(CAPITALISED_WORD, text))

    def shared_names(self, other: "_TermSet") -> frozenset[str]:
        """Return the names that the other text uses; a capitalised word must be one in both."""
        return (self.names & other.terms) | (self.capital & (other.capital | other.names))


def _lower(pattern: Pattern[str], text: str) -> frozenset[str]:
    return frozenset(found[0].lower().strip("./-") for found in pattern.finditer(text))


class _DecisionTerms(Struct, frozen=True):
    """A decision with its terms."""

    name: str
    statement: Statement
    words: _TermSet

    @property
    def terms(self) -> frozenset[str]:
        """Return the words that say what the decision is about."""
        return self.words.terms


def _all_decisions(sessions: Sequence[SessionStatements]) -> list[_DecisionTerms]:
    """Return every decision once: sessions with a common beginning share its decisions."""
    seen: set[tuple[str, str]] = set()
    of_entry: Counter[str] = Counter()
    decisions: list[_DecisionTerms] = []
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
        number = f".{of_entry[name]}" if of_entry[name] > 1 else ""
        decisions.append(_DecisionTerms(name + number, statement, _TermSet.of(statement.text)))
    return decisions


def _supersedes_edges(
    decisions: Sequence[_DecisionTerms], place: Mapping[str, int]
) -> Iterator[DecisionEdge]:
    """Yield an edge for each decision that replaces another, in its session or an earlier one."""
    of_entry = {
        (decision.statement.session, decision.statement.ref): decision.name
        for decision in reversed(decisions)
    }
    by_term: dict[str, list[_DecisionTerms]] = {}
    for decision in decisions:
        statement = decision.statement
        older = (
            of_entry.get((statement.session, statement.replaces)) if statement.replaces else None
        )
        if older:
            yield DecisionEdge(decision.name, older, "supersedes")
        else:
            before = _earlier_decision(decision, by_term, place)
            if before is not None:
                yield DecisionEdge(decision.name, before.name, "supersedes")
        for term in decision.terms:
            by_term.setdefault(term, []).append(decision)


def _earlier_decision(
    decision: _DecisionTerms,
    by_term: Mapping[str, Sequence[_DecisionTerms]],
    place: Mapping[str, int],
) -> _DecisionTerms | None:
    """Return the newest decision of an earlier session that this decision reverses."""
    reversal = rejected_subject(decision.statement.text)
    if not reversal.against:
        return None
    # One common word is chance: all reversed terms must match, or a further term as well.
    found = [
        other
        for term in reversal.against
        for other in by_term.get(term, ())
        if place[other.statement.session] < place[decision.statement.session]
        and not other.statement.replaced_by
        and _is_reversed(reversal.against, reversal.named, decision.terms, other.terms)
    ]
    return max(found, key=lambda other: place[other.statement.session], default=None)


def _is_reversed(
    against: Collection[str], named: bool, terms: frozenset[str], older: frozenset[str]
) -> bool:
    shared = older & frozenset(against)
    beside = (older & terms) - shared
    if named:
        return len(shared) == len(against) and (len(shared) > 1 or bool(beside))
    return len(shared) >= 2


def _continues_edges(sessions: Sequence[SessionStatements]) -> Iterator[DecisionEdge]:
    names = {session.session for session in sessions}
    return (
        DecisionEdge(session.session, session.after, "continues")
        for session in sessions
        if session.after in names
    )


def _references_edges(
    sessions: Sequence[SessionStatements],
    decisions: Sequence[_DecisionTerms],
    place: Mapping[str, int],
) -> Iterator[DecisionEdge]:
    """Yield one edge for each later session and decision that it refers to."""
    frequent = _frequent_terms(sessions)
    by_term: dict[str, list[_DecisionTerms]] = {}
    for decision in decisions:
        for term in decision.terms:
            by_term.setdefault(term, []).append(decision)
    by_name = {decision.name: decision for decision in decisions}
    for session in sessions:
        here = place[session.session]
        referenced = [by_name[name] for name in _refs_named(session) if name in by_name]
        similar = (
            decision
            for words in _term_sets(session)
            for decision in _decisions_about(words, by_term, frequent)
        )
        found = dict.fromkeys(decision.name for decision in (*referenced, *similar))
        earlier = (by_name[name] for name in found)
        yield from (
            DecisionEdge(session.session, decision.name, "references")
            for decision in earlier
            if place[decision.statement.session] < here
        )


def _refs_named(session: SessionStatements) -> Iterator[str]:
    """Yield entries that a session passed on in packets or that its requests name."""
    yield from (ref[:REF_CHARS] for ref in session.handed)
    for quote in session.requests:
        yield from (found[0][:REF_CHARS] for found in ENTRY_REF.finditer(quote.text[:20_000]))


def _term_sets(session: SessionStatements) -> Iterator[_TermSet]:
    """Yield the terms of each request and statement of a session."""
    yield from (_TermSet.of(quote.text[:2_000]) for quote in session.requests)
    yield from (_TermSet.of(statement.words) for statement in session.settled)


def _frequent_terms(sessions: Sequence[SessionStatements]) -> Collection[str]:
    """Return terms that occur in so many sessions that they identify nothing."""
    counts: Counter[str] = Counter()
    for session in sessions:
        counts.update({term for words in _term_sets(session) for term in words.terms})
    most = max(3, MAX_SESSION_SHARE * len(sessions))
    return {term for term, times in counts.items() if times > most}


def _decisions_about(
    words: _TermSet, by_term: Mapping[str, Sequence[_DecisionTerms]], frequent: Collection[str]
) -> Iterator[_DecisionTerms]:
    """Yield the decisions that are about the same things as a text."""
    shared: dict[str, list[str]] = {}
    by_name: dict[str, _DecisionTerms] = {}
    for term in sorted(words.terms.difference(frequent)):
        for decision in by_term.get(term, ()):
            shared.setdefault(decision.name, []).append(term)
            by_name[decision.name] = decision
    for name, terms in shared.items():
        decision = by_name[name]
        specific = decision.terms.difference(frequent) or decision.terms
        names_used = decision.words.shared_names(words)
        names = [
            term
            for term in terms
            if term in names_used and len(by_term[term]) <= MAX_DECISIONS_PER_NAME
        ]
        # A single plain word is shared by chance; a name in few decisions is not.
        if names or (len(terms) > 1 and len(terms) >= MIN_TERM_SHARE * len(specific)):
            yield decision


def _node(decision: _DecisionTerms, edges: Iterable[DecisionEdge]) -> DecisionNode:
    statement = decision.statement
    incoming = [edge for edge in edges if edge.target == decision.name]
    newer = [edge.source for edge in incoming if edge.kind == "supersedes"]
    return DecisionNode(
        id=decision.name,
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
    decisions = _all_decisions(sessions)
    by_term: dict[str, list[_DecisionTerms]] = {}
    for decision in decisions:
        for term in decision.terms:
            by_term.setdefault(term, []).append(decision)
    found = {decision.name for decision in _decisions_about(_TermSet.of(task[:2_000]), by_term, ())}
    return [decision.statement for decision in decisions if decision.name in found]


def statements_of_all(sessions: Sequence[SessionStatements]) -> list[Statement]:
    """Return the statements of all sessions; those that a later session replaced are marked."""
    decisions = _all_decisions(sessions)
    place = {session.session: at for at, session in enumerate(sessions)}
    named = {decision.name: decision.statement for decision in decisions}
    edges = _supersedes_edges(decisions, place)
    replaced = {named[edge.target].key: named[edge.source].ref for edge in edges}
    return [
        replace(statement, replaced_by=statement.replaced_by or replaced.get(statement.key, ""))
        for session in sessions
        for statement in session.settled
    ]
