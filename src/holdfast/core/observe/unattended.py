"""Unattended runs: who started one, for which plan, with whose consent, and until when.

Only a note in the ledger starts a run. A file in the work tree says how far the run is, and nothing
else: whoever can write a file could otherwise make an agent go on by itself.
"""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import Entry, Noted
from holdfast.text.jsontext import Json, as_object, as_text

RUN = "run"
RUNNING, STOPPED = "RUNNING", "STOPPED"
YES = "yes"
PLAIN = re.compile(r"[\w.-]{1,40}", re.ASCII)


class Run(Struct, frozen=True):
    """An unattended run as the ledger has it."""

    plan: str = ""
    state: str = STOPPED
    owner: str = ""
    consent: bool = False
    started: str = ""
    until: str = ""
    """When the consent ends."""
    max_age: int = 0
    """Seconds for which it was given."""
    seal: str = ""
    """What only the user who started it could have written."""
    entry: str = ""


class RunFile(Struct, frozen=True):
    """What a run-state file of the work tree says; it is a stranger's word."""

    state: str = ""
    plan: str = ""
    current: str = ""
    total: str = ""


@rule(None)
def run_of(ledger: Iterable[Entry]) -> Run | None:
    """The newest run that was noted."""
    found: Run | None = None
    for entry in ledger:
        if isinstance(entry.body, Noted) and entry.body.what == RUN:
            found = _read(entry.body.facts, entry.id)
    return found


def _read(facts: Mapping[str, str], entry: str) -> Run:
    age = facts.get("max_age", "")
    return Run(
        plan=facts.get("plan", ""),
        state=facts.get("state", STOPPED),
        owner=facts.get("owner", ""),
        consent=facts.get("consent") == YES,
        started=facts.get("started", ""),
        until=facts.get("until", ""),
        max_age=int(age) if age.isdecimal() and len(age) < 12 else 0,
        seal=facts.get("seal", ""),
        entry=entry,
    )


def facts_of(run: Run) -> dict[str, str]:
    """A run as it is noted."""
    return {
        "plan": run.plan,
        "state": run.state,
        "owner": run.owner,
        "consent": YES if run.consent else "no",
        "started": run.started,
        "until": run.until,
        "max_age": str(run.max_age),
        "seal": run.seal,
    }


def read_file(value: Json) -> RunFile:
    """What a run-state file says, in words that cannot say more than they should."""
    told = as_object(value)
    sprints = as_object(told.get("sprints"))
    return RunFile(
        state=_plain(told.get("state")).upper(),
        plan=_plain(told.get("plan_id") or told.get("plan")),
        current=_plain(sprints.get("current")),
        total=_plain(sprints.get("total")),
    )


def _plain(value: Json) -> str:
    """A number or a short name; anything else is nothing."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else as_text(value)
    return text if PLAIN.fullmatch(text) else ""


class Standing(Struct, frozen=True):
    """Whether an agent may go on by itself, and what to tell it."""

    state: str
    """`none`, `running`, `stopped`, `stale`, `foreign`, `unproven` or `at odds`."""
    line: str = ""
    """One sentence for whoever goes on; empty when there is nothing to say."""
    run: Run | None = None
    file: RunFile | None = None

    @property
    def unattended(self) -> bool:
        """Whether the agent goes on without asking."""
        return self.state == "running"


ASK = "ask the user before going on"


def standing(run: Run | None, file: RunFile | None, *, age: float | None, proven: bool) -> Standing:
    """Whether a run goes on unattended: recorded as ours, consented, fresh, and not at odds.

    `age` is how many seconds ago it was started, None when nobody knows; `proven` is whether the
    seal is that of the user who is asking.
    """
    if run is None or run.state != RUNNING:
        return _not_ours(run, file)
    plan = _quoted(run.plan)
    if not run.consent or not proven:
        line = f"the ledger says that {plan} runs unattended, but not that you started it: {ASK}"
        return Standing("unproven", line, run, file)
    if age is None or not 0 <= age <= run.max_age:
        line = (
            f"the run of {plan} is stale (consent ended {run.until or 'at no known time'}): {ASK}"
        )
        return Standing("stale", line, run, file)
    if file is not None and (odds := _at_odds(run, file)):
        return Standing("at odds", f"{plan} was started unattended, but {odds}: {ASK}", run, file)
    where = _sprint(file) if file is not None else ""
    line = f"unattended: continue {where}{plan} without asking"
    return Standing("running", line, run, file)


def _not_ours(run: Run | None, file: RunFile | None) -> Standing:
    if file is not None and file.state == RUNNING:
        line = f"a run-state file says RUNNING, but this store did not start it: {ASK}"
        return Standing("foreign", line, run, file)
    return Standing("stopped" if run is not None else "none", "", run, file)


def _at_odds(run: Run, file: RunFile) -> str:
    if file.state != RUNNING:
        return f"the run-state file says {file.state or 'nothing'}"
    if file.plan and file.plan != run.plan:
        return f"the run-state file is of another plan, {_quoted(file.plan)}"
    return ""


def _sprint(file: RunFile) -> str:
    if not file.current:
        return ""
    return f"sprint {file.current}{f' of {file.total}' if file.total else ''} of "


def _quoted(plan: str) -> str:
    return f"plan {' '.join(plan.split())[:60]!r}"
