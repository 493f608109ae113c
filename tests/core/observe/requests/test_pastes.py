"""What of a user's message is the user's own, and what was pasted into it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.observe.requests.pastes import pasted_share, split_pastes, words_outside_pastes

PYTEST = """\
============================= test session starts ==============================
platform linux -- Python 3.11.4, pytest-7.4.0, pluggy-1.2.0
rootdir: /home/me/project
collected 2 items

tests/test_a.py .F                                                       [100%]

=================================== FAILURES ===================================
____________________________________ test_b ____________________________________

    def test_b():
>       assert total([1, 2]) == 4
E       assert 3 == 4
E        +  where 3 = total([1, 2])

tests/test_a.py:5: AssertionError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_b - assert 3 == 4
========================= 1 failed, 1 passed in 0.02s ==========================
"""
CODE = """\
def total(items):
    result = 0
    for item in items:
        if item.price is None:
            continue
        result += item.price * item.count
    return result
"""
TRACE = """\
Traceback (most recent call last):
  File "/app/server.py", line 12, in <module>
    main()
  File "/app/server.py", line 8, in main
    handle(request)
  File "/app/handlers.py", line 40, in handle
    return table[key]
KeyError: 'user'
"""
DIFF = """\
diff --git a/app.py b/app.py
index 83db48f..bf269f4 100644
--- a/app.py
+++ b/app.py
@@ -1,4 +1,4 @@
-import old
+import new
 def main():
-    old.run()
+    new.run()
"""
CSV = "id,name,price\n" + "".join(f"{number},lamp {number},{number}.50\n" for number in range(20))
GERMAN = "".join(
    f"2026-03-0{number % 9 + 1} 12:00:0{number % 10} INFO Anfrage {number} wurde beendet\n"
    for number in range(20)
)
LISTED = """\
Please do the following:
1. Read the config in src/config.py, and note every option.
2. Add a `timeout` option, default 30.
3. Update the docs.
4. Do not change the public names.
5. Run the tests.
6. Write a changelog entry, with the date and the number of the change.
7. Open a pull request.
8. Tell me when it is done.
"""
SPEC = """\
# Importer

## Goal
The importer reads CSV files and writes rows to the store.

## Requirements
- It must never lose a row.
- It should report the number of bad rows, and where they are.
- Dates are ISO 8601. Numbers have a point.

## Interface
`import_file(path)` returns a report. It raises `Full` when no row fits.

## Notes
Keep it small. No new dependencies. Use the `csv` module.
The store has an `add` method that takes a row as a dict.
We tried pandas last year, and it was too slow to start.
Ask me before you change the schema.
"""


def test_test_output_after_a_question_is_a_paste_and_the_question_is_not() -> None:
    text = f"why does this fail?\n\n{PYTEST}\nIt worked yesterday. Do not touch the fixtures."
    assert words_outside_pastes(text) == (
        "why does this fail?",
        "It worked yesterday. Do not touch the fixtures.",
    )
    assert [piece.text for piece in split_pastes(text) if piece.kind == "paste"] == [PYTEST]


@pytest.mark.parametrize("pasted", [CODE, TRACE, DIFF, CSV, GERMAN, PYTEST])
def test_what_is_pasted_between_two_sentences_parts_them(pasted: str) -> None:
    before, after = "Here is what I have now.", "Please keep its name as it is."
    assert words_outside_pastes(f"{before}\n{pasted}{after}") == (before, after)
    assert words_outside_pastes(f"{before}\n\n{pasted}\n{after}\n") == (before, after)


@pytest.mark.parametrize("pasted", [CODE, TRACE, DIFF, CSV, GERMAN, PYTEST])
def test_line_ends_of_windows_change_nothing(pasted: str) -> None:
    text = f"Was ist hier los?\n\n{pasted}\nBitte nichts löschen.".replace("\n", "\r\n")
    assert words_outside_pastes(text) == ("Was ist hier los?", "Bitte nichts löschen.")


def test_words_in_other_scripts_stay_words() -> None:
    text = f"何が問題ですか？\n\n{TRACE}\n設定は変更しないでください。"
    assert words_outside_pastes(text) == ("何が問題ですか？", "設定は変更しないでください。")


def test_two_pastes_keep_the_sentence_between_them() -> None:
    text = f"The first run:\n{PYTEST}\nand the second one, after the fix:\n{TRACE}"
    kinds = [piece.kind for piece in split_pastes(text)]
    assert kinds == ["words", "paste", "words", "paste"]
    assert words_outside_pastes(text) == ("The first run:", "and the second one, after the fix:")


def test_a_fenced_block_is_a_paste_also_where_it_holds_prose() -> None:
    prose = "```\n" + "This is what the page says, word for word.\n" * 20 + "```\n"
    assert words_outside_pastes(f"Is this still true?\n{prose}Check it.") == (
        "Is this still true?",
        "Check it.",
    )


@pytest.mark.parametrize("text", [LISTED, SPEC, LISTED + SPEC])
def test_instructions_in_lists_and_headings_are_the_users_own(text: str) -> None:
    assert [piece.kind for piece in split_pastes(text)] == ["words"]


def test_a_hundred_lines_of_instructions_are_the_users_own() -> None:
    lines = [f"Step {number}: check page {number}, then say what it shows." for number in range(99)]
    text = "\n".join(lines)
    assert words_outside_pastes(text) == (text,)


def test_a_paragraph_typed_without_a_line_break_is_the_users_own() -> None:
    text = "I want the report to load faster, and I do not care how you do it. " * 60
    assert words_outside_pastes(text) == (text.strip(),)


def test_a_line_that_nobody_types_is_a_paste_and_the_words_around_it_are_not() -> None:
    text = f"decode this: {'QUJD' * 20_000} and say what it is"
    assert words_outside_pastes(text) == ("decode this:", "and say what it is")


def test_json_in_one_line_is_a_paste_from_its_first_brace_on() -> None:
    data = json.dumps({"rows": [{"id": number, "ok": True} for number in range(400)]})
    assert words_outside_pastes(f"which row is wrong? {data}") == ("which row is wrong?",)


def test_a_document_that_nobody_types_keeps_its_ends() -> None:
    body = "".join(f"Chapter {number} says that nothing is as it was.\n" for number in range(2_000))
    text = f"Summarise this:\n{body}In ten lines, please."
    first, last = words_outside_pastes(text)
    assert first.startswith("Summarise this:")
    assert last.endswith("In ten lines, please.")
    assert pasted_share(text, 200) > 0.9


def test_a_summary_of_ours_is_never_taken_apart() -> None:
    text = "## Session Summary [s]\n" + PYTEST
    assert [piece.kind for piece in split_pastes(text)] == ["words"]


SOME = (PYTEST, CODE, TRACE, DIFF, CSV, GERMAN, LISTED, SPEC, "```\n", "a\r\n", "│ x\n", "[paste ")


@given(st.lists(st.one_of(st.text(max_size=40), st.sampled_from(SOME)), max_size=12))
def test_the_pieces_put_together_are_the_text(parts: list[str]) -> None:
    text = "".join(parts)
    found = split_pastes(text)
    assert "".join(piece.text for piece in found) == text
    assert all(piece.text for piece in found)
    assert split_pastes(text) == found
