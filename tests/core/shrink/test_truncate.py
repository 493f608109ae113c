import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.entry import ToolCalled
from holdfast.core.ledger.marks import is_stand_in
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.plan.policy import Truncate
from holdfast.core.shrink.truncate import truncate
from tests.core.building import call, lines, words

REF = "0123456789ab"


def truncated(
    body: ToolCalled, *, persisted: bool = True, above: int = 50, form: str = "lar-033"
) -> ToolCalled | None:
    rules = Truncate(above, form)
    return truncate(
        body, touch=touch_of(body), ref=REF, persisted=persisted, rules=rules, count=words
    )


@pytest.mark.seed("R055", "R061")
def test_a_stub_has_the_form_of_the_documents_and_the_keys_stay() -> None:
    made = truncated(call("a", "Write", file_path="/out/report.md", content=lines(100)))
    assert made is not None
    assert (made.call, made.tool) == ("a", "Write")
    arguments = json.loads(made.arguments)
    assert list(arguments) == ["file_path", "content"]
    assert arguments["file_path"] == "/out/report.md"
    stub = arguments["content"].split("\n")
    summary = stub.pop(4)
    assert stub == [
        "## Tool Call: Write",
        "**Ref:** 0123456789ab",
        "**Original Size:** 200 tokens",
        "**Path:** /out/report.md",
        "**Status:** Content persisted to disk ✓",
    ]
    assert summary.startswith("**Summary:** ")
    assert len(summary) > len("**Summary:** ")


@pytest.mark.seed("R057")
@pytest.mark.parametrize(
    ("persisted", "status"),
    [(True, "Content persisted to disk"), (False, "Content kept in the ledger")],
)
def test_a_stub_can_have_the_form_of_the_protocol(persisted: bool, status: str) -> None:
    body = call("a", "create_file", path="/output/report.md", content=lines(500))
    made = truncated(body, persisted=persisted, form="ctx-001")
    assert made is not None
    arguments = json.loads(made.arguments)
    assert (list(arguments), arguments["path"]) == (["path", "content"], "/output/report.md")
    stub = arguments["content"].split("\n")
    summary = stub.pop(4)
    assert stub == [
        "## Truncated Tool Call",
        "**Original:** create_file with 500 lines",
        "**Ref:** 0123456789ab",
        "**Path:** /output/report.md",
        f"**Status:** {status}",
    ]
    assert re.fullmatch(r"\*\*Summary:\*\* \S.*", summary)
    assert is_stand_in(arguments["content"])


@pytest.mark.seed("R059")
def test_what_was_not_seen_on_disk_does_not_claim_to_be_there() -> None:
    made = truncated(call("a", "Write", file_path="x", content=lines(100)), persisted=False)
    assert made is not None
    assert json.loads(made.arguments)["content"].split("\n")[-1] == (
        "**Status:** Content kept in the ledger"
    )


def test_edits_in_a_list_are_shortened_where_they_are_large() -> None:
    edits = [{"old": "x", "new": lines(60)}, {"old": lines(60), "new": "y"}]
    made = truncated(call("a", "MultiEdit", file_path="x", edits=edits))
    assert made is not None
    found = json.loads(made.arguments)
    assert [list(edit) for edit in found["edits"]] == [["old", "new"], ["old", "new"]]
    assert [is_stand_in(edit["new"]) for edit in found["edits"]] == [True, False]
    assert [is_stand_in(edit["old"]) for edit in found["edits"]] == [False, True]


def test_a_call_without_a_path_says_that_it_is_unknown() -> None:
    made = truncated(call("a", "Write", content=lines(100)))
    assert made is not None
    assert "**Path:** unknown" in json.loads(made.arguments)["content"].split("\n")


LONG = lines(100)


@pytest.mark.parametrize(
    "arguments",
    [
        json.dumps({"file_path": "x", "content": "short"}),
        "no JSON at all " + LONG,
        json.dumps({"content": LONG})[:-1],
        json.dumps(17),
        json.dumps({"a": {"b": {"c": {"d": {"e": {"f": {"g": LONG}}}}}}}),
        json.dumps({"content": f"## Tool Call: Write\n**Ref:** {REF}\n{LONG}"}),
        "",
    ],
)
def test_what_has_no_large_text_stays_as_it_is(arguments: str) -> None:
    assert truncated(ToolCalled("a", "Write", arguments)) is None


def test_a_text_at_the_bound_stays_and_one_above_it_leaves() -> None:
    body = call("a", "Write", file_path="x", content=lines(25))
    assert truncated(body, above=50) is None
    assert truncated(body, above=49) is not None


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=40) | st.just(LONG),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


def shape(value: object) -> object:
    """A value without its texts."""
    match value:
        case dict():
            return [(key, shape(inner)) for key, inner in value.items()]  # pyright: ignore
        case list():
            return [shape(inner) for inner in value]  # pyright: ignore
        case str():
            return "text"
        case _:
            return value


@given(st.dictionaries(st.text(max_size=5), values))
def test_all_but_large_texts_stay_and_a_second_time_changes_nothing(
    arguments: dict[str, object],
) -> None:
    body = ToolCalled("a", "Write", json.dumps(arguments, ensure_ascii=False))
    made = truncated(body)
    if made is not None:
        assert shape(json.loads(made.arguments)) == shape(arguments)
        assert truncated(made) is None
        assert len(made.arguments) < len(body.arguments)
