"""Find the agent programs of this machine, by their programs and their settings files."""

import shutil
from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import HoldfastError, NotRecorded
from holdfast.surfaces.install.apply import read_record
from holdfast.surfaces.install.plan import AGENT_MODULES, SCOPES, InstallTarget, installer_for

PROGRAM_NAMES = {"claude-code": "claude"}
"""Names of agent programs that differ from the agent's name."""

T = TypeVar("T")


class FoundAgent(Struct, frozen=True):
    """An agent that was found, and the program or file that shows it."""

    agent: str
    where: str
    has: str = ""
    """The scope of an existing installation, `project` or `user`; empty if there is none."""


class AgentFailure(Struct, frozen=True):
    """An error with one agent; the other agents are processed all the same."""

    agent: str
    error: str
    code: int


def find_agents(target: InstallTarget) -> list[FoundAgent]:
    """Find the agents that this machine or project uses.

    Raises:
        NotRecorded: none was found.
    """
    agents = [
        FoundAgent(agent, where, _installed_scope(agent, target))
        for agent in AGENT_MODULES
        if (where := _evidence_of(agent, target))
    ]
    if not agents:
        programs = ", ".join(PROGRAM_NAMES.get(agent, agent) for agent in AGENT_MODULES)
        raise NotRecorded(
            "agent", "", where=f"the home, the project or on the path ({programs}); name one"
        )
    return agents


def _installed_scope(agent: str, target: InstallTarget) -> str:
    """Return the scope in which Holdfast is installed; the target's own scope is checked first."""
    scopes = (target.scope, *(scope for scope in SCOPES if scope != target.scope))
    places = (replace(target, scope=scope) for scope in scopes)
    return next(
        (candidate.scope for candidate in places if read_record(candidate, agent) is not None), ""
    )


def _evidence_of(agent: str, target: InstallTarget) -> str:
    """Return the program or path that shows an agent is used; empty if there is none."""
    program = shutil.which(PROGRAM_NAMES.get(agent, agent), path=target.environment.get("PATH"))
    folders = (str(path) for path in installer_for(agent).known_paths(target) if path.exists())
    return program or next(folders, "")


def for_each_agent(agents: list[str], act: Callable[[str], T]) -> list[T | AgentFailure]:
    """Call `act` for each agent, and continue after an error."""
    results: list[T | AgentFailure] = []
    for agent in agents:
        try:
            results.append(act(agent))
        except HoldfastError as error:
            results.append(AgentFailure(agent, str(error), error.exit_code))
    return results
