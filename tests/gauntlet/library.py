"""Every public operation of a session, and the functions beside it, with the laws they keep."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import holdfast
from holdfast import seeds
from holdfast.core.ledger.entry import Compressed, Derived, Noted
from holdfast.engine.outcome import Outcome
from holdfast.errors import (
    BadCompression,
    Conflict,
    HoldfastError,
    MixedWires,
    NothingToShrink,
    NotRecorded,
    Unreadable,
)
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.text.jsontext import parse
from tests.gauntlet import texts
from tests.gauntlet.checks import (
    SLACK,
    floor_of,
    overhead_of,
    recount,
    refused,
    text_of,
    unopened,
)
from tests.gauntlet.findings import Run

NOT_READ = (Unreadable, MixedWires)
BUDGETS = (0.5, 0.2, 0.05)
"""Parts of a window that it is to be brought down to, one after the other."""


class Scene(NamedTuple):
    """A session, and what its exercises need."""

    run: Run
    session: Session
    known: str
    """The document it was read from: what stands in it is no reference of ours."""
    messages: list[dict[str, Any]]
    """The messages of the document, where it is a list of messages."""
    root: Path
    random: Random
    recorded: list[dict[str, Any]] | None = None
    """What was in the window when it was read, before anything was done."""


def windows(scene: Scene, operation: str = "messages") -> list[dict[str, Any]]:
    """What is sent now, held against every law of a window."""
    run, session = scene.run, scene.session
    sent = run.do(operation, session.messages)
    if sent is None:
        return []
    wrongs = run.do(f"{operation}.provider", refused, session, sent, scene.recorded)
    run.check("window", operation, wrongs or ())
    run.check("reference", operation, unopened(session.read, text_of(sent), scene.known))
    usage = run.do("status", session.status)
    many = run.do(f"{operation}.recount", recount, sent)
    if usage is None or many is None:
        return sent
    if (usage.method == "exact" and usage.tokens != many) or usage.tokens < many * SLACK:
        run.wrong("sum", operation, f"status says {usage.tokens:,} for messages of {many:,} tokens")
    return sent


def _messages(scene: Scene) -> None:
    windows(scene)


def _wire(scene: Scene) -> None:
    raw = scene.run.do("wire", scene.session.wire)
    sent = scene.run.do("messages", scene.session.messages)
    # Bytes that are no UTF-8 go out as they came in.
    if raw is not None and sent is not None and parse(raw)[0] != sent:
        scene.run.wrong("other", "wire", "wire() and messages() differ")


def _compact(scene: Scene) -> None:
    """Bring the window down by steps, then lift each step again."""
    run, session = scene.run, scene.session
    before = run.do("messages", session.messages)
    usage = run.do("status", session.status)
    if before is None or usage is None or not usage.tokens:
        return
    made = 0
    # A session is cut at nine places: one budget at each of them.
    parts = (scene.random.choice(BUDGETS),) if run.variant.cut else BUDGETS
    for part in parts:
        made += _to_budget(scene, max(int(usage.tokens * part), 1))
    for _ in range(made):
        run.do("undo", session.undo)
    after = run.do("messages", session.messages)
    if made and after is not None and after != before:
        run.wrong("other", "undo", "the window after undoing is not the one before compacting")


def _to_budget(scene: Scene, budget: int) -> bool:
    """Whether a compression was written."""
    run, session = scene.run, scene.session
    try:
        made = session.compact(budget)
    except NothingToShrink as error:
        run.findings.operations["compact"] += 1
        floor = floor_of(session) + overhead_of(session)
        if budget >= floor:
            run.wrong(
                "budget", "compact", f"{budget:,} is above what must stay ({floor:,}): {error}"
            )
        return False
    except Exception:  # noqa: BLE001  Raised again where it is counted.
        run.do("compact", session.compact, budget)
        return False
    run.findings.operations["compact"] += 1
    judge(scene, made, budget, "compact")
    windows(scene, "compact.messages")
    usage = run.do("status", session.status)
    if usage is not None and made.steps and usage.tokens > budget:
        run.wrong("budget", "compact", f"status says {usage.tokens:,} after a budget of {budget:,}")
    return bool(made.steps)


def judge(scene: Scene, made: Outcome, budget: int, operation: str) -> None:
    """Hold the outcome of a compression against its laws."""
    run = scene.run
    if made.after.tokens > budget:
        run.wrong("budget", operation, f"{made.after.tokens:,} for a budget of {budget:,}")
    many = run.do(f"{operation}.recount", recount, made.messages)
    exact = made.after.method == "exact"
    if many is not None and exact and many != made.after.tokens:
        run.wrong("sum", operation, f"says {made.after.tokens:,} for {many:,} tokens of messages")
    if many is not None and not exact and made.after.tokens < many * SLACK:
        run.wrong("sum", operation, f"says {made.after.tokens:,} for {many:,} tokens of messages")
    run.check("other", operation, (f"it lost: {loss}" for loss in made.losses))
    faults = getattr(made, "faults", ())
    run.check("fault", operation, map(str, faults))


def _plain_compress(scene: Scene) -> None:
    """`holdfast.compress` on the messages of the window."""
    run, session = scene.run, scene.session
    sent = run.do("messages", session.messages)
    if not sent:
        return
    size = run.do("compress.recount", recount, sent)
    for part in BUDGETS:
        budget = max(int((size or 0) * part), 1)
        try:
            made = holdfast.compress(sent, budget)
        except NothingToShrink as error:
            run.findings.operations["compress"] += 1
            # No model is named, so thinking may be bound to everything before it.
            floor = floor_of(session, bound=True)
            if budget >= floor:
                run.wrong("budget", "compress", f"above what must stay ({floor:,}): {error}")
            assert isinstance(error.outcome, Outcome)
            again = run.may("compress", (NothingToShrink,), holdfast.compress, sent, budget)
            del again
            continue
        except NOT_READ as error:
            run.wrong("exception", "compress", f"our own window was refused: {error}")
            return
        except Exception:  # noqa: BLE001  Raised again where it is counted.
            run.do("compress", holdfast.compress, sent, budget)
            return
        run.findings.operations["compress"] += 1
        judge(scene, made, budget, "compress")
        run.check(
            "reference",
            "compress",
            unopened(_reader(made, session), text_of(made.messages), scene.known),
        )
        if scene.random.randrange(4) == 0:
            again = run.do("compress", holdfast.compress, sent, budget)
            if again is not None and again.messages != made.messages:
                run.wrong("other", "compress", "two runs on the same messages differ")


def _reader(made: Outcome, session: Session) -> Callable[[str], str]:
    """Opens what a compression without a session hid, or what the session itself hid before."""

    def read(name: str) -> str:
        try:
            return made.read(name)
        except KeyError:
            return session.read(name)

    return read


def _summary(scene: Scene) -> None:
    run, session = scene.run, scene.session
    made = run.do("summary", session.summary)
    if made is not None:
        run.check("reference", "summary", unopened(session.read, str(made), scene.known))
    small = run.do("summary", session.summary, 600)
    if made is not None and small is not None and len(str(small)) > max(len(str(made)), 4_000):
        run.wrong("budget", "summary", "a smaller budget made a larger summary")


def _level(scene: Scene) -> None:
    run, session = scene.run, scene.session
    from holdfast.models.tokenizers import counter

    for number, budget in ((1, 100), (2, 500), (3, 2_000)):
        made = run.do("level", session.level, number)
        if made is None:
            continue
        run.check("reference", "level", unopened(session.read, made, scene.known))
        if counter("o200k_base")(made) > budget:
            run.wrong(
                "budget", "level", f"level {number} takes {counter('o200k_base')(made)} tokens"
            )


def _packet(scene: Scene) -> None:
    run, session = scene.run, scene.session
    task = texts.prose(scene.random).strip() or "Go on with the work"
    for depth in ("minimal", "standard", "deep", "auto"):
        made = run.do("packet", session.packet, task, depth)
        if made is None:
            continue
        told = made.to_yaml()
        run.check("reference", "packet", unopened(session.read, told, scene.known))
        run.do("packet.to_prompt", made.to_prompt)
        back = run.do("packet.read", seeds.ContextPacket.from_yaml, told)
        del back
    handed = run.do("packet", session.packet, task, "standard", pane=1)
    del handed


def _recover(scene: Scene) -> None:
    run, session = scene.run, scene.session
    for query in ("error", texts.word(scene.random), texts.anything(scene.random)[:400]):
        for hit in run.do("recover", session.recover, query) or ():
            ref = getattr(hit, "ref", "") or getattr(hit, "entry", "")
            if ref:
                run.check("reference", "recover", unopened(session.read, f"[holdfast {ref[:12]}"))


def _read(scene: Scene) -> None:
    run, session = scene.run, scene.session
    path = run.do("path", session.ledger.path) or []
    for entry in scene.random.sample(path, min(5, len(path))):
        run.do("read", session.read, entry.id)
        run.do("read", session.read, entry.id[:12], (1, 3))
        run.do("find", session.ledger.find, f"#{entry.seq}")
        run.do("holding", session.holding, entry.id)
    run.may("read", (NotRecorded,), session.read, "0" * 12)


def _intent(scene: Scene) -> None:
    scene.run.do("intent", scene.session.intent)


def _drift(scene: Scene) -> None:
    run, session = scene.run, scene.session
    run.do("drift", session.drift, texts.anything(scene.random))
    run.do("drift", session.drift, {"role": "assistant", "content": texts.prose(scene.random)})


def _checkpoint(scene: Scene) -> None:
    run, session = scene.run, scene.session
    made = run.do("checkpoint", session.checkpoint)
    again = run.do("checkpoint", session.checkpoint)
    if made is not None and again is not None and made != again:
        run.wrong("other", "checkpoint", "the same state was put down twice")


def _pin(scene: Scene) -> None:
    run, session = scene.run, scene.session
    pins = [
        run.do("pin", session.pin, text)
        for text in ("Never touch the billing schema.", texts.anything(scene.random))
    ]
    for pin in filter(None, pins):
        run.do("unpin", session.unpin, pin)


def _append(scene: Scene) -> None:
    """New messages at the end; only where the session speaks a message wire."""
    run, session = scene.run, scene.session
    for _ in range(2):
        told = {"role": "user", "content": texts.pasted(scene.random)}
        run.may("append", NOT_READ, session.append, told)
        said = {"role": "assistant", "content": texts.prose(scene.random) or "."}
        run.may("extend", NOT_READ, session.extend, [said])
        windows(scene, "append.messages")


def _sync(scene: Scene) -> None:
    """The whole history sent again, as clients do, also with something rewritten."""
    run, session = scene.run, scene.session
    if not scene.messages:
        return
    store = MemoryStore()
    other = Session("synced", store, root=str(scene.root))
    half = scene.messages[: len(scene.messages) // 2]
    run.may("sync", NOT_READ, other.sync, half)
    run.may("sync", NOT_READ, other.sync, scene.messages)
    sent = run.do("messages", other.messages)
    if sent:
        run.may("sync", NOT_READ, other.sync, sent)
    del session


def _report(scene: Scene) -> None:
    run, session = scene.run, scene.session
    size = run.do("status", session.status)
    many = max(size.tokens, 1) if size is not None else 1_000
    run.do("report", session.report, usage={"input_tokens": many, "output_tokens": 5})
    run.do("report", session.report, error="prompt is too long: 210000 tokens > 200000 maximum")
    run.do("report", session.report, error=texts.anything(scene.random))
    run.do("report", session.report, model="claude-sonnet-5")
    run.do("report", session.report, usage={"prompt_tokens": many, "completion_tokens": 1})


def _note(scene: Scene) -> None:
    run, session = scene.run, scene.session
    run.do("note", session.note, "task", name=texts.word(scene.random))
    run.do("note", session.note, "spawn", task=texts.prose(scene.random))
    run.do("task", session.ledger.task)
    run.do("policy", lambda: session.policy)
    run.do("storable", session.ledger.storable, texts.anything(scene.random))
    run.do("say", session.ledger.append_own_message, texts.prose(scene.random))


def _plan(scene: Scene) -> None:
    plan = scene.run.do("plan", scene.session.plan)
    if plan is not None and plan.steps and plan.after.tokens > plan.before.tokens:
        scene.run.wrong("sum", "plan", f"{plan.before.tokens:,} would become {plan.after.tokens:,}")


def _status(scene: Scene) -> None:
    run, session = scene.run, scene.session
    usage = run.do("status", session.status)
    quick = run.do("status", session.status, quick=True)
    if usage is not None and quick is not None and usage.level != quick.level:
        run.wrong("sum", "status", f"quick says {quick.level}, and it is {usage.level}")
    faults = getattr(usage, "faults", 0)
    if faults:
        run.wrong("fault", "status", f"{faults} faults")
    run.do("head", session.ledger.head)
    run.do("limit", session.ledger.limit)
    run.do("model", session.ledger.model)
    run.do("window", session.ledger.window)
    for name in ("limited", "sized", "turned"):
        # Older checkouts have none of them.
        run.do(name, getattr(session, name, _nothing))


def _nothing() -> None:
    """What a method does that is not there."""


def _log(scene: Scene) -> None:
    run, session = scene.run, scene.session
    for event in run.do("log", session.log) or ():
        if event.saved and event.before - event.after != event.saved:
            told = f"{event.before:,} less {event.after:,} is told as {event.saved:,}"
            run.wrong("sum", "log", f"{event.kind}: {told}")
    run.do("events", session.ledger.events)


def _commit(scene: Scene) -> None:
    """Write a compression a second time, after it was lifted."""
    run, session = scene.run, scene.session
    run.may("compact", (NothingToShrink,), session.compact)
    made = [e.body for e in session.ledger.events() if isinstance(e.body, Compressed)]
    if made:
        run.may("undo", (BadCompression,), session.undo)
        run.may("commit", (BadCompression, Conflict), session.ledger.commit, made[-1])
        windows(scene, "commit.messages")


def _derive(scene: Scene) -> None:
    body: Derived = Noted("gauntlet", {"text": texts.word(scene.random)})
    scene.run.do("derive", scene.session.ledger.derive, body)


def _clock(scene: Scene) -> None:
    run, session = scene.run, scene.session
    run.do("now", session.ledger.now)
    run.do("seconds_since", session.ledger.seconds_since, texts.anything(scene.random))


def _parts(scene: Scene) -> None:
    """What a session is made of can be had."""
    run, session = scene.run, scene.session
    for name in ("watch", "engine", "redactor", "faults"):
        run.do(name, getattr, session, name, None)
    run.do("watch", session.watch.consider)
    run.do("engine", session.engine.consider)


def _resume(scene: Scene) -> None:
    run, session = scene.run, scene.session
    fresh = run.do("resume", holdfast.resume, session, as_=f"fresh-{scene.random.random()}")
    if fresh is None:
        return
    inner = scene._replace(session=fresh)
    windows(inner, "resume.messages")
    run.do("sibling", fresh.sibling, "another")


def _undo(scene: Scene) -> None:
    scene.run.may("undo", (BadCompression,), scene.session.undo)


def _seeds(scene: Scene) -> None:
    """The functions that the protocols name."""
    run, session = scene.run, scene.session
    told = scene.messages or (run.do("messages", session.messages) or [])
    if not told:
        return
    text = texts.output(scene.random)
    root = str(scene.root)
    allowed = (*NOT_READ,)
    run.do("seeds.estimate_tokens", seeds.estimate_tokens, text)
    run.do("seeds.estimate_context_usage", seeds.estimate_context_usage, session)
    run.do("seeds.check_context_status", seeds.check_context_status, session)
    run.do("seeds.offload_tool_result", seeds.offload_tool_result, text, "Bash", root=root)
    for name in PARTS:
        run.may(f"seeds.{name}", allowed, getattr(seeds, name), told)
    run.may("seeds.extract_goal", allowed, seeds.extract_goal, "Go on", told)
    run.may("seeds.truncate_tool_inputs", allowed, seeds.truncate_tool_inputs, told, root=root)
    made = run.may(
        "seeds.generate_session_summary",
        allowed,
        seeds.generate_session_summary,
        told,
        "s",
        root=root,
    )
    if made is not None:
        action = texts.anything(scene.random)
        run.do("seeds.verify_intent_alignment", seeds.verify_intent_alignment, made, action)
        run.do("seeds.recover_from_archive", seeds.recover_from_archive, "s", "error", root=root)
    run.do("seeds.drift_warning", seeds.drift_warning, session, texts.prose(scene.random))
    run.do("seeds.recover_offloaded", seeds.recover_offloaded, "error", root=root)
    run.do("seeds.list_files", seeds.list_files, ".", root=root)
    run.do("seeds.matches_query", seeds.matches_query, text, texts.word(scene.random))
    run.do("seeds.extract_relevant", seeds.extract_relevant, text, texts.prose(scene.random))
    run.do("seeds.extract_relevant_sections", seeds.extract_relevant_sections, text, "error")
    run.may("seeds.generate_context_packet", allowed, _packet_of, told, text)
    for action in (texts.prose(scene.random), {"content": texts.prose(scene.random)}):
        for name in JUDGED:
            run.do(f"seeds.{name}", getattr(seeds, name), action, session)
    run.do("seeds.any_drift_indicators", seeds.any_drift_indicators, {"intent_match": True})
    tracker = seeds.ContextEfficiencyTracker()
    run.do(
        "seeds.ContextEfficiencyTracker",
        tracker.record_task,
        100,
        True,
        [texts.prose(scene.random)],
    )
    run.do("seeds.ContextEfficiencyTracker", tracker.report)


PARTS = (
    "extract_intent",
    "list_artifacts",
    "extract_decisions",
    "assess_progress",
    "determine_next_steps",
    "extract_constraints",
    "extract_failures",
)
"""Functions of a conversation alone."""
JUDGED = (
    "compare_to_intent",
    "is_progressing_toward_goal",
    "is_asking_clarification_immediately",
    "is_declaring_complete_without_deliverable",
)
"""Functions of an action and a summary."""


def _packet_of(told: list[dict[str, Any]], text: str) -> None:
    files = {"src/a.py": text, "": ""}
    made = seeds.generate_context_packet("Go on", told, files, "deep")
    made.to_prompt()
    seeds.ContextPacket.from_yaml(made.to_yaml())
    assert made.token_count >= 0
    seeds.describe_exclusions(told, made)
    seeds.summarize_codebase_context(seeds.find_relevant_files("Go on", files))


def _close(scene: Scene) -> None:
    scene.run.do("close", Session("closed", MemoryStore()).close)


EXERCISES: dict[str, Callable[[Scene], None]] = {
    "messages": _messages,
    "status": _status,
    "plan": _plan,
    "wire": _wire,
    "summary": _summary,
    "intent": _intent,
    "level": _level,
    "packet": _packet,
    "recover": _recover,
    "read": _read,
    "drift": _drift,
    "compact": _compact,
    "compress": _plain_compress,
    "checkpoint": _checkpoint,
    "pin": _pin,
    "sync": _sync,
    "note": _note,
    "commit": _commit,
    "log": _log,
    "undo": _undo,
    "resume": _resume,
    "report": _report,
    "derive": _derive,
    "clock": _clock,
    "parts": _parts,
    "seeds": _seeds,
    "append": _append,
    "close": _close,
}
"""What is done with every session, in this order; each keeps what the next one needs."""
ALWAYS = ("messages", "compact", "summary", "level", "packet")
"""What is done with every damaged session; the others take turns."""
AT_CUTS = ("messages", "compact", "summary")
"""What is done with a session at each of its cuts; the others take turns."""


def opened(run: Run, path: Path, root: Path, data: bytes, random: Random) -> Scene | None:
    """The session of a document; nothing when it holds none."""
    store = MemoryStore()
    try:
        read = holdfast.ingest(path, store)
    except HoldfastError as error:
        run.findings.operations["ingest"] += 1
        run.findings.refused += 1
        # A file with nothing in it is no session, recorded or not.
        if data.strip() and not run.variant.is_damaged and not run.variant.cut:
            run.wrong("exception", "ingest", f"{type(error).__name__}: {error}")
        return None
    except Exception:  # noqa: BLE001  Raised again where it is counted.
        run.do("ingest", holdfast.ingest, path, MemoryStore())
        return None
    run.findings.operations["ingest"] += 1
    known = data.decode("utf-8", "replace")
    session = Session(read.session, store, root=str(root), owns_store=False)
    recorded = run.do("messages", session.messages)
    return Scene(run, session, known, messages_in(data), root, random, recorded)


def messages_in(data: bytes) -> list[dict[str, Any]]:
    """The messages of a document of lines, where that is what it is."""
    found: list[dict[str, Any]] = []
    for line in data.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if (
            isinstance(value, dict)
            and ("role" in value or "call_id" in value)
            and "uuid" not in value
        ):
            found.append(value)  # pyright: ignore[reportUnknownArgumentType]
    return found


def exercise(scene: Scene, names: tuple[str, ...] = tuple(EXERCISES)) -> None:
    """Do everything that is asked for with a session."""
    for name, made in EXERCISES.items():
        if name in names and scene.run.wants(name):
            _safely(scene, name, made)


def _safely(scene: Scene, name: str, made: Callable[[Scene], None]) -> None:
    """An exercise that itself ends in an exception is a finding as well."""
    scene.run.do(f"exercise.{name}", made, scene)
