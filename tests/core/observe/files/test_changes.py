import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.entry import Said, Source, ToolCalled
from holdfast.core.ledger.summary import File
from holdfast.core.observe.files.changes import files_of, last_sentence
from holdfast.core.observe.files.trail import clip_first_line
from holdfast.core.observe.scene import read_scene
from holdfast.text.paths import normalize_path
from tests.core.building import Told, answer, ask, back, bash, call, items, named, scene, standing

CREATED = "File created successfully at: a.py"
UPDATED = "The file a.py has been updated."


def trail(*messages: Told) -> tuple[File, ...]:
    return files_of(scene(*messages))


def ran(*commands: str) -> list[Told]:
    """Commands that went well, one after the other."""
    told: list[Told] = []
    for number, command in enumerate(commands):
        told += [bash(f"c{number}", command), back(f"c{number}", "")]
    return told


def shown(rows: tuple[File, ...]) -> list[str]:
    """Rows in short: action, path, where from."""
    return [f"{row.action} {row.path}{f' < {row.was}' if row.was else ''}" for row in rows]


def used(tool: str, output: str = "ok", /, *, failed: bool = False, **arguments: object) -> Told:
    """A call and its result in one message."""
    name = f"{tool}{len(output)}{len(arguments)}"
    return call(name, tool, **arguments), back(name, output, failed=failed)


@pytest.mark.seed("R069", "R090", "R195", "R199")
def test_what_was_made_changed_and_read_is_one_row_each() -> None:
    rows = trail(
        ask("go"),
        answer("I need the settings.\nLet me look at them:"),
        call("1", "Read", file_path="/w/b.py", offset=5, limit=10),
        back("1", "x"),
        call("2", "Write", file_path="/w/a.py", content="def f():\n    pass\n"),
        back("2", CREATED),
        call("3", "Edit", file_path="/w/a.py", old_string="pass", new_string="return 1\n"),
        back("3", UPDATED),
        call("4", "Read", file_path="/w/b.py", offset=40, limit=3),
        back("4", "x"),
    )
    assert rows == (
        File(
            "/w/b.py",
            "read",
            named(9),
            lines=((5, 14), (40, 42)),
            why="Let me look at them",
        ),
        File("/w/a.py", "created", named(7), change="f(); +3 −1"),
    )


@pytest.mark.seed("R197")
@given(st.lists(st.text("abcé0_-", min_size=1, max_size=60), min_size=1, max_size=6).map("/".join))
def test_a_path_is_never_shortened(path: str) -> None:
    (row,) = trail(*ran(f"cat /{path}.py"))
    assert row.path == f"/{path}.py"


def test_what_failed_or_was_never_answered_is_no_row() -> None:
    assert trail(call("1", "Read", file_path="a.py")) == ()
    assert trail(used("Read", "", failed=True, file_path="a.py")) == ()
    assert trail(used("Read", "<tool_use_error>File does not exist.", file_path="a.py")) == ()
    assert trail(used("Edit", "Error: no match", path="a.py", old_string="x")) == ()
    assert trail(bash("1", "rm a.py"), back("1", "The user doesn't want to", failed=True)) == ()
    assert trail(bash("1", "rm a.py"), back("1", "<tool_use_error>Sibling")) == ()
    assert trail(bash("1", "rm a.py"), back("1", "<returncode>1</returncode>")) == ()
    assert (
        trail(used("apply_patch", '{"exit_code": 1}', input="*** Begin Patch\n*** Add File: a"))
        == ()
    )
    assert trail(used("Unheard", path="a.py"), used("Write", content="x")) == ()


def test_a_failed_attempt_is_remembered_until_one_succeeds() -> None:
    wrote = used("Write", CREATED, file_path="a.py", content="x")
    missed = used("Edit", "String to replace not found", file_path="a.py", old_string="y")
    edited = used("Edit", UPDATED, file_path="a.py", old_string="x", new_string="z")
    assert [row.partial for row in trail(wrote, missed)] == [True]
    assert [row.partial for row in trail(wrote, missed, edited)] == [False]
    assert [row.partial for row in trail(wrote, used("Read", "Error: busy", path="a.py"))] == [
        False
    ]
    assert trail(missed) == ()


def test_a_patch_that_went_in_by_half_is_a_change_and_not_finished() -> None:
    half = "Exit code 1\npatching file a.py\nHunk #2 FAILED at 9.\n1 out of 2 hunks FAILED\n"
    none = "Exit code 1\nsome hunk\npatching file b.py\n1 out of 1 hunk FAILED\n"
    read = ran("cat b.py")
    patch = call("1", "Bash", command="patch -p1 < x.patch")
    assert trail(patch, back("1", half, failed=True)) == (
        File("a.py", "modified", named(1), "patch, 1 out of 2 hunks failed", partial=True),
    )
    assert trail(*read, patch, back("1", none, failed=True)) == (
        File("b.py", "read", named(3), partial=True),
    )
    assert trail(patch, back("1", "1 out of 1 hunk FAILED", failed=True)) == ()


@pytest.mark.parametrize(
    ("first", "then", "action"),
    [
        ("echo x > a.py", "echo y > a.py", "created"),
        ("cat a.py", "echo y > a.py", "modified"),
        ("sed -i s/x/y/ a.py", "cat a.py", "modified"),
        ("echo x > a.py", "rm a.py", "deleted"),
        ("cat a.py", "rm a.py", "deleted"),
        ("rm a.py", "echo x > a.py", "modified"),
        ("rm a.py", "cat a.py", "read"),
        ("echo x >> a.py", "true", "modified"),
        ("cat a.py", "mv a.py b.py", "renamed"),
        ("echo x > a.py", "mv a.py b.py", "created"),
        ("sed -i s/x/y/ a.py", "git checkout -- a.py", "modified"),
    ],
)
def test_the_last_act_tells_what_became_of_a_file(first: str, then: str, action: str) -> None:
    assert [row.action for row in trail(*ran(first, then))] == [action]


def test_what_the_tool_says_decides_between_making_and_changing() -> None:
    assert shown(trail(used("Write", UPDATED, file_path="a.py", content="x"))) == ["modified a.py"]
    read = used("Read", "", file_path="a.py")
    assert shown(trail(read, used("Write", CREATED, file_path="a.py", content="x"))) == [
        "created a.py"
    ]
    assert shown(trail(used("write", "Wrote 3 bytes", path="a.py", content="x"))) == [
        "created a.py"
    ]


def test_a_change_is_told_in_a_line() -> None:
    def change(*messages: Told) -> str:
        return trail(*messages)[0].change

    rewrite = used("Write", "ok", file_path="a.py", content="a\nB\n")
    assert change(used("Write", CREATED, file_path="a.py", content="a\nb\n"), rewrite) == "+3 −1"
    assert change(used("Read", "", file_path="a.py"), rewrite) == "+2; rewritten"
    assert change(*ran("sed -i s/x/y/ a.py")) == "sed -i s/x/y/"
    assert change(*ran("touch a.py")) == "touched"
    assert change(*ran("mv a/b.py c.py", "sed -i 1d c.py")) == "moved from a/b.py; sed -i 1d"
    assert change(*ran("echo x > a.py", "rm a.py")) == "made and deleted again"
    assert change(*ran("rm a.py")) == ""
    assert change(*ran("sed -i 1d a.py", "git restore a.py")) == "restored by git restore"
    assert change(*ran("git restore a.py", "echo x >> a.py")) == "+1"
    assert change(*ran("pytest > out.log")) == "output of pytest"
    edit = used("Edit", UPDATED, file_path="a.py", old_string="x", new_string="y", replace_all=True)
    assert change(edit) == "+1 −1; in every place"


def test_a_change_stays_short_whatever_was_done() -> None:
    code = "".join(f"def {'f' * 40}{n}():\n" for n in range(9))
    rows = trail(
        used("Write", CREATED, file_path="a.py", content=code),
        *ran(
            *(f"sed -i 's/{'x' * 80}/{n}/' {path}" for n in range(3) for path in ("a.py", "b.py"))
        ),
        *ran(f"mv {'p' * 200}.py c.py"),
    )
    assert [0 < len(row.change) <= 120 for row in rows] == [True, True, False]
    assert rows[2].was == f"{'p' * 200}.py"
    (copied,) = trail(*ran(f"cp {'p' * 200}.py d.py"))
    assert copied.change == "copied …"


def test_lines_that_were_read_are_merged_and_the_whole_wins() -> None:
    pages = ran(
        "sed -n 1,80p a.py", "sed -n 200,260p a.py", "sed -n 50,90p a.py", "sed -n 91p a.py"
    )
    assert trail(*pages)[0].lines == ((1, 91), (200, 260))
    assert trail(*pages, *ran("cat a.py"))[0].lines == ()
    assert trail(*ran("grep -n x a.py", "head -5 a.py"))[0].lines == ((1, 5),)
    assert trail(bash("1", "sed -n '3,$p' a.py"), back("1", "x\ny\n"))[0].lines == ((3, 4),)


def test_a_page_ends_where_the_file_does() -> None:
    output = "     7→x\n     8→y"
    assert trail(used("Read", output, path="a.py", offset=7, limit=99))[0].lines == ((7, 8),)
    assert trail(used("Read", "x\ny\nz", path="a.py", offset=7))[0].lines == ((7, 9),)
    paged = "x\n(Showing lines 1-200 of 900. Use offset=201)"
    assert trail(used("read", paged, filePath="a.py"))[0].lines == ((1, 200),)


def test_why_a_file_was_read_is_what_the_agent_said_first() -> None:
    looked = call("1", "Bash", command="cat a.py", description="Look at it")
    assert trail((answer("First I look."), looked), back("1", "x"))[0].why == "First I look."
    assert trail(looked, back("1", "x"))[0].why == "Look at it"
    assert trail(answer("Old."), ask("go"), looked, back("1", "x"))[0].why == "Look at it"
    assert trail(*ran("grep -n 'def x' a.py"))[0].why == "grep -n def x a.py"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("One. Two! Three:", "Three"),
        ("THOUGHT: I look at `x.py`.\n\n```bash\ncat x.py\n```", "I look at `x.py`."),
        ("", ""),
        ("a" * 150, "a" * 100),
        ("word " * 30, ("word " * 20).strip()),
    ],
)
def test_the_last_sentence_is_taken_word_for_word(text: str, sentence: str) -> None:
    assert last_sentence(text) == sentence


@given(st.text())
def test_a_clause_stands_in_what_was_said(text: str) -> None:
    assert clip_first_line(text) in text
    assert len(clip_first_line(text)) <= 100
    assert last_sentence(text) in text


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("./a/../b//c.py/", "b/c.py"),
        ("/a/./b", "/a/b"),
        ("../a", "../a"),
        ("/../a", "/../a"),
        ("~/../a", "~/../a"),
        ("file:///a/b", "/a/b"),
        ("C:\\a\\..\\b", "C:\\a\\..\\b"),
        ("-", ""),
        (".", ""),
        ("/", ""),
        ("a\nb", ""),
        ('map({"a": .b}) | x', ""),
        ("", ""),
        ("x" * 501, ""),
    ],
)
def test_a_path_has_one_spelling(path: str, plain: str) -> None:
    assert normalize_path(path) == plain


@given(st.text("ab./~", max_size=30))
def test_the_one_spelling_is_its_own(path: str) -> None:
    assert normalize_path(normalize_path(path)) == normalize_path(path)


def test_relative_and_absolute_names_of_a_file_meet() -> None:
    rows = trail(*ran("cat /w/src/a.py", "sed -i 1d src/a.py", "rm src/b.py", "cat /w/x/b.py"))
    assert shown(rows) == ["modified /w/src/a.py", "deleted /w/src/b.py", "read /w/x/b.py"]


def test_a_bare_name_that_two_files_have_meets_neither() -> None:
    rows = trail(*ran("cat /w/a/x.py", "cat /w/b/x.py", "rm x.py", "cat /w/c/y.py y.py", "rm w"))
    assert shown(rows) == [
        "read /w/a/x.py",
        "read /w/b/x.py",
        "deleted x.py",
        "read /w/c/y.py",
        "deleted w",
    ]


def test_names_that_do_not_agree_on_a_folder_meet_one_by_one() -> None:
    rows = trail(*ran("cat /w/p/a/x.py", "cat /w/q/b/y.py", "rm a/x.py b/y.py c/z.py"))
    assert shown(rows) == ["deleted /w/p/a/x.py", "deleted /w/q/b/y.py", "deleted c/z.py"]


def test_the_working_folder_is_known_where_the_program_tells_it() -> None:
    told = Said("user", "<cwd>/w</cwd>", "host")
    rows = trail(told, *ran("cat /w/a.py", "cat /w/x/a.py", "rm a.py"))
    assert shown(rows) == ["deleted /w/a.py", "read /w/x/a.py"]
    where = call("1", "exec_command", cmd="rm a.py", workdir="/w")
    assert shown(trail(where, back("1", "Process exited with code 0"))) == ["deleted /w/a.py"]


def test_a_folder_that_is_moved_takes_its_files_along() -> None:
    rows = trail(*ran("cat /w/old/a.py", "cat /w/old/b.py", "mv /w/old /w/new", "rm -r /w/new"))
    assert shown(rows) == [
        "deleted /w/new/a.py < /w/old/a.py",
        "deleted /w/new/b.py < /w/old/b.py",
    ]


def test_a_file_is_moved_into_a_folder_that_is_known() -> None:
    assert shown(trail(*ran("mkdir lib", "mv a.py lib", "cp b.py lib"))) == [
        "renamed lib/a.py < a.py",
        "created lib/b.py",
    ]


def test_a_file_that_is_moved_back_was_not_moved() -> None:
    assert shown(trail(*ran("mv a.py b.py", "mv b.py a.py"))) == ["modified a.py"]
    assert shown(trail(*ran("mv a.py b.py", "mv b.py c.py"))) == ["renamed c.py < a.py"]


def test_a_copy_that_takes_the_place_of_a_file_changes_it() -> None:
    rows = trail(*ran("cat a.py", "sort a.py > a.py.tmp", "mv a.py.tmp a.py"))
    assert shown(rows) == ["modified a.py"]
    assert "replaced by a.py.tmp" in rows[0].change
    assert shown(trail(*ran("sort x > a.py.tmp", "mv a.py.tmp a.py"))) == ["modified a.py"]
    assert shown(trail(*ran("cat a.py", "echo x > new.py", "mv new.py a.py"))) == ["modified a.py"]


def test_folders_are_no_rows() -> None:
    assert trail(*ran("cat - ..")) == ()
    assert shown(trail(*ran("cat d/e", "cat d/e/a.py", "mkdir f", "rm -rf f build", "cat d"))) == [
        "read d/e/a.py"
    ]
    assert shown(trail(*ran("echo x > d/a.py", "rm -rf d", "rm -rf x.egg"))) == [
        "deleted d/a.py",
        "deleted x.egg",
    ]


CALLS: list[tuple[Told, list[str]]] = [
    (used("Read", "", file_path="a.py"), ["read a.py"]),
    (used("functions.read_file", "", path="a.py"), ["read a.py"]),
    (used("mcp__fs__read_text_file", "", path="a.py"), ["read a.py"]),
    (used("read_multiple_files", "", paths=["a.py", "b.py"]), ["read a.py", "read b.py"]),
    (used("read", "<path>d</path>\n<type>directory</type>", filePath="d"), []),
    (used("MultiEdit", UPDATED, file_path="a.py", edits=[{"old_string": "x"}]), ["modified a.py"]),
    (used("NotebookEdit", "", notebook_path="a.ipynb", new_source="x"), ["modified a.ipynb"]),
    (used("str_replace_editor", "", command="view", path="a.py"), ["read a.py"]),
    (
        used("str_replace_editor", "", command="create", path="a.py", file_text="x"),
        ["created a.py"],
    ),
    (used("str_replace_editor", "", command="insert", path="a.py", new_str="x"), ["modified a.py"]),
    (used("str_replace_editor", "", command="undo_edit", path="a.py"), ["modified a.py"]),
    (used("move_file", "", source="a.py", destination="b.py"), ["renamed b.py < a.py"]),
    (used("copy_file", "", source="a.py", destination="b.py"), ["created b.py"]),
    (used("delete_file", "", path="a.py"), ["deleted a.py"]),
    (used("create_directory", "", path="d"), []),
    (used("Grep", "3:x", pattern="x", path="/w/a.py"), ["read /w/a.py"]),
    (used("Grep", "repo.io/a.py:3:x", pattern="x", path="/w/repo.io"), []),
    (used("Grep", "No matches found", pattern="x", path="a.py"), []),
    (
        used("edit_file", "", path="a.py", edits=[{"oldText": "x", "newText": "y"}]),
        ["modified a.py"],
    ),
    (
        used("apply_diff", "", path="a.py", diff="<<<<<<< SEARCH\na\n=======\nb\n"),
        ["modified a.py"],
    ),
    (
        used("apply_patch", "", input="*** Begin Patch\n*** Delete File: a.py\n*** End Patch"),
        ["deleted a.py"],
    ),
    (used("patch", "", path="a.py", patch="--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y"), ["modified a.py"]),
    (used("shell", "", command=["bash", "-lc", "rm a.py"]), ["deleted a.py"]),
    (
        used("shell", "", command=["apply_patch", "*** Begin Patch\n*** Add File: a.py\n+x"]),
        ["created a.py"],
    ),
]


@pytest.mark.parametrize(("message", "rows"), CALLS)
def test_the_tools_of_many_agents_are_understood(message: Told, rows: list[str]) -> None:
    assert shown(trail(message)) == rows


def test_a_patch_may_be_all_that_a_call_holds() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n+x\n*** End Patch"
    assert trail(ToolCalled("1", "apply_patch", patch), back("1", "Done!")) == (
        File("a.py", "modified", named(1), change="+1"),
    )


WINDOW = "[File: /w/a.py (300 lines total)]\n(9 more lines above)\n10:x\n11:y\n\n"
PROMPT = "(Open file: /w/a.py)\n(Current directory: /w)\nbash-$"


def test_an_editor_that_shows_a_window_is_understood() -> None:
    def shell(name: str, command: str, output: str) -> list[Source]:
        return [call(name, "shell", command=command), back(name, output + PROMPT)]

    assert trail(*shell("1", "open a.py 10", WINDOW)) == (
        File("/w/a.py", "read", named(1), lines=((10, 11),)),
    )
    assert trail(*shell("1", "open a.py", "[File: /w/a.py (2 lines total)]\n1:x\n2:y\n")) == (
        File("/w/a.py", "read", named(1)),
    )
    edit = "edit 10:11\ndef f():\nend_of_edit"
    assert trail(*shell("1", edit, f"{WINDOW}File updated.")) == (
        File("/w/a.py", "modified", named(1), change="f(); +1 −2"),
    )
    assert trail(*shell("1", edit, WINDOW)) == ()
    made = shell("1", "create a.py", "[File: /w/a.py (1 lines total)]\n1:\n")
    assert shown(trail(*made, *shell("2", "rm b.py", ""))) == [
        "created /w/a.py",
        "deleted /w/b.py",
    ]
    assert shown(trail(used("open", WINDOW, path="a.py"))) == ["read /w/a.py"]
    assert shown(trail(used("goto", "[File: /w/a.py (0 lines total)]\n", line=3))) == [
        "read /w/a.py"
    ]
    assert trail(*shell("1", "submit", WINDOW)) == ()


def test_a_command_in_a_fence_counts_when_its_output_comes_back() -> None:
    words = answer("THOUGHT: I remove it.\n\n```bash\nrm a.py\n```")
    done = ask("<returncode>0</returncode>\n<output>\n</output>")
    assert shown(trail(ask("go"), words, done)) == ["deleted a.py"]
    assert trail(ask("go"), words, ask("Thanks!")) == ()
    assert trail(ask("go"), words) == ()
    assert trail(ask("go"), answer("No fence."), done) == ()


BLOCK = "```\n<<<<<<< SEARCH\nx\n=======\ny\nz\n>>>>>>> REPLACE\n```\n"


def test_blocks_count_where_the_program_says_that_it_applied_them() -> None:
    words = answer(f"src/a.py\n{BLOCK}\nsrc/b.py\n{BLOCK}")
    told = (
        "Applied edit to src/a.py  \nsrc/b.py\nThis SEARCH block failed to exactly match lines in"
        " src/b.py\n"
    )
    assert trail(words, ask(told)) == (File("src/a.py", "modified", named(2), change="+2 −1"),)
    again = trail(words, ask("Applied edit to src/b.py"), words, ask(told))
    assert [(row.path, row.partial) for row in again] == [("src/b.py", True), ("src/a.py", False)]
    whole = answer("made.py\n```python\nx = 1\n```\n")
    assert shown(trail(whole, ask("Applied edit to made.py"))) == ["created made.py"]
    assert trail(words, ask("Please go on")) == ()


def test_files_that_were_added_to_the_chat_were_read() -> None:
    asked = "words\nsrc/a.py  \nsrc/b.py  \nAdd these files to the chat? yes  \n"
    assert shown(trail(ask(asked))) == ["read src/a.py", "read src/b.py"]
    assert shown(trail(ask("Added src/c.py to the chat"))) == ["read src/c.py"]
    assert trail(ask("src/a.py\nAdd these files to the chat? no")) == ()


def test_what_was_shrunk_is_read_as_it_was() -> None:
    told = items(*ran("cat > a.py <<EOF\ndef f():\nEOF"))
    small = [standing(told[0], ToolCalled("c0", "Bash", json.dumps({"command": "…"}))), told[1]]
    assert files_of(read_scene(small)) == files_of(read_scene(told))


def test_words_that_are_no_account_of_files_make_no_rows() -> None:
    assert (
        trail(ask("Read a.py and write b.py"), answer("I wrote b.py."), Said("system", "x")) == ()
    )


@given(st.lists(st.sampled_from(["cat", "rm", "touch", "echo x >", "sed -i 1d"]), max_size=8))
def test_every_path_has_one_row_whatever_was_done_to_it(verbs: list[str]) -> None:
    rows = trail(*ran(*(f"{verb} a.py" for verb in verbs)))
    assert len(rows) == min(len(verbs), 1)
    assert files_of(scene(*ran(*(f"{verb} a.py" for verb in verbs)))) == rows
