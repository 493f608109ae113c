"""Read the moments of messages made by hand."""

from holdfast.core.observe.moments.read import moments_in
from tests.core.building import Told, back, bash, scene


def texts(*messages: Told, kind: str = "") -> list[str]:
    """The texts of the moments of some messages, or of those of one kind."""
    found = moments_in(scene(*messages))
    return [moment.text for moment in found if not kind or moment.kind == kind]


def weights(*messages: Told) -> dict[str, float]:
    """The weight of each moment."""
    return {moment.text: moment.weight for moment in moments_in(scene(*messages))}


def ran(command: str, output: str) -> str:
    """The moment of a command that ran."""
    return texts(bash("a", command), back("a", output), kind="ran")[0]
