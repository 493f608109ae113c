import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.observe.files.patches import (
    FileAct,
    act_of_replacements,
    act_of_write,
    acts_of_fenced_files,
    acts_of_patch,
    acts_of_search_replace,
    count_lines,
    looks_like_path,
    symbols_in,
)
from holdfast.text.code import MAX_SYMBOLS

ENVELOPE = """*** Begin Patch
*** Add File: new.py
+def made(x):
+    return x
*** Update File: old.go
*** Move to: moved.go
@@ func (r *Reader) Close() error {
 context
-gone
+come
+come too
*** Delete File: dead.txt
*** End Patch
*** Add File: after.py
"""


def test_an_envelope_adds_updates_moves_and_deletes() -> None:
    assert acts_of_patch(ENVELOPE) == (
        FileAct(
            "create", "new.py", added=2, symbols=("made()",), text="def made(x):\n    return x\n"
        ),
        FileAct("move", "moved.go", "old.go", added=2, removed=1, symbols=("Reader.Close()",)),
        FileAct("delete", "dead.txt"),
    )


def test_an_envelope_that_breaks_off_counts_as_far_as_it_goes() -> None:
    assert acts_of_patch("*** Begin Patch\nnoise\n*** Update File: a.py\n+x") == (
        FileAct("edit", "a.py", added=1),
    )
    assert acts_of_patch("*** Begin Patch\n*** End Patch") == ()
    assert acts_of_patch("*** Begin Patch\n") == ()


DIFF = """diff --git a/src/a.py b/src/a.py
index 1..2 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,3 +1,4 @@ class Reader:
 kept
---- a removed line that looks like a header
+++ an added one
+and one more
\\ No newline at end of file
 kept
--- /dev/null
+++ b/made.txt
@@ -0,0 +1 @@
+one
--- a/gone.txt\t2024-01-01
+++ /dev/null
@@ -1 +0,0 @@
-one
diff --git a/x b/y
rename from x.py
rename to y.py
"""


def test_a_unified_diff_edits_makes_deletes_and_renames() -> None:
    assert acts_of_patch(DIFF) == (
        FileAct("edit", "src/a.py", added=2, removed=1, symbols=("Reader",)),
        FileAct("create", "made.txt", added=1, text="one\n"),
        FileAct("delete", "gone.txt", removed=1),
        FileAct("move", "y.py", "x.py"),
    )


def test_a_rename_with_changes_is_one_move() -> None:
    text = "rename from x.py\nrename to y.py\n--- a/x.py\n+++ b/y.py\n@@ -1 +1 @@\n-a\n+b\n"
    assert acts_of_patch(text)[-1] == FileAct("move", "y.py", "x.py", added=1, removed=1)


@pytest.mark.parametrize(("strip", "path"), [(0, "a/b/c.py"), (1, "b/c.py"), (2, "c.py")])
def test_a_patch_can_be_told_how_much_of_its_paths_counts(strip: int, path: str) -> None:
    text = "--- a/b/c.py\n+++ a/b/c.py\n@@ -1 +1 @@\n-a\n+b\n"
    assert [act.path for act in acts_of_patch(text, strip=strip)] == [path]


def test_what_is_no_patch_does_nothing() -> None:
    assert acts_of_patch("just words\n@@ -1 +1 @@\n") == ()
    assert acts_of_patch("words with +++ in them\n@@ -1 +1 @@\n") == ()


BLOCKS = """I will change two files.

src/a.py
```python
<<<<<<< SEARCH
def old():
    pass
=======
def new():
    pass
>>>>>>> REPLACE
```

**src/made.py**
<<<<<<< SEARCH
=======
class Made:
    def go(self):
        pass
>>>>>>> REPLACE
"""


def test_search_and_replace_blocks_name_their_file_above_them() -> None:
    assert acts_of_search_replace(BLOCKS) == (
        FileAct("edit", "src/a.py", added=1, removed=1, symbols=("new()",)),
        FileAct(
            "write",
            "src/made.py",
            added=3,
            symbols=("Made", "Made.go()"),
            text="class Made:\n    def go(self):\n        pass",
        ),
    )


def test_a_second_block_is_about_the_same_file() -> None:
    block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"
    assert acts_of_search_replace(f"a.py\n{block}{block}") == (
        FileAct("edit", "a.py", added=2, removed=2),
    )
    assert acts_of_search_replace(f"These words are no path\n{block}") == ()


def test_a_whole_file_stands_in_a_fence_under_its_path() -> None:
    text = "Here:\n\na/b.py\n```python\nx = 1\n```\nand some words\n```\nno path above\n```\n"
    assert acts_of_fenced_files(text) == (FileAct("write", "a/b.py", added=1, text="x = 1\n"),)


def test_an_edit_counts_the_lines_that_differ() -> None:
    assert act_of_replacements("a.py", [("a\nb\nc", "a\nB\nc\nd"), ("x\n", "")]) == FileAct(
        "edit", "a.py", added=2, removed=2
    )


@given(st.text(), st.text())
def test_an_edit_there_and_back_takes_away_what_it_added(old: str, new: str) -> None:
    there, back = act_of_replacements("a", [(old, new)]), act_of_replacements("a", [(new, old)])
    assert (there.added, there.removed) == (back.removed, back.added)
    assert act_of_replacements("a", [(old, old)]).added == 0


@given(st.lists(st.text(st.characters(exclude_characters="\n"), min_size=1)))
def test_a_text_has_as_many_lines_as_were_put_in(lines: list[str]) -> None:
    assert count_lines("\n".join(lines)) == count_lines("".join(f"{x}\n" for x in lines))
    assert act_of_write("a", "\n".join(lines)).added == len(lines)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("def f(x):", "f()"),
        ("    async def f(x):", "f()"),
        ("class A(B):", "A"),
        ("export default async function go() {", "go()"),
        ("export const go = async (a, b) => {", "go()"),
        ("func (r *Reader) Close() error {", "Reader.Close()"),
        ("func New[T any](x T) {", "New()"),
        ("pub fn run<T>(x: T) {", "run()"),
        ("type Options struct {", "Options"),
        ("  private async load(x: string) {", "load()"),
        ("    return f(x)", ""),
        ("# a comment", ""),
    ],
)
def test_what_a_line_defines_is_named(line: str, name: str) -> None:
    assert symbols_in([line]) == ((name,) if name else ())


def test_a_method_is_named_with_its_class() -> None:
    lines = ["class Reader {", "  public close() {", "}", "def free():", "    def inner():"]
    assert symbols_in(lines) == ("Reader", "Reader.close()", "free()", "inner()")


def test_prose_is_named_by_its_headings_and_not_by_comments_in_its_code() -> None:
    lines = ["# Title", "```sh", "# a comment", "```", "## Part", "def f():"]
    assert symbols_in(lines, "a.md") == ("Title", "Part")


def test_only_a_few_names_are_kept_and_none_is_long() -> None:
    assert len(symbols_in(f"def f{n}():" for n in range(99))) == MAX_SYMBOLS
    long = "x" * 60
    assert symbols_in([f"class {'A' * 30}:", f"    def {'f' * 30}(self):"]) == (
        "A" * 30,
        f"{'f' * 30}()",
    )
    assert symbols_in([f"class {long}:"]) == (f"{'x' * 47}…",)


@pytest.mark.parametrize("path", ["a.py", "src/.env", "x/y/Makefile.am", "C:\\a.txt"])
def test_a_file_name_is_known(path: str) -> None:
    assert looks_like_path(path)


@pytest.mark.parametrize("path", ["", "two words.py", "folder", "a.b/c", "x" * 301 + ".py"])
def test_other_words_are_no_file_names(path: str) -> None:
    assert not looks_like_path(path)
