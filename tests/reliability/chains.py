"""Long sessions, made: work with requests, rules, corrections, files and values to remember."""

import json
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]


def ask(words: str) -> Message:
    return {"role": "user", "content": words}


def say(words: str) -> Message:
    return {"role": "assistant", "content": words}


def use(name: str, tool: str, output: str, **arguments: str) -> list[Message]:
    """A call and its result."""
    function = {"name": tool, "arguments": json.dumps(arguments)}
    called = {"id": name, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [called]},
        {"role": "tool", "tool_call_id": name, "content": output},
    ]


def rows(number: int, count: int) -> str:
    return "\n".join(f"row {at} of part {number} holds {number * 1000 + at}" for at in range(count))


RULES = {3: "Never store the key of tenant 7 in a log.", 11: "Always answer in metric units."}
CORRECTIONS = {
    8: "No, that's wrong: the port has to be 8443.",
    23: "Actually, name the command `ledgerly close-month` instead of `ledgerly close`.",
}


def fact(number: int) -> str:
    """A value that a tool shows in a turn, and the agent uses there."""
    return f"DEPLOY-{number:03}-{number * 7919 % 10007:05}"


def turn(number: int, size: int = 40) -> list[Message]:
    """One request and the work on it."""
    asked = f"Part {number}: make the importer handle case {number}."
    for said in (RULES.get(number), CORRECTIONS.get(number)):
        asked = f"{said} {asked}" if said else asked
    path = f"src/part_{number % 20}.py"
    name = fact(number)
    log = f"{rows(number, size)}\nrelease id: {name} is live"
    return [
        ask(asked),
        *use(f"r{number}", "Read", rows(number, size), file_path=f"docs/spec_{number % 15}.md"),
        *use(f"b{number}", "Bash", log, command=f"deploy --part {number}"),
        *use(f"u{number}", "Bash", "ok", command=f"verify --release '{name}'"),
        *use(f"w{number}", "Write", f"Wrote {path}", file_path=path, content=rows(number, 5)),
        say(f"Part {number} is done; the release of {name} was verified."),
    ]
