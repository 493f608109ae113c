"""Half a letter (a lone surrogate) in what a caller says: it is stored and counted, not raised."""

from collections.abc import Callable
from pathlib import Path

import pytest

import holdfast
from holdfast import Session, seeds
from holdfast.stores.memory import MemoryStore

HALF = "lone \udfff end"
SENT = "lone \ufffd end"


def session(root: Path) -> Session:
    made = Session("x", MemoryStore(), root=str(root), owns_store=False)
    made.append({"role": "user", "content": "Do it."})
    return made


WORDS: dict[str, Callable[[Session], object]] = {
    "note": lambda s: s.note("task", name=HALF),
    "pin": lambda s: s.pin(HALF),
    "unpin": lambda s: s.unpin(HALF),
    "tell": lambda s: s.ledger.append_own_message(HALF),
    "report": lambda s: s.report(model=HALF),
    "packet": lambda s: s.packet(HALF, pane=1),
    "feedback": lambda s: seeds.ContextEfficiencyTracker(s.ledger).record_task(1, True, [HALF]),
}


@pytest.mark.parametrize("name", WORDS)
def test_words_of_a_caller_are_stored_with_a_sign_for_the_half_letter(
    name: str, tmp_path: Path
) -> None:
    made = session(tmp_path)
    WORDS[name](made)
    stored = str([entry.body for entry in made.store.read("x")])
    assert SENT in stored
    assert HALF not in stored


def test_a_text_with_half_a_letter_has_the_tokens_of_what_would_be_sent() -> None:
    assert seeds.estimate_tokens(HALF) == seeds.estimate_tokens(SENT)


def test_a_system_prompt_with_half_a_letter_is_counted() -> None:
    said = [{"role": "user", "content": "Do it."}]
    made = [holdfast.compress(said, 1_000, system=text).before.tokens for text in (HALF, SENT)]
    assert made[0] == made[1]


def test_a_result_with_half_a_letter_is_offloaded_exactly(tmp_path: Path) -> None:
    made = seeds.offload_tool_result(HALF * 900, "Bash", root=str(tmp_path))
    kept = (tmp_path / made["path"]).read_bytes()
    assert kept == (HALF * 900).encode("utf-8", "surrogatepass")
