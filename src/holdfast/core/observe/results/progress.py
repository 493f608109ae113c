"""Read the progress of a scene: completed and remaining work, tests, next steps, open questions.

The agent's todo list is the first source; without one, the texts at the end of its turns. Every
value is the newest one and replaces earlier ones.
"""

from collections.abc import Callable, Iterator
from itertools import islice, takewhile

from holdfast.core.faults import row_rule, rule
from holdfast.core.ledger.entry import Said, ToolCalled, ToolReturned, is_request, text_of
from holdfast.core.ledger.summary import Next, Progress, Quote, Who
from holdfast.core.observe.files.touch import arguments_of, bare_tool_name, touch_of
from holdfast.core.observe.requests.replies import QUESTION_TOOLS
from holdfast.core.observe.results.failures import (
    call_failed,
    is_read_only,
    plain_output,
    was_stopped,
    whole_result_of,
)
from holdfast.core.observe.results.findings import closing_texts
from holdfast.core.observe.results.tests import counts_in
from holdfast.core.observe.results.todos import DONE, PENDING, WORKING, TodoList, todos_of
from holdfast.core.observe.scene import Scene
from holdfast.core.observe.sentences import own_words, sentences
from holdfast.text.clip import clip_words
from holdfast.text.jsontext import SURROGATE, Json, as_list, as_object, as_text
from holdfast.text.patterns import Pattern

# Effects outside of the files, which must not be repeated.
#
# Commits, pushes and pull requests are read from the output of git and its hosts; calls of tools
# that change something elsewhere (an order, a booking) from their arguments. Only successful calls
# count, and only of tools whose name states what they change.


_LONGEST = 160
_LONGEST_VALUE = 60
_LOOKED_AT = 4_000
"""Characters at either end of an output: git tells at its end, and hooks print before it."""
_COMMITTED = Pattern(
    r"(?m)^\[([^\s\]]{1,120})(?: \([^()\n]{1,40}\))? ([0-9a-f]{7,40})\] ([^\n]{1,200})$"
)
_PUSHED = Pattern(
    r"(?m)^ [ *+!-] {0,2}(?:\[new (?:branch|tag)\]|[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40}) {1,12}"
    r"\S{1,200} -> (\S{1,200})"
)
_URL = Pattern(r"https://[^\s\"'<>]{1,120}/(?:pull|merge_requests|issues)/\d{1,9}\b")
_HOSTED = Pattern(r"\b(?:gh|glab) (pr|mr|issue) (create|merge|close|reopen|comment|review)\b")
_CHANGES = Pattern(
    r"(?:create|update|delete|remove|cancel|book|modify|send|issue|add|transfer|exchange|return"
    r"|pay|refund|charge|reset|enable|disable|grant|revoke|submit|post|approve|reject|assign|close"
    r"|merge|publish|deploy|upload|schedule|change|rename|archive|restore|order|purchase|reserve)"
    r"(?:_[a-z0-9_]{1,80})"
)
"""Names of tools that say that they change something, and what."""


@row_rule
def outside_effects_of(scene: Scene) -> Iterator[tuple[int, str]]:
    """Yield the effects outside of the files, newest first, each with the index of its result."""
    for pair in reversed(scene.pairs):
        body = whole_result_of(scene, pair)
        if body is None or pair.result is None or was_stopped(body.output):
            continue
        touch = touch_of(pair.body)
        if touch.verb not in ("run", "") or call_failed(touch, body):
            continue
        told = _run(touch.command, body) if touch.verb else _asked(pair.body)
        yield from ((pair.result, SURROGATE.sub("\ufffd", one)) for one in told)


def _run(command: str, body: ToolReturned) -> Iterator[str]:
    """What a command did that its output vouches for, the last thing first."""
    hosted = _HOSTED.search(command)
    if not hosted and "git " not in command:
        return
    text = plain_output(body.output)
    text = text if len(text) <= 2 * _LOOKED_AT else f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"
    if hosted and (url := _URL.search(text)):
        yield f"{hosted[1]} {hosted[2]}: {url[0]}"
    if "push" in command:
        for found in _PUSHED.finditer(text):
            yield f"pushed {found[1]}"
    if "commit" in command:
        for found in reversed(list(_COMMITTED.finditer(text))):
            yield f"committed {found[2]} on {found[1]}: {found[3].strip()}"[:_LONGEST]


def _asked(call: ToolCalled) -> Iterator[str]:
    name = call.tool.rsplit("__", 1)[-1]
    if _CHANGES.fullmatch(name):
        values = (f"{key}={_value(value)}" for key, value in arguments_of(call).items())
        yield " ".join((name, *values))[:_LONGEST]


def _value(value: Json) -> str:
    match value:
        case list() | dict():
            return f"({len(value)})"
        case _:
            return " ".join(str(value).split())[:_LONGEST_VALUE]


MAX_STEP_CHARS = 200
_LONGEST_QUESTION = 400
_MOST_DONE = 8
_MOST_DEEDS = 8
_MOST_NEXT = 6
_MOST_QUESTIONS = 6
_PASTED = 2_000
_AT_THE_END = 2
"""Sentences at the end of a request that is mostly pasted."""
_FINISHED = Pattern(
    r"(?i)^\W{0,6}(?:(?:all )?done[:.!,— -]"
    r"|(?:I['’]ve|I have|we['’]ve)(?: now| also| successfully)? (?!locat|examin|retriev|review"
    r"|check|look|notic|confirm|analy|explor|identif|reach|attach|provid|list|document)\w{2,20}ed\b"
    r"|(?:I['’]ve|I have)(?: now| also)? (?:built|written|made|set|run|put)\b"
    r"|(?:all )?(?:\d{1,5} )?tests (?:are )?(?:now )?pass(?:ing)?\b)"
)
_PARTICIPLE = Pattern(
    r"(?i)^\W{0,6}(?:successfully )?(?:fixed|added|implemented|created|updated|removed|renamed"
    r"|refactored|moved|replaced|committed|pushed|merged|wrote|completed|resolved|converted|deleted"
    r"|extracted|rebased|released|published|replied|cancelled|booked)\b"
)
"""What tells of a deed, or of one that somebody else did: it counts where something was done."""
_NOT_DONE = Pattern(r"(?i)\b(?:have|has|is|are|was|were|did|do)(?: not|n['’]t)\b|\bnot yet\b")
_INTENDS = Pattern(
    r"(?i)^\W{0,4}(?:(?:ok(?:ay)?|good|great|perfect),? )?"
    r"(?:next,? (?:I['’]ll|I will|let me|we|step)"
    r"|now,? (?:I['’]ll|I will|I need to|let me|let['’]s)"
    r"|let me (?:now|also)\b|I(?:['’]ll| will) (?:now|next|start|continue)\b|then I['’]ll\b"
    r"|I (?:still|next) need to\b|remaining:)"
)
_USER_OWNS = Pattern(
    r"(?i)\b(?:you(?:['’]ll| will)? (?:need to|have to|must|should)\b|please (?:run|restart|add|set"
    r"|provide|confirm|review|check|test|approve|install|configure|create|share|update|reload)\b"
    r"|waiting (?:for|on) (?:you|your)\b|(?:needs|requires|awaiting) (?:your|user)\b)|\(user\)"
)
_ASKS = Pattern(
    r"(?i)\b(?:you|your|shall I|should I|shall we|should we|want me|okay to|ok to|ready to|which"
    r"|prefer|proceed)\b"
)
_CONDITIONAL = Pattern(r"(?i)^(?:if|once|when|unless)\b|\?[\"'’”)*_`]{0,3}$")
_QUESTION_END = Pattern(r"\?[\"'’”)*_`]{0,3}$")


@rule(Progress())
def progress_of(scene: Scene) -> Progress:
    """Return the progress at the end of a scene."""
    todos = todos_of(scene)
    tests, tested = newest_test_counts(scene)
    told = todos.at if todos else -1
    done = [todo.text for todo in todos.items if todo.status == DONE] if todos else []
    newest = takewhile(lambda one: one[0] > told, _finished(scene))
    said = list(islice(newest, _MOST_DONE))[::-1]
    deeds = [text for _, text in islice(outside_effects_of(scene), _MOST_DEEDS)][::-1]
    completed = [*done, *deeds, *(text for _, text in said)]
    at = max([told, *(at for at, _ in said[-1:])]) if told >= 0 or said else tested
    return Progress(
        phase=_phase(todos),
        completed=tuple(dict.fromkeys(completed)),
        remaining=tuple(todo.text for todo in todos.items if todo.status != DONE) if todos else (),
        tests=tests,
        entry=scene.items[at].entry.id if at >= 0 else "",
    )


def _phase(todos: TodoList | None) -> str:
    if todos is None:
        return ""
    working = next((todo.text for todo in todos.items if todo.status == WORKING), "")
    return working or (todos.heading if any(todo.status != DONE for todo in todos.items) else "")


@row_rule
def _finished(scene: Scene) -> Iterator[tuple[int, str]]:
    """What the agent said was done, the newest first: only the last of it is ever told."""
    acted = _acting(scene)
    for at in reversed(closing_texts(scene)):
        for sentence in reversed(_words(scene, at)):
            if not _says_what(sentence):
                continue
            if _FINISHED.match(sentence) or (acted(at) and _PARTICIPLE.match(sentence)):
                yield at, clip_words(sentence, MAX_STEP_CHARS)


def _says_what(sentence: str) -> bool:
    """Whether a sentence tells something itself: it leads to nothing, and is no title."""
    if len(sentence) <= 10 or sentence.endswith(("?", ":", ":**")) or _NOT_DONE.search(sentence):
        return False
    return not (sentence.endswith("**") and sentence.count("**") % 2)


def _acting(scene: Scene) -> Callable[[int], bool]:
    """Says of a place whether the agent did anything but look in the turn that it ends."""
    turns: set[int] = set()
    for pair in scene.pairs:
        touch = touch_of(pair.body)
        looks = bool(touch.command) and is_read_only(touch.command)
        if touch.verb not in ("read", "search") and not looks:
            turns.add(scene.turns[pair.call])
    return lambda at: scene.turns[at] in turns


def _words(scene: Scene, at: int) -> list[str]:
    """The sentences of what was said at a place."""
    body = scene.items[at].body
    assert isinstance(body, Said)
    parts = own_words(body.text) if body.role == "user" else (body.text,)
    return [sentence.text for part in parts for sentence in sentences(part)]


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
    theirs = tuple(_of_user(scene))
    if todos is not None and any(todo.status != DONE for todo in todos.items):
        entry = scene.items[todos.at].entry.id
        open_ones = sorted(
            (todo for todo in todos.items if todo.status != DONE),
            key=lambda todo: todo.status != WORKING,
        )
        return (
            *(Next(one.text, entry, _owner(one.text), one.status) for one in open_ones),
            *theirs,
        )
    return (*_intended(scene), *theirs)[:_MOST_NEXT]


def _owner(text: str) -> Who:
    return "user" if _USER_OWNS.search(text) else "agent"


@row_rule
def _of_user(scene: Scene) -> Iterator[Next]:
    """What the agent's last words leave to the user."""
    for at in _unanswered(scene):
        for sentence in _words(scene, at):
            if _USER_OWNS.search(sentence) and not _CONDITIONAL.search(sentence):
                yield Next(clip_words(sentence, MAX_STEP_CHARS), scene.items[at].entry.id, "user")


def _unanswered(scene: Scene) -> list[int]:
    """Where the last words of the agent stand, when they are the last of all."""
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
    """What the agent said last it would do, if nothing after it shows it done."""
    at = max((at for at, item in enumerate(scene.items) if _spoken(item.body)), default=-1)
    if at < 0 or any(is_request(item.body) for item in scene.items[at:]):
        return
    if _went_well_after(scene, at):
        return
    status = WORKING if at + 1 < len(scene.items) else PENDING
    for sentence in _words(scene, at):
        if _INTENDS.match(sentence) and not _QUESTION_END.search(sentence):
            yield Next(
                clip_words(sentence, MAX_STEP_CHARS),
                scene.items[at].entry.id,
                _owner(sentence),
                status,
            )


def _spoken(body: object) -> bool:
    return isinstance(body, Said) and body.role == "assistant" and not body.by


def _went_well_after(scene: Scene, at: int) -> bool:
    for pair in scene.pairs:
        if pair.call > at:
            body = whole_result_of(scene, pair)
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
        for sentence in _words(scene, at):
            if _QUESTION_END.search(sentence) and _ASKS.search(sentence):
                yield Quote(clip_words(sentence, _LONGEST_QUESTION), scene.items[at].entry.id)


@row_rule
def _asked_by_tool(scene: Scene) -> Iterator[Quote]:
    spoke = max((at for at, item in enumerate(scene.items) if is_request(item.body)), default=-1)
    for pair in scene.pairs:
        if pair.call < spoke or pair.result is not None:
            continue
        if bare_tool_name(pair.body.tool) not in QUESTION_TOOLS:
            continue
        arguments = arguments_of(pair.body)
        listed = [as_object(one) for one in as_list(arguments.get("questions"))] or [arguments]
        for one in listed:
            if question := as_text(one.get("question")):
                yield Quote(
                    clip_words(question, _LONGEST_QUESTION), scene.items[pair.call].entry.id
                )


@row_rule
def _asked_by_user(scene: Scene) -> Iterator[Quote]:
    answered = max((at for at, item in enumerate(scene.items) if _spoken(item.body)), default=-1)
    for at in range(answered + 1, len(scene.items)):
        item = scene.items[at]
        if not is_request(item.body):
            continue
        told = _words(scene, at)
        # A long request holds templates and quotations; what it asks stands at its end.
        for sentence in told if len(text_of(item.body)) <= _PASTED else told[-_AT_THE_END:]:
            if _QUESTION_END.search(sentence):
                yield Quote(clip_words(sentence, _LONGEST_QUESTION), item.entry.id)
