import json

import pytest

from holdfast.core.ledger.entry import ToolCalled
from holdfast.core.observe.files.touch import Touch, touch_of


def touched(tool: str, **arguments: object) -> Touch:
    return touch_of(ToolCalled("c", tool, json.dumps(arguments)))


def test_tools_of_every_agent_that_read_a_file_are_known() -> None:
    whole = Touch("read", "a.py")
    assert touched("Read", file_path="a.py") == whole
    assert touched("mcp__fs__read_file", path="a.py") == whole
    assert touched("str_replace_based_edit_tool", command="view", path="a.py") == whole
    assert touched("Bash", command="cat a.py") == Touch("read", "a.py", command="cat a.py")


def test_a_page_of_a_file_is_known_by_its_lines() -> None:
    assert touched("Read", file_path="a.py", offset=5, limit=10) == Touch("read", "a.py", 5, 14)
    assert touched("view", path="a.py", view_range=[3, 9]) == Touch("read", "a.py", 3, 9)
    command = "sed -n 3,9p a.py"
    assert touched("shell", command=command) == Touch("read", "a.py", 3, 9, command)


def test_a_here_document_writes_its_file() -> None:
    command = "cat > a.md <<'EOF'\nline\nEOF"
    assert touched("Bash", command=command) == Touch(
        "write", "a.md", command=command, written_text="line\n"
    )


def test_a_here_document_that_appends_does_not_write_the_file_anew() -> None:
    assert touched("Bash", command="cat >> a.md <<'EOF'\nline\nEOF").verb != "write"


@pytest.mark.parametrize(
    "command", ["cat a.py | head", "cat a.py; rm b", "cat $(ls)", "cat 'a", "cat a b", "x" * 3_000]
)
def test_a_command_that_does_more_than_print_a_file_is_a_run(command: str) -> None:
    assert touched("Bash", command=command) == Touch("run", command=command)


def test_arguments_that_are_no_object_touch_nothing() -> None:
    assert touch_of(ToolCalled("c", "Read", "not json")) == Touch("read")
    assert touch_of(ToolCalled("c", "Unheard", "[1]")) == Touch()
