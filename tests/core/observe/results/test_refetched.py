import json

import pytest

from holdfast.core.ledger.entry import (
    Compressed,
    Derived,
    Entry,
    Restored,
    Said,
    Source,
    Step,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.observe.results.refetched import Refetches, refetches_after

NAMES = [f"{number:032x}" for number in range(60)]


def lane(*bodies: Source | Derived) -> list[Entry]:
    return [
        Entry(NAMES[seq], NAMES[seq - 1] if seq > 1 else None, body, seq=seq, message=seq)
        for seq, body in enumerate(bodies, 1)
    ]


def read(call: str, path: str = "src/app.py") -> tuple[ToolCalled, ToolReturned]:
    return ToolCalled(call, "Read", json.dumps({"file_path": path})), ToolReturned(call, "text")


def run(call: str, command: str) -> tuple[ToolCalled, ToolReturned]:
    return ToolCalled(call, "Bash", json.dumps({"command": command})), ToolReturned(call, "out")


def write(call: str, path: str = "src/app.py") -> tuple[ToolCalled, ToolReturned]:
    made = json.dumps({"file_path": path, "content": "new"})
    return ToolCalled(call, "Write", made), ToolReturned(call, "Wrote it.")


def hides(*numbers: int) -> Compressed:
    steps = tuple(Step((NAMES[number],), "old", Said("user", "x")) for number in numbers)
    return Compressed(steps, generation=0, watermark=50)


def caused(*bodies: Source | Derived) -> list[Refetches]:
    counts = dict.fromkeys(range(60), 100)
    return list(refetches_after(lane(*bodies), counts).values())


@pytest.mark.seed("R329")
def test_a_file_that_left_and_is_read_again_is_charged_to_what_took_it_away() -> None:
    assert caused(*read("a"), hides(2), *read("b")) == [
        Refetches(rereads=1, requests=1, tokens=100)
    ]


@pytest.mark.seed("R329")
def test_a_command_that_is_repeated_word_for_word_is_charged() -> None:
    again = caused(*run("a", "ls -l"), hides(2), *run("b", "ls -l"), *run("c", "ls"))
    assert again == [Refetches(repeats=1, requests=1, tokens=100)]


def test_what_is_still_in_sight_or_was_never_seen_is_nobodys_fault() -> None:
    assert caused(*read("a"), *read("b", "other.py"), hides(2), *read("c", "other.py")) == [
        Refetches()
    ]
    assert caused(hides(9), *read("a"), *run("b", "ls")) == [Refetches()]


def test_a_file_that_changed_since_is_read_for_what_is_new() -> None:
    assert caused(*read("a"), *write("w"), hides(2), *read("b")) == [Refetches()]
    assert caused(*run("a", "pytest"), hides(2), *write("w"), *run("b", "pytest")) == [Refetches()]


def test_what_came_back_and_is_in_sight_again_is_not_charged_twice() -> None:
    assert caused(*read("a"), hides(2), *read("b"), *read("c"))[0].rereads == 1


def test_two_fetches_in_one_step_cost_one_request() -> None:
    made = lane(*read("a"), *read("b", "b.py"), hides(2, 4), *read("c"), *read("d", "b.py"))
    step = [entry for entry in made if entry.seq <= 5]
    step += [Entry(e.id, e.parent, e.body, seq=e.seq, message=6) for e in made if e.seq > 5]
    assert refetches_after(step, {}) == {NAMES[5]: Refetches(rereads=2, requests=1)}


@pytest.mark.seed("R329")
@pytest.mark.parametrize(
    "how",
    [
        run("b", "holdfast recover --ref 0123456789ab"),
        run("b", "cat .holdfast/cache/offloaded/x.md"),
        read("b", ".holdfast/cache/offloaded/x.md"),
        (ToolCalled("b", "mcp__holdfast__context_recover", "{}"), ToolReturned("b", "text")),
    ],
)
def test_bringing_something_back_is_charged_to_the_newest_compression(
    how: tuple[Source | Derived, ...],
) -> None:
    first, second = caused(*read("a"), hides(2), hides(1), *how)
    assert (first.fetches, second.recoveries) == (0, 1)


def test_a_compression_that_was_undone_causes_nothing() -> None:
    undone = Restored(NAMES[3], 1)
    assert caused(*read("a"), hides(2), undone, *read("b")) == []


def test_the_first_that_took_something_away_is_to_blame() -> None:
    assert [one.rereads for one in caused(*read("a"), hides(2), hides(2), *read("b"))] == [1, 0]
