"""Say of a check that passes again what was changed since it failed."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from holdfast.core.faults import row_rule
from holdfast.core.ledger.entry import ToolReturned
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.moments.moment import MAX_MOMENT_CHARS, Moment
from holdfast.core.observe.results.checks import Check, checks_of, includes
from holdfast.core.observe.results.failures import call_failed
from holdfast.core.observe.scene import Pair
from holdfast.text.clip import clip_and_mark

MAX_SHOWN, MAX_CHANGE_CHARS = 2, 70
"""The last changes that are shown, and the length to which each is cut."""
PASSES_AFTER = " (passes after: "


class Cures:
    """The checks that fail, and what was done since, over the calls of a scene in order."""

    def __init__(self) -> None:
        self._failing: dict[Check, int] = {}
        """The number of changes before the last failed run of each check."""
        self._changes: list[str] = []

    @row_rule
    def follow(self, pair: Pair, body: ToolReturned, moments: Iterable[Moment]) -> Iterator[Moment]:
        """Yield the moments of a call; a check that passes again says what was changed since."""
        touch = touch_of(pair.body)
        runs = [check for check in checks_of(touch.command) if check.known] if touch.command else []
        failed = call_failed(touch, body)
        for moment in moments:
            if moment.kind == "ran" and not failed and (since := self._since(runs)):
                yield _with_cure(moment, since)
            else:
                yield moment
            if moment.kind == "changed" or (moment.kind == "ran" and not failed):
                self._changes.append(_short_change(moment))
        for run in runs:
            self._failing = {
                known: at for known, at in self._failing.items() if not includes(run, known)
            }
            if failed:
                self._failing[run] = len(self._changes)

    def _since(self, runs: Iterable[Check]) -> list[str]:
        """Return what was done since the last failure of a check that these runs include."""
        passed = (at for run in runs for known, at in self._failing.items() if includes(run, known))
        first = min(passed, default=len(self._changes))
        return list(dict.fromkeys(self._changes[first:]))[-MAX_SHOWN:]


def _short_change(moment: Moment) -> str:
    """Return what was done without its outcome, with the name of the file instead of its path."""
    done = moment.text.partition(" → ")[0]
    if moment.kind == "changed":
        verb, _, rest = done.partition(" ")
        path, _, what = rest.partition(" ")
        done = f"{verb} {path.rpartition('/')[2]} {what}"
    return clip_and_mark(done, MAX_CHANGE_CHARS)


def _with_cure(moment: Moment, since: Iterable[str]) -> Moment:
    text = f"{moment.text}{PASSES_AFTER}{'; '.join(since)})"
    shown = clip_and_mark(text, MAX_MOMENT_CHARS)
    return replace(moment, text=shown)
