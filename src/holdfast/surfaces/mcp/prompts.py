"""Describe the MCP prompts: the roles of orchestrator and worker in a handoff."""

from msgspec import Struct

from holdfast.text.jsontext import Json


class Prompt(Struct, frozen=True):
    """One prompt and its arguments."""

    name: str
    title: str
    description: str
    arguments: tuple[tuple[str, str], ...] = ()
    """Name and description of each argument."""


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

PROMPTS_BY_NAME = {prompt.name: prompt for prompt in PROMPTS}


def list_prompts() -> list[Json]:
    """Return the answer to `prompts/list`."""
    return [
        {
            "name": prompt.name,
            "title": prompt.title,
            "description": prompt.description,
            "arguments": [
                {"name": name, "description": about, "required": False}
                for name, about in prompt.arguments
            ],
        }
        for prompt in PROMPTS
    ]
