"""Detect a message off the session's topic: repeated calls, unrelated work, unknown names."""

from collections.abc import Set

from holdfast.core.ledger.notes import Finding
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.worth import find_names
from holdfast.core.verify.drift.evidence import Evidence, call_key
from holdfast.core.verify.drift.message import (
    AgentMessage,
    call_reference,
    outside_fences,
    referenced_text,
    specific_names,
    word_parts_in,
)
from holdfast.core.verify.drift.signs import NO_FINDING
from holdfast.text.paths import normalize_path
from holdfast.text.words import name_parts

# Repetition: a message makes a call again although the earlier result is still valid.


REPEATED_CALL_STRENGTH = 0.25
"""Strength that one repeated call adds; the third since the summary makes a sign."""
MAX_EARLIER_REPEATS = 2
"""Earlier repetitions that count at most, so that a repetition that has stopped is forgotten."""
NEW_TASK_FACTOR = 0.6
"""Factor if the user has set a new task: then looking again can be right."""
MAX_REPEATS_SHOWN = 3


def find_repetition(message: AgentMessage, evidence: Evidence) -> Finding:
    """Return a finding for the calls of a message whose earlier result is still valid."""
    again: dict[str, str] = {}
    for call in message.calls:
        key = call_key(call, touch_of(call))
        known = evidence.known_calls.get(key) if key else None
        if known is not None:
            again[key] = known.entry
    if not again:
        return NO_FINDING
    entry = next(iter(again.values()))
    count = len(again) + min(evidence.repeated_calls, MAX_EARLIER_REPEATS)
    hidden = sum(evidence.known_calls[key].hidden for key in again)
    return Finding(
        strength=(1 - (1 - REPEATED_CALL_STRENGTH) ** count)
        * (NEW_TASK_FACTOR if evidence.has_new_task else 1.0),
        why=f"{len(again)} calls were made before with the same answer to be had"
        + (f", {hidden} of them out of sight now" if hidden else ""),
        evidence="; ".join(key[:120] for key in list(again)[:MAX_REPEATS_SHOWN]),
        ref=entry,
    )


# Unrelated work: most of the words and names of a message are new to the whole record.
#
# A file next to known files and a name made of known words do not count as new: agents create those
# all the time. The sign is the share of words and names without any relation to the session.


EXTRA_WORDS, EXTRA_NAMES = 6, 1
"""Added to the number of words and names of a message, so that short messages weigh less."""
NAMES_WEIGHT = 0.75
"""Weight of the share of new names, relative to the share of new words."""
UNRELATED_CENTRE, UNRELATED_WIDTH = 0.58, 1.0
"""The sum of both shares at which the strength is one half, and the width of the slope."""
MAX_NEW_SHOWN = 6


def find_unrelated_work(message: AgentMessage, evidence: Evidence) -> Finding:
    """Return a finding for the share of words and names that are new to the record."""
    text = referenced_text(message)
    words = word_parts_in(text)
    names = specific_names(text)
    new_words = words - evidence.words
    new_names = unrelated_names(names, evidence)
    share = len(new_words) / (len(words) + EXTRA_WORDS)
    share += NAMES_WEIGHT * len(new_names) / (len(names) + EXTRA_NAMES)
    strength = evidence.novelty_weight * min(
        max(0.5 + (share - UNRELATED_CENTRE) / UNRELATED_WIDTH, 0.0), 1.0
    )
    if strength <= 0:
        return NO_FINDING
    shown = [*sorted(new_names), *sorted(new_words, key=lambda word: (-len(word), word))][
        :MAX_NEW_SHOWN
    ]
    return Finding(
        strength=strength,
        why=f"{len(new_words)} of {len(words)} words and {len(new_names)} of {len(names)} names "
        "stand nowhere in the session",
        evidence=", ".join(shown),
        quote=evidence.intent.current.text,
        ref=evidence.intent.current.entry,
    )


def unrelated_names(names: frozenset[str], evidence: Evidence) -> frozenset[str]:
    """Return the names of which the record has neither the name, nor the folder, nor the words."""
    return frozenset(name for name in names if not _is_related(name, evidence))


def _is_related(name: str, evidence: Evidence) -> bool:
    if name in evidence.names:
        return True
    folder = name.rpartition("/")[0]
    if folder and (folder in evidence.names or folder.lstrip("./") in evidence.names):
        return True
    parts = name_parts(name)
    return bool(parts) and parts <= evidence.words


# Unknown names: names used as if they were known, which nothing in the window explains.
#
# Some are nowhere in the ledger: the agent invented them. Others left the window with the summary:
# the agent remembers them only partly, and perhaps wrongly. Names in the window and names that the
# message itself creates do not count.


MIN_NAME_CHARS = 5
"""Characters from which a name can be mistaken for another."""
PREFIX_CHARS = 4
MAX_NAMES_COMPARED = 40
"""Names with the same prefix that a name is compared with, at most."""
NOWHERE_STRENGTH, LEFT_WINDOW_STRENGTH, MISTAKEN_STRENGTH = 0.17, 0.03, 0.25
"""Strength that one name adds: it is nowhere in the ledger, it left the window, or it nearly equals
a name that left."""
REPORT_NAMES = 12
"""Names from which a message counts as a report, which may well introduce new names."""
MAX_STRENGTH = 0.95
MAX_NAMES_SHOWN = 5


def find_unknown_names(message: AgentMessage, evidence: Evidence) -> Finding:
    """Return a finding for the names of a message that nothing in the window explains."""
    used = _names_used(message)
    names = frozenset(name for name in used if name not in evidence.names_in_window)
    if not names:
        return NO_FINDING
    left = names & evidence.names
    nowhere = unrelated_names(names - left, evidence)
    mistaken = _near_misses(names - left, left_out=evidence.names - evidence.names_in_window)
    share = len(nowhere) / (len(used) + 2)
    strength = LEFT_WINDOW_STRENGTH * min(len(left), 6) + min(1.0, REPORT_NAMES / len(used)) * (
        2 * share * NOWHERE_STRENGTH * min(len(nowhere), 6)
        + MISTAKEN_STRENGTH * min(len(mistaken), 2)
    )
    shown = [*(f"{wrong} (was {right}?)" for wrong, right in sorted(mistaken.items()))]
    shown += [*sorted(nowhere - mistaken.keys()), *sorted(left)]
    return Finding(
        strength=min(strength, MAX_STRENGTH) * evidence.novelty_weight,
        why=f"{len(nowhere)} names stand nowhere in the ledger, {len(left)} left the window"
        + (f", {len(mistaken)} look like ones that left" if mistaken else ""),
        evidence=", ".join(shown[:MAX_NAMES_SHOWN]),
        missing=(*sorted(set(mistaken.values())), *sorted(left))[:MAX_NAMES_SHOWN],
    )


def _names_used(message: AgentMessage) -> frozenset[str]:
    """Return the names that a message uses as known: in its text and in calls that do not write."""
    texts = [outside_fences(message.text)]
    made: set[str] = set()
    for call in message.calls:
        touch = touch_of(call)
        if touch.verb == "write":
            made |= find_names(touch.path)
            made.add(normalize_path(touch.path))
        else:
            texts.append(call_reference(call))
    return specific_names("\n".join(texts)) - made


def _near_misses(names: frozenset[str], *, left_out: Set[str]) -> dict[str, str]:
    """Return names that nearly equal a name that left the window, with that name."""
    alike: dict[str, list[str]] = {name[:PREFIX_CHARS].lower(): [] for name in names}
    for name in left_out:
        if (
            len(name) >= MIN_NAME_CHARS
            and (known := alike.get(name[:PREFIX_CHARS].lower())) is not None
        ):
            known.append(name)
    corrections: dict[str, str] = {}
    for name in sorted(names):
        near = alike.get(name[:PREFIX_CHARS].lower(), []) if len(name) >= MIN_NAME_CHARS else []
        right = next(
            (
                other
                for other in sorted(near)[:MAX_NAMES_COMPARED]
                if _differ_by_one_character(name, other)
            ),
            "",
        )
        if right:
            corrections[name] = right
    return corrections


def _differ_by_one_character(name: str, other: str) -> bool:
    """Whether two names differ by one character that is not a digit and not a plural `s`."""
    if name == other or abs(len(name) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(name), len(other)) and name[start] == other[start]:
        start += 1
    end = 0
    while (
        end < min(len(name), len(other)) - start
        and name[len(name) - 1 - end] == other[len(other) - 1 - end]
    ):
        end += 1
    middle = name[start : len(name) - end], other[start : len(other) - end]
    plural = end == 0 and "s" in middle
    return max(map(len, middle)) <= 1 and not plural and not any(map(str.isdigit, middle))
