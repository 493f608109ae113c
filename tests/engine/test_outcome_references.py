"""What an outcome names can be read from it, without a session and without files."""

import re

import pytest

import holdfast

ROW = re.compile(r"\[([0-9a-f]{8})\]")


def made() -> holdfast.Outcome:
    """A conversation of many edits and runs, brought down to a summary and a tail."""
    messages: list[dict[str, object]] = [
        {"role": "user", "content": "Make the tests pass. Never touch src/billing.py."}
    ]
    for at in range(30):
        call = {"name": "bash", "arguments": f'{{"command": "pytest tests/test_{at}.py"}}'}
        asked = [{"id": f"c{at}", "type": "function", "function": call}]
        messages.append({"role": "assistant", "content": None, "tool_calls": asked})
        output = f"FAILED tests/test_{at}.py - ValueError: {at}\n" * 40 + "1 failed in 0.1s"
        messages.append({"role": "tool", "tool_call_id": f"c{at}", "content": output})
    messages.append({"role": "assistant", "content": "All tests pass now. Next: write the docs."})
    messages.append({"role": "user", "content": "Good, go on."})
    return holdfast.compress(messages, 2_000)


def test_every_row_of_a_summary_names_an_entry_that_can_be_read() -> None:
    outcome = made()
    names = ROW.findall(str(outcome.summary))
    assert names
    assert all(outcome.read(name) for name in names)


def test_a_reference_that_nothing_names_is_refused() -> None:
    with pytest.raises(KeyError):
        made().read("ffffffff")
    with pytest.raises(KeyError):
        made().read("")
