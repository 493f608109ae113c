"""What the official client library gets from our server, whichever way it comes."""

from contextlib import AbstractAsyncContextManager, ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest
from mcp import Client, MCPError
from mcp.types import CallToolResult, TextContent, TextResourceContents

from holdfast.session.open import open as open_session
from holdfast.surfaces.mcp.calls import HANDLERS
from holdfast.surfaces.mcp.tools import TOOLS, input_schema
from tests.surfaces.cli.working import FIRST, LATEST, NEEDLE, recorded
from tests.surfaces.mcp.clients import MODES, http_server_url, run_async, stdio_client_of

WAYS = [(carrier, mode) for carrier in ("pipes", "http") for mode in MODES]


class Transport:
    """One way of reaching a server of a project."""

    def __init__(self, carrier: str, mode: str, root: Path, stack: ExitStack) -> None:
        self.root, self.mode = root, mode
        self.url = stack.enter_context(http_server_url(root)) if carrier == "http" else ""

    def client(self) -> AbstractAsyncContextManager[Client]:
        return (
            Client(self.url, mode=self.mode)
            if self.url
            else stdio_client_of(self.root, mode=self.mode)
        )


@pytest.fixture(params=WAYS, ids="-".join)
def way(request: pytest.FixtureRequest, project: Path) -> Any:
    with ExitStack() as stack:
        carrier, mode = request.param
        yield Transport(carrier, mode, project, stack)


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert result.structured_content is None
    return block.text


def test_every_tool_is_there_and_says_what_it_takes(way: Transport) -> None:
    async def work() -> Any:
        async with way.client() as client:
            return client.protocol_version, (await client.list_tools()).tools

    version, found = run_async(work)
    assert version == {"auto": "2026-07-28", "legacy": "2025-11-25"}[way.mode]
    assert [tool.name for tool in found] == [
        "context_generate",
        "context_read",
        "context_feedback",
        "context_query",
        "context_status",
        "context_compress",
        "context_recover",
        "context_intent",
        "context_log",
        "context_checkpoint",
    ]
    assert all(tool.description and tool.input_schema["type"] == "object" for tool in found)
    reading = {tool.name for tool in found if tool.annotations and tool.annotations.read_only_hint}
    assert reading == {
        "context_query",
        "context_status",
        "context_recover",
        "context_intent",
        "context_log",
    }


def test_tools_answer_in_text(way: Transport) -> None:
    async def work() -> Any:
        async with way.client() as client:
            return {
                name: text_of(await client.call_tool(name, arguments))
                for name, arguments in (
                    ("context_status", {}),
                    ("context_intent", {}),
                    ("context_log", {}),
                    ("context_recover", {"query": "retry_budget"}),
                    ("context_checkpoint", {}),
                )
            }

    came = run_async(work)
    assert came["context_status"].startswith("## Context Status Report\n")
    assert FIRST.split("\n", maxsplit=1)[0] in came["context_intent"]
    assert LATEST in came["context_intent"]
    assert "no compressions" in came["context_log"].lower() or "None" in came["context_log"]
    assert NEEDLE in came["context_recover"]
    assert came["context_checkpoint"].startswith("checkpoint ")
    with open_session("live", root=way.root) as session:
        ref = came["context_checkpoint"].split()[1]
        assert session.ledger.find(ref).id.startswith(ref)


def test_a_compression_is_planned_unless_it_is_asked_for_and_what_left_is_found(
    way: Transport,
) -> None:
    Path(way.root, "holdfast.toml").write_text("window = 40000\n")

    async def work() -> Any:
        async with way.client() as client:
            before = text_of(await client.call_tool("context_status", {}))
            planned = text_of(await client.call_tool("context_compress", {}))
            between = text_of(await client.call_tool("context_log", {}))
            made = text_of(await client.call_tool("context_compress", {"dry_run": False}))
            log = text_of(await client.call_tool("context_log", {}))
            found = text_of(await client.call_tool("context_recover", {"query": "retry_budget"}))
            listed = (await client.list_resources()).resources
            return before, planned, between, made, log, found, listed

    before, planned, between, made, log, found, listed = run_async(work)
    assert "Level:** GREEN" not in before
    assert "Nothing was changed" in planned
    assert between != log
    assert "Nothing was changed" not in made
    assert "out of sight" in found
    assert NEEDLE in found
    kinds = {str(resource.uri).split("/")[2] for resource in listed}
    assert kinds == {"summary", "entry"}


def test_an_entry_is_read_whole_or_by_its_lines(way: Transport) -> None:
    with open_session("live", root=way.root) as session:
        hit = next(row for row in session.recover("retry_budget") if NEEDLE in row.text)

    async def work() -> Any:
        async with way.client() as client:
            part = await client.call_tool("context_recover", {"ref": hit.ref, "lines": "61"})
            lines = await client.read_resource(f"holdfast://entry/{hit.ref}/61-61")
            whole = await client.read_resource(f"holdfast://entry/{hit.ref}")
            return text_of(part), lines.contents[0], whole.contents[0]

    part, lines, whole = run_async(work)
    assert isinstance(lines, TextResourceContents)
    assert isinstance(whole, TextResourceContents)
    assert [line.strip() for line in part.split("\n")[1:-1]] == [
        f"{NEEDLE}  # the limit of the export"
    ]
    assert lines.text == part
    assert len(whole.text.split("\n")) == 122
    assert whole.mime_type == "text/plain"


def test_a_summary_is_read_by_the_name_of_its_session(way: Transport) -> None:
    recorded(way.root, name="other/é", reads=1)

    async def work() -> Any:
        async with way.client() as client:
            listed = (await client.list_resources()).resources
            return [await client.read_resource(str(row.uri)) for row in listed]

    found = run_async(work)
    texts = [row.contents[0].text for row in found]
    assert any("[other/é]" in text for text in texts)
    assert all(FIRST.split("\n", maxsplit=1)[0] in text for text in texts)


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("context_recover", {}, "give one of query, ref and level"),
        ("context_recover", {"query": "a", "level": 1}, "give one of query, ref and level"),
        ("context_recover", {"query": "a", "lines": "1-2"}, "lines go with ref"),
        ("context_recover", {"ref": "ffffffffffff"}, "no entry 'ffffffffffff'"),
        ("context_recover", {"ref": "#1", "lines": "4-2"}, "no span of lines"),
        ("context_recover", {"query": "zyzzyvas quux"}, "zyzzyvas quux"),
        ("context_recover", {"level": 9}, "9 is none of 1, 2, 3"),
        ("context_recover", {"query": "a", "limit": 0}, "limit: expected `int` >= 1"),
        ("context_recover", {"query": "a", "color": "red"}, "color"),
        ("context_recover", {"query": 5.5, "limit": "many"}, "context_recover"),
        ("context_status", {"verbose": True}, "verbose"),
        ("context_compress", {"dry_run": "perhaps"}, "dry_run"),
    ],
)
def test_what_goes_wrong_is_said_in_a_sentence(
    project: Path, tool: str, arguments: dict[str, Any], words: str
) -> None:
    async def work() -> Any:
        async with stdio_client_of(project) as client:
            return await client.call_tool(tool, arguments)

    came = run_async(work)
    assert came.is_error
    assert words in text_of(came)
    assert "\n" not in text_of(came)
    assert "Traceback" not in text_of(came)


def test_a_project_without_a_ledger_says_so(tmp_path: Path) -> None:
    async def work() -> Any:
        async with stdio_client_of(tmp_path) as client:
            called = await client.call_tool("context_status", {})
            return called, (await client.list_resources()).resources

    called, listed = run_async(work)
    assert called.is_error
    assert "no ledger" in text_of(called)
    assert listed == []


@pytest.mark.parametrize("mode", MODES)
def test_what_there_is_not_is_refused_by_name(project: Path, mode: str) -> None:
    async def work() -> list[int]:
        codes: list[int] = []
        async with stdio_client_of(project, mode=mode) as client:
            for ask in (
                lambda: client.call_tool("context_everything", {}),
                lambda: client.read_resource("holdfast://entry/ffffffffff"),
                lambda: client.read_resource("file:///etc/passwd"),
                lambda: client.read_resource("holdfast://nothing/1"),
                lambda: client.get_prompt("nobody", {}),
            ):
                with pytest.raises(MCPError) as caught:
                    await ask()
                codes.append(caught.value.error.code)
        return codes

    unknown = -32602 if mode == "auto" else -32002
    assert run_async(work) == [-32602, unknown, unknown, unknown, -32602]


def test_one_that_wants_to_know_is_told_how_far_it_is(way: Transport) -> None:
    progress_reports: list[tuple[float, str | None]] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        progress_reports.append((progress, message))

    async def work() -> Any:
        async with way.client() as client:
            return await client.call_tool(
                "context_compress", {"dry_run": False}, progress_callback=heard
            )

    assert not run_async(work).is_error
    # A server that takes its time to begin says first that it is at work.
    stages = [message for _, message in progress_reports if message != "working"]
    assert stages[0] == "compressing"
    figures = [progress for progress, _ in progress_reports]
    assert figures == sorted(set(figures))


def test_names_of_sessions_are_completed(way: Transport) -> None:
    recorded(way.root, name="later", reads=1)

    async def work() -> Any:
        from mcp.types import ResourceTemplateReference

        template = ResourceTemplateReference(uri="holdfast://summary/{session}")
        async with way.client() as client:
            return (await client.complete(template, {"name": "session", "value": "l"})).completion

    assert sorted(run_async(work).values) == ["later", "live"]


@pytest.mark.parametrize("words", [("--session", "first"), ()], ids=["flag", "environment"])
def test_the_session_is_the_one_named_and_else_the_newest(
    project: Path, words: tuple[str, ...]
) -> None:
    recorded(project, name="first", reads=1)
    recorded(project, name="newest", reads=1)
    more = {} if words else {"HOLDFAST_SESSION": "first"}

    async def status(*words: str, **more: str) -> str:
        async with stdio_client_of(project, *words, **more) as client:
            return text_of(await client.call_tool("context_status", {}))

    assert "**Session:** first" in run_async(lambda: status(*words, **more))
    assert "**Session:** newest" in run_async(status)


def test_the_newest_session_is_looked_for_with_every_call(project: Path) -> None:
    async def work() -> Any:
        async with stdio_client_of(project) as client:
            before = text_of(await client.call_tool("context_status", {}))
            recorded(project, name="fresh", reads=1)
            return before, text_of(await client.call_tool("context_status", {}))

    before, after = run_async(work)
    assert "**Session:** live" in before
    assert "**Session:** fresh" in after


def test_the_table_of_tools_and_what_they_do_agree() -> None:
    assert list(HANDLERS) == [tool.name for tool in TOOLS]
    for tool in TOOLS:
        fields = {
            field.name: field for field in msgspec.structs.fields(HANDLERS[tool.name].arguments)
        }
        assert list(fields) == [row.name for row in tool.arguments]
        assert [n for n, f in fields.items() if f.required] == input_schema(tool).get(
            "required", []
        )
        defaults = {row.name: row.default for row in tool.arguments if not row.required}
        assert {n: f.default for n, f in fields.items() if not f.required} == defaults
