"""Read the progress of a scene: completed and remaining work, tests, next steps, open questions.

The agent's todo list is the first source; without one, the texts at the end of its turns. Every
value is the newest one and replaces earlier ones. Commits, pushes and checks are in the state.
"""

from collections.abc import Iterator
from itertools import islice, takewhile

from holdfast.core.faults import row_rule, rule
from holdfast.core.ledger.entry import Said, ToolCalled, ToolReturned, is_request, text_of
from holdfast.core.ledger.summary import Next, Progress, Quote, Who
from holdfast.core.observe.closing import closing_texts, says_done
from holdfast.core.observe.files.touch import arguments_of, bare_tool_name, touch_of
from holdfast.core.observe.requests.intent import has_substance
from holdfast.core.observe.requests.replies import QUESTION_TOOLS
from holdfast.core.observe.results.failures import (
    call_failed,
    is_read_only,
    was_stopped,
    whole_result_of,
)
from holdfast.core.observe.results.tests import counts_in
from holdfast.core.observe.results.todos import DONE, PENDING, WORKING, todos_of
from holdfast.core.observe.scene import Scene
from holdfast.core.observe.sentences import own_words, sentences
from holdfast.text.clip import clip_words
from holdfast.text.jsontext import SURROGATE, Json, as_list, as_object, as_text
from holdfast.text.patterns import Pattern

MAX_STEP_CHARS, MAX_QUESTION_CHARS = 200, 400
_MAX_EFFECT_CHARS, _MAX_VALUE_CHARS = 160, 60
_MOST_REPORTED, _MOST_EFFECTS, _MOST_NEXT, _MOST_QUESTIONS = 8, 8, 6, 6
_PASTED = 2_000
"""A longer request holds templates and quotations: only its end asks something."""
_AT_THE_END = 2
# `cancel_order`, `book_flight`; not `get_order` or `update`.
_CHANGES = Pattern(
    r"(?:create|update|delete|remove|cancel|book|modify|send|issue|add|transfer|exchange|return"
    r"|pay|refund|charge|reset|enable|disable|grant|revoke|submit|post|approve|reject|assign|close"
    r"|merge|publish|deploy|upload|schedule|change|rename|archive|restore|order|purchase|reserve)"
    r"(?:_[a-z0-9_]{1,80})"
)
# "Next, I'll add the queue.", "Now let me run it."; not "I ran it".
_INTENDS = Pattern(
    r"(?i)^\W{0,4}(?:(?:ok(?:ay)?|good|great|perfect),? )?"
    r"(?:next,? (?:I['’]ll|I will|let me|we|step)"
    r"|now,? (?:I['’]ll|I will|I need to|let me|let['’]s)"
    r"|let me (?:now|also)\b|I(?:['’]ll| will) (?:now|next|start|continue)\b|then I['’]ll\b"
    r"|I (?:still|next) need to\b|remaining: (?!none\b))"
)
# "You need to restart it.", "Please set the key."; not "You can see it".
_USER_OWNS = Pattern(
    r"(?i)\b(?:you(?:['’]ll| will)? (?:need to|have to|must|should)\b|please (?:run|restart|add|set"
    r"|provide|confirm|review|check|test|approve|install|configure|create|share|update|reload)\b"
    r"|waiting (?:for|on) (?:you|your)\b|(?:needs|requires|awaiting) (?:your|user)\b)|\(user\)"
)
# "Should I push it?", "Which one do you want?"; not "Why did it fail?".
_ASKS = Pattern(
    r"(?i)\b(?:you|your|shall I|should I|shall we|should we|want me|okay to|ok to|ready to|which"
    r"|prefer|proceed)\b"
)
# "If it fails, run it again."; not "Run it again."
_CONDITIONAL = Pattern(r"(?i)^(?:if|once|when|unless)\b")
# `it?` and `it?"`; not `it? Yes`.
_QUESTION_END = Pattern(r"\?[\"'’”)*_`]{0,3}$")


@rule(Progress())
def progress_of(scene: Scene) -> Progress:
    """Return the progress at the end of a scene."""
    todos = todos_of(scene)
    tests, tested = newest_test_counts(scene)
    listed, items = (todos.at, todos.items) if todos else (-1, ())
    newest = takewhile(lambda report: report[0] > listed, _reported(scene))
    reported = list(islice(newest, _MOST_REPORTED))[::-1]
    effects = [text for _, text in islice(outside_effects_of(scene), _MOST_EFFECTS)][::-1]
    done = [todo.text for todo in items if todo.status == DONE]
    at = max([listed, *(at for at, _ in reported[-1:])])
    at = tested if at < 0 else at
    return Progress(
        phase=next((todo.text for todo in items if todo.status == WORKING), ""),
        completed=tuple(dict.fromkeys((*done, *effects, *(text for _, text in reported)))),
        remaining=tuple(todo.text for todo in items if todo.status != DONE),
        tests=tests,
        entry=scene.items[at].entry.id if at >= 0 else "",
    )


@row_rule
def _reported(scene: Scene) -> Iterator[tuple[int, str]]:
    """Yield what the agent reported as done at the ends of its turns, newest first."""
    acted = {scene.turns[pair.call] for pair in scene.pairs if _changes_something(pair.body)}
    for at in reversed(closing_texts(scene)):
        for sentence in reversed(_sentences_at(scene, at)):
            if says_done(sentence, acted=scene.turns[at] in acted):
                yield at, clip_words(sentence, MAX_STEP_CHARS)


def _changes_something(call: ToolCalled) -> bool:
    touch = touch_of(call)
    looks = bool(touch.command) and is_read_only(touch.command)
    return touch.verb not in ("read", "search") and not looks


def _sentences_at(scene: Scene, at: int) -> list[str]:
    """Return the sentences that the user or the agent said at an index."""
    body = scene.items[at].body
    assert isinstance(body, Said)
    parts = own_words(body.text) if body.role == "user" else (body.text,)
    return [sentence.text for part in parts for sentence in sentences(part)]


@row_rule
def outside_effects_of(scene: Scene) -> Iterator[tuple[int, str]]:
    """Yield the calls that changed something outside, newest first, each with its result's index.

    Only successful calls count, and only of tools whose name states what they change: an order, a
    booking. They must not be repeated.
    """
    for pair in reversed(scene.pairs):
        body = whole_result_of(scene, pair)
        name = pair.body.tool.rsplit("__", 1)[-1]
        if body is None or pair.result is None or not _CHANGES.fullmatch(name):
            continue
        touch = touch_of(pair.body)
        if touch.verb or was_stopped(body.output) or call_failed(touch, body):
            continue
        values = (f"{key}={_value(value)}" for key, value in arguments_of(pair.body).items())
        text = " ".join((name, *values))[:_MAX_EFFECT_CHARS]
        yield pair.result, SURROGATE.sub("\ufffd", text)


def _value(value: Json) -> str:
    match value:
        case list() | dict():
            return f"({len(value)})"
        case _:
            return " ".join(str(value).split())[:_MAX_VALUE_CHARS]


@rule(("", -1))
def newest_test_counts(scene: Scene) -> tuple[str, int]:
    """Return the counts of the newest test run and the index of its result, else -1."""
    for pair in reversed(scene.pairs):
        touch = touch_of(pair.body)
        body = whole_result_of(scene, pair)
        if touch.verb != "run" or body is None or pair.result is None:
            continue
        if not is_read_only(touch.command) and (counts := counts_in(body.output)):
            return counts, pair.result
    return "", -1


@rule(())
def next_steps_of(scene: Scene) -> tuple[Next, ...]:
    """Return the next steps, the one in progress first."""
    todos = todos_of(scene)
    items = [todo for todo in todos.items if todo.status != DONE] if todos else []
    if todos is None or not items:
        return (*_intended(scene), *_left_to_user(scene))[:_MOST_NEXT]
    items.sort(key=lambda todo: todo.status != WORKING)
    entry = scene.items[todos.at].entry.id
    steps = (Next(todo.text, entry, _owner(todo.text), todo.status) for todo in items)
    return (*steps, *_left_to_user(scene))


def _owner(text: str) -> Who:
    return "user" if _USER_OWNS.search(text) else "agent"


@row_rule
def _left_to_user(scene: Scene) -> Iterator[Next]:
    """Yield what the agent's last words leave to the user."""
    for at in _unanswered(scene):
        for sentence in _sentences_at(scene, at):
            asks = _CONDITIONAL.search(sentence) or _QUESTION_END.search(sentence)
            if _USER_OWNS.search(sentence) and not asks:
                yield Next(clip_words(sentence, MAX_STEP_CHARS), scene.items[at].entry.id, "user")


def _unanswered(scene: Scene) -> list[int]:
    """Return the indexes of the agent's texts after which nobody spoke and nothing was called."""
    found: list[int] = []
    for at in range(len(scene.items) - 1, -1, -1):
        match scene.items[at].body:
            case Said(role="assistant", by=""):
                found.append(at)
            case Said(by="") | ToolCalled() | ToolReturned():
                break
            case Said() if found:
                break
            case _:
                pass
    return found[::-1]


@row_rule
def _intended(scene: Scene) -> Iterator[Next]:
    """Yield what the agent said last that it would do, unless the record shows it as done."""
    at = _last_spoken(scene)
    after = [item.body for item in scene.items[at:]] if at >= 0 else []
    asked = any(is_request(body) and has_substance(text_of(body)) for body in after)
    if at < 0 or asked or _succeeded_after(scene, at):
        return
    status = WORKING if len(after) > 1 else PENDING
    for sentence in _sentences_at(scene, at):
        if _INTENDS.match(sentence) and not _QUESTION_END.search(sentence):
            step = clip_words(sentence, MAX_STEP_CHARS)
            yield Next(step, scene.items[at].entry.id, _owner(sentence), status)


def _last_spoken(scene: Scene) -> int:
    """Return the index of the newest text of the agent, else -1."""
    for at in range(len(scene.items) - 1, -1, -1):
        match scene.items[at].body:
            case Said(role="assistant", by=""):
                return at
            case _:
                pass
    return -1


def _succeeded_after(scene: Scene, at: int) -> bool:
    for pair in scene.pairs:
        body = whole_result_of(scene, pair) if pair.call > at else None
        if body is not None and not call_failed(touch_of(pair.body), body):
            return True
    return False


@rule(())
def unanswered_questions(scene: Scene) -> tuple[Quote, ...]:
    """Return the unanswered questions, word for word."""
    asked = [*_asked_by_agent(scene), *_asked_by_tool(scene), *_asked_by_user(scene)]
    return tuple(dict.fromkeys(asked))[:_MOST_QUESTIONS]


@row_rule
def _asked_by_agent(scene: Scene) -> Iterator[Quote]:
    for at in _unanswered(scene):
        for sentence in _sentences_at(scene, at):
            if _QUESTION_END.search(sentence) and _ASKS.search(sentence):
                yield _question(scene, at, sentence)


@row_rule
def _asked_by_tool(scene: Scene) -> Iterator[Quote]:
    spoke = max((at for at, item in enumerate(scene.items) if is_request(item.body)), default=-1)
    for pair in scene.pairs:
        asks = bare_tool_name(pair.body.tool) in QUESTION_TOOLS
        if not asks or pair.call < spoke or pair.result is not None:
            continue
        arguments = arguments_of(pair.body)
        listed = [as_object(value) for value in as_list(arguments.get("questions"))] or [arguments]
        for question in filter(None, (as_text(asked.get("question")) for asked in listed)):
            yield _question(scene, pair.call, question)


@row_rule
def _asked_by_user(scene: Scene) -> Iterator[Quote]:
    for at in range(_last_spoken(scene) + 1, len(scene.items)):
        body = scene.items[at].body
        said = _sentences_at(scene, at) if is_request(body) else []
        for sentence in said if len(text_of(body)) <= _PASTED else said[-_AT_THE_END:]:
            if _QUESTION_END.search(sentence):
                yield _question(scene, at, sentence)


def _question(scene: Scene, at: int, text: str) -> Quote:
    return Quote(clip_words(text, MAX_QUESTION_CHARS), scene.items[at].entry.id)
