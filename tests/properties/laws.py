"""What every compression has to keep, judged from the messages alone: before, after, and outcome.

Messages are taken apart into pieces. What is no thinking stands in the same order afterwards; a
piece is as it was, or it is a result or a call that names where the whole of it is. Where a summary
stands, that holds for what comes after it; what the system said first is before it, as it was.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any, NamedTuple, TypeAlias

from hypothesis import strategies as st

import holdfast
from holdfast import NothingToShrink, Outcome, Policy
from holdfast.core.ledger.marks import DRIFT_WARNING
from holdfast.core.observe.requests.pastes import words_outside_pastes
from holdfast.core.plan.policy import STAND_INS, Offload, Tail, Truncate
from holdfast.models.tokenizers import counter
from tests.provider.strict import worse

Message: TypeAlias = dict[str, Any]
MODELS = {
    "anthropic": ("", "claude-opus-4-6", "claude-opus-5-5"),
    "openai_chat": ("", "gpt-5"),
    "openai_responses": ("", "gpt-5"),
}
"""A model nobody knows, one whose thinking may be parted from what it was made on, one that not."""
OFFLOADED = ("## Offloaded: ", "## Offloaded Content Reference\n")
MARKS = (*OFFLOADED, "## Tool Call: ", "## Truncated Tool Call\n", "[holdfast ")
REF = re.compile(r"(?:\[holdfast |\*\*Ref:\*\* )([0-9a-f]{12})")
CUT = re.compile(r"(?m)^\[(paste|more) ([0-9a-f]{12})\] ")
"""The lines that stand where a paste was, or the rest of a request."""
CUT_LINES = ("[paste ", "[more ", "│ ")
SUMMARY = "## Session Summary ["
SAVED = re.compile(r"\*\*Tokens Saved:\*\* ([\d,]+)\n")


def small_policy(
    above: int, sweep: int, cut: int, steps: int, percent: int, form: str = "lar-033"
) -> Policy:
    """A policy under which small things count as large."""
    return Policy(
        offload=Offload(above=above, sweep=sweep, form=form),
        truncate=Truncate(above=cut, form=form),
        tail=Tail(percent=percent, steps=steps),
    )


policies = st.builds(
    small_policy,
    st.integers(50, 2000),
    st.integers(20, 500),
    st.integers(10, 200),
    st.integers(1, 4),
    st.integers(0, 10),
    st.sampled_from(STAND_INS),
)


class Piece(NamedTuple):
    """A part of a message that leaves or stays as one."""

    kind: str
    """`words`, `call`, `result` or `thinking`."""
    name: str
    """The call it is about; the role of words."""
    text: str
    """What a result says, the arguments of a call, the words or the thought."""
    spelled: str
    """All of it, as it would be sent."""
    message: int
    pictured: bool = False


def spelled(value: object) -> str:
    """A value with its keys in their order."""
    return json.dumps(value)


def pieces(wire: str, messages: Sequence[Message]) -> list[Piece]:
    """All that stands in messages, in order."""
    take = {"anthropic": _anthropic, "openai_chat": _chat, "openai_responses": _responses}[wire]
    return [piece for at, message in enumerate(messages) for piece in take(message, at)]


def _anthropic(message: Message, at: int) -> Iterator[Piece]:
    content = message["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content:
        match block["type"]:
            case "thinking" | "redacted_thinking":
                yield Piece("thinking", "", block.get("thinking", ""), spelled(block), at)
            case "tool_use":
                yield Piece("call", block["id"], spelled(block["input"]), spelled(block), at)
            case "tool_result":
                inner = block["content"]
                texts = [inner] if isinstance(inner, str) else _texts(inner)
                pictured = not isinstance(inner, str) and len(texts) < len(inner)
                name = block["tool_use_id"]
                yield Piece("result", name, "\n".join(texts), spelled(block), at, pictured)
            case _:
                yield Piece("words", message["role"], block["text"], spelled(block), at)


def _texts(blocks: list[Message]) -> list[str]:
    return [block["text"] for block in blocks if "text" in block]


def _chat(message: Message, at: int) -> Iterator[Piece]:
    content, role = message.get("content"), message["role"]
    text = content if isinstance(content, str) else "\n".join(_texts(content or []))
    if role == "tool":
        yield Piece("result", message["tool_call_id"], text, spelled(message), at)
        return
    if "reasoning_content" in message:
        yield Piece("thinking", "", message["reasoning_content"], "", at)
    yield Piece("words", role, text, spelled(content), at)
    for call in message.get("tool_calls", ()):
        yield Piece("call", call["id"], call["function"]["arguments"], spelled(call), at)


def _responses(item: Message, at: int) -> Iterator[Piece]:
    match item["type"]:
        case "reasoning":
            yield Piece("thinking", "", item["summary"][0]["text"], spelled(item), at)
        case "function_call" | "custom_tool_call" as kind:
            given = item["arguments" if kind == "function_call" else "input"]
            yield Piece("call", item["call_id"], given, spelled(item), at)
        case "function_call_output" | "custom_tool_call_output":
            output = item["output"]
            texts = [output] if isinstance(output, str) else _texts(output)
            pictured = not isinstance(output, str)
            yield Piece("result", item["call_id"], "\n".join(texts), spelled(item), at, pictured)
        case _:
            yield Piece("words", item["role"], text_in(item), spelled(item), at)


def compressed(
    messages: Sequence[Message], budget: int, *, model: str = "", policy: Policy | None = None
) -> tuple[Outcome, NothingToShrink | None]:
    """What compressing comes to, and what it raised when the budget cannot be reached."""
    try:
        return holdfast.compress(messages, budget, model=model, policy=policy), None
    except NothingToShrink as error:
        assert isinstance(error.outcome, Outcome)
        return error.outcome, error


def size_of(messages: Sequence[Message], model: str = "") -> int:
    """Tokens of messages, as they are."""
    return holdfast.compress(messages, 10**9, model=model).before.tokens


def broken_laws(wire: str, before: Sequence[Message], made: Outcome) -> list[str]:
    """Everything that a compression did and must not."""
    found = [f"it lost: {loss}" for loss in made.losses]
    hidden = sum(step.kind != "summary" for step in made.steps)
    found += broken_window_laws(wire, before, made.messages, read=made.read, hidden=hidden)
    return found + _sum_laws(made)


def broken_window_laws(
    wire: str,
    before: Sequence[Message],
    after: Sequence[Message],
    *,
    read: Callable[[str], str],
    hidden: int,
) -> list[str]:
    """Everything that is wrong with a window, given all that was ever said.

    What a drifting agent is told is nothing that was said: a message of its own, which a provider
    has to take, and nothing else gives way to.

    `read` gives the whole of what a reference names; `hidden` is how much is out of sight of what
    no summary stands for.
    """
    found = worse(wire, before, after)
    before, after = ([one for one in some if not is_told(one)] for some in (before, after))
    at = anchor_at(before, after)
    if at is None:
        return found + _in_place_laws(wire, before, after, read=read, hidden=hidden)
    if spelled(before[:at]) != spelled(after[:at]):
        found.append("what the system said first changed")
    start = tail_start(wire, before, after[at + 1 :])
    if start <= at:
        return [*found, "a summary stands for nothing"]
    tail = before[start:]
    return found + _in_place_laws(wire, tail, after[at + 1 :], read=read, hidden=hidden)


def anchor_at(before: Sequence[Message], after: Sequence[Message]) -> int | None:
    """Where a summary of ours stands that was not there before."""
    at = sum(1 for _ in takewhile(_is_system, after))
    if at == len(after) or not is_anchor(after[at]):
        return None
    known = spelled(after[at]) in map(spelled, before)
    return None if known else at


def _is_system(message: Message) -> bool:
    return message.get("role") in ("system", "developer")


def is_anchor(message: Message) -> bool:
    """Whether a message is a summary of ours."""
    return message.get("role") == "user" and text_in(message).startswith(SUMMARY)


def is_told(message: Message) -> bool:
    """Whether a message is what a drifting agent is told."""
    return message.get("role") == "user" and text_in(message).startswith(DRIFT_WARNING)


def text_in(message: Message) -> str:
    """The words of a message."""
    content = message.get("content")
    return content if isinstance(content, str) else "\n".join(_texts(content or []))


def tail_start(wire: str, before: Sequence[Message], tail: Sequence[Message]) -> int:
    """Where in a history the messages begin that stand after its summary."""
    was, now = pieces(wire, before), pieces(wire, tail)
    count = len(_rest(now))
    start = _rest(was)[-count].message if count else len(before)
    thoughts = len(_only(now, "thinking"))
    # Thinking may be a message of its own before what it was for.
    while start and thoughts > len([p for p in _only(was, "thinking") if p.message >= start]):
        start -= 1
    return start


def _in_place_laws(
    wire: str,
    before: Sequence[Message],
    after: Sequence[Message],
    *,
    read: Callable[[str], str],
    hidden: int,
) -> list[str]:
    was, now = pieces(wire, before), pieces(wire, after)
    found = _thinking_laws(_only(was, "thinking"), _only(now, "thinking"))
    pairs = list(zip(_rest(was), _rest(now), strict=False))
    if len(_rest(was)) != len(_rest(now)):
        return [*found, f"{len(_rest(was))} pieces became {len(_rest(now))}"]
    changed = [(old, new) for old, new in pairs if old.spelled != new.spelled]
    for old, new in changed:
        found += _piece_laws(old, new, read)
    gone = len(_only(was, "thinking")) - len(_only(now, "thinking"))
    if gone + len(changed) != hidden:
        found.append(f"{hidden} hidden, but {gone} thoughts left and {len(changed)} pieces changed")
    return found + _message_laws(wire, before, after, {old.message for old, _ in changed})


def _only(some: Sequence[Piece], kind: str) -> list[Piece]:
    return [piece for piece in some if piece.kind == kind]


def _rest(some: Sequence[Piece]) -> list[Piece]:
    return [piece for piece in some if piece.kind != "thinking"]


def _thinking_laws(was: Sequence[Piece], now: Sequence[Piece]) -> list[str]:
    """Signed thinking leaves from the front; what is not signed may leave from anywhere."""
    if any(piece.spelled for piece in was):
        kept = [piece.spelled for piece in was[len(was) - len(now) :]]
        alike = kept == [piece.spelled for piece in now]
        return [] if alike else ["signed thinking changed, or left from the middle"]
    rest = iter(piece.text for piece in was)
    alike = all(piece.text in rest for piece in now)
    return [] if alike else ["thinking changed"]


def _piece_laws(old: Piece, new: Piece, read: Callable[[str], str]) -> list[str]:
    if (old.kind, old.name) != (new.kind, new.name):
        return [f"a {old.kind} of {old.name} became a {new.kind} of {new.name}"]
    if old.kind == "words":
        return _request_laws(old, new, read)
    if old.kind == "call":
        return _call_laws(old, new, read)
    if _is_stand_in(old.text):
        return [f"a stand-in was stood in for: {old.text[:60]!r}"]
    if not _is_stand_in(new.text):
        return [f"a result became {new.text[:60]!r}"]
    ref = _ref(new.text)
    # A result with pictures comes back as the whole message.
    if sendable(old.text) not in (whole := read(ref)) and not whole.startswith("{"):
        return [f"{ref} does not give the result of {old.name} back"]
    return _saving_laws(old, new)


def _request_laws(old: Piece, new: Piece, read: Callable[[str], str]) -> list[str]:
    """A user's message may lose its pastes, and the end of its words where room is short."""
    refs = CUT.findall(new.text)
    if old.name != "user" or not refs:
        return [f"words of {old.name} changed: {old.text[:40]!r}"]
    if any(sendable(read(ref)) not in sendable(old.text) for _, ref in refs):
        return [f"{refs[0][1]} does not give the request back"]
    was = " ".join(sendable(old.text).split())
    lines = (line for line in sendable(new.text).split("\n") if not line.startswith(CUT_LINES))
    made_up = [line for line in lines if " ".join(line.split()) not in was]
    own = () if any(mark == "more" for mark, _ in refs) else words_outside_pastes(old.text)
    lost = [words for words in own if sendable(words) not in sendable(new.text)]
    return [f"nobody said {line[:60]!r}" for line in made_up] + [
        f"words of the user left: {words[:60]!r}" for words in lost
    ]


def _saving_laws(old: Piece, new: Piece) -> list[str]:
    if old.pictured:
        return []
    count = counter("o200k_base")
    saved = count(sendable(old.text)) - count(new.text)
    if saved <= 0:
        return [f"a stand-in is {-saved} tokens larger than what it hides"]
    told = SAVED.search(new.text)
    if told and new.text.startswith(OFFLOADED) and int(told[1].replace(",", "")) != saved:
        return [f"it names {told[1]} tokens saved, and saves {saved}"]
    return []


def _call_laws(old: Piece, new: Piece, read: Callable[[str], str]) -> list[str]:
    was, now = _parsed(old.text), _parsed(new.text)
    stubs = list(_stubs(was, now))
    if not stubs or not all(_is_stand_in(stub) for stub in stubs):
        return [f"the arguments of {old.name} became {new.text[:80]!r}"]
    found: list[str] = []
    for ref in {_ref(stub) for stub in stubs}:
        whole = read(ref)
        if not whole.endswith(sendable(old.text)) and _parsed(whole[whole.find("{") :]) != was:
            found.append(f"{ref} does not give the call {old.name} back")
    return found


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _stubs(was: object, now: object) -> Iterator[str]:
    """The texts that stand in place of others; a difference in shape is told as nothing that is."""
    if type(was) is not type(now):
        yield "another shape"
    elif isinstance(was, dict) and isinstance(now, dict):
        if list(was) != list(now):  # pyright: ignore[reportUnknownArgumentType]
            yield "other keys"
            return
        for key in was:  # pyright: ignore[reportUnknownVariableType]
            yield from _stubs(was[key], now[key])  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(was, list) and isinstance(now, list):
        if len(was) != len(now):  # pyright: ignore[reportUnknownArgumentType]
            yield "another length"
            return
        for old, new in zip(was, now, strict=True):  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
            yield from _stubs(old, new)  # pyright: ignore[reportUnknownArgumentType]
    elif was != now:
        yield now if isinstance(now, str) else "another value"


def _message_laws(
    wire: str, before: Sequence[Message], after: Sequence[Message], changed: set[int]
) -> list[str]:
    """A message that no step touches is the same to the last key."""
    if wire == "openai_responses":
        kept = {spelled(item) for item in after}
        rest = (at for at, item in enumerate(before) if item["type"] != "reasoning")
        return [
            f"item {at} changed"
            for at in rest
            if at not in changed and spelled(before[at]) not in kept
        ]
    if len(before) != len(after):
        return [f"{len(before)} messages became {len(after)}"]
    found: list[str] = []
    for at, (old, new) in enumerate(zip(before, after, strict=True)):
        left = len(pieces(wire, [new])) < len(pieces(wire, [old]))
        if spelled(old) != spelled(new) and at not in changed and not left:
            found.append(f"message {at} changed though no step touches it")
    return found


def _sum_laws(made: Outcome) -> list[str]:
    """Steps are in raw tokens; where the model has no vocabulary of its own, sums are estimates."""
    found: list[str] = []
    saved = sum(step.before - step.after for step in made.steps)
    if made.after.method == "exact" and saved != made.before.tokens - made.after.tokens:
        found.append(f"steps save {saved}, {made.before.tokens} became {made.after.tokens}")
    found += [
        f"a step makes {step.before} tokens {step.after}"
        for step in made.steps
        if step.after > step.before or (step.after == step.before and step.stand_in is not None)
    ]
    return found


def _is_stand_in(text: str) -> bool:
    return text.startswith(MARKS) and REF.search(text[:600]) is not None


def _ref(text: str) -> str:
    found = REF.search(text)
    return found[1] if found else ""


def sendable(text: str) -> str:
    """A text without half letters, which no request can hold: the bytes that came have them."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)
