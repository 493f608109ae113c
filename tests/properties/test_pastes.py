"""Laws of pastes in what a user says: budgets are kept, and the user's own words stand."""

import json
from typing import Any, NamedTuple, TypeAlias

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from holdfast import NothingToShrink, Policy, Session
from holdfast.core.ledger.entry import Said
from holdfast.core.plan.policy import Offload
from holdfast.engine.live_window import message_dicts
from holdfast.stores.memory import MemoryStore
from tests.properties.laws import CUT, sendable, spelled, text_in
from tests.properties.sessions import PNG
from tests.provider.strict import worse

Message: TypeAlias = dict[str, Any]

# Sessions of this size take minutes to shrink.
FEW = settings(
    max_examples=max(settings().max_examples // 5, 10), phases=(Phase.explicit, Phase.generate)
)
ASKED = (
    "Why does this fail?",
    "Please find out what is wrong here, and tell me before you change anything.",
    "Was ist hier los? Bitte nichts an der Datenbank ändern.",
    "何が問題ですか？設定は変更しないでください。",
    "Pourquoi est-ce que cela échoue ? Ne touche pas aux tests.",
    "Never touch the fixtures.",
)
LEAST = 2_000
"""Tokens that every budget here has: more than the words of any two requests."""
SMALLEST = 400
"""Tokens that a summary and a request take however small the room is."""


def log(size: int) -> str:
    return "\n".join(
        f"2026-01-02 10:00:{n % 60:02} INFO worker {n} took {n}ms" for n in range(size)
    )


def trace(size: int) -> str:
    frames = (f'  File "/app/m{n}.py", line {n}, in f{n}\n    f{n + 1}()' for n in range(size))
    return "\n".join(["Traceback (most recent call last):", *frames, "KeyError: 'user'"])


def code(size: int) -> str:
    return "\n".join(f"def f{n}(x):\n    y = x + {n}\n    return y * {n}\n" for n in range(size))


def fenced(size: int) -> str:
    return "```\n" + "Any words may stand in here, also those of somebody else.\n" * size + "```"


def table(size: int) -> str:
    return "\n".join(f"| {n} | lamp {n} | {n * 3} |" for n in range(size))


def rows(size: int) -> str:
    return json.dumps([{"id": n, "name": f"lamp {n}", "ok": None} for n in range(size)], indent=1)


def diff(size: int) -> str:
    return "diff --git a/x b/x\n@@ -1,9 +1,9 @@\n" + "\n".join(
        f"-old_{n} = {n}\n+new_{n} = {n}" for n in range(size)
    )


def german(size: int) -> str:
    return "\n".join(f"[{n:05}] FEHLER: Zeile {n} konnte nicht gelesen werden" for n in range(size))


def one_line(size: int) -> str:
    return "QUJDRA==" * (size * 40)


PASTES = {
    "log": log,
    "trace": trace,
    "code": code,
    "fenced": fenced,
    "table": table,
    "rows": rows,
    "diff": diff,
    "german": german,
    "one_line": one_line,
}


class Request(NamedTuple):
    """What a user sends: words before pastes and after them, in one text or in blocks.

    It is drawn by name and size, so that a failing case can be read.
    """

    pastes: tuple[tuple[str, str, int], ...]
    """What was said before each, its kind and its size."""
    last: str
    blocks: bool
    end: str
    picture: bool

    @property
    def words(self) -> tuple[str, ...]:
        """The user's own words."""
        return (*(said for said, _, _ in self.pastes), self.last)

    def texts(self) -> list[str]:
        parts = [f"{said}\n\n{PASTES[kind](size)}" for said, kind, size in self.pastes]
        parts.append(self.last)
        texts = parts if self.blocks else ["\n\n".join(parts)]
        return [text.replace("\n", self.end) for text in texts]

    def message(self, wire: str) -> Message:
        texts = self.texts()
        if len(texts) == 1 and not self.picture:
            return {"role": "user", "content": texts[0]}
        blocks: list[Message] = [{"type": "text", "text": text} for text in texts]
        if self.picture:
            source = {"type": "base64", "media_type": "image/png", "data": PNG}
            url = {"url": f"data:image/png;base64,{PNG}"}
            picture = {"type": "image", "source": source}
            blocks += [picture if wire == "anthropic" else {"type": "image_url", "image_url": url}]
        return {"role": "user", "content": blocks}


said = st.sampled_from(ASKED)
requests = st.builds(
    Request,
    pastes=st.lists(
        st.tuples(said, st.sampled_from(sorted(PASTES)), st.sampled_from((10, 60, 300, 900))),
        min_size=1,
        max_size=3,
    ).map(tuple),
    last=said,
    blocks=st.booleans(),
    end=st.sampled_from(("\n", "\r\n")),
    picture=st.integers(0, 4).map(lambda drawn: drawn == 0),
)


class Drawn(NamedTuple):
    """A session that has pastes in what the user says, first and last."""

    wire: str
    asked: tuple[Request, ...]
    answered: bool
    """Whether the latest request has its answer."""

    @property
    def messages(self) -> list[Message]:
        """The session as its client has it."""
        chat = self.wire == "openai_chat"
        made: list[Message] = [{"role": "system", "content": "You are helpful."}] if chat else []
        for request in self.asked:
            made += [request.message(self.wire), {"role": "assistant", "content": "The cache."}]
        return made if self.answered else made[:-1]


sessions = st.builds(
    Drawn,
    wire=st.sampled_from(("anthropic", "openai_chat")),
    asked=st.lists(requests, min_size=1, max_size=4).map(tuple),
    answered=st.booleans(),
)


def opened(drawn: Drawn, policy: Policy | None = None) -> Session:
    session = Session("pastes", MemoryStore(), policy=policy or Policy(model="gpt-5"))
    session.extend(drawn.messages)
    return session


def shown(session: Session) -> list[Message]:
    return message_dicts(session.ledger.live_window.messages())


def unheard(window: list[Message], request: Request) -> list[str]:
    """The user's own words that do not stand in a window."""
    text = "\n".join(map(text_in, window))
    return [words for words in request.words if words not in text]


def unopened(session: Session, window: list[Message]) -> list[str]:
    """References in a window that do not open to what the user sent, byte for byte."""
    sent = {entry.body.text for entry in session.ledger.path() if isinstance(entry.body, Said)}
    refs = {ref for message in window for _, ref in CUT.findall(text_in(message))}
    return [ref for ref in sorted(refs) if session.read(ref) not in sent]


budgets = st.integers(LEAST, 20_000)


@FEW
@given(sessions, budgets)
def test_a_budget_is_kept_and_the_requests_stand_in_the_users_own_words(
    drawn: Drawn, budget: int
) -> None:
    session = opened(drawn)
    made = session.compact(budget)
    window = shown(session)
    assert made.after.tokens <= budget
    assert session.status().tokens <= budget
    assert made.losses == ()
    assert worse(drawn.wire, drawn.messages, window) == []
    assert unheard(window, drawn.asked[0]) + unheard(window, drawn.asked[-1]) == []
    assert unopened(session, window) == []


@FEW
@given(sessions, budgets, budgets)
def test_a_smaller_budget_makes_a_smaller_window_and_undoing_gives_everything_back(
    drawn: Drawn, one: int, other: int
) -> None:
    session = opened(drawn)
    steps = 0
    for budget in sorted((one, other, LEAST), reverse=True):
        made = session.compact(budget)
        steps += bool(made.steps)
        assert session.status().tokens <= budget
        assert unheard(shown(session), drawn.asked[-1]) == []
        assert worse(drawn.wire, drawn.messages, shown(session)) == []
    for _ in range(steps):
        session.undo()
    assert spelled(shown(session)) == spelled(drawn.messages)


@FEW
@given(sessions, st.integers(0, LEAST))
def test_no_request_makes_a_floor(drawn: Drawn, budget: int) -> None:
    session = opened(drawn)
    try:
        assert session.compact(budget).after.tokens <= budget
    except NothingToShrink as refused:
        assert refused.floor <= refused.system + refused.calls + SMALLEST
    assert unopened(session, shown(session)) == []


@FEW
@given(sessions)
def test_pastes_leave_before_they_are_sent_and_a_client_may_send_either_back(drawn: Drawn) -> None:
    policy = Policy(model="gpt-5", offload=Offload(above=600))
    session, again = opened(drawn, policy), opened(drawn, policy)
    window = session.messages()
    assert spelled(again.messages()) == spelled(window)
    assert worse(drawn.wire, drawn.messages, window) == []
    assert unheard(window, drawn.asked[-1]) == []
    assert unopened(session, window) == []
    for history in (drawn.messages, window):
        assert session.sync(history).added == 0
        assert spelled(session.messages()) == spelled(window)
    if any(CUT.search(text_in(message)) for message in window):
        session.undo()
        assert sendable(spelled(shown(session))) == sendable(spelled(drawn.messages))
