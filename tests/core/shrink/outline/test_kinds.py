import pytest

from holdfast.core.shrink.outline.kinds import detect_kind

EXAMPLES = (
    ("empty", " \n\t"),
    ("binary", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
    ("binary", "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAB123XYZabc" * 20),
    ("json", '{\n  "name": "a",\n  "version": "1.0"\n}'),
    ("json", "[1, 2, 3]"),
    ("json", '{"a": "' + "x" * 5_000),
    ("jsonl", '{"a": 1}\n{"a": 2}\n'),
    ("prose", "[1] The first source says so.\n" + "It goes on for a while here. " * 60),
    ("prose", "[test] $ make all"),
    ("tests", "....\n4 passed in 0.02s\n"),
    ("tests", "ok  \texample.com/a\t0.1s\nok  \texample.com/b\t0.2s\n"),
    ("trace", 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nKeyError: 1\n'),
    ("log", "[2026-01-02 10:00:00] started\n[2026-01-02 10:00:01] stopped\n"),
    (
        "log",
        '10:00:00 ERROR no\nTraceback:\n  File "a.py", line 1, in f\nKeyError: 1\n10:00:01 INFO\n',
    ),
    ("log", "warning: unused variable\n  --> src/a.rs:1:2\nerror: no\n"),
    ("grep", "12:def f():\n13-    pass\n40:def g():\n"),
    ("grep", "a.py:1:import os\nb.py:2:import os\n"),
    ("diff", "--- a.txt\n+++ b.txt\n@@ -1 +1 @@\n-a\n+b\n"),
    ("diff", "     1→diff --git a/x b/x\n     2→--- a/x\n     3→+++ b/x\n     4→@@ -1 +1 @@\n"),
    ("html", "<html><body><p>Hi</p></body></html>"),
    ("html", '<?xml version="1.0"?>\n<a/>'),
    ("listing", "src/a.py\nsrc/b.py\nREADME.md\n"),
    ("listing", "docs/2026-01-02-plan.md\ndocs/2026-01-03-plan.md\n"),
    ("table", "id\tname\n7\tAnn\n9\tBob\n12\tCid\n"),
    ("table", "7,Ann,2026-01-02\n9,Bob,2026-01-03\n11,Cid,2026-01-04\n"),
    ("table", "a;b;c\n1;2;3\n4;5;6\n"),
    ("code", "import os\n\n\ndef f():\n    return os.sep\n"),
    ("code", "#!/bin/sh\nset -e\nif [ -f x ]; then\n  echo 'x'\nfi\n"),
    ("prose", "# Title\n\nSome words.\n\n- one\n- two\n"),
    ("prose", "Dear all,\n\nthis is a letter, and it has commas, as letters do.\n"),
)


@pytest.mark.parametrize(("kind", "text"), EXAMPLES, ids=[repr(text[:24]) for _, text in EXAMPLES])
def test_a_text_is_told_by_its_content(kind: str, text: str) -> None:
    assert detect_kind(text) == kind


@pytest.mark.parametrize(("kind", "text"), EXAMPLES, ids=[repr(text[:24]) for _, text in EXAMPLES])
def test_windows_line_ends_change_nothing(kind: str, text: str) -> None:
    assert detect_kind(text.replace("\r", "").replace("\n", "\r\n")) == kind
