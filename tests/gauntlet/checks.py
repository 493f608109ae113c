"""The laws that hold for every window, text and document: each check returns what is wrong."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from holdfast.core.ledger.head import Head
from holdfast.core.ledger.window import Item
from holdfast.engine.live_window import message_dicts
from holdfast.errors import HoldfastError, NotRecorded
from holdfast.models.tokenizers import counter
from holdfast.session.session import Session
from holdfast.wire.detect import MESSAGE_WIRES, TRANSCRIPT_WIRES
from tests.provider.strict import worse

STAND_IN = re.compile(r"(?:\[holdfast |\*\*Ref:\*\* |--ref )([0-9a-f]{8,64})\b")
"""How a stand-in names the whole of what it stands for."""
ROW = re.compile(
    r"^(?:- (?:\*\*\w[\w ]*:\*\* )?|(?:Request|Now) )\[([0-9a-f]{8,12})\]", re.MULTILINE
)
"""How a row of a summary or of a level names where it was read."""
PACKET = re.compile(r'^ +- "([0-9a-f]{12})"$', re.MULTILINE)
"""How a packet names where a decision was read."""
SENT_AS = {"claude_code": "anthropic", "codex": "openai_responses"}
"""The provider whose messages a transcript holds; others name it themselves."""
SLACK = 0.75
"""The part of a window's own count that no estimate may fall below: vocabularies of models differ
by less than a quarter."""
SEALED = frozenset({"thinking", "redacted_thinking", "reasoning"})
"""Kinds of blocks that a provider has sealed: they go back with their calls, or not at all."""
ANSWERS = frozenset({"tool_result"})
FLOOR = 1_500
"""Tokens that a summary of requests and constraints may take, beside what must stay."""


def provider_of(session: Session) -> str:
    """The provider whose rules the messages of a session have to keep; empty when nobody knows."""
    wire = (session.store.head(session.name) or Head()).wire
    if wire in TRANSCRIPT_WIRES:
        return str(getattr(TRANSCRIPT_WIRES[wire], "SENT_AS", SENT_AS.get(wire, "")))
    return wire if wire in MESSAGE_WIRES else "openai_chat"


def refused(
    session: Session, sent: Sequence[object], recorded: Sequence[object] | None = None
) -> list[str]:
    """What a strict provider has against a window that it has not against the whole history.

    Nor against the window that was `recorded`, where the agent itself had cut that history: a
    damaged transcript can have it cut in a place that no provider takes.
    """
    provider = provider_of(session)
    whole = message_dicts(
        session.ledger.live_window.render_items([Item(entry) for entry in session.ledger.path()])
    )
    found = worse(provider, whole, sent)
    known = worse(provider, recorded, sent) if found and recorded is not None else found
    return [one for one in found if one in known]


def text_of(messages: Sequence[object]) -> str:
    """Everything that messages say, as one text."""
    return "\n".join(_texts(list(messages)))


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
            if value[:1] in "{[":
                try:
                    yield from _texts(json.loads(value))
                except (ValueError, RecursionError):
                    return
        case dict():
            for one in cast("dict[str, Any]", value).values():
                yield from _texts(one)
        case list():
            for one in cast("list[Any]", value):
                yield from _texts(one)
        case _:
            return


def references(text: str, known: str = "") -> list[str]:
    """The references in a text of ours; what stands in the session itself is quoted, not ours."""
    found = {name for pattern in (STAND_IN, ROW, PACKET) for name in pattern.findall(text)}
    return sorted(name for name in found if name not in known)


def unopened(read: Callable[[str], str], text: str, known: str = "") -> list[str]:
    """The references in a text that lead nowhere."""
    wrong: list[str] = []
    for name in references(text, known):
        try:
            read(name)
        except (NotRecorded, KeyError) as error:
            wrong.append(f"{name} does not open: {error}")
        except HoldfastError as error:
            wrong.append(f"{name} does not open: {type(error).__name__}: {error}")
    return wrong


def recount(messages: Sequence[Mapping[str, object]], wire: str = "") -> int:
    """Tokens of messages, counted again from what was returned."""
    from holdfast.core.measure.tokens import count_body
    from holdfast.session.session import Session
    from holdfast.stores.memory import MemoryStore

    session = Session("recount", MemoryStore(), wire=wire)
    session.extend(messages)
    count = counter("o200k_base")
    return sum(count_body(item.body, count) for item in session.ledger.window().items)


def floor_of(session: Session, *, bound: bool | None = None) -> int:
    """Tokens that no budget can take away: the system prompt, and calls that wait for a result.

    Judged from the messages alone, and generously: nothing here looks at how a plan is made.
    Whether thinking is `bound` to what is before it is a property of the model, unless it is given.
    """
    messages = session.messages()
    count = counter("o200k_base")
    system = next((at for at, one in enumerate(messages) if not _is_system(one)), len(messages))
    binds = _binds(session) if bound is None else bound
    begin = max(_first_that_stays(messages, bound=binds), system)
    kept = [*messages[:system], *messages[begin:]]
    return sum(count(json.dumps(message)) for message in kept) + FLOOR


def _first_that_stays(messages: Sequence[Mapping[str, Any]], *, bound: bool) -> int:
    """Where the last step begins, or the thinking that it must be sent with.

    A provider takes the calls of a step only after the sealed thinking of the same loop; where
    thinking is `bound` to the bytes before it, only after all of them.
    """
    last = len(messages)
    while last and not _is_asked(messages[last - 1]):
        last -= 1
    loop = range(last, len(messages))
    step = len(messages)
    while step > last and (_is_answer(messages[step - 1]) or step == len(messages)):
        step -= 1
    while step > last and not _is_answer(messages[step - 1]):
        step -= 1
    sealed = [at for at in loop if _has(messages[at], SEALED)]
    if not sealed:
        return step
    return 0 if bound else min(step, sealed[0])


def _binds(session: Session) -> bool:
    """Whether the model's thinking may be bound to what was sent before it."""
    model = session.ledger.model()
    return model.bound or not model.known


def _is_system(message: Mapping[str, Any]) -> bool:
    return message.get("role") in ("system", "developer")


def _is_asked(message: Mapping[str, Any]) -> bool:
    """Whether a person speaks, and not a tool."""
    return message.get("role") == "user" and not _is_answer(message)


def _is_answer(message: Mapping[str, Any]) -> bool:
    """Whether a message brings results of calls."""
    kind = str(message.get("type"))
    return message.get("role") == "tool" or kind.endswith("_output") or _has(message, ANSWERS)


def _has(message: Mapping[str, Any], kinds: frozenset[str]) -> bool:
    """Whether a message, or a block in it, is of one of some kinds."""
    content = message.get("content")
    blocks = cast("list[Any]", content) if isinstance(content, list) else []
    found = (cast("dict[str, Any]", one).get("type") for one in blocks if isinstance(one, dict))
    return bool(kinds & {str(kind) for kind in (message.get("type"), *found)})


def overhead_of(session: Session) -> int:
    """Tokens that a provider reported and no message explains: system prompt and tools."""
    return max(session.status().tokens - recount(session.messages()), 0)


def sums_of_status(document: Mapping[str, Any]) -> list[str]:
    """What does not add up in a status."""
    total = document["usage"]["tokens"]
    parts = sum(share["tokens"] for share in document["shares"])
    whole = parts + document.get("overhead", 0)
    return [] if whole == total else [f"usage says {total:,}, its parts sum to {whole:,}"]


def sums_of_plan(plan: Mapping[str, Any] | None) -> list[str]:
    """What does not add up in a plan: what stays and what stands in is what it comes to."""
    if not plan or not plan.get("steps"):
        return []
    before, after = plan["before"]["tokens"], plan["after"]["tokens"]
    wrong: list[str] = []
    if plan["after"]["method"] == "exact":
        saved = sum(step["before"] - step["after"] for step in plan["steps"])
        if before - after != saved:
            wrong.append(f"{before:,} became {after:,}, and the steps save {saved:,}")
    parts = _parts(plan)
    if parts is not None and parts > after:
        wrong.append(f"the plan says {after:,} tokens are left, and its parts sum to {parts:,}")
    return wrong


def _parts(plan: Mapping[str, Any]) -> int | None:
    """Tokens of what stays and of what stands in; nothing where a plan does not tell both."""
    if not plan.get("kept"):
        return None
    return sum(row["tokens"] for row in plan["kept"]) + sum(s["after"] for s in plan["steps"])


def sums_of_log(document: Mapping[str, Any]) -> list[str]:
    """What does not add up in a log."""
    events = document.get("events", ())
    return [
        f"{one['kind']}: {one['before']:,} less {one['after']:,} is told as {one['saved']:,}"
        for one in events
        if one["before"] and one["before"] - one["after"] != one["saved"]
    ]


def sums_of(document: Mapping[str, Any]) -> list[str]:
    """What does not add up in any document that a command prints."""
    match document.get("schema"):
        case "holdfast.status/1":
            return sums_of_status(document)
        case "holdfast.compress/1":
            return sums_of_plan(document.get("plan"))
        case "holdfast.log/1":
            return sums_of_log(document)
        case _:
            return []
