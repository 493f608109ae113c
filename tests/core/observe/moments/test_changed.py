from tests.core.building import answer, ask, back, call
from tests.core.observe.moments.reading import texts


def edit(old: str, new: str) -> list[str]:
    asked = call("a", "Edit", file_path="/src/rows.py", old_string=old, new_string=new)
    return texts(asked, back("a", "The file has been updated."), kind="changed")


def test_a_small_edit_is_shown_with_what_it_replaced() -> None:
    assert edit("limit = 3", "limit = 5") == ["edited /src/rows.py +1 −1: limit = 3 ⇒ limit = 5"]


def test_lines_that_an_edit_repeats_are_not_new() -> None:
    assert edit("a = 1\nlimit = 3", "a = 1\nlimit = 5") == [
        "edited /src/rows.py +1 −1: limit = 3 ⇒ limit = 5"
    ]


def test_a_written_file_is_its_definitions() -> None:
    asked = call("a", "Write", file_path="rows.py", content="import os\n\ndef load(path):\n    x\n")
    assert texts(asked, back("a", "ok")) == [
        "wrote rows.py +3: def load(path):",
        "rows.py: def load(path):",
    ]


def test_a_failed_edit_says_why() -> None:
    asked = call("a", "Edit", file_path="rows.py", old_string="a", new_string="b")
    result = back("a", "Found 2 matches of the string to replace", failed=True)
    assert texts(asked, result) == [
        "edit of rows.py failed: Found 2 matches of the string to replace"
    ]


def test_a_patch_of_several_files_is_one_change_each() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n"
        "*** Add File: b.py\n+def load():\n+    return 1\n*** End Patch\n"
    )
    found = texts(call("a", "apply_patch", input=patch), back("a", "Success"), kind="changed")
    assert found == ["edited a.py +1 −1: x = 1 ⇒ x = 2", "edited b.py +2: def load():"]


def test_blocks_in_a_message_are_proposed_edits() -> None:
    said = answer("rows.py\n```\n<<<<<<< SEARCH\na\n=======\nb\nc\n>>>>>>> REPLACE\n```\n")
    assert texts(ask("Go"), said, kind="changed") == ["proposed edit of rows.py +2 −1: a ⇒ b · c"]


def test_the_new_lines_of_a_larger_edit_are_content() -> None:
    asked = call("a", "Write", file_path="rows.py", content="a()\nfirst()\nsecond()\nthird()\n")
    found = texts(asked, back("a", "ok"), kind="content")
    assert found == ["rows.py+ first() · second() · third()"]


def test_an_edit_in_a_window_of_an_editor_is_a_change() -> None:
    command = "edit 1:1\nimport os\nend_of_edit"
    output = "[File: /src/rows.py (3 lines total)]\n1:import os\nFile updated."
    found = texts(call("a", "shell", command=command), back("a", output))
    assert found == ["edited /src/rows.py +1: import os"]
