"""Packets over MCP: made, read by whoever they are for, reported on; and whatever may be wrong."""

import os
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import CallToolResult, TextContent, TextResourceContents

from holdfast.packets.feedback import collect_feedback, open_requests, recorded_feedback
from holdfast.packets.packet import Packet
from holdfast.packets.records import packet_records
from holdfast.session.open import open as open_session
from tests.surfaces.cli.working import FIRST, recorded
from tests.surfaces.mcp.clients import run_async, stdio_client_of

TASK = "Fix the retry loop of the export"


def text_of(came: CallToolResult) -> str:
    (block,) = came.content
    assert isinstance(block, TextContent)
    return block.text


async def call_text(client: Client, tool: str, **arguments: Any) -> str:
    came = await client.call_tool(tool, arguments)
    assert not came.is_error, text_of(came)
    return text_of(came)


async def call_error(client: Client, tool: str, **arguments: Any) -> str:
    came = await client.call_tool(tool, arguments)
    assert came.is_error
    assert "\n" not in text_of(came)
    return text_of(came)


def test_two_workers_at_once_get_their_own(project: Path) -> None:
    async def work() -> Any:
        async with stdio_client_of(project) as client:
            await call_text(client, "context_generate", task=TASK, pane=1)
            await call_text(client, "context_generate", task="Write the docs of the export", pane=2)
            which = await call_error(client, "context_read")
        async with (
            stdio_client_of(project, AGENTWIRE_PANE="1") as one,
            stdio_client_of(project, HOLDFAST_PANE="2") as two,
        ):
            return which, await call_text(one, "context_read"), await call_text(two, "context_read")

    which, one, two = run_async(work)
    assert "pane-1, pane-2" in which
    assert TASK in one
    assert "Write the docs of the export" in two
    with open_session("live", root=project) as session:
        assert [listed.reads for listed in packet_records(session.ledger)] == [1, 1]


@pytest.mark.seed("R354")
def test_a_worker_begins_with_one_layer_and_asks_for_the_next(project: Path) -> None:
    async def work() -> Any:
        async with stdio_client_of(project, HOLDFAST_PANE="1") as client:
            await call_text(client, "context_generate", task=TASK, pane=1, depth="deep")
            layers = [await call_text(client, "context_read", layers=at) for at in (1, 2, 3, 4)]
            return layers, await call_text(client, "context_read")

    layers, whole = run_async(work)
    assert TASK in layers[0]
    assert "Do not touch the schema." in layers[0]
    assert all("Do not touch the schema." not in layer for layer in layers[1:])
    assert [f"context_read(layers={at})" in layers[at - 2] for at in (2, 3, 4)] == [True] * 3
    assert "context_read(layers=" not in layers[3] + whole
    assert "src/export_" in layers[2]


def test_without_a_pane_a_packet_is_made_and_nothing_is_kept(project: Path) -> None:
    async def work() -> str:
        async with stdio_client_of(project) as client:
            return await call_text(client, "context_generate", task=TASK, depth="minimal")

    packet = Packet.from_yaml(run_async(work))
    assert packet.token_count <= 100
    assert "Do not touch the schema." in packet.constraints
    assert not (project / ".holdfast" / "context").exists()
    with open_session("live", root=project) as session:
        assert packet_records(session.ledger) == []


@pytest.mark.seed("R344")
def test_a_worker_that_is_stuck_says_so_and_the_orchestrator_can_see_it(project: Path) -> None:
    async def work() -> str:
        async with stdio_client_of(project, HOLDFAST_PANE="1") as client:
            await call_text(client, "context_generate", task=TASK, pane=1)
            await call_text(client, "context_read")
            return await call_text(
                client,
                "context_feedback",
                gaps=["Which retry limit do the others use?"],
                unused="the log format",
                outcome="blocked",
            )

    reply = run_async(work)
    assert reply.startswith("Recorded for pane-1: 1 context gap, 1 unused, blocked;")
    with open_session("live", root=project) as session:
        ((_, feedback),) = recorded_feedback(session.ledger)
        assert (feedback.gaps, feedback.unused, feedback.outcome, feedback.pane) == (
            ("Which retry limit do the others use?",),
            ("the log format",),
            "blocked",
            "pane-1",
        )
        (again,) = collect_feedback(session.ledger)
        assert (again.file, again.new) == (".holdfast/feedback/pane-1.md", False)
        (asked,) = open_requests(session.ledger)
        assert (asked.pane, asked.why) == ("pane-1", "Which retry limit do the others use?")


def test_packets_are_addresses_and_prompts_as_well(project: Path) -> None:
    async def work() -> Any:
        async with stdio_client_of(project) as client:
            bare = await client.get_prompt("worker", {})
            made = await call_text(client, "context_generate", task=TASK, pane=7)
            listed = [str(row.uri) for row in (await client.list_resources()).resources]
            read = await client.read_resource("holdfast://packet/7")
            worker = await client.get_prompt("worker", {"pane": "7"})
            lead = await client.get_prompt("orchestrator", {"pane": "7", "task": TASK})
            return bare, made, listed, read, worker, lead

    bare, made, listed, read, worker, lead = run_async(work)
    (contents,) = read.contents
    assert isinstance(contents, TextResourceContents)
    assert "holdfast://packet/7" in listed
    assert Packet.from_yaml(contents.text) == Packet.from_yaml(made)

    def words(prompt: Any) -> str:
        (message,) = prompt.messages
        assert message.role == "user"
        return message.content.text

    assert "Your context packet:" not in words(bare)
    assert Packet.from_yaml(made).to_prompt() in words(worker)
    assert ".holdfast/context/pane-7.yaml" in words(worker)
    assert "## Context Handoff" in words(lead)
    assert TASK in words(lead)
    with open_session("live", root=project) as session:
        assert [row.reads for row in packet_records(session.ledger)] == [1]


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("context_generate", {}, "task"),
        ("context_generate", {"task": "   "}, "say what the worker is to do"),
        ("context_generate", {"task": "x", "depth": "bottomless"}, "bottomless"),
        ("context_generate", {"task": "x", "pane": "left"}, "pane"),
        ("context_generate", {"task": "x" * 5_000_000}, "characters"),
        ("context_read", {"pane": 4}, "no packet for 'pane-4'"),
        ("context_read", {}, "no packet"),
        ("context_read", {"layers": "9"}, "layers"),
        ("context_feedback", {}, "give gaps, unused or outcome"),
        ("context_feedback", {"outcome": "splendid"}, "done, blocked or failed"),
        ("context_query", {"question": " "}, "empty"),
        ("context_query", {}, "question"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    project: Path, tool: str, arguments: dict[str, Any], words: str
) -> None:
    async def work() -> str:
        async with stdio_client_of(project) as client:
            return await call_error(client, tool, **arguments)

    assert words in run_async(work)


@pytest.mark.parametrize(
    "task",
    [
        "Исправь цикл повторов экспорта, не трогая схему",
        "修复导出的重试循环，不要改动数据库结构",
        "x" * 1_000_000,
        "no: 1.10\n12:30 - &anchor *alias !!python/object/apply:os.system ['true']",
        "a\u2028b\x85c\x0bd",
    ],
    ids=["russian", "chinese", "a megabyte", "yaml", "line ends"],
)
def test_any_task_can_be_handed_over(project: Path, task: str) -> None:
    async def work() -> Any:
        async with stdio_client_of(project, HOLDFAST_PANE="1") as client:
            made = await call_text(client, "context_generate", task=task, pane=1)
            return made, await call_text(client, "context_read")

    made, read = run_async(work)
    packet = Packet.from_yaml(made)
    assert read.startswith(packet.to_prompt())
    assert "Do not touch the schema." in packet.constraints
    assert packet.goal.startswith(task[:5])


def test_an_empty_conversation_gives_a_packet_of_the_task_alone(tmp_path: Path) -> None:
    with open_session("empty", root=tmp_path) as session:
        session.note("spawn")

    async def work() -> str:
        async with stdio_client_of(tmp_path) as client:
            return await call_text(client, "context_generate", task=TASK)

    packet = Packet.from_yaml(run_async(work))
    assert (packet.goal, packet.constraints, packet.decisions) == (TASK, (), ())


def test_a_file_that_someone_changed_is_refused_and_the_record_is_whole(project: Path) -> None:
    async def work() -> Any:
        async with stdio_client_of(project, HOLDFAST_PANE="1") as client:
            await call_text(client, "context_generate", task=TASK, pane=1)
            path = project / ".holdfast" / "context" / "pane-1.yaml"
            path.write_text(path.read_text().replace("Do not touch", "Do touch"))
            wrong = await call_error(client, "context_read")
            path.write_text("!!python/object/apply:os.system ['touch pwned']")
            hostile = await call_error(client, "context_read")
            path.unlink()
            return wrong, hostile, await call_text(client, "context_read")

    wrong, hostile, whole = run_async(work)
    assert "checksum" in wrong
    assert "pane-1.yaml" in hostile
    assert not (project / "pwned").exists()
    assert "Do not touch the schema." in whole


def test_a_folder_that_cannot_be_written_loses_no_packet(project: Path) -> None:
    (project / ".holdfast" / "context").write_text("in the way")

    async def work() -> Any:
        async with stdio_client_of(project, HOLDFAST_PANE="1") as client:
            failed = await call_error(client, "context_generate", task=TASK, pane=1)
            return failed, await call_text(client, "context_read")

    failed, read = run_async(work)
    assert "could not be written" in failed
    assert TASK in read


def test_a_question_that_the_ledger_answers_names_its_source(project: Path) -> None:
    recorded(project, name="other", reads=1)

    async def work() -> Any:
        async with stdio_client_of(project) as client:
            known = await call_text(client, "context_query", question="May I touch the schema?")
            unknown = await call_text(
                client, "context_query", question="Which colour has the login button?"
            )
            return known, unknown

    known, unknown = run_async(work)
    assert FIRST.split("\n")[1] in known
    assert "ref " in known
    assert unknown.startswith("Not known")


def test_a_prompt_for_one_of_several_workers_lists_them(project: Path) -> None:
    async def work() -> None:
        async with stdio_client_of(project) as client:
            for pane in (1, 2):
                await call_text(client, "context_generate", task=TASK, pane=pane)
            with pytest.raises(MCPError) as caught:
                await client.get_prompt("worker", {})
            assert "pane-1, pane-2" in str(caught.value)

    run_async(work)


@pytest.mark.seed("R289")
def test_tools_can_have_the_prefix_that_the_roles_name(project: Path) -> None:
    async def work() -> Any:
        async with stdio_client_of(project, "--prefix", "agentwire_") as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            made = await call_text(client, "agentwire_context_generate", task=TASK, pane=1)
            lead = await client.get_prompt("orchestrator", {})
            return names, made, lead

    names, made, lead = run_async(work)
    assert all(name.startswith("agentwire_context_") for name in names)
    assert Packet.from_yaml(made).target_task == TASK
    assert "agentwire_context_generate(task=" in lead.messages[0].content.text


def test_a_worker_in_a_folder_below_finds_the_project(project: Path) -> None:
    (project / ".git").mkdir()
    below = project / "src" / "deep"
    below.mkdir(parents=True)

    async def work() -> str:
        async with stdio_client_of(project) as client:
            await call_text(client, "context_generate", task=TASK, pane=1)
        async with stdio_client_of(below, HOLDFAST_PANE="1") as client:
            return await call_text(client, "context_read")

    assert TASK in run_async(work)
    assert os.listdir(below) == []
