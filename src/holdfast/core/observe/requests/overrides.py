"""Find the constraints that newer messages of the user withdraw, and mark them as lifted.

Similarity is not enough. The newer words must withdraw something about the same subject, give the
same subject a new value, or state the opposite. Otherwise both are kept, because losing a rule is
worse than keeping two. The user cannot lift constraints of the system.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule_keeping
from holdfast.core.ledger.summary import Constraint, Quote
from holdfast.core.observe.requests.constraints import forbids
from holdfast.text.patterns import Pattern
from holdfast.text.sentences import plain_words
from holdfast.text.words import COMPOUND, COMPOUND_PART, content_words, stem_of


class Subject(Struct, frozen=True):
    """The subject of a sentence: its content words, values, bound and verb."""

    terms: frozenset[str] = frozenset()
    """Stems of the content words."""
    values: frozenset[str] = frozenset()
    bound: str = ""
    """`most` or `least` if the values are bounds; else empty."""
    verb: str = ""
    """The verb of a choice (`use`, `set` …)."""

    @property
    def all(self) -> frozenset[str]:
        """Content words and values."""
        return self.terms | self.values


class HeldConstraint(Struct, frozen=True):
    """A constraint with its subject."""

    row: Constraint
    about: Subject
    weak: bool = False
    """Whether it is only a decision, which is reported only after it was lifted."""


class Override(Struct, frozen=True):
    """A newer sentence of the user, and what it withdraws."""

    entry: str
    about: Subject
    cue: bool
    """Whether it corrects something said before."""
    negative: bool
    denies: bool
    """Whether it contains a negation: then it does not permit what was forbidden."""
    dropped: tuple[Subject, ...] = ()
    """Subjects to drop; an empty subject if the words only point back (`scratch that`)."""
    rule: bool = False
    """Whether the dropped subject is called a rule."""
    several: bool = False
    displaced: tuple[Subject, ...] = ()
    """Subjects that are replaced by something else."""
    permitted: tuple[Subject, ...] = ()
    exempt: tuple[Subject, ...] = ()
    """Subjects that are no longer required."""

    @classmethod
    def of(cls, said: Quote, *, cue: bool) -> "Override":
        """Read what a newer sentence withdraws; without `cue` only replacements are read."""
        words = plain_words(said.text)
        drops = [found["what"] for found in DROPS.finditer(words)] if cue else []
        return cls(
            said.entry,
            subject_of(words),
            cue,
            forbids(words),
            NEGATION.search(words) is not None,
            tuple(subject_of(what) for what in drops),
            any(RULE_NOUN.search(what) for what in drops),
            any(PLURAL_NOUN.search(what) for what in drops),
            _objects(DISPLACES, words),
            (*_objects(PERMITS, words), *_before_allowed(words)) if cue else (),
            _objects(EXEMPTS, words) if cue else (),
        )


NEGATION = Pattern(r"\b(?:not|no|never|none|nor|without|avoid)\b|n't\b")
CLAUSE_BREAK = Pattern(r"[,.;!?—–]")
_OBJECT = r"(?P<what>[^,.;!?—–]{1,120})"
DROPS = Pattern(
    r"(?<!don't )(?<!not )(?<!never )(?<!let's )(?<!let us )"
    r"\b(?:forget|drop|ignore|disregard|scratch|cancel|lift|ditch|abandon"
    r"|never ?mind|changed? my mind)\b(?! to\b)(?P<what>[^,.;!?—–]{0,120})"
)
RULE_NOUN = Pattern(
    r"\b(?:rules?|instructions?|constraints?|requirements?|restrictions?|limits?|said|told)\b"
)
PLURAL_NOUN = Pattern(r"\b(?:rules|instructions|constraints|requirements|all|everything)\b")
DISPLACES = Pattern(
    r"\b(?:instead of|rather than|in place of|no longer|replace|switch from|change from"
    r"|(?<=[,;(] )not|(?<=\()not|not(?=[^,.;!?]{1,60} but\b)) "
    r"(?P<what>[^,.;!?—–]{1,80}?)(?= (?:with|by|to|for|in|on|because)\b|[,.;!?—–]|$)"
)
PERMITS = Pattern(
    r"(?:\byou (?:may|can)(?: now)?|(?<!not )(?<!n't )\b(?:(?:allowed|free) to"
    r"|(?:fine|ok|okay|alright)(?: now)? (?:to|if you))) (?!not\b|never\b|only\b)" + _OBJECT
)
ALLOWED = Pattern(r"\b(?:is|are) (?:now )?(?:fine|ok|okay|allowed|permitted)\b")
EXEMPTS = Pattern(r"\b(?:(?:no longer|don't|do not) (?:need|have) to|no need to) " + _OBJECT)


def _objects(cue: Pattern[str], words: str) -> tuple[Subject, ...]:
    found = (subject_of(match["what"]) for match in cue.finditer(words))
    return tuple(one for one in found if one.all)


def _before_allowed(words: str) -> Iterator[Subject]:
    """What stands before `is fine now`."""
    for found in ALLOWED.finditer(words):
        clause = CLAUSE_BREAK.split(words[max(0, found.start() - 120) : found.start()])[-1]
        if (about := subject_of(clause)).all:
            yield about


@rule_keeping(2)
def apply_overrides(
    new: Sequence[Constraint], changes: Sequence[Quote], known: Sequence[Constraint]
) -> tuple[Constraint, ...]:
    """Return `known` with the constraints marked as lifted that `new` or `changes` withdraw.

    Words that only point back (`scratch that`) lift nothing here: they refer to the message right
    before them, not to constraints known from earlier.
    """
    overrides = [Override.of(quote, cue=True) for quote in changes]
    for row in new:
        if row.by == "user" and not row.lifted:
            cue = any(row.entry == one.entry and row.text in one.text for one in changes)
            overrides.append(Override.of(Quote(row.text, row.entry), cue=cue))
    held: Sequence[HeldConstraint] = [HeldConstraint(row, subject_of(row.text)) for row in known]
    for override in overrides:
        held = lift_overridden(held, override)
    return tuple(one.row for one in held)


@rule_keeping(0)
def lift_overridden(
    held: Sequence[HeldConstraint], override: Override, *, before: str = ""
) -> Sequence[HeldConstraint]:
    """Return `held` with the constraints marked as lifted that an override withdraws.

    `before` is the entry of the previous request: words that point back without a subject refer to
    that message or to their own.
    """
    open_to = [at for at, one in enumerate(held) if _may_lift(one.row, override)]
    gone = {at for at in open_to if _contradicts(override, held[at])}
    gone |= _dropped(override, held, open_to, before)
    if not gone:
        return held
    return [
        replace(one, row=replace(one.row, lifted=override.entry)) if at in gone else one
        for at, one in enumerate(held)
    ]


def _may_lift(row: Constraint, override: Override) -> bool:
    if row.lifted or row.by != "user":
        return False
    return override.cue or row.entry != override.entry


def _contradicts(override: Override, held: HeldConstraint) -> bool:
    row, about = held.row, held.about
    if override.about.all.isdisjoint(about.all):
        return False
    return (
        any(_displaced(what, override, row, about) for what in override.displaced)
        or any(row.negative and what.all <= about.all for what in override.permitted)
        or any(not row.negative and what.all <= about.all for what in override.exempt)
        or _new_value(override.about, about, cue=override.cue)
        or _opposite(override, row, about)
        or (override.cue and _other_choice(override, row, about))
    )


def _displaced(what: Subject, override: Override, row: Constraint, about: Subject) -> bool:
    if row.negative or not what.all <= about.all:
        return False
    # One plain word in common proves little: it takes a value, the same verb or a word more.
    others = (override.about.terms - what.terms) & about.terms
    same_verb = bool(about.verb) and about.verb == override.about.verb
    return bool(what.values) or len(what.terms) > 1 or same_verb or bool(others)


def _new_value(new: Subject, about: Subject, *, cue: bool) -> bool:
    if not new.values or not about.values or new.values == about.values or new.bound != about.bound:
        return False
    if cue:
        return bool(new.terms) and (new.terms <= about.terms or about.terms <= new.terms)
    return bool(new.terms) and new.terms == about.terms


def _opposite(override: Override, row: Constraint, about: Subject) -> bool:
    new = override.about
    turned = not override.denies if row.negative else override.negative
    if not turned or not new.terms or new.values != about.values:
        return False
    if not row.negative and NEGATION.search(plain_words(row.text)):
        return False
    if new.terms == about.terms:
        return True
    return override.cue and len(new.terms) > 1 and new.terms <= about.terms


def _other_choice(override: Override, row: Constraint, about: Subject) -> bool:
    """Whether the same thing is chosen anew: a word or two differ, the verb does not."""
    new = override.about
    if override.negative or row.negative or not about.verb or about.verb != new.verb:
        return False
    kept = new.terms & about.terms
    return bool(kept) and len(new.all - about.all) <= 2 and len(about.all - new.all) <= 2


def _dropped(
    override: Override, held: Sequence[HeldConstraint], open_to: Sequence[int], before: str
) -> set[int]:
    if not override.dropped:
        return set()
    named = [what for what in override.dropped if what.all]
    # What only points back means what was said right before, whatever else is dropped by name.
    back = (
        _pointed_at(override, held, open_to, before)
        if len(named) < len(override.dropped)
        else set[int]()
    )
    if override.rule:
        return back | {at for what in named for at in _closest(what, held, open_to)}
    return back | {
        at
        for at in open_to
        if not held[at].row.negative and any(what.all <= held[at].about.all for what in named)
    }


def _closest(what: Subject, held: Sequence[HeldConstraint], open_to: Sequence[int]) -> list[int]:
    """The newest of those that share the most of what a rule is said to be about."""
    shared = {at: len(what.all & held[at].about.all) for at in open_to}
    enough = max(min(2, len(what.all)), (len(what.all) + 1) // 2)
    best = max(shared.values(), default=0)
    return [max(at for at in shared if shared[at] == best)] if best >= enough else []


def _pointed_at(
    override: Override, held: Sequence[HeldConstraint], open_to: Sequence[int], before: str
) -> set[int]:
    near = [at for at in open_to if held[at].row.entry in {before, override.entry}]
    if override.several:
        return set(near)
    shared = {at: len(override.about.terms & held[at].about.terms) for at in near}
    # A prohibition is not what `scratch that` means unless it is about the same or called a rule.
    meant = [at for at in near if shared[at] or override.rule or not held[at].row.negative]
    best = max((shared[at] for at in meant), default=0)
    return {max(at for at in meant if shared[at] == best)} if meant else set()


UPPER_BOUND = Pattern(
    r"\b(?:under|below|at most|no more than|less than|fewer than|up to|max|maximum|within|limit)\b"
    r"|<"
)
LOWER_BOUND = Pattern(
    r"\b(?:at least|no less than|no fewer than|more than|over|above|min|minimum)\b|>"
)
_DIGITS = "zero one two three four five six seven eight nine ten"
NUMBERS = {word: str(number) for number, word in enumerate(_DIGITS.split())}
_TAKES = "use using go stick choose pick prefer adopt switch take"
_SETS = "set keep make put write store call name target run deploy"
CHOICE_VERBS = dict.fromkeys(_TAKES.split(), "use") | {word: word for word in _SETS.split()}
_EMPTY = """
a abandon about above actually after again all allowed also always am an and any anymore anything
are as ask asked at avoid back be because been before being below bit but by can cancel cannot
cant change changed come constraint correction could critical d did disregard ditch do does doesn
don dont drop earlier ensure ever every everything exactly except fine first for forbidden forget
from get give go going had hard has have he her here him his hold how i idea if ignore important
in instead instruction into is it its itself just keep last later least less let lets lift like
limit ll longer m make may maybe me mean meant mind more most must mustn my need needs never no
nope not nothing now of off ok okay old on one only or original other our out over own part plan
please prefer previous put rather re really replace request required requirement restriction right
rule s said same scratch second see set shall she should shouldn so some something sorry start
still stop stuff such sure switch t take tell than thank that the their them then there these they
thing think this those thought to told too try under unless until up us use used using ve very
wait want was we well were what when where which while who why will with within without wont would
wrong yes yet you your
"""
STOP_WORDS = frozenset(_EMPTY.split())
"""Words that do not belong to the subject of a sentence."""


def subject_of(text: str) -> Subject:
    """Return the subject of a text; `scratch that` has an empty subject."""
    parts: list[str] = []
    values: set[str] = set()
    verb = ""
    words = plain_words(text)
    for token in COMPOUND.findall(words):
        verb = verb or CHOICE_VERBS.get(token, "")
        if token in NUMBERS:
            values.add(NUMBERS[token])
        elif token[0].isdigit():
            values.add(token)
        else:
            parts += COMPOUND_PART.findall(token)
    terms = frozenset(map(stem_of, content_words(parts, STOP_WORDS)))
    bound = "most" if UPPER_BOUND.search(words) else "least" if LOWER_BOUND.search(words) else ""
    return Subject(terms, frozenset(values), bound, verb)
