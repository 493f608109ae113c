from holdfast.core.shrink.outline.outline import Outline, outline


def test_files_come_with_counts_hunks_and_new_definitions() -> None:
    text = """\
diff --git a/src/a.py b/src/a.py
index 1..2 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,3 +1,6 @@ import os
 import os
+
+def load(path):
+    return open(path)
-x = 1
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+hello
"""
    assert outline(text) == Outline(
        "diff",
        "diff: 2 files, +4 −1",
        ("src/a.py +3 −1", "  @1 +3 −1 + def load(path):", "new.txt (new) +1 −0", "  @1 +1 −0"),
    )


def test_a_commit_is_named_above_its_files() -> None:
    text = """\
commit 1234567890abcdef1234567890abcdef12345678
Author: Me <me@example.com>
Date:   Mon Jan 1 10:00:00 2026 +0000

    Load less

diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -3 +3 @@ def load():
-    x = 1
+    x = 2
"""
    assert outline(text) == Outline(
        "diff",
        "diff: 1 file, +1 −1",
        ("commit 1234567890 Load less", "a.py +1 −1", "  @3 +1 −1 def load():"),
    )


def test_a_diff_without_git_names_its_files() -> None:
    text = """\
--- old/a.txt\t2026-01-01
+++ new/a.txt\t2026-01-02
@@ -1 +1 @@
-one
+two
@@ -9 +9 @@
-three
+four
"""
    assert outline(text) == Outline(
        "diff",
        "diff: 1 file, +2 −2",
        ("new/a.txt +2 −2", "  @1 +1 −1", "  @9 +1 −1"),
    )
