from pathlib import Path
from xml.etree import ElementTree

import pytest

from holdfast.core.plan.rules import Gate
from holdfast.core.view.rules import render_xml
from holdfast.errors import BadSetting
from tests.surfaces.cli.commands import document, done, invoke

SEED = """<stop-hook id="HOOK-CTX-001" type="SOFT">
  <trigger>Large tool result detected (> 15k tokens)</trigger>
  <validation>
    <check>Result can be offloaded safely</check>
    <check>Preview captures essential info</check>
  </validation>
  <on-pass>Apply Tier 1 offloading</on-pass>
  <on-fail>Keep in context with warning</on-fail>
</stop-hook>

<stop-hook id="HOOK-CTX-002" type="GATE">
  <trigger>Context exceeds 50%</trigger>
  <validation>
    <check>Old tool inputs exist to truncate</check>
    <check>Content already persisted to disk</check>
  </validation>
  <on-pass>Apply Tier 2 truncation</on-pass>
  <on-fail>Skip to Tier 3 evaluation</on-fail>
</stop-hook>

<stop-hook id="HOOK-CTX-003" type="GATE">
  <trigger>Context exceeds 75%</trigger>
  <validation>
    <check>Tier 1 and 2 exhausted or insufficient</check>
    <check>Session intent captured</check>
    <check>Artifacts documented</check>
  </validation>
  <on-pass>Apply Tier 3 summarisation</on-pass>
  <on-fail>Immediate checkpoint + fresh session</on-fail>
</stop-hook>

<stop-hook id="HOOK-CTX-004" type="SOFT">
  <trigger>Post Tier 3 summarisation</trigger>
  <validation>
    <check>Intent alignment verified</check>
    <check>No drift indicators present</check>
  </validation>
  <on-pass>Continue with task</on-pass>
  <on-fail>Recover context and realign</on-fail>
</stop-hook>

<stop-hook id="HOOK-CTX-005" type="HARD">
  <trigger>Context exceeds 85%</trigger>
  <action>Create checkpoint, recommend fresh session</action>
</stop-hook>
"""
"""As the document declares them."""


@pytest.mark.seed("R222")
@pytest.mark.usefixtures("project")
def test_the_gates_are_declared_in_the_xml_of_the_protocol() -> None:
    assert done("rules", "--format", "xml") == SEED


@pytest.mark.seed("R222")
def test_what_has_a_meaning_in_xml_is_escaped() -> None:
    gate = Gate('A"<&', "SOFT", 'a < b & "c" ]]> d', ("<check>",), "pass & go", "fail")
    root = ElementTree.fromstring(render_xml([gate]))
    assert (root.attrib, root.findtext("trigger")) == (
        {"id": gate.id, "type": gate.type},
        gate.trigger,
    )
    assert (root.findtext("validation/check"), root.findtext("on-pass")) == ("<check>", "pass & go")


@pytest.mark.usefixtures("project")
def test_the_text_has_every_section_in_lines_that_a_terminal_holds() -> None:
    lines = done("rules").splitlines()
    assert [line for line in lines if line.startswith("### ")] == [
        "### Values in force",
        "### Levels",
        "### Gates",
        "### Rules",
        "### Triggers",
        "### Decision tree",
        "### Always preserved",
        "### Compactable",
        "### Truth hierarchy",
        "### Sequence",
    ]
    assert "HOOK-CTX-003 GATE  Context exceeds 75%" in lines
    assert "  on fail  Immediate checkpoint + fresh session" in lines
    assert "HOOK-CTX-005 HARD  Context exceeds 85%" in lines
    assert max(len(line) for line in lines) <= 120


def test_every_value_is_shown_with_where_it_came_from(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "holdfast.toml").write_text(
        'model = "claude-opus-4-5"\n[at]\nturns = 30\n[models.claude-opus.at]\ncritical = 90\n'
    )
    monkeypatch.setenv("HOLDFAST_OFFLOAD_ABOVE", "9000")
    found = document("rules", "--profile", "anchored", "--window", "50000")
    values = {one["name"]: (one["value"], one["origin"]) for one in found["values"]}
    toml = str(project / "holdfast.toml")
    names = ("profile", "window", "model", "at.batch", "at.turns", "at.critical", "offload.above")
    assert [values[name] for name in names] == [
        ("anchored", "flag"),
        (50_000, "flag"),
        ("claude-opus-4-5", toml),
        (70, "profile anchored"),
        (30, toml),
        (90, "[models.claude-opus]"),
        (9_000, "HOLDFAST_OFFLOAD_ABOVE"),
    ]
    assert [gate["trigger"] for gate in found["gates"]][:2] == [
        "Large tool result detected (> 9k tokens)",
        "Context exceeds 70%",
    ]
    assert found["gates"][4]["trigger"] == "Context exceeds 90%"
    assert found["schema"] == "holdfast.rules/1"


@pytest.mark.usefixtures("project")
def test_a_role_that_nobody_knows_is_refused() -> None:
    result = invoke("rules", "--role", "nobody")
    assert isinstance(result.exception, BadSetting)
    assert (result.exception.name, result.exception.origin) == ("role", "flag")


@pytest.mark.usefixtures("project")
def test_json_and_xml_exclude_each_other() -> None:
    assert invoke("rules", "--json", "--format", "xml").exit_code == 2
