"""What a server keeps between calls is never more than what the ledger says now."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.session.open import open as open_session
from tests.surfaces.cli.working import LATEST, recorded
from tests.surfaces.mcp.process import StdioServer, environment


def call_tool(server: StdioServer, tool: str, **arguments: Any) -> tuple[bool, str]:
    server.call(tool, 1, **arguments)
    result = server.answer()["result"]
    return result.get("isError", False), result["content"][0]["text"]


def test_what_another_process_added_is_found(project: Path) -> None:
    with StdioServer(project) as server:
        failed, text = call_tool(server, "context_recover", query="quince marmalade")
        assert (failed, "quince" in text) == (True, True)
        with open_session("live", root=project) as session:
            session.append({"role": "user", "content": "The codeword is quince marmalade."})
        failed, text = call_tool(server, "context_recover", query="quince marmalade")
    assert (failed, "The codeword is quince marmalade." in text) == (False, True)


def test_what_was_purged_is_not_shown_from_memory(project: Path) -> None:
    with open_session("live", root=project) as session:
        found = session.recover("keep the log format")
        hit = next(row for row in found if LATEST in row.text)
    with StdioServer(project) as server:
        assert LATEST in call_tool(server, "context_intent")[1]
        assert LATEST in call_tool(server, "context_recover", query="keep the log format")[1]
        assert LATEST in call_tool(server, "context_recover", ref=hit.ref)[1]
        purge = ["purge", "live", "--ref", hit.ref, "--yes"]
        subprocess.run(
            [sys.executable, "-m", "holdfast", *purge],
            cwd=project,
            env=environment(HOME=str(project)),
            check=True,
            capture_output=True,
        )
        answers = [
            call_tool(server, "context_intent"),
            call_tool(server, "context_recover", query="keep the log format"),
            call_tool(server, "context_recover", ref=hit.ref),
        ]
    assert [LATEST in text for _, text in answers] == [False, False, False]


def test_a_ledger_that_was_made_anew_is_the_one_that_is_asked(project: Path) -> None:
    with StdioServer(project) as server:
        assert "**Session:** live" in call_tool(server, "context_status")[1]
        shutil.rmtree(project / ".holdfast")
        failed, text = call_tool(server, "context_status")
        assert (failed, "no ledger" in text) == (True, True)
        recorded(project, name="anew", reads=1)
        assert "**Session:** anew" in call_tool(server, "context_status")[1]


@pytest.mark.parametrize("window", [50_000, 400_000])
def test_a_setting_that_changes_holds_from_the_next_call_on(project: Path, window: int) -> None:
    with StdioServer(project) as server:
        before = call_tool(server, "context_status")[1]
        (project / "holdfast.toml").write_text(f"window = {window}\n")
        after = call_tool(server, "context_status")[1]
    assert before != after
    limit = int(after.partition(" of ")[2].split()[0].replace(",", ""))
    assert limit < window


def test_a_latest_request_that_changed_is_the_one_that_is_told(project: Path) -> None:
    with StdioServer(project) as server:
        assert LATEST in call_tool(server, "context_intent")[1]
        with open_session("live", root=project) as session:
            session.append({"role": "user", "content": "Instead, write the report."})
        assert "Instead, write the report." in call_tool(server, "context_intent")[1]


def test_a_setting_that_cannot_be_meant_is_said_and_can_be_put_right(project: Path) -> None:
    settings = project / "holdfast.toml"
    with StdioServer(project) as server:
        assert not call_tool(server, "context_status")[0]
        settings.write_text('window = "wide"\n')
        failed, text = call_tool(server, "context_status")
        settings.unlink()
        again, _ = call_tool(server, "context_status")
    assert (failed, "window" in text, "\n" in text) == (True, True, False)
    assert not again
