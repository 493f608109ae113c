"""A question of a worker's answered from the ledger: what was decided or said, or "not known"."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from holdfast.core.index.passages import passages_of, readable, speaker
from holdfast.core.index.terms import Found, Term
from holdfast.core.ledger.entry import Derived, Entry, Said
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.window import path_to
from holdfast.core.observe.requests.constraints import MACHINE
from holdfast.core.observe.sentences import is_looking, sentences
from holdfast.core.view.decisions.graph import settled_in
from holdfast.core.view.questions.answer import Answer, answered
from holdfast.core.view.questions.question import read_question, subjects_in
from holdfast.core.view.questions.statements import Statement, Told, told_of
from holdfast.engine.cache import read_once, recalled, rules_of
from holdfast.engine.ledger import Ledger
from holdfast.engine.live_window import Sight
from holdfast.engine.recover import Redact, as_they_are, stemmer
from holdfast.engine.redact import Redactor
from holdfast.models.thesaurus import like
from holdfast.stores.store import Store
from holdfast.text.tech_terms import NAMED, names_of

POOL = 160
"""Passages that hold any of the words: read for what nobody put as a decision, and for the sessions
that may know."""
TOLD = "told"
SESSIONS = 48
"""Sessions that are read for one question, apart from those that were read for an earlier one."""


class Settled:
    """What the sessions of a project settled, read once for as long as they stay as they are."""

    def __init__(
        self,
        store: Store,
        redact: Redact = as_they_are,
        *,
        title: Callable[[str], str] = str,
        rules: Callable[[str], str] = lambda _: rules_of("as they are"),
    ) -> None:
        self.store, self.redact, self._title, self._rules = store, redact, title, rules
        self._known: dict[str, tuple[int, Told]] = {}

    def of(self, session: str) -> Told:
        """What one session told."""
        if not self.has_read(session):
            head = self.store.head(session) or Head()
            rules = self._rules(session)
            made = read_once(self.store, session, TOLD, rules, Told, partial(self._read, session))
            self._known[session] = head.seq, made
        return self._known[session][1]

    def has_read(self, session: str) -> bool:
        """Whether a session was read as it is now, by whomever: it is quickly told again."""
        head = self.store.head(session) or Head()
        known = self._known.get(session)
        if known is not None and known[0] == head.seq:
            return True
        kept = recalled(self.store, session, TOLD, self._rules(session), Told)
        if kept is not None and kept[0] == head.seq:
            self._known[session] = kept
            return True
        return False

    def _read(self, session: str) -> Told:
        head = self.store.head(session) or Head()
        window = Sight(self.store, session, "").window(whole=True)
        path = list(self.redact(session, path_to(window.end, window.ledger)))
        notes = self.redact(session, (e for e in window.ledger if isinstance(e.body, Derived)))
        return told_of(path, notes, session=session, title=self._title(head.title))

    def of_all(self, sessions: Iterable[str] | None = None) -> list[Told]:
        """What some sessions told, or all of the project, the oldest first."""
        touched = {one.name: one.touched for one in self.store.sessions()}
        names = touched if sessions is None else sessions
        told = [self.of(name) for name in sorted(names, key=lambda name: touched.get(name, 0))]
        timed = all(one.began for one in told)
        return sorted(told, key=lambda one: one.began) if timed else told


def settled_for(ledger: Ledger) -> Settled:
    """What the project of a session settled, as anyone may see it."""
    plain = Redactor(ledger.policy.redact)

    def redact(name: str, entries: Iterable[Entry]) -> Iterable[Entry]:
        return (ledger.redactor if name == ledger.name else plain).entries(entries)

    def rules(name: str) -> str:
        given = ledger.policy.redact
        return rules_of(given.secrets, given.patterns, name == ledger.name)

    return Settled(ledger.store, redact, title=plain.text, rules=rules)


def context_query(
    settled: Settled, question: str, *, sessions: Sequence[str] | None = None
) -> Answer:
    """What the ledger knows of a question: in the sessions named, else in all of the project."""
    words = subjects_in(question)
    if not words:
        return Answer(question)
    names = None if sessions is None else tuple(sessions)
    pooled = settled.store.search([_term(word) for word in words], sessions=names, limit=POOL)
    rarity = dict(zip(words, pooled.rarity, strict=True))
    read = read_question(
        question, rarity=lambda word: rarity.get(word, 0.0), like=like, stems=stemmer()
    )
    found = list(dict.fromkeys(one.session for one in pooled.found))
    return answered(
        read,
        settled_in(settled.of_all(_to_read(settled, found, sessions))),
        list(_passages(settled, pooled.found)),
        stems=stemmer(),
    )


def _to_read(settled: Settled, found: Sequence[str], named: Sequence[str] | None) -> list[str]:
    """All that were read before, and of the others those that may know, then the newest."""
    newest = [one.name for one in settled.store.sessions()] if named is None else named
    every = list(dict.fromkeys((*found, *newest)))
    if len(every) <= SESSIONS:
        return every
    fresh = [name for name in every if not settled.has_read(name)]
    late = set(fresh[SESSIONS:])
    return [name for name in every if name not in late]


def _term(word: str) -> Term:
    return Term((word,), like=(*like(word), *((name, NAMED) for name in names_of(word))))


def _passages(settled: Settled, found: Sequence[Found]) -> Iterator[Statement]:
    """The sentences of the passages that hold the words, as far as somebody said them."""
    wanted: dict[str, dict[int, list[Found]]] = {}
    for one in found:
        wanted.setdefault(one.session, {}).setdefault(one.seq, []).append(one)
    for session, by_number in wanted.items():
        entries = settled.store.read(session, numbers=by_number)
        said = [entry for entry in entries if _is_said(entry)]
        for entry in settled.redact(session, said):
            yield from _sentences(entry, session, by_number[entry.seq])


def _is_said(entry: Entry) -> bool:
    """Whether these are somebody's own words: not what a tool printed or was given."""
    return isinstance(entry.body, Said) and not entry.body.by


def _sentences(entry: Entry, session: str, found: Sequence[Found]) -> Iterator[Statement]:
    text = readable(entry.body)
    cuts = passages_of(text)
    for one in found:
        if one.passage >= len(cuts):
            continue
        cut = cuts[one.passage]
        for told in sentences(text[cut.start : cut.stop]):
            # Whoever asked the same did not know it either, nor who was about to look.
            asks = told.text.rstrip(" \"'`*_)").endswith("?") or is_looking(told.text)
            if not asks and not MACHINE.search(told.text):
                yield Statement(
                    "passage",
                    told.text,
                    entry.id,
                    by=_speaker(entry),
                    session=session,
                    turn=one.step,
                    at=entry.at,
                )


def _speaker(entry: Entry) -> str:
    role = speaker(entry.body)
    return "agent" if role == "assistant" else role
