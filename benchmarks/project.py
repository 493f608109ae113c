"""What the questions to a whole project cost with ten thousand to a million entries.

The project is generated: sessions of a thousand entries in which users ask, agents decide, some
sessions overrule the decisions of earlier ones, and every second one hands packets to workers. Each
command runs in a process of its own: for the first time, then again, then after one session has
grown. `graph` is the first to read the decisions, and `query` to index the words; the others find
what was kept. "Sessions ended" is the first time in a copy of the project whose sessions have ended
or were ingested: then they have been read already. `HOLDFAST_SIZES` names other sizes.
"""

import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from shutil import copytree
from tempfile import TemporaryDirectory

import msgspec

from benchmarks.table import print_table
from holdfast.core.ledger.entry import PacketRead, PacketReported, PacketSent
from holdfast.core.ledger.packet import Feedback, Packet
from holdfast.packets.questions import keep_readings
from holdfast.session.open import open_store
from holdfast.session.session import Session
from holdfast.stores.store import Store

SIZES = (10_000, 100_000, 1_000_000)
A_SESSION = 1_000
"""Entries of each session."""
A_TURN = 20
"""Entries from one request to the next."""
PACKET_SESSIONS = 2
"""One session of so many hands out packets."""
SEED = 7
ONSETS, ENDS = "bdfgklmnprstvz", ("dra", "kos", "lin", "mar", "nex", "pol", "ris", "tum")
PARTS = ("cache", "queue", "search", "billing", "export", "login", "upload", "report", "index")
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "graph": ("graph", "--json"),
    "history": ("history", "--json"),
    "stats": ("stats", "--json"),
    "query": ("query", "Which store does the billing of Bakos3 use?", "--json"),
}


def run() -> None:
    """Print the table."""
    sizes = tuple(int(size) for size in os.environ.get("HOLDFAST_SIZES", "").split()) or SIZES
    print_table(
        "Questions to a whole project: processor seconds of one command",
        (
            *("entries", "sessions", "command"),
            *("first", "sessions ended", "again", "after 20 more entries"),
        ),
        (row for size in sizes for row in _rows(size)),
    )


def _rows(size: int) -> Iterator[tuple[object, ...]]:
    with TemporaryDirectory() as folder:
        root, ended = Path(folder, "project"), Path(folder, "ended")
        count = max(size // A_SESSION, 1)
        fill(root, size)
        copytree(root, ended)
        _end_sessions(ended)
        for name, words in COMMANDS.items():
            first, kept, again = (_worked(place, words) for place in (root, ended, root))
            with open_store(root) as store:
                _say(store, count // 2, 1)
            grown = _worked(root, words)
            costs = (f"{cost:.2f}" for cost in (first, kept, again, grown))
            yield (f"{size:,}", count, name, *costs)


def fill(root: Path, size: int) -> None:
    """Write a project of so many entries."""
    with open_store(root) as store:
        for number in range(max(size // A_SESSION, 1)):
            _say(store, number, min(A_SESSION, size) // A_TURN)
            if number % PACKET_SESSIONS == 0:
                _hand_out(store, number)


def _end_sessions(root: Path) -> None:
    """Read what is read when a session ends."""
    with open_store(root) as store:
        for info in store.sessions():
            keep_readings(Session(info.name, store, owns_store=False).ledger)


def _worked(root: Path, words: tuple[str, ...]) -> float:
    """Processor seconds of a command."""
    before = getrusage(RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "holdfast", "--root", str(root), "context", *words]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _say(store: Store, number: int, turns: int) -> None:
    session = Session(f"s{number}", store, owns_store=False)
    head = store.head(session.name)
    chance = random.Random(f"{SEED} {number} {head.seq if head else 0}")
    session.extend([message for _ in range(turns) for message in _turn(chance)])


def _name(chance: random.Random) -> str:
    return (chance.choice(ONSETS) + chance.choice("aeiou") + chance.choice(ENDS)).title() + str(
        chance.randrange(10)
    )


def _turn(chance: random.Random) -> Iterator[dict[str, object]]:
    """One request, calls with their results, and what the agent says of them."""
    part, name, other = chance.choice(PARTS), _name(chance), _name(chance)
    yield {"role": "user", "content": f"Make the {part} of {name} faster, see {name}/{part}.py."}
    for step in range((A_TURN - 2) // 2):
        arguments = msgspec.json.encode({"path": f"{name}/{part}{step}.py"}).decode()
        call = f"c{chance.getrandbits(60):x}"
        function = {"name": "read_file", "arguments": arguments}
        yield {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": call, "type": "function", "function": function}],
        }
        lines = [f"    {_name(chance)} = {chance.randrange(10_000)}" for _ in range(8)]
        yield {"role": "tool", "tool_call_id": call, "content": "\n".join(lines)}
    yield {"role": "assistant", "content": _answer(chance, part, name, other)}


def _answer(chance: random.Random, part: str, name: str, other: str) -> str:
    kind = chance.randrange(10)
    if kind == 0:
        return f"I decided to use {other} for the {part} of {name}, because it needs no server."
    if kind == 1:
        return f"Decision: use {other} instead of {_name(chance)} for the {part}, as it is slow."
    return f"The {part} of {name} reads {other} twice; I removed one of the reads."


def _hand_out(store: Store, number: int) -> None:
    session = Session(f"s{number}", store, owns_store=False)
    chance = random.Random(SEED + number)
    for pane in range(4):
        packet = Packet(
            target_task=f"Test the {chance.choice(PARTS)} of {_name(chance)}",
            audience=f"pane-{pane}",
            task_type="test",
            goal="Every branch is tested.",
            state=("The schema is in place.",),
            token_count=chance.randrange(100, 900),
        )
        sent = session.ledger.derive(PacketSent(packet, file=f"pane-{pane}.yaml"))
        session.ledger.derive(PacketRead(sent.id, f"pane-{pane}", way="cli"))
        feedback = Feedback(
            gaps=(f"Needed: the {chance.choice(PARTS)} schema of {_name(chance)}",),
            unused=("state",),
            outcome=chance.choice(("done", "done", "failed")),
            pane=f"pane-{pane}",
            packet=sent.id,
            revision=1,
            task_type="test",
            context_sent=packet.token_count,
        )
        session.ledger.derive(PacketReported(feedback))
