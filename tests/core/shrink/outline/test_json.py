import json

from holdfast.core.shrink.outline.outline import Outline, outline


def test_rows_show_what_repeats_and_which_are_odd() -> None:
    text = json.dumps(
        [
            {"id": 1, "name": "a", "status": "ok"},
            {"id": 2, "name": "b", "status": "ok"},
            {"id": 3, "name": "c", "status": "failed"},
            {"id": 4, "name": None, "status": "ok", "extra": 1},
        ]
    )
    assert outline(text) == Outline(
        "json",
        "JSON: array of 4 objects (id, name, status, extra)",
        (
            'status: "ok" ×3, "failed" ×1',
            '[0] {id: 1, name: "a", status: "ok"}',
            '[1] {id: 2, name: "b", status: "ok"}',
            '[2] (status failed) {id: 3, name: "c", status: "failed"}',
            '[3] (has extra, null name) {id: 4, status: "ok", extra: 1, name: null}',
        ),
    )


def test_a_document_that_is_cut_off_is_read_as_far_as_it_goes() -> None:
    text = '{"runs": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 3, "na'
    assert outline(text) == Outline(
        "json",
        "JSON: object with 1 key (runs: 3 objects), cut off in the middle",
        (
            "runs: array of 3 objects (id, name)",
            '  [0] {id: 1, name: "a"}',
            '  [1] {id: 2, name: "b"}',
            "  [2] (lacks name) {id: 3}",
        ),
    )


def test_an_error_is_shown_and_wrappers_are_opened() -> None:
    text = '{"data": {"viewer": {"login": "me"}}, "count": 3, "error": "rate limit"}'
    assert outline(text) == Outline(
        "json",
        "JSON: object with 3 keys (data, count, error)",
        ('data.viewer.login: "me"', "count: 3", 'error: "rate limit"'),
    )


def test_lines_of_json_are_rows_and_broken_ones_are_counted() -> None:
    text = """\
{"a": 1}
{"a": 2}
{"a": 3, "error": "x"}
not json
"""
    assert outline(text) == Outline(
        "jsonl",
        "JSON: 3 documents (error, a), 1 part unreadable",
        ("[0] {a: 1}", "[1] {a: 2}", '[2] (has error) {error: "x", a: 3}'),
    )


def test_documents_in_a_row_are_rows() -> None:
    text = '{"a": 1}{"a": 2}'
    assert outline(text) == Outline(
        "json",
        "JSON: 2 documents (a)",
        ("[0] {a: 1}", "[1] {a: 2}"),
    )


def test_objects_named_by_their_keys_are_rows() -> None:
    text = json.dumps({"advisories": {str(at): {"id": at, "severity": "low"} for at in (7, 8, 9)}})
    assert outline(text) == Outline(
        "json",
        "JSON: object with 1 key (advisories)",
        (
            "advisories: map of 3 objects (id, severity)",
            '  7 {id: 7, severity: "low"}',
            '  8 {id: 8, severity: "low"}',
            '  9 {id: 9, severity: "low"}',
        ),
    )


def test_a_long_text_is_shown_by_its_headings() -> None:
    text = json.dumps(
        [
            {"id": 1, "text": "# Plan\n\n## Go\n" + "x " * 100 + "\n## Stop\nmore\n"},
            {"id": 2, "text": "short"},
        ]
    )
    assert outline(text, width=80) == Outline(
        "json",
        "JSON: array of 2 objects (id, text)",
        (
            "[0] {id: 1, …}",
            "[0].text: # Plan",
            "[0].text: ## Go",
            "[0].text: ## Stop",
            '[1] {id: 2, text: "short"}',
        ),
    )
