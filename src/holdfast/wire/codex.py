"""Codex rollouts: one JSON object a line, `{timestamp, type, payload}`.

What was said and done are Responses items under `response_item`; what they cost comes after them
as `token_count`, often twice; the rest is bookkeeping.
"""

from collections.abc import Mapping

from holdfast.core.ledger.append import Draft
from holdfast.core.ledger.entry import Compacted, Derived, Noted, Said, Source, Used
from holdfast.text.jsontext import (
    Json,
    as_count,
    as_list,
    as_object,
    as_text,
    canonical,
    elements,
    members,
    parse,
)
from holdfast.wire import openai_responses

NAME = "codex"
SPEAKS = "openai_responses"
HOLDS_MESSAGES = True
SPLITS_MESSAGES = False

INJECTED = (
    "# AGENTS.md instructions",
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<permissions instructions>",
)
"""How texts begin that stand in the user's place and are not the user's."""


def fits(line: Mapping[str, Json]) -> bool:
    """Whether a line is of a Codex rollout."""
    return isinstance(line.get("type"), str) and isinstance(line.get("payload"), dict)


class Reader:
    """Reads one rollout, line by line."""

    def __init__(self) -> None:
        self._model = ""
        self._reported = b""

    def read(self, line: Mapping[str, Json], pos: int) -> tuple[Draft, ...]:
        """The drafts of one line; none for what is bookkeeping."""
        del pos
        payload, at = as_object(line.get("payload")), as_text(line.get("timestamp"))
        match as_text(line.get("type")):
            case "session_meta":
                return self._meta(payload, at)
            case "turn_context":
                return self._context(payload, at)
            case "response_item":
                return tuple(Draft(_by(body), at=at) for body in openai_responses.read(payload))
            case "event_msg" if payload.get("type") == "token_count":
                return self._used(as_object(payload.get("info")), at)
            case "compacted":
                return _compacted(payload, at)
            case _:
                return ()

    @staticmethod
    def _meta(payload: Mapping[str, Json], at: str) -> tuple[Draft, ...]:
        text = as_text(as_object(payload.get("base_instructions")).get("text"))
        return (Draft(Said("system", text, "host"), at=at),) if text else ()

    def _context(self, payload: Mapping[str, Json], at: str) -> tuple[Draft, ...]:
        model = as_text(payload.get("model"))
        if not model or model == self._model:
            return ()
        self._model = model
        return (Draft(Noted("model", {"model": model}), at=at),)

    def _used(self, info: Mapping[str, Json], at: str) -> tuple[Draft, ...]:
        last, total = as_object(info.get("last_token_usage")), info.get("total_token_usage")
        prompt, output = as_count(last.get("input_tokens")), as_count(last.get("output_tokens"))
        seen = canonical(total)
        if not prompt or seen == self._reported:
            return ()
        self._reported = seen
        cached = as_count(last.get("cached_input_tokens"))
        # The report follows the answer, so the window it speaks of holds the answer too.
        used = Used(prompt + output, prompt, output, cached, 0, self._model)
        return (Draft(used, at=at),)


def _compacted(payload: Mapping[str, Json], at: str) -> tuple[Draft, ...]:
    boundary = Draft(Compacted("auto"), at=at)
    items = [as_object(item) for item in as_list(payload.get("replacement_history"))]
    bodies = [body for item in items for body in openai_responses.read(item)]
    if not bodies:
        bodies = [Said("user", as_text(payload.get("message")))]
    kept = (Said(b.role, b.text, "summary") if isinstance(b, Said) else b for b in bodies)
    return (boundary, *(Draft(body, at=at) for body in kept))


def _by(body: Source) -> Source:
    if isinstance(body, Said) and body.role == "user" and body.text.lstrip().startswith(INJECTED):
        return Said(body.role, body.text, "host")
    return body


def spoken(raw: bytes) -> list[bytes]:
    """The Responses items that a line holds."""
    line = members(raw)
    payload = line.get("payload", b"{}")
    match line.get("type", b"").strip(b'"'):
        case b"response_item":
            return [payload]
        case b"compacted" if members(payload).get("replacement_history", b"")[:1] == b"[":
            return elements(members(payload)["replacement_history"])
        case b"session_meta" | b"compacted":
            drafts = Reader().read(as_object(parse(raw)[0]), 0)
            bodies = (draft.body for draft in drafts)
            return [openai_responses.speak(b) for b in bodies if not isinstance(b, Derived)]
        case _:
            return []


def session_of(line: Mapping[str, Json]) -> str:
    """The session that a line says it is of."""
    known = line.get("type") == "session_meta"
    return as_text(as_object(line.get("payload")).get("id")) if known else ""
