"""What an entry says to someone who looks for something: calls as lines, notes, summaries."""

from collections.abc import Iterator
from typing import cast

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import (
    Body,
    Compressed,
    Derived,
    Noted,
    Said,
    Source,
    ToolCalled,
    role_of,
    text_of,
)
from holdfast.core.ledger.jsontext import Json, NotJson, parse

OURS = frozenset(
    (
        *("limit", "model", "original", "persisted", "postponed", "prompt", "summarizer"),
        *("anchored", "switched", "unpinned", "warned"),
    )
)
"""Notes that we make for ourselves, or that an entry tells as well: nobody looks for them."""


@rule("")
def readable(body: Body) -> str:
    """The text of a body as it is searched and shown in excerpts; empty when it says nothing."""
    match body:
        case ToolCalled():
            return _call(body)
        case Compressed():
            return _summary(body)
        case Noted():
            return _note(body)
        case _ if isinstance(body, Derived):
            return ""
        case _:
            return text_of(cast(Source, body))


def speaker(body: Body) -> str:
    """Who is shown as having said it."""
    match body:
        case Compressed():
            return "summary"
        case Noted():
            return "note"
        case Said():
            return body.by or body.role
        case _ if isinstance(body, Derived):
            return ""
        case _:
            return role_of(cast(Source, body))


def _call(body: ToolCalled) -> str:
    """A call with its values written out: escapes would glue words together."""
    try:
        value, _ = parse(body.arguments.encode("utf-8", "surrogatepass"))
    except NotJson:  # A tool that takes a text as it is: a patch, a program.
        value = None
    if not isinstance(value, dict):
        return f"{body.tool} {body.arguments}"
    return "\n".join([body.tool, *(f"{name}: {_plain(part)}" for name, part in value.items())])


def _plain(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return " ".join(f"{name}: {_plain(part)}" for name, part in value.items())
    if isinstance(value, list):
        return " ".join(_plain(part) for part in value)
    return "" if value is None else str(value)


def _summary(body: Compressed) -> str:
    said = (step.stand_in for step in body.steps if step.tier == 3)
    return "\n".join(text_of(one) for one in said if one is not None)


def _note(body: Noted) -> str:
    return "" if body.what in OURS else "\n".join(_facts(body))


def _facts(body: Noted) -> Iterator[str]:
    yield body.what.replace("_", " ")
    for name, fact in body.facts.items():
        yield f"{name}: {fact}"
