from holdfast.text.sentences import (
    Sentence,
    announces_lookup,
    is_announcement,
    is_question,
    plain_words,
    sentences_in,
    without_html_comments,
)

TEXT = """\
# Export
Write the job. Keep it small, e.g. one file.
- Use a lock
```
code = 1
```
"""


def test_sentences_items_and_headings_are_slices_and_code_is_skipped() -> None:
    assert sentences_in(TEXT) == (
        Sentence("# Export", 0, "heading"),
        Sentence("Write the job.", 9),
        Sentence("Keep it small, e.g. one file.", 24),
        Sentence("Use a lock", 56, "item"),
    )
    assert all(TEXT[found.start : found.end] == found.text for found in sentences_in(TEXT))


def test_a_polite_request_is_not_a_question() -> None:
    assert is_question("Which port do we use?")
    assert not is_question("Could you use port 8443?")


def test_an_announcement_may_be_a_search() -> None:
    assert is_announcement("Let me write it.")
    assert not announces_lookup("Let me write it.")
    assert announces_lookup("Let me check the port.")


def test_text_is_normalized_for_patterns() -> None:
    assert plain_words("Don’t **touch**\nit") == "don't touch it"


def test_comments_of_a_page_are_removed() -> None:
    assert without_html_comments("a <!-- hint -->b") == "a b"
    assert without_html_comments("a <!-- open") == "a <!-- open"
