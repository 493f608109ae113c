"""Transcripts of every agent, made from what happened: turns, reports, prunings, rewinds."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import NamedTuple, TypeAlias

from hypothesis import strategies as st

from tests.contracts.transcripts import (
    Line,
    assistant,
    boundary,
    call,
    codex_line,
    item,
    jsonl,
    message,
    meta,
    result,
    summary,
    text,
    token_count,
    user,
)


class Happened(NamedTuple):
    """One thing that happened in a session."""

    what: str
    """`ask`, `step`, `compact`, `rewind`, `side` or `prune`."""
    words: str = ""
    output: str = ""
    size: int = 0
    """Tokens that the provider reported for a step; 0 for no report."""


plain = st.text("abcdefghij \n", min_size=1, max_size=60).filter(str.strip)


def _printed(line: str, many: int) -> str:
    """What a tool printed: a line, again and again."""
    return f"{line}\n" * many


outputs = st.builds(_printed, plain, st.integers(1, 60))
happenings = st.lists(
    st.one_of(
        st.builds(Happened, st.just("ask"), plain),
        st.builds(Happened, st.just("step"), plain, outputs, st.integers(0, 400_000)),
        st.builds(Happened, st.just("step"), plain, outputs, st.integers(0, 3_000)),
        st.builds(Happened, st.sampled_from(("compact", "rewind", "side", "prune")), plain),
    ),
    min_size=1,
    max_size=12,
)

Written: TypeAlias = tuple[str, bytes]
"""What a file is called, and what stands in it."""


def claude_code(story: Sequence[Happened]) -> list[Line]:
    """A story as Claude Code writes it, side chains as lanes of their own."""
    numbers, lines, last = count(1), list[Line](), None
    asked: list[str | None] = []
    for one in story:
        name = f"u{next(numbers)}"
        match one.what:
            case "ask":
                asked.append(last)
                lines.append(user(name, last, one.words))
            case "step":
                usage = {"input_tokens": one.size, "output_tokens": 7} if one.size else None
                group = f"m{name}"
                said = text(one.words)
                lines.append(assistant(f"{name}a", last, group, said, usage=usage))
                lines.append(assistant(f"{name}b", f"{name}a", group, call(f"c{name}")))
                lines.append(result(name, f"{name}b", f"c{name}", one.output))
            case "compact":
                lines += [boundary(f"{name}b"), summary(name, f"{name}b", one.words)]
            case "rewind" if asked:
                last = asked[-1]
                lines.append(user(name, last, one.words))
            case "side":
                lines.append(user(f"{name}s", None, one.words, isSidechain=True, agentId="side"))
                continue
            case _:
                continue
        last = name
    return lines


def codex(story: Sequence[Happened]) -> list[Line]:
    """A story as Codex writes it."""
    lines: list[Line] = [meta(), codex_line("turn_context", {"model": "gpt-5.5"})]
    for number, one in enumerate(story):
        match one.what:
            case "ask":
                lines.append(message("user", one.words))
            case "step":
                seal = {"type": "summary_text", "text": one.words}
                name = f"c{number}"
                lines += [
                    item("reasoning", id=f"r{number}", summary=[seal], encrypted_content="gA"),
                    item("function_call", name="exec", arguments="{}", call_id=name),
                    item("function_call_output", call_id=name, output=one.output),
                ]
                if one.size:
                    lines.append(token_count(one.size, 9, total=number))
            case "compact":
                history = [message("user", one.words)["payload"]]
                lines.append(
                    codex_line("compacted", {"message": "", "replacement_history": history})
                )
            case _:
                continue
    return lines


def opencode(story: Sequence[Happened]) -> list[Line]:
    """A story as opencode exports it: prunings are noted in what was pruned."""
    lines: list[dict[str, object]] = []
    results: list[dict[str, object]] = []
    for at, one in enumerate(story, 1):
        info = {"id": f"msg_{at}", "sessionID": "ses_1", "time": {"created": at * 10}}
        told = {"type": "text", "text": one.words, "time": {"start": 1, "end": 2}}
        match one.what:
            case "ask":
                lines.append({"info": {**info, "role": "user"}, "parts": [told]})
            case "step":
                state: dict[str, object] = {
                    "status": "completed",
                    "input": {},
                    "output": one.output,
                    "time": {"start": at * 10},
                }
                results.append(state)
                used = {"input": one.size, "output": 5, "cache": {"read": 0, "write": 0}}
                parts = [
                    {"type": "reasoning", "text": one.words, "time": {"start": 1, "end": 2}},
                    told,
                    {"type": "tool", "callID": f"c{at}", "tool": "bash", "state": state},
                    {"type": "step-finish", "tokens": used},
                ]
                spoken = {**info, "role": "assistant", "modelID": "claude-sonnet-4-5"}
                lines.append({"info": spoken, "parts": parts})
            case "compact":
                cut = [{"type": "compaction", "auto": True}]
                lines.append({"info": {**info, "role": "user"}, "parts": cut})
                summed = {**info, "id": f"sum_{at}", "role": "assistant", "summary": True}
                lines.append({"info": summed, "parts": [told]})
            case "prune":
                for state in results:
                    state["time"] = {"start": 1, "compacted": at * 10}
                results = []
            case _:
                continue
    return list(lines)


def gemini(story: Sequence[Happened]) -> list[Line]:
    """A story as Gemini CLI writes it."""
    lines: list[Line] = [{"sessionId": "gem-1", "projectHash": "bb86", "startTime": "x"}]
    asked: list[str] = []
    for at, one in enumerate(story):
        told = {"id": f"m{at}", "timestamp": "2026-11-16T12:28:33Z"}
        match one.what:
            case "ask":
                asked.append(f"m{at}")
                lines.append({**told, "type": "user", "content": [{"text": one.words}]})
            case "step":
                answer = {"functionResponse": {"id": f"c{at}", "response": {"output": one.output}}}
                asks = {"id": f"c{at}", "name": "ls", "args": {"at": at}, "status": "success"}
                spoken = {
                    **told,
                    "type": "gemini",
                    "content": one.words,
                    "thoughts": [{"subject": one.words, "description": "so"}],
                    "toolCalls": [{**asks, "result": [answer]}],
                    "model": "gemini-2.5-pro",
                }
                tokens = {"tokens": {"input": one.size, "output": 3}} if one.size else {}
                lines.append({**spoken, **tokens})
            case "compact":
                kept = {**told, "type": "user", "content": [{"text": one.words}]}
                lines.append({"$set": {"messages": [kept]}})
            case "rewind" if asked:
                lines.append({"$rewindTo": asked.pop()})
            case _:
                continue
    return lines


WRITERS: dict[str, Callable[[Sequence[Happened]], list[Line]]] = {
    "claude_code": claude_code,
    "codex": codex,
    "opencode": opencode,
    "gemini": gemini,
}


def growing(wire: str, story: Sequence[Happened], upto: int) -> Iterator[Written]:
    """A transcript as it stood after a part of its story, and as it stands at its end.

    An export of opencode is written anew each time, so that what is pruned later changes its
    beginning; the others only grow.
    """
    for some in (story[:upto], story):
        lines = WRITERS[wire](some)
        if wire == "opencode":
            if lines:
                yield "s.jsonl", jsonl(*lines)
        elif some:
            yield "s.jsonl", jsonl(*lines)
