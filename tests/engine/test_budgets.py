"""Budgets are kept: by sessions and without one, again and again, whatever the user pasted."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from msgspec.structs import replace

import holdfast
from holdfast import NothingToShrink, Policy, Session
from holdfast.core.ledger.entry import Compressed
from holdfast.core.ledger.window import in_force
from holdfast.core.plan.policy import Offload
from holdfast.engine.purge.rewrite import erase_message
from holdfast.models.tokenizers import counter
from holdfast.stores.memory import MemoryStore
from holdfast.transcripts.ingest import ingest

Message: TypeAlias = dict[str, Any]

COUNT = counter("o200k_base")
GPT = Policy(model="gpt-5")
LOG = "".join(
    f"2026-03-01 12:00:{number % 60:02} INFO request {number} took {number % 97} ms\n"
    for number in range(1_600)
)
ASKED = "Why is the server slow since the release?"
RULE = "Never restart the database."


def pasted(words: str = ASKED) -> str:
    return f"{words}\n\n{LOG}\n{RULE}"


def call(name: str, command: str, output: str | None) -> list[Message]:
    function = {"name": "Bash", "arguments": json.dumps({"command": command})}
    use = {"id": name, "type": "function", "function": function}
    asked: Message = {"role": "assistant", "content": None, "tool_calls": [use]}
    if output is None:
        return [asked]
    return [asked, {"role": "tool", "tool_call_id": name, "content": output}]


def history(steps: int = 30) -> list[Message]:
    messages: list[Message] = [{"role": "user", "content": pasted()}]
    for number in range(steps):
        rows = "\n".join(f"src/mod{number}/file{row}.py:{row}: def f{row}()" for row in range(120))
        messages += call(f"c{number}", f"grep -rn f{number} src", rows)
        messages.append({"role": "assistant", "content": f"Module {number} is not the cause."})
    return [*messages, {"role": "user", "content": "Go on with the cache, please."}]


def opened(messages: list[Message], policy: Policy = GPT) -> Session:
    session = Session("budgets", MemoryStore(), policy=policy)
    session.extend(messages)
    return session


def plain(messages: Sequence[object]) -> list[Message]:
    """Messages as a client has them."""
    return json.loads(json.dumps(messages))


def text_of(messages: Sequence[object]) -> str:
    return json.dumps(messages, ensure_ascii=False)


def test_a_smaller_budget_makes_a_smaller_summary_of_the_same_session() -> None:
    session = opened(history())
    for budget in (20_000, 8_000, 3_000, 1_000, 600):
        made = session.compact(budget)
        assert made.after.tokens <= budget
        assert session.status().tokens <= budget
        assert ASKED in text_of(session.messages())
        assert "Go on with the cache, please." in text_of(session.messages())


def test_what_was_compressed_without_a_session_is_compressed_further() -> None:
    messages = history()
    for budget in (20_000, 8_000, 3_000, 1_000, 600):
        made = holdfast.compress(messages, budget)
        assert made.after.tokens <= budget
        assert ASKED in text_of(made.messages)
        messages = plain(made.messages)


def test_a_paste_that_is_all_there_is_leaves_and_the_words_stay() -> None:
    for text in (pasted(), LOG, "x" * 80_000, f"{ASKED} {'QUJD' * 20_000}"):
        made = holdfast.compress([{"role": "user", "content": text}], 1_000)
        assert made.after.tokens <= 1_000
        (ref,) = made.originals
        assert made.read(ref) == text
        assert ref in plain(made.messages)[0]["content"]


def test_a_request_of_a_hundred_lines_keeps_its_beginning_and_its_rules() -> None:
    lines = [f"Look at page {number} and say what it shows to a visitor." for number in range(120)]
    text = "\n".join(["Review the site for me.", *lines, RULE])
    made = holdfast.compress([{"role": "user", "content": text}], 400)
    content = plain(made.messages)[0]["content"]
    assert made.after.tokens <= 400
    assert content.startswith("Review the site for me.\nLook at page 0")
    assert RULE in content
    assert made.read(next(iter(made.originals))) == text


def test_the_words_of_requests_stand_whole_while_they_fit() -> None:
    words = "\n".join(f"Look at page {number} and say what it shows." for number in range(120))
    messages: list[Message] = [{"role": "user", "content": words}, *history(20)[1:]]
    made = holdfast.compress(messages, 3 * COUNT(words))
    assert words in "\n".join(str(message["content"]) for message in made.messages)


def test_only_the_system_prompt_and_open_calls_make_a_floor_and_the_sentence_says_so() -> None:
    system = {"role": "system", "content": "Be careful with the schema. " * 300}
    waiting = call("open", "python - <<'E'\n" + "print('x')\n" * 900 + "E", None)
    with pytest.raises(NothingToShrink) as refused:
        holdfast.compress([system, *history(), *waiting], 2_000)
    error = refused.value
    assert error.system == COUNT(system["content"])
    assert error.calls > 2_000
    assert error.floor - error.system - error.calls < 300
    assert str(error) == (
        f"the window cannot be brought under 2,000 tokens; the smallest that is legal has "
        f"{error.floor:,}: the system prompt and tools {error.system:,} and open calls, with "
        f"their results and sealed thinking, {error.calls:,}"
    )


def test_what_stands_outside_of_the_messages_counts_as_the_system_prompt() -> None:
    system = "Be careful. " * 500
    with pytest.raises(NothingToShrink) as refused:
        holdfast.compress([{"role": "user", "content": pasted()}], 900, system=system)
    assert refused.value.system == COUNT(system)


@pytest.mark.parametrize("blocks", [False, True])
def test_a_large_paste_leaves_before_it_is_sent_and_comes_back_when_it_is_undone(
    blocks: bool,
) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    text = {"type": "text", "text": pasted(), "cache_control": {"type": "ephemeral"}}
    content = [text, picture] if blocks else pasted()
    session = opened([{"role": "user", "content": content}])
    (message,) = plain(session.messages())
    shown = message["content"][0] if blocks else {"text": message["content"]}
    assert shown["text"].startswith(f"{ASKED}\n\n[paste ")
    assert shown["text"].endswith(f"\n{RULE}")
    if blocks:
        assert (message["content"][1], shown["cache_control"]) == (picture, text["cache_control"])
    assert [event.kind for event in session.log()] == ["TIER_1"]
    session.undo()
    assert session.messages() == [{"role": "user", "content": content}]


def test_a_history_that_is_sent_again_is_known_with_its_paste_and_without() -> None:
    session = opened([{"role": "user", "content": pasted()}])
    window = plain(session.messages())
    answered: Message = {"role": "assistant", "content": "It is the cache."}
    for sent in ([{"role": "user", "content": pasted()}], window):
        assert session.sync(sent).added == 0
    assert session.sync([*window, answered]).added == 1
    assert session.messages() == [*window, answered]


def test_an_old_paste_leaves_with_a_batch() -> None:
    small = Offload(above=100_000, share=0, sweep=500)
    policy = replace(GPT, offload=small, window=40_000)
    session = opened([{"role": "user", "content": pasted()}], policy)
    assert plain(session.messages())[0]["content"] == pasted()
    session.extend(history(8)[1:])
    session.compact()
    made = [e.body for e in in_force(session.ledger.live_window.window(whole=True))]
    kinds = {step.kind for body in made if isinstance(body, Compressed) for step in body.steps}
    assert "paste" in kinds or "summary" in kinds
    assert ASKED in text_of(session.messages())
    assert LOG not in "".join(str(message["content"]) for message in session.messages())


def test_the_reference_of_a_paste_opens_in_a_project(tmp_path: Path) -> None:
    with holdfast.open("s", root=tmp_path, model="gpt-5") as session:
        session.append({"role": "user", "content": pasted()})
        (message,) = plain(session.messages())
        ref = message["content"].partition("[paste ")[2][:12]
        assert session.read(ref) == pasted()
        assert RULE in session.intent().original.text
        assert len(session.intent().original.text) < 3_000


def test_a_purged_paste_is_gone_from_what_stands_for_it(tmp_path: Path) -> None:
    with holdfast.open("s", root=tmp_path, model="gpt-5") as session:
        session.append({"role": "user", "content": pasted("Ask zanzibar about it.")})
        assert "zanzibar" in text_of(session.messages())
        (entry,) = session.ledger.path()
        erase_message(session.store, session.name, entry.id, session.policy, at="2026-01-29")
    with holdfast.open("s", root=tmp_path, model="gpt-5") as session:
        assert "zanzibar" not in text_of(session.messages())
        assert "request 3" not in text_of(session.messages())


def test_what_a_user_said_to_another_program_is_cut_in_summaries_only(tmp_path: Path) -> None:
    said = {"role": "user", "content": pasted()}
    line = {"type": "user", "uuid": "u1", "sessionId": "s", "message": said}
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(line) + "\n")
    store = MemoryStore()
    ingest(path, store)
    (name,) = (one.name for one in store.sessions())
    session = Session(name, store, policy=Policy(model="claude-opus-4-6"))
    assert LOG.strip() in text_of(session.messages()).replace("\\n", "\n")
    assert len(session.intent().original.text) < 3_000


def test_a_window_that_is_only_a_summary_gets_smaller_with_its_budget() -> None:
    messages = [
        {"role": "user", "content": "Find out why the totals differ, and fix it."},
        *(
            {"role": role, "content": f"{role} line {n}: the value of part_{n} is {n * 37}. " * 12}
            for n in range(60)
            for role in ("assistant", "user")
        ),
        {"role": "assistant", "content": "Done: the totals agree now."},
    ]
    sizes: list[int] = []
    with Session("small", MemoryStore()) as session:
        session.extend(messages)
        for budget in (6_000, 3_000, 1_500):
            sizes.append(session.compact(budget).after.tokens)
            assert sizes[-1] <= budget
    assert sizes == sorted(sizes, reverse=True)


def test_a_floor_counts_the_thinking_that_an_open_call_is_bound_to() -> None:
    sealed = {"type": "thinking", "thinking": "because " * 400, "signature": "c2lnbmVk"}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}
    messages = [
        {"role": "user", "content": "Build it."},
        {"role": "assistant", "content": [sealed, call]},
    ]
    with pytest.raises(NothingToShrink) as found:
        holdfast.compress(messages, 100)
    assert found.value.calls == found.value.floor - found.value.system


def test_a_result_that_came_twice_leaves_with_its_call() -> None:
    told = call("twice", "cat big.log", "line of output\n" * 4_000)
    messages = [
        {"role": "user", "content": "What is in the log?"},
        *told,
        told[-1],
        {"role": "assistant", "content": "Only lines of output."},
        {"role": "user", "content": "Thanks. Which file was it?"},
    ]
    assert holdfast.compress(messages, 1_000).after.tokens <= 1_000


def test_a_budget_is_kept_where_every_place_is_between_a_call_and_its_result() -> None:
    pairs = [
        call(f"c{n}", f"cat part{n}.txt", f"part {n} holds value {n * 7}\n" * 60) for n in range(20)
    ]
    asked, answered = [pair[0] for pair in pairs], [pair[-1] for pair in pairs]
    woven = [message for at in range(20) for message in (asked[at], answered[at - 7])]
    messages = [{"role": "user", "content": "Read all parts."}, *woven]
    assert holdfast.compress(messages, 1_500).after.tokens <= 1_500


def test_results_of_an_open_loop_whose_calls_leave_go_along_and_the_thinking_stays() -> None:
    def used(name: str) -> Message:
        arguments = json.dumps({"command": f"sed -n 1,200p {name}.py"})
        return {"type": "function_call", "call_id": name, "name": "Bash", "arguments": arguments}

    def answered(name: str) -> Message:
        return {"type": "function_call_output", "call_id": name, "output": f"{name}\n" * 900}

    before = [message for at in range(12) for message in (used(f"a{at}"), answered(f"a{at - 3}"))]
    loop: list[Message] = [
        {"role": "user", "content": "And now the cache."},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"},
        *map(answered, ("a9", "a10", "a11")),
        used("open"),
    ]
    session = opened([{"role": "user", "content": "Read all parts."}, *before[6:], *loop])
    session.compact(2_000)
    sent = json.dumps(session.messages())
    assert session.status().tokens <= 2_000
    assert ('"encrypted_content": "sealed"' in sent, '"open"' in sent) == (True, True)
    assert "function_call_output" not in sent
