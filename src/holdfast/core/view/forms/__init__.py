"""Render a summary in any of the forms that the source documents define."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from holdfast.core.ledger.summary import Summary
from holdfast.core.observe.moments.moment import Moment
from holdfast.core.shrink.summary.text import write_summary
from holdfast.core.view.forms.exports import summary_object
from holdfast.core.view.forms.parts import FormContext
from holdfast.core.view.forms.phases import planning_form, research_form
from holdfast.core.view.forms.templates import (
    anchored_form,
    checkpoint_form,
    compression_skill_form,
    notes_form,
)
from holdfast.errors import BadSetting

__all__ = ["FORMS", "Form", "FormContext", "render_form", "summary_object"]

Form: TypeAlias = Callable[[Summary, FormContext], str]


def _window_form(summary: Summary, context: FormContext) -> str:
    return write_summary(summary, session=context.session, frame="whole")


FORMS: Mapping[str, Form] = {
    "ctx-001": _window_form,
    "lar-033": compression_skill_form,
    "anchored": anchored_form,
    "notes": notes_form,
    "checkpoint": checkpoint_form,
    "research": research_form,
    "planning": planning_form,
}


def render_form(
    summary: Summary,
    form: str,
    *,
    session: str = "",
    task: str = "",
    archive: str = "",
    moments: Sequence[Moment] = (),
) -> str:
    """Render the summary in the form of that name.

    Raises:
        BadSetting: there is no such form.
    """
    if form not in FORMS:
        known = ", ".join(FORMS)
        raise BadSetting("form", f"{form!r} is none of {known}", origin="the caller")
    return FORMS[form](summary, FormContext(session, task, archive, moments))
