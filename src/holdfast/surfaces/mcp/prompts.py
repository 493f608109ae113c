"""The prompts: the two roles of a handoff, as a user hands them to an agent."""

from msgspec import Struct

from holdfast.text.jsontext import Json


class Prompt(Struct, frozen=True):
    """One prompt, and what it takes."""

    name: str
    title: str
    about: str
    takes: tuple[tuple[str, str], ...] = ()
    """Names of arguments and what each is."""


PROMPTS: tuple[Prompt, ...] = (
    Prompt(
        "orchestrator",
        "Hand a task to a worker",
        "How to hand work to other agents with a context packet each.",
        (
            ("task", "The task to hand over, if there is one already."),
            ("pane", "The pane of the worker, if it is known."),
        ),
    ),
    Prompt(
        "worker",
        "Work from a context packet",
        "How to work on a task that was handed over, with the packet itself when there is one.",
        (("pane", "Your pane."), ("task", "Your task, if it is not in the packet.")),
    ),
)

BY_NAME = {prompt.name: prompt for prompt in PROMPTS}


def listed() -> list[Json]:
    """The prompts as a client gets them."""
    return [
        {
            "name": prompt.name,
            "title": prompt.title,
            "description": prompt.about,
            "arguments": [
                {"name": name, "description": about, "required": False}
                for name, about in prompt.takes
            ],
        }
        for prompt in PROMPTS
    ]
