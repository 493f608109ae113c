"""Models of the providers, through pydantic-ai: `anthropic:claude-…`, `openai:gpt-…` and the like.

Keys and base URLs are the environment's business, as the providers' own libraries read them. The
library is an extra and takes a second to load, so it is loaded for the first question only.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from holdfast.core.asking import Answer, Ask, Failed, Stop
from holdfast.errors import BadSetting
from holdfast.models.drive import AskFn, one_line, too_late, within

LIBRARY = "pydantic_ai"
GRACE = 1.0
"""Seconds in which a request that is late may still be taken back in order."""
STOPS: dict[str, Stop] = {
    "stop": "end",
    "length": "length",
    "tool_call": "tool",
    "content_filter": "filter",
}


def provider(name: str) -> AskFn:
    """Asks the model of that name.

    Raises:
        BadSetting: the extra that talks to providers is not installed.
    """
    if find_spec(LIBRARY) is None:
        reason = f"the model {name!r} needs an extra: pip install 'holdfast[llm]'"
        raise BadSetting("summarizer", reason, origin="its name")

    def ask(question: Ask, seconds: float) -> Answer | Failed:
        import asyncio

        # A thread of its own, because the caller's may have a loop that runs already.
        return within(seconds + GRACE, lambda: asyncio.run(asked(name, question, seconds)))

    return ask


async def asked(name: str, question: Ask, seconds: float) -> Answer | Failed:
    """The same question for whoever awaits."""
    import asyncio

    messages, errors = _part("messages"), _part("exceptions")
    message = messages.ModelRequest.user_text_prompt(question.prompt, instructions=question.system)
    settings = {"max_tokens": question.limit, "timeout": seconds}
    request = _part("direct").model_request(name, [message], model_settings=settings)
    try:
        return _answered(name, await asyncio.wait_for(request, seconds), messages)
    except TimeoutError:
        return Failed(too_late(seconds))
    except errors.ModelHTTPError as error:
        return Failed(f"the provider answered with status {error.status_code}")
    except (errors.AgentRunError, errors.UserError, ImportError) as error:
        return Failed(f"the model {name!r} could not be asked: {one_line(str(error))}")


def _part(name: str) -> Any:
    """A module of the library; by name, so that nobody needs it installed to check our types."""
    return import_module(f"{LIBRARY}.{name}")


def _answered(name: str, response: Any, messages: Any) -> Answer:
    texts: list[str] = [
        part.content for part in response.parts if isinstance(part, messages.TextPart)
    ]
    called = any(isinstance(part, messages.ToolCallPart) for part in response.parts)
    return Answer(
        text="\n".join(texts),
        model=response.model_name or name,
        input=response.usage.input_tokens or 0,
        output=response.usage.output_tokens or 0,
        stop="tool" if called else STOPS.get(response.finish_reason or "stop", "other"),
    )
