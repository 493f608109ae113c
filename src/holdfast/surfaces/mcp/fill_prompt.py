"""Answer `prompts/get` and `completion/complete`: fill in a prompt, complete an argument."""

from collections.abc import Mapping

from holdfast.errors import NotRecorded
from holdfast.surfaces.handoff import packet_sessions
from holdfast.surfaces.mcp.packet_calls import read_packet
from holdfast.surfaces.mcp.project_cache import CachedProject, RequestContext
from holdfast.surfaces.roles import ORCHESTRATOR, WORKER, RoleVariables, role_text, role_variables


def fill_prompt(context: RequestContext, name: str, arguments: Mapping[str, str]) -> str:
    """Return the text of a prompt with its arguments filled in."""
    with context.project() as cached:
        spelling = role_variables(cached.project.settings.policy.layout, context.options.prefix)
        pane, task = arguments.get("pane", "").strip(), arguments.get("task", "").strip()
        if name == ORCHESTRATOR:
            text = role_text(name, spelling, pane or None)
            return f"{text}\n\nThe task to hand over: {task}" if task else text
        return _worker_prompt(context, cached, spelling, pane, task)


def _worker_prompt(
    context: RequestContext, cached: CachedProject, spelling: RoleVariables, pane: str, task: str
) -> str:
    """Return the worker's role with its packet, and record that the packet was read."""
    try:
        packet = read_packet(context, cached, pane or None, (), "prompt")
    except NotRecorded:
        packet = ""
    parts = [role_text(WORKER, spelling, pane or None)]
    parts += [f"Your context packet:\n\n{packet}"] if packet else []
    parts += [f"Your task: {task}"] if task else []
    return "\n\n".join(parts)


def complete_argument(context: RequestContext, argument: str, prefix: str) -> list[str]:
    """Return the values of an argument that start with a prefix."""
    with context.project() as cached:
        sessions = cached.project.store.sessions() if cached.project.has_ledger else []
        candidates = [session.name for session in sessions] if argument == "session" else []
        if argument == "pane":
            candidates = [
                audience.removeprefix("pane-") for audience in packet_sessions(cached.project)
            ]
        return [value for value in candidates if value.startswith(prefix)]
