"""Decide whether an agent may continue an unattended run without asking the user.

Only a note in the ledger starts a run. A run-state file in the work tree shows its progress and
nothing else: otherwise anybody who can write that file could make an agent continue by itself.
"""

import re
from collections.abc import Iterable

from msgspec import Struct, structs

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import Entry
from holdfast.core.ledger.notes import UnattendedRun, newest_note
from holdfast.text.jsontext import Json, as_object, as_text
from holdfast.text.patterns import Pattern

RUNNING = "RUNNING"
# `sprint-3` and `12`, but not `ignore the user` or a path.
SHORT_NAME = Pattern(r"[\w.-]{1,40}", re.ASCII)


class RecordedRun(UnattendedRun, frozen=True):
    """An unattended run from the ledger, with the id of its note's entry."""

    entry: str = ""


class RunFile(Struct, frozen=True):
    """The content of a run-state file in the work tree. It is not trusted."""

    state: str = ""
    plan: str = ""
    current: str = ""
    total: str = ""


@rule(None)
def newest_run(ledger: Iterable[Entry]) -> RecordedRun | None:
    """Return the newest unattended run that the ledger notes."""
    noted = newest_note(ledger, UnattendedRun)
    if noted is None:
        return None
    entry, note = noted
    return RecordedRun(**structs.asdict(note), entry=entry.id)


def read_run_file(value: Json) -> RunFile:
    """Read a run-state file; values that are not numbers or short names become empty."""
    content = as_object(value)
    sprints = as_object(content.get("sprints"))
    return RunFile(
        state=_short_name(content.get("state")).upper(),
        plan=_short_name(content.get("plan_id") or content.get("plan")),
        current=_short_name(sprints.get("current")),
        total=_short_name(sprints.get("total")),
    )


def _short_name(value: Json) -> str:
    """Return a number or a short name as text; otherwise an empty text."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else as_text(value)
    return text if SHORT_NAME.fullmatch(text) else ""


class RunStatus(Struct, frozen=True):
    """Whether an agent may continue without asking, with the line that is shown to it."""

    state: str
    """`none`, `running`, `stopped`, `stale`, `foreign`, `unproven` or `at odds`."""
    line: str = ""
    """One sentence for the agent or user that continues; may be empty."""
    run: RecordedRun | None = None
    file: RunFile | None = None

    @property
    def unattended(self) -> bool:
        """Whether the agent may continue without asking."""
        return self.state == "running"


ASK = "ask the user before going on"


def status_of_run(
    run: RecordedRun | None, file: RunFile | None, *, age: float | None, proven: bool
) -> RunStatus:
    """Return the status of a run; it is `running` only if nothing below speaks against it.

    `age` is the number of seconds since its start, None if unknown. `proven` says whether the seal
    belongs to the user who is asking.
    """
    if run is None or run.state != RUNNING:
        return _status_without_run(run, file)
    plan = _quoted_plan(run.plan)
    if not run.consent or not proven:
        line = f"the ledger says that {plan} runs unattended, but not that you started it: {ASK}"
        return RunStatus("unproven", line, run, file)
    if age is None or not 0 <= age <= run.max_age:
        line = (
            f"the run of {plan} is stale (consent ended {run.until or 'at no known time'}): {ASK}"
        )
        return RunStatus("stale", line, run, file)
    if file is not None and (odds := _contradiction(run, file)):
        return RunStatus("at odds", f"{plan} was started unattended, but {odds}: {ASK}", run, file)
    where = _sprint(file) if file is not None else ""
    line = f"unattended: continue {where}{plan} without asking"
    return RunStatus("running", line, run, file)


def _status_without_run(run: RecordedRun | None, file: RunFile | None) -> RunStatus:
    if file is not None and file.state == RUNNING:
        line = f"a run-state file says RUNNING, but this store did not start it: {ASK}"
        return RunStatus("foreign", line, run, file)
    return RunStatus("stopped" if run is not None else "none", "", run, file)


def _contradiction(run: RecordedRun, file: RunFile) -> str:
    if file.state != RUNNING:
        return f"the run-state file says {file.state or 'nothing'}"
    if file.plan and file.plan != run.plan:
        return f"the run-state file is of another plan, {_quoted_plan(file.plan)}"
    return ""


def _sprint(file: RunFile) -> str:
    if not file.current:
        return ""
    return f"sprint {file.current}{f' of {file.total}' if file.total else ''} of "


def _quoted_plan(plan: str) -> str:
    return f"plan {' '.join(plan.split())[:60]!r}"
