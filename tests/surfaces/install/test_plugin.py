"""The Claude Code plugin as it ships: what it declares is there, and says who it is."""

import json
from pathlib import Path

import pytest

import holdfast
from holdfast.surfaces.commands import QUICK, parse_quick_command
from holdfast.surfaces.hooks.hosts.claude_code import EVENTS

MARKET = Path(holdfast.__file__).parent / "surfaces/install/plugins/claude-code"
PLUGIN = MARKET / "holdfast"


def test_the_folder_is_a_marketplace_with_our_plugin_in_it() -> None:
    market = json.loads((MARKET / ".claude-plugin/marketplace.json").read_text())
    plugin = json.loads((PLUGIN / ".claude-plugin/plugin.json").read_text())
    (listed,) = market["plugins"]
    assert (MARKET / listed["source"]).resolve() == PLUGIN.resolve()
    assert listed["name"] == plugin["name"] == market["name"] == "holdfast"
    assert plugin["version"] == holdfast.__version__
    assert len((PLUGIN / "README.md").read_text().split()) >= 40
    assert (PLUGIN / "LICENSE").is_file()


def test_every_hook_is_one_that_we_answer_never_stops_the_agent_and_has_a_limit() -> None:
    declared = json.loads((PLUGIN / "hooks/hooks.json").read_text())
    assert declared["modules"] == ["./register.js"]
    assert (PLUGIN / "hooks/register.js").is_file()
    for event, groups in declared["hooks"].items():
        assert event in EVENTS
        (hook,) = (hook for group in groups for hook in group["hooks"])
        assert hook["command"] == f"holdfast-hook claude-code {event} || true"
        assert 10 <= hook["timeout"] <= 60


def test_the_hosts_limit_is_at_least_twice_ours() -> None:
    from holdfast.surfaces.hooks.hosts.claude_code import AFTERWARDS, DEADLINES
    from holdfast.surfaces.hooks.main import DEADLINE

    declared = json.loads((PLUGIN / "hooks/hooks.json").read_text())["hooks"]
    for event, ((group,),) in ((event, (groups,)) for event, groups in declared.items()):
        if event not in AFTERWARDS:
            assert DEADLINES.get(event, DEADLINE) * 2 <= group["hooks"][0]["timeout"]


@pytest.mark.seed("R002", "R007", "R008", "R314")
def test_the_skill_says_who_it_is_and_what_it_executes() -> None:
    text = (PLUGIN / "skills/context-compression/SKILL.md").read_text()
    front = text.split("---")[1]
    for line in (
        "name: context-compression",
        "  id: LAR-033",
        '  version: "1.0"',
        '  always-active: "YES"',
        "  executes: CTX-001",
        '  protocol-version: "1.0"',
        "  protocol-created: 29 January 2026",
        "  protocol-source: LangChain Deep Agents SDK (Jan 2026)",
        "  priority: HIGH",
        "  why: Prevents context rot and enables deep agents",
    ):
        assert line in front.splitlines()
    description = next(line for line in front.splitlines() if line.startswith("description: "))
    assert len(description) <= 1_024


@pytest.mark.seed("R107", "R294")
def test_the_skill_names_the_quick_commands_and_holds_for_every_role() -> None:
    text = (PLUGIN / "skills/context-compression/SKILL.md").read_text()
    for words in ("compress", "context status", "show session intent", "compression log"):
        assert parse_quick_command(words) is not None
        assert f"| {words} |" in text
    assert "for every role" in text


def test_quick_commands_and_packets_are_commands_of_the_client() -> None:
    names = {path.stem for path in (PLUGIN / "commands").glob("*.md")}
    assert {command.name for command in QUICK} <= names
    assert {"packet", "packets"} <= names
    for path in (PLUGIN / "commands").glob("*.md"):
        assert path.read_text().startswith("---\ndescription: ")
