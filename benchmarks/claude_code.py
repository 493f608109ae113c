"""A scripted session of the real Claude Code, with Holdfast and without.

Sixty turns, twelve of them with a large result, twenty facts planted on the way: in the first
request (intent, constraints, ids), in what tools print, in files and in what is decided. The
provider is a script on loopback that reports for each request the tokens that it really had, so
that the client compacts when its window is full. `HOLDFAST_TURNS` makes it shorter.
"""

import json
import os
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from tests.agents.clients import absence
from tests.agents.driving import ClaudeCode, OlderClaudeCode
from tests.agents.provider import Provider
from tests.agents.script import Call, Request, Turn

from benchmarks.table import print_table
from holdfast.models.tokenizers import counter

TURNS = int(os.environ.get("HOLDFAST_TURNS", "60"))
LARGE = 12
PATIENCE = 1_800
"""Seconds that a session may take."""
WINDOW = 100_000
"""Tokens of the window that the client is told it has; it compacts at two thirds of it."""
READ, WRITE = 0.1, 1.25
"""Prices of reading from the cache and writing to it, against a fresh token."""
GOAL = (
    "Migrate the invoice service to the new ledger. The customer is ACME-4471 and the ticket is "
    "FIN-2093. Never touch the table billing_archive. Use port 8443 only. All amounts stay in "
    "integer cents. Answer in British English."
)
SUMMARY = f"The user asked: {GOAL} Steps were done one after the other, and the last went well."
"""Kinder than most: the first request word for word, and nothing of what came later."""
INTENT = ["Migrate the invoice service", "ACME-4471", "FIN-2093"]
CONSTRAINTS = ["billing_archive", "port 8443", "integer cents", "British English"]
DECISIONS = [f"strategy-{name}" for name in ("dual-write", "outbox", "uuid7", "blue-green")]
PATHS = [f"src/part_{number}.py" for number in range(5)]
ERRORS = ["E-7031: lock timeout", "E-9902: duplicate key"]
IDS = ["batch 5517-A", "run 88-KQ"]
WRITES, FAILS, STARTS = (3, 14, 25, 37, 48), (9, 28), (17, 33)
"""The turns in which these are planted."""
FACTS = [*INTENT, *CONSTRAINTS, *DECISIONS, *PATHS, *ERRORS, *IDS]


def run() -> None:
    """Print the tables."""
    rows: list[list[str]] = []
    firsts: list[list[str]] = []
    for kind in (ClaudeCode, OlderClaudeCode):
        if absence(kind.client):
            print(f"\n{absence(kind.client)}: left out")
            continue
        for held in (False, True):
            meter = Meter()
            summaries = [meter.summary] * TURNS
            with TemporaryDirectory() as folder, Provider(summaries=summaries) as provider:
                agent = kind(Path(folder), provider)
                told = _session(agent, meter, held=held)
                rows.append([agent.client.version, "Holdfast" if held else "alone", *told])
        with TemporaryDirectory() as folder, Provider() as provider:
            firsts.append([kind.client.version, *_newcomer(kind(Path(folder), provider))])
    heads = ["Claude Code", "", "requests", "tokens sent", "billed", "over the window"]
    more = ["compactions", "model calls for them", "facts in the request after each"]
    print_table(f"{TURNS} turns, {LARGE} large results", [*heads, *more, "seconds"], rows)
    print_table(
        "From `holdfast install claude-code` to the first result that left",
        ["Claude Code", "install", "and the first session"],
        firsts,
    )


class Meter:
    """Counts what requests have, and what that costs with a cache of their common beginnings."""

    def __init__(self) -> None:
        self._count = counter("o200k_base")
        self._known: dict[str, int] = {}
        self._last: list[str] = []
        self.sent = 0
        self.billed = 0.0
        self.over = 0

    def tokens(self, request: Request) -> int:
        """Tokens of a request; it is added to the bill."""
        body = request.body
        parts = [json.dumps(body.get("tools")), json.dumps(body.get("system"))]
        parts += [json.dumps(_plain(message)) for message in body["messages"]]
        sizes = [self._sized(part) for part in parts]
        pairs = zip(parts, self._last, strict=False)
        same = next(
            (at for at, (a, b) in enumerate(pairs) if a != b), min(len(parts), len(self._last))
        )
        self._last = parts
        read, fresh = sum(sizes[:same]), sum(sizes[same:])
        self.sent += read + fresh
        self.billed += READ * read + WRITE * fresh
        self.over += read + fresh > WINDOW
        return read + fresh

    def summary(self, request: Request) -> Turn:
        """What a model might say of it: a request as large as the ones before, and few facts."""
        return Turn(f"<summary>\n{SUMMARY}\n</summary>", used=self.tokens(request))

    def _sized(self, part: str) -> int:
        if part not in self._known:
            self._known[part] = self._count(part)
        return self._known[part]


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    """A message less the mark that moves from request to request."""
    content = message["content"]
    if isinstance(content, str):
        return {"role": message["role"], "content": [{"type": "text", "text": content}]}
    blocks = [{k: v for k, v in block.items() if k != "cache_control"} for block in content]
    return {"role": message["role"], "content": blocks}


def _session(agent: ClaudeCode, meter: Meter, *, held: bool) -> list[str]:
    agent.patience = PATIENCE
    began = perf_counter()
    if held:
        agent.holdfast("install", "claude-code")
    agent.provider.say(*(_turn(number, agent, meter) for number in range(TURNS)), _last(meter))
    window = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": str(WINDOW)}
    ran = agent.ask(GOAL, **window)
    session = next(one["session_id"] for one in ran.events if one.get("session_id"))
    took = perf_counter() - began
    # At the end once by hand, so that there is one to look at where none was needed.
    agent.ask("/compact", "--resume", session, **window)
    agent.provider.say(_last(meter))
    agent.ask("Go on.", "--resume", session, **window)
    turns = agent.provider.asked("turn")
    after = _after_compactions(agent)
    return [
        f"{len(turns)}",
        f"{meter.sent:,}",
        f"{meter.billed:,.0f}",
        f"{meter.over}",
        f"{len(after)}",
        f"{len(agent.provider.asked('compact'))}",
        ", ".join(_facts(request, turns) for request in after) or "–",
        f"{took:.0f}",
    ]


def _turn(number: int, agent: ClaudeCode, meter: Meter) -> Any:
    def say(request: Request) -> Turn:
        return Turn(_said(number), (_call(number, agent),), used=meter.tokens(request))

    return say


def _last(meter: Meter) -> Any:
    return lambda request: Turn("All is migrated.", used=meter.tokens(request))


def _said(number: int) -> str:
    if number % 9 == 2 and number // 9 < len(DECISIONS):
        name = DECISIONS[number // 9]
        return f"I decided to use {name} because the other ways lose writes."
    return f"Step {number}."


def _call(number: int, agent: ClaudeCode) -> Call:
    if number % 5 == 1:
        return _shell(_noise(number))
    if number in WRITES:
        path = agent.project / PATHS[WRITES.index(number)]
        return Call("Write", {"file_path": str(path), "content": f"PART = {number}\n" * 30})
    if number in FAILS:
        return _shell(f"echo '{ERRORS[FAILS.index(number)]}' >&2; exit 1")
    if number in STARTS:
        return _shell(f"echo 'started {IDS[STARTS.index(number)]}'")
    return _shell(f"echo checked part {number}; seq {number} {number + 40}")


def _noise(number: int) -> str:
    rows = f"seq {number}000 {number}600 | sed 's/^/row of the export, amount in cents: /'"
    return f"{rows}; echo done {number}"


def _shell(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "work"})


def _after_compactions(agent: ClaudeCode) -> list[Request]:
    """The first requests whose history is shorter than the one before."""
    turns = agent.provider.asked("turn")
    return [
        now for was, now in pairwise(turns) if len(now.body["messages"]) < len(was.body["messages"])
    ]


def _facts(request: Request, turns: list[Request]) -> str:
    """How many of the facts that were told before stand in a request."""
    earlier = "\n".join(one.said for one in turns[: turns.index(request)])
    told = [fact for fact in FACTS if fact in earlier]
    return f"{sum(fact in request.said for fact in told)}/{len(told)}"


def _newcomer(agent: ClaudeCode) -> list[str]:
    began = perf_counter()
    agent.holdfast("install", "claude-code")
    installed = perf_counter() - began
    agent.provider.say(Turn("", (_shell(_noise(1)),)), Turn("Seen."))
    agent.ask(GOAL)
    left = "## Offloaded" in agent.provider.asked("turn")[-1].said
    took = perf_counter() - began
    return [f"{installed:.1f} s", f"{took:.1f} s{'' if left else ' (nothing left)'}"]
