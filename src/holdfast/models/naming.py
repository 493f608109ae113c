"""Which model a name stands for."""

from collections.abc import Callable
from typing import TypeAlias

from holdfast.errors import BadSetting
from holdfast.models.drive import AskFn

Summarizer: TypeAlias = str | Callable[[str], str]
"""What a user may give: the name of a model, or a function from text to text."""

COMMAND = "command:"


def model_of(given: Summarizer) -> AskFn:
    """The model that a user means.

    Raises:
        BadSetting: it is the name of none.
    """
    if isinstance(given, str):
        return model_named(given)
    from holdfast.models.calling import calling

    return calling(given)


def model_named(name: str) -> AskFn:
    """The model of a name: `command:PROGRAM ARGUMENTS`, or `PROVIDER:MODEL`.

    Raises:
        BadSetting: the name has neither form, or what it needs is not installed.
    """
    if name.startswith(COMMAND):
        from holdfast.models.command import command

        return command(name.removeprefix(COMMAND))
    maker, colon, model = name.partition(":")
    if not (maker.strip() and colon and model.strip()):
        wanted = "it is neither 'command:PROGRAM' nor 'PROVIDER:MODEL'"
        raise BadSetting("summarizer", f"{name!r}: {wanted}", origin="its name")
    from holdfast.models.provider import provider

    return provider(name)
