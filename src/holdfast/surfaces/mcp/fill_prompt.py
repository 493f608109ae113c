"""Prompts with what they are about filled in, and how an argument that was begun may go on."""

from collections.abc import Mapping

from holdfast.errors import NotRecorded
from holdfast.surfaces.handoff import packets_in
from holdfast.surfaces.mcp.packet_calls import taken_packet
from holdfast.surfaces.mcp.project_cache import Desk, Kept
from holdfast.surfaces.roles import ORCHESTRATOR, WORKER, Spelling, role_text, spelling_of


def prompted(desk: Desk, name: str, given: Mapping[str, str]) -> str:
    """A prompt with what was given filled in."""
    with desk.kept() as kept:
        spelling = spelling_of(kept.project.settings.policy.layout, desk.place.prefix)
        pane, task = given.get("pane", "").strip(), given.get("task", "").strip()
        if name == ORCHESTRATOR:
            text = role_text(name, spelling, pane or None)
            return f"{text}\n\nThe task to hand over: {task}" if task else text
        return _as_worker(desk, kept, spelling, pane, task)


def _as_worker(desk: Desk, kept: Kept, spelling: Spelling, pane: str, task: str) -> str:
    """A worker's role with its packet: whoever gets this has read it."""
    try:
        packet = taken_packet(desk, kept, pane or None, (), "prompt")
    except NotRecorded:
        packet = ""
    parts = [role_text(WORKER, spelling, pane or None)]
    parts += [f"Your context packet:\n\n{packet}"] if packet else []
    parts += [f"Your task: {task}"] if task else []
    return "\n\n".join(parts)


def completed(desk: Desk, argument: str, begun: str) -> list[str]:
    """How something that was begun may go on."""
    with desk.kept() as kept:
        listed = kept.project.store.sessions() if kept.project.has_ledger else []
        found = [one.name for one in listed] if argument == "session" else []
        if argument == "pane":
            found = [one.removeprefix("pane-") for one in packets_in(kept.project)]
        return [one for one in found if one.startswith(begun)]
