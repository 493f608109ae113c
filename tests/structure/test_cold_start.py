"""Cold start, by what is imported: what a hook does on every call loads nothing that is slow."""

import subprocess
import sys
from pathlib import Path

import pytest

SLOW = (
    "click",
    "splintr",
    "httpx",
    "jsonschema",
    "pydantic",
    "asyncio",
    "logging",
    "backports",
    "tomllib",
    "subprocess",
    "unittest",
    "ryaml",
)

HOOK = """
import sys
import holdfast
session = holdfast.open("s", root=sys.argv[1], model="claude-opus-4")
session.append({"role": "tool", "tool_call_id": "c1", "content": "a few words"})
print(session.status(quick=True).level.value)
session.close()
print("\\n".join(sys.modules))
"""
EXACT = HOOK.replace("status(quick=True)", "status()")


def run(code: str, root: Path) -> list[str]:
    """What a fresh process prints: the level, then every module it has imported."""
    done = subprocess.run(
        [sys.executable, "-c", code, str(root)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.split()


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return run(HOOK, tmp_path_factory.mktemp("project"))


@pytest.mark.parametrize("module", SLOW)
def test_appending_a_small_result_and_asking_the_level_does_not_import(
    module: str, printed: list[str]
) -> None:
    level, *imported = printed
    assert level == "GREEN"
    assert [name for name in imported if name.split(".")[0] == module] == []


def test_a_second_process_on_a_session_that_exists_imports_no_more(tmp_path: Path) -> None:
    run(HOOK, tmp_path)
    _, *imported = run(HOOK, tmp_path)
    assert sorted({name.split(".")[0] for name in imported} & set(SLOW)) == []


def test_the_settings_of_another_framework_can_wait_until_something_is_planned(
    tmp_path: Path,
) -> None:
    block = "context_management: {client_compaction: true}"
    (tmp_path / ".loa.config.yaml").write_text(block)
    level, *imported = run(HOOK, tmp_path)
    assert level == "GREEN"
    assert [name for name in imported if name.split(".")[0] in ("ryaml", "_ryaml")] == []
    assert [name for name in imported if name.startswith("holdfast.project.integrations")] == []


def test_an_exact_count_does_import_the_tokenizer(tmp_path: Path) -> None:
    level, *imported = run(EXACT, tmp_path)
    assert (level, "splintr" in imported) == ("GREEN", True)


MCP_NEEDS = {"click"}
"""The command line finds the server; everything else that is slow waits for a call."""


def test_a_client_gets_the_tools_before_anything_slow_is_imported(tmp_path: Path) -> None:
    frames = (
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}\n'
        '{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n'
        '{"jsonrpc":"2.0","id":3,"method":"prompts/list"}\n'
        '{"jsonrpc":"2.0","id":4,"method":"resources/templates/list"}\n'
    )
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "holdfast", "mcp"],
        cwd=tmp_path,
        input=frames,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.count('"result"') == 4
    rows = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    imported = {row.rpartition("|")[2].strip() for row in rows}
    assert "holdfast.surfaces.mcp.server" in imported
    assert sorted({name.split(".")[0] for name in imported} & set(SLOW) - MCP_NEEDS) == []
    loaded = (
        "holdfast.session.session",
        "holdfast.stores.sqlite",
        "holdfast.surfaces.mcp.calls",
        "mcp",
    )
    assert [name for name in loaded if name in imported] == []
