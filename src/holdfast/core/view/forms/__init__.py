"""Every written form of the summary that the source documents define."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from holdfast.core.ledger.summary import Summary
from holdfast.core.shrink.summary.text import write
from holdfast.core.view.forms.exports import as_object
from holdfast.core.view.forms.parts import About
from holdfast.core.view.forms.phases import planning, research
from holdfast.core.view.forms.templates import anchored, checkpoint, compression_skill, notes
from holdfast.errors import BadSetting

__all__ = ["FORMS", "About", "Form", "as_object", "render"]

Form: TypeAlias = Callable[[Summary, About], str]


def _window(summary: Summary, about: About) -> str:
    return write(summary, session=about.session, frame="whole")


FORMS: Mapping[str, Form] = {
    "ctx-001": _window,
    "lar-033": compression_skill,
    "anchored": anchored,
    "notes": notes,
    "checkpoint": checkpoint,
    "research": research,
    "planning": planning,
}


def render(
    summary: Summary,
    form: str,
    *,
    session: str = "",
    task: str = "",
    archive: str = "",
    facts: str = "",
) -> str:
    """The summary in one of its forms.

    Raises:
        BadSetting: there is no such form.
    """
    if form not in FORMS:
        known = ", ".join(FORMS)
        raise BadSetting("form", f"{form!r} is none of {known}", origin="the caller")
    return FORMS[form](summary, About(session, task, archive, facts))
