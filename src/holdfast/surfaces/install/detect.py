"""Which agents are there: their programs on the path, their settings in the home or the project."""

import shutil
from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import HoldfastError, NotRecorded
from holdfast.surfaces.install.apply import record_of
from holdfast.surfaces.install.plan import AGENTS, SCOPES, Place, agent_named

PROGRAMS = {"claude-code": "claude"}
"""What an agent's program is called, where that is not the agent's name."""

T = TypeVar("T")


class Found(Struct, frozen=True):
    """An agent that is there, and by what it was found."""

    agent: str
    where: str
    has: str = ""
    """The scope in which Holdfast is in it, `project` or `user`; empty when it is not."""


class Failed(Struct, frozen=True):
    """Something that could not be done to one agent, while others went well."""

    agent: str
    error: str
    code: int


def agents_in(place: Place) -> list[Found]:
    """The agents that are there.

    Raises:
        NotRecorded: there is none.
    """
    found = [
        Found(agent, where, _has(agent, place))
        for agent in AGENTS
        if (where := _where(agent, place))
    ]
    if not found:
        programs = ", ".join(PROGRAMS.get(agent, agent) for agent in AGENTS)
        raise NotRecorded(
            "agent", "", where=f"the home, the project or on the path ({programs}); name one"
        )
    return found


def _has(agent: str, place: Place) -> str:
    """Where Holdfast is in an agent: the scope that is asked about counts before the other."""
    scopes = (place.scope, *(scope for scope in SCOPES if scope != place.scope))
    places = (replace(place, scope=scope) for scope in scopes)
    return next((one.scope for one in places if record_of(one, agent) is not None), "")


def _where(agent: str, place: Place) -> str:
    """By what an agent is found; empty when it is not there."""
    program = shutil.which(PROGRAMS.get(agent, agent), path=place.environment.get("PATH"))
    folders = (str(path) for path in agent_named(agent).homes(place) if path.exists())
    return program or next(folders, "")


def each(agents: list[str], act: Callable[[str], T]) -> list[T | Failed]:
    """Do something for every agent; one that fails stops no other."""
    done: list[T | Failed] = []
    for agent in agents:
        try:
            done.append(act(agent))
        except HoldfastError as error:
            done.append(Failed(agent, str(error), error.exit_code))
    return done
