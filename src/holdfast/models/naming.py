"""Turn the `summarizer` setting, a model name or a function, into a model to call."""

from collections.abc import Callable
from typing import TypeAlias

from holdfast.errors import BadSetting
from holdfast.models.drive import AskFn, calling

Summarizer: TypeAlias = str | Callable[[str], str]
"""The name of a model, or a function from text to text."""

COMMAND_PREFIX = "command:"


def resolve_model(summarizer: Summarizer) -> AskFn:
    """Return the model for a `summarizer` value.

    Raises:
        BadSetting: it is not the name of a model.
    """
    if isinstance(summarizer, str):
        return model_named(summarizer)
    return calling(summarizer)


def model_named(name: str) -> AskFn:
    """Return the model of a name: `command:PROGRAM ARGUMENTS` or `PROVIDER:MODEL`.

    Raises:
        BadSetting: the name has neither form, or a required package is not installed.
    """
    if name.startswith(COMMAND_PREFIX):
        from holdfast.models.command import command_model

        return command_model(name.removeprefix(COMMAND_PREFIX))
    provider_name, colon, model = name.partition(":")
    if not (provider_name.strip() and colon and model.strip()):
        expected = "it is neither 'command:PROGRAM' nor 'PROVIDER:MODEL'"
        raise BadSetting("summarizer", f"{name!r}: {expected}", origin="its name")
    from holdfast.models.provider import provider_model

    return provider_model(name)
