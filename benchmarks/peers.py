"""What other tools would send in place of a session's history, each with its own means.

A session here is a list of OpenAI chat messages: role, content, tool_calls, tool_call_id. Keys that
start with `x_` are remarks of the data set and stay at home. Peers are imported when they are first
called: none of them is a dependency of this project, not even for development.

    pip install langchain langchain-core headroom-ai
"""

import json
import logging
import os
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from holdfast.models.tokenizers import counter

Message: TypeAlias = dict[str, Any]

KEPT_RESULTS = 3
"""Tool results that ContextEditingMiddleware leaves alone; its default."""

HEADROOM_MODEL = "gpt-4o"

_NEEDS = {
    "context_editing": ("langchain",),
    "trim": ("langchain_core",),
    "headroom": ("headroom",),
}


def available() -> dict[str, str]:
    """Each peer, and why it cannot be measured here; empty when it can."""
    return {
        name: ", ".join(f"{need} is not installed" for need in needs if find_spec(need) is None)
        for name, needs in _NEEDS.items()
    }


def plain(message: Message) -> Message:
    """A message without the remarks of the data set."""
    return {key: value for key, value in message.items() if not key.startswith("x_")}


def context_editing(messages: Sequence[Message], trigger_tokens: int) -> list[Message]:
    """What LangChain's ContextEditingMiddleware would send, clearing tool results past the trigger.

    The middleware counts with its own estimate (a token for every four characters), and so do we.
    It copies the whole history deeply before it edits; a copy of the list does, because the one
    edit it has puts new messages in the places of old ones and changes none.
    """
    from langchain.agents.middleware import ClearToolUsesEdit

    before = _langchain.messages(messages)
    after = list(before)
    edit = ClearToolUsesEdit(trigger=trigger_tokens, keep=KEPT_RESULTS)
    edit.apply(after, count_tokens=_langchain.approximate)
    return [
        plain(message) if new is old else plain(message) | {"content": new.content}
        for message, old, new in zip(messages, before, after, strict=True)
    ]


def trim(
    messages: Sequence[Message],
    budget: int,
    count: Callable[[Message], int],
    *,
    start_on: str | tuple[str, ...] = "human",
) -> list[Message]:
    """What `trim_messages` keeps of the end of a history, as its documentation recommends it.

    That is from a user's message on; where one prompt starts hours of work there is none in reach,
    and all but the system prompt goes. `start_on=("human", "ai")` is kinder, and legal as well: no
    result is parted from its call.
    """
    from langchain_core.messages import BaseMessage, trim_messages

    def tokens(kept: list[BaseMessage]) -> int:
        return sum(count(messages[int(message.id or 0)]) for message in kept)

    kept = trim_messages(
        _langchain.messages(messages),
        max_tokens=budget,
        token_counter=tokens,
        strategy="last",
        include_system=True,
        allow_partial=False,
        start_on=start_on,
    )
    return [plain(messages[int(message.id or 0)]) for message in kept]


def headroom(messages: Sequence[Message]) -> list[Message]:
    """What headroom's `compress` makes of a history, as its README calls it; it knows no budget.

    Its model for prose has to be fetched from a network, so here prose stays as it is. What it
    takes out, it keeps in a store of its own that an agent can ask.
    """
    _prepare_headroom()
    from headroom import compress

    return list(compress([plain(message) for message in messages], model=HEADROOM_MODEL).messages)


@cache
def _prepare_headroom() -> TemporaryDirectory[str]:
    """No egress, a store in a folder that goes with the process, and an exact tokenizer at hand."""
    folder = TemporaryDirectory(prefix="headroom-")
    os.environ["HEADROOM_OFFLINE"] = "1"
    os.environ["HEADROOM_WORKSPACE_DIR"] = folder.name
    logging.getLogger("headroom").setLevel(logging.ERROR)
    from headroom.tokenizers import BaseTokenizer, register_tokenizer

    class Exact(BaseTokenizer):
        """The vocabulary it would fetch."""

        def count_text(self, text: str) -> int:
            return _tokens(text)

    register_tokenizer(HEADROOM_MODEL, tokenizer=Exact())
    return folder


@lru_cache(maxsize=100_000)
def _tokens(text: str) -> int:
    return counter("o200k_base")(text)


class _LangChain:
    """Histories as LangChain's messages; a history that grew has only its new end converted."""

    def __init__(self) -> None:
        self._sources: list[Message] = []
        self._converted: list[Any] = []
        self._estimates: dict[int, int] = {}

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """The history converted; each message is named by its place."""
        known = self._sources[: len(messages)]
        if any(old is not new for old, new in zip(known, messages, strict=False)):
            self._sources, self._converted, self._estimates = [], [], {}
        for place in range(len(self._sources), len(messages)):
            self._sources.append(messages[place])
            self._converted.append(_converted(messages[place], str(place)))
        return self._converted[: len(messages)]

    def approximate(self, messages: Sequence[Any]) -> int:
        """LangChain's own estimate. It adds up message by message, so each is counted once."""
        from langchain_core.messages.utils import count_tokens_approximately

        total = 0
        for message in messages:
            tokens = self._estimates.get(id(message))
            if tokens is None:
                tokens = count_tokens_approximately([message])
                if message is self._converted[int(message.id)]:  # kept, so its id() stays its own
                    self._estimates[id(message)] = tokens
            total += tokens
        return total


_langchain = _LangChain()


def _converted(message: Message, name: str) -> Any:
    """One message as LangChain has it, with the ids, names and arguments of its calls."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    content = message.get("content") or ""
    match message["role"]:
        case "assistant":
            calls, invalid = _calls(message)
            return AIMessage(content, id=name, tool_calls=calls, invalid_tool_calls=invalid)
        case "tool":
            call = message.get("tool_call_id", "")
            return ToolMessage(content, id=name, tool_call_id=call, name=message.get("name"))
        case "system" | "developer":
            return SystemMessage(content, id=name)
        case _:
            return HumanMessage(content, id=name)


def _calls(message: Message) -> tuple[list[Any], list[Any]]:
    """The calls of a message: those whose arguments are an object, and the others."""
    good: list[Any] = []
    bad: list[Any] = []
    for call in message.get("tool_calls") or ():
        name, text = call["function"]["name"], call["function"]["arguments"]
        try:
            arguments = json.loads(text)
        except ValueError:
            arguments = None
        if isinstance(arguments, dict):
            good.append({"id": call["id"], "name": name, "args": arguments, "type": "tool_call"})
        else:
            bad.append({"id": call["id"], "name": name, "args": text, "error": "not an object"})
    return good, bad
