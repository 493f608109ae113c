"""Read Codex rollouts: one JSON object a line, `{timestamp, type, payload}`.

Messages and calls are Responses items under `response_item`; their usage follows as `token_count`,
often twice; other lines are bookkeeping.
"""

from collections.abc import Mapping

from holdfast.core.ledger.append import Draft
from holdfast.core.ledger.entry import Compacted, Derived, Said, Source, Used
from holdfast.core.ledger.notes import ModelNamed, encode
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
SENT_AS = "openai_responses"
HOLDS_MESSAGES = True
SPLITS_MESSAGES = False

INJECTED = (
    "# AGENTS.md instructions",
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<permissions instructions>",
)
"""Beginnings of texts in a user message that the user did not write."""


def fits(line: Mapping[str, Json]) -> bool:
    """Return whether a line belongs to a Codex rollout."""
    return isinstance(line.get("type"), str) and isinstance(line.get("payload"), dict)


class Reader:
    """Reads one rollout line by line."""

    def __init__(self) -> None:
        self._model = ""
        self._reported_total = b""

    def read(self, line: Mapping[str, Json], pos: int) -> tuple[Draft, ...]:
        """Return the drafts of one line; none for a bookkeeping line."""
        del pos
        payload, timestamp = as_object(line.get("payload")), as_text(line.get("timestamp"))
        match as_text(line.get("type")):
            case "session_meta":
                return self._instructions_draft(payload, timestamp)
            case "turn_context":
                return self._model_draft(payload, timestamp)
            case "response_item":
                return tuple(
                    Draft(_with_speaker(body), at=timestamp)
                    for body in openai_responses.read(payload)
                )
            case "event_msg" if payload.get("type") == "token_count":
                return self._usage_draft(as_object(payload.get("info")), timestamp)
            case "compacted":
                return _compaction_drafts(payload, timestamp)
            case _:
                return ()

    @staticmethod
    def _instructions_draft(payload: Mapping[str, Json], timestamp: str) -> tuple[Draft, ...]:
        text = as_text(as_object(payload.get("base_instructions")).get("text"))
        return (Draft(Said("system", text, "host"), at=timestamp),) if text else ()

    def _model_draft(self, payload: Mapping[str, Json], timestamp: str) -> tuple[Draft, ...]:
        model = as_text(payload.get("model"))
        if not model or model == self._model:
            return ()
        self._model = model
        return (Draft(encode(ModelNamed(model)), at=timestamp),)

    def _usage_draft(self, info: Mapping[str, Json], timestamp: str) -> tuple[Draft, ...]:
        last, total = as_object(info.get("last_token_usage")), info.get("total_token_usage")
        prompt, output = as_count(last.get("input_tokens")), as_count(last.get("output_tokens"))
        canonical_total = canonical(total)
        if not prompt or canonical_total == self._reported_total:
            return ()
        self._reported_total = canonical_total
        cached = as_count(last.get("cached_input_tokens"))
        # The report comes after the answer, so the window size includes the answer.
        used = Used(prompt + output, prompt, output, cached, 0, self._model)
        return (Draft(used, at=timestamp),)


def _compaction_drafts(payload: Mapping[str, Json], timestamp: str) -> tuple[Draft, ...]:
    boundary = Draft(Compacted("auto"), at=timestamp)
    items = [as_object(item) for item in as_list(payload.get("replacement_history"))]
    bodies = [body for item in items for body in openai_responses.read(item)]
    if not bodies:
        bodies = [Said("user", as_text(payload.get("message")))]
    summaries = (Said(b.role, b.text, "summary") if isinstance(b, Said) else b for b in bodies)
    return (boundary, *(Draft(body, at=timestamp) for body in summaries))


def _with_speaker(body: Source) -> Source:
    if isinstance(body, Said) and body.role == "user" and body.text.lstrip().startswith(INJECTED):
        return Said(body.role, body.text, "host")
    return body


def messages_in(raw: bytes) -> list[bytes]:
    """Return the Responses items that a line holds."""
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
            return [openai_responses.new_message(b) for b in bodies if not isinstance(b, Derived)]
        case _:
            return []


def session_of(line: Mapping[str, Json]) -> str:
    """Return the session that a line names, or an empty string."""
    has_id = line.get("type") == "session_meta"
    return as_text(as_object(line.get("payload")).get("id")) if has_id else ""
