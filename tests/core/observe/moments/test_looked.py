from tests.core.building import back, bash, call
from tests.core.observe.moments.reading import texts, weights

CODE = """import os

LIMIT = 30

def load(path):
    text = open(path).read()
    raise ValueError("no rows in the file")

class Store:
    async def close(self):
        return None
"""


def test_a_read_file_is_its_definitions_texts_and_values_with_their_lines() -> None:
    assert texts(call("a", "Read", file_path="/src/rows.py"), back("a", CODE)) == [
        "read /src/rows.py",
        "rows.py defines load:5, Store:9, close:10",
        "rows.py:3: LIMIT = 30",
        "rows.py:5: def load(path):",
        'rows.py:7: raise ValueError("no rows in the file")',
        "rows.py:10: async def close(self):",
    ]


def test_a_definition_that_says_no_more_than_its_name_is_only_listed() -> None:
    output = "class A:\n    x\nclass B:\n    x\nclass C(A):\n    x\n"
    found = texts(call("a", "Read", file_path="rows.py"), back("a", output), kind="content")
    assert found == ["rows.py defines A:1, B:3, C:5", "rows.py:5: class C(A):"]


def test_numbers_that_a_tool_prints_are_the_numbers_of_the_lines() -> None:
    output = "<file>\n00120| export function load(path: string) {\n00121|   const row = 1;\n</file>"
    found = texts(call("a", "read", filePath="src/rows.ts"), back("a", output), kind="content")
    assert found == ["rows.ts:120: export function load(path: string) {"]


def test_what_is_defined_inside_of_a_function_is_not_content() -> None:
    output = "  const row = parse(text);\n  type: method.type,\n  return row;\n"
    call_, result = call("a", "read", filePath="src/rows.ts"), back("a", output)
    assert texts(call_, result, kind="content") == []


def test_a_printed_part_of_a_file_is_a_read_with_its_lines() -> None:
    found = texts(bash("a", "sed -n '40,60p' rows.py"), back("a", "\ndef load(path):\n    pass\n"))
    assert found == ["read rows.py lines 40–60", "rows.py:41: def load(path):"]


def test_a_read_file_without_content_weighs_little() -> None:
    found = weights(call("a", "Read", file_path="/src/rows.py"), back("a", "x\n"))
    assert found["read /src/rows.py"] <= 0.1


def test_a_search_is_its_pattern_with_its_hits() -> None:
    asked = call("a", "Grep", pattern="def load", path="src", output_mode="content")
    assert texts(asked, back("a", "src/rows.py:5:def load(path):")) == [
        "searched Grep def load src → src/rows.py:5:def load(path):"
    ]


def test_hits_below_the_name_of_their_file_have_that_name() -> None:
    hits = (
        "Found 3 matches\n/src/a.py:\n  Line 5: def load(path):\n\n/src/b.py:\n  Line 7: load(x)\n"
    )
    assert texts(call("a", "grep", pattern="load"), back("a", hits)) == [
        "searched grep load → Found 3 matches · /src/a.py:5: def load(path): · /src/b.py:7: load(x)"
    ]
    under = "src/a.py\n5:def load(path):\n9:load(y)\n\nNo more."
    assert texts(bash("b", "rg load"), back("b", under)) == [
        "searched rg load → src/a.py:5: def load(path): · src/a.py:9: load(y) · No more."
    ]
    numbered = texts(bash("c", "rg one"), back("c", "Done.\n1: one_x"))
    assert numbered == ["searched rg one → Done. · 1: one_x"]


def test_a_command_that_only_looks_is_a_search() -> None:
    found = texts(bash("a", "grep -rn load src"), back("a", "src/rows.py:5:def load(path):"))
    assert found == ["searched grep -rn load src → src/rows.py:5:def load(path):"]


def test_a_window_of_an_editor_is_a_read() -> None:
    output = "[File: /src/rows.py (90 lines total)]\n40:def load(path):\n41:    pass\n"
    found = texts(call("a", "shell", command="open src/rows.py 40"), back("a", output))
    assert found == ["read /src/rows.py lines 40–41", "rows.py:40: def load(path):"]


def test_a_file_that_is_printed_through_a_pipe_is_a_read() -> None:
    command = "# Look at the loader\nnl -ba src/rows.py | sed -n '40,60p'"
    found = texts(bash("a", command), back("a", "    40\tdef load(path):\n    41\t    pass\n"))
    assert found == ["read src/rows.py", "rows.py:40: def load(path):"]


def test_the_names_of_a_file_that_no_line_shows_are_one_moment() -> None:
    text = "def load_plan(path):\n    cached = plan_cache.get(path)\n    return cached.first_row\n"
    found = texts(call("a", "Read", file_path="/app/plans.py"), back("a", text), kind="named")
    assert found == ["plans.py names plan_cache.get, cached.first_row"]
