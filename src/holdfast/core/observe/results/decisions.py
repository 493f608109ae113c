"""List the decisions of a scene: what was chosen, why, by whom, and what it overrules.

Only texts of the user and the agent are read, and the user's answers to a question or a plan from
a tool; output of other tools is ignored. A sentence counts if it names a choice ("going with",
"decided to"), or if it states an action together with a reason or a rejected alternative. So a
mechanical next step is not a decision.
"""

from collections.abc import Iterator

from holdfast.core.faults import row_rule, rule
from holdfast.core.ledger.entry import Said, Thought, ToolCalled, ToolReturned, is_request
from holdfast.core.ledger.summary import Decision, Who
from holdfast.core.observe.files.touch import arguments_of, bare_tool_name
from holdfast.core.observe.requests.replies import (
    PLAN_TOOLS,
    QUESTION_TOOLS,
    answers_to_questions,
    approved_plan,
)
from holdfast.core.observe.results.choices import (
    REJECTED_BY_USER,
    StatedChoice,
    clip_choice,
    link_decisions,
)
from holdfast.core.observe.scene import Scene
from holdfast.core.observe.sentences import own_words, sentences
from holdfast.text.patterns import Pattern, cue
from holdfast.text.sentences import THOUGHT_LABEL

_SHORTEST = 8
_PASTED = 2_000
"""A request longer than this holds templates and quotations: only plain choices count in it."""
_SHORT_ORDER = 8
"""Words of "use …" that name a thing; a longer one tells how to go about something."""
_REASON = Pattern(
    r"(?i)(?<!\blong)(?<!\bsoon)(?<!\bfar)[ ,;(—-]{1,3}"
    r"(?:(?:because(?: of)?|since|so that|due to|given that)(?=[\s:])"
    r"|so (?=(?:the|we|it|that|this|they)\b)"
    # "stays as it is" gives no reason.
    r"|as (?=(?:it|this|that|the|we|they)\b)"
    r"(?!(?:it|they|that|this) (?:is|are|was|were|stands?)(?: now| today| before)?"
    r"(?:\W?$|[.,:;)—]))"
    r"|(?=to (?:avoid|prevent|preserve)\b)|(?=for (?:consistency|simplicity|safety)\b)"
    r"|(?=which (?:avoids|keeps|is (?:more|safer|simpler|cleaner|faster))\b))"
)
_REASON_FIRST = Pattern(r"(?i)^(?:since|because|given(?: that)?|as) ([^,]{4,200}), ")
_REASON_NEXT = Pattern(
    r"(?i)^[-*\s]{0,6}(?:this (?:avoids|keeps|means|way|ensures|is (?:simpler|safer|cleaner))"
    r"|that way|because|[*_]{0,2}(?:reason|why|rationale)[*_]{0,2}:|the reason)"
)
_TURNED_DOWN = Pattern(r"(?i)\b(?:instead of|rather than|in favou?r of)\b")
_LABEL = Pattern(
    r"(?i)^[#\s*_]{0,8}(?:(?:final |design |key )?decision(?: \d{1,3})?|chosen approach|decided)"
    r"[*_]{0,2}:[*_]{0,2}\s{1,3}"
)
_HEADED = Pattern(
    r"(?i)^[#\s*_]{0,8}(?:(?:key|main|design|technical|architecture|architectural) )?decisions"
    r"(?: made| taken| so far)?[*_]{0,2}:?[*_]{0,2}\s{0,4}$"
)
_CHOSEN = cue(
    "decided|cho|opt|settle|went with|go with|going with|stick|switch|selected|best |right "
    "|simplest |cleanest |safest |better ",
    r"\b(?:i|we)(?:['’]ve| have)?(?: also)? (?:decided|chose|opted|settled on|went with)\b"
    r"|\b(?:i|we)(?:['’]ll| will) (?:go with|stick with|stick to|opt for|settle (?:on|for))\b"
    r"|\b(?:i['’]m|we['’]re|i am|we are) (?:going with|choosing|opting for|sticking with"
    r"|switching (?:to|from))\b"
    r"|^(?:so,? |ok(?:ay)?,? )?(?:going with|choosing|chose|opting for|opted for|sticking with"
    r"|decided (?:to|on|against)|switch(?:ing|ed) (?:to|from))\b"
    r"|\blet['’]?s (?:go with|stick with|switch to)\b"
    r"|\b(?:i|we)(?:['’]ve| have)? switched (?:to|from)\b"
    r"|\b(?:was|were|is) (?:chosen|selected)(?= (?:because|since|over|as)\b)"
    r"|\boption [a-z0-9]{1,2} it is\b"
    r"|\bthe (?:best|right|simplest|cleanest|safest|better) (?:approach|fix|solution|way|option"
    r"|choice|design|path)(?: here| forward| now)? is\b(?! not)",
)
_VERBS = (
    r"(?:us(?:e|ed|ing)|keep|kept|stor(?:e|ed)|ma(?:ke|de)|replaced?|moved?|implement(?:ed)?"
    r"|add(?:ed)?|modif(?:y|ied)|changed?|extract(?:ed)?|skip(?:ped)?|drop(?:ped)?|avoid(?:ed)?"
    r"|wr(?:ite|ote)|return|creat(?:e|ed)|set|treat|default(?:ed)?|renamed?|revert(?:ed)?"
    r"|removed?|pass|wrap(?:ped)?|split|merged?|pin(?:ned)?|limit(?:ed)?|reused?|inlined?"
    r"|updated?|adopt(?:ed)?|follow(?:ed)?|le(?:ave|ft)|put|buil[dt]|convert(?:ed)?"
    r"|refactor(?:ed)?|fix(?:ed)?|queued?|reset|defer(?:red)?|base)"
)
_DOES = Pattern(
    r"(?i)\b(?:(?:I|we)(?:['’]ll| will|['’]m going to|['’]ve| have| am going to)?"
    r"|let me|let['’]s)(?: also| now| instead| just| simply| therefore)? " + _VERBS + r"\b"
    r"|^(?:so,? )?(?:changed|switched|replaced|moved|kept|used|made|using|keeping)\b"
)
_ORDERS = Pattern(r"^(?:Actually use|Use|Take|Store|Keep|Extract|Return|Call|Put|Make|Pass) ")
"""How a line of the agent's own plan begins."""
_OPEN = Pattern(
    r"(?i)^(?:but,? |and,? |so,? )?(?:if|unless|when|whether|should|would|could|can|do|does)\b"
    r"|\b(?:could|might|maybe|perhaps|whether|should I|shall I|would you|do you|if you|I can|we can"
    r"|I bet|try|trying|tried|I['’]d|would be|would have|wait)\b"
)
_MECHANICAL = Pattern(
    r"(?i)\b(?:sed|grep|awk|cat|heredoc|head|tail|git (?:checkout|stash|status|diff)"
    r"|(?:python3?|shell|bash|small|quick|temporary|temp|separate|reproduction|test)"
    r" (?:script|command)|a script|re-?run|absolute path|debug|reproduc\w{0,6})\b"
)
_ASKED_ABOUT = Pattern(
    r"(?i)\b(?:what|which|who|how|why|whether)\b[^.;]{0,40}\b(?:we|I|you)\b[^.;]{0,12}"
    r"\b(?:decided|chose|agreed|prefer|picked|settled)\b"
)
_USER_CHOSE = cue(
    "let|go with|go for|choose|prefer|decided|chose|opted|agreed|switch|want|use|option",
    r"\blet['’]?s (?:go with|use|stick (?:with|to)|switch|keep|drop|abandon|skip|call it|rename"
    r"|not|leave|go for)\b"
    r"|\b(?:i['’]ll|i will|i['’]d like to|we['’]ll|we should|please|just) go (?:with|for) (?!it\b)"
    r"|^go (?:with|for) (?!it\b)"
    r"|\b(?:i|we)(?:['’]d| would)?(?: rather)? (?:choose|prefer|decided|chose|opted|agreed)\b"
    r"|^(?:actually,? |ok,? |please )?switch (?:(?:the|our|all) (?:[\w-]{1,30} ){1,6})?"
    r"(?:to|from|back)\b|\bi want (?:you |us )?to use\b"
    r"|\bwe(?: wi|['’])ll use\b|\boption [a-z0-9]{1,2} it is\b"
    r"|\b(?:proceed with|do|take|pick|want|approve|make the) option [a-z0-9]{1,2}\b",
)
_USER_OPTION = Pattern(r"(?i)^(?:yes,? |ok,? )?(?:option|approach|variant) [a-z0-9]{1,2}\b")
_USER_USE = Pattern(r"(?i)^(?:please |just |ok,? |no,? |yes,? |actually,? )?use\b")
_USER_WANTS = Pattern(
    r"(?i)\b(?:use|make|should|want|call|called|rename|put|do|name|return|keep|change|prefer|need"
    r"|set|store|write)\b"
)
_UNFINISHED = Pattern(r"(?i)\b(?:is|to|that|with|be)$")


@rule(())
def decisions_of(scene: Scene) -> tuple[Decision, ...]:
    """Return the decisions of a scene, oldest first, without duplicates."""
    seen: set[str] = set()
    kept: list[StatedChoice] = []
    for found in _unthought(scene, sorted(_choices_in(scene), key=lambda found: found.at)):
        name = " ".join(found.choice.lower().split())
        if name not in seen:
            seen.add(name)
            kept.append(found)
    return tuple(link_decisions(scene, kept))


def _choices_in(scene: Scene) -> Iterator[StatedChoice]:
    for at, item in enumerate(scene.items):
        match item.body:
            case Said(role="assistant", by=""):
                yield from _of_agent(at, item.body.text)
            case Thought():
                yield from _of_thought(at, item.body.text)
            case Said() as body if is_request(body):
                yield from _of_user(at, body.text, opening=scene.turns[at] <= 1)
            case ToolReturned() as body if at in scene.by_result:
                yield from _of_answer(at, scene.by_result[at].body, body)
            case _:
                pass


def _unthought(scene: Scene, found: list[StatedChoice]) -> Iterator[StatedChoice]:
    """The choices, less those only thought of in a step that says one aloud."""
    thought = {at for at, item in enumerate(scene.items) if isinstance(item.body, Thought)}
    spoken = {scene.steps[one.at] for one in found if one.at not in thought}
    return (one for one in found if one.at not in thought or scene.steps[one.at] not in spoken)


@row_rule
def _of_agent(at: int, text: str) -> Iterator[StatedChoice]:
    told = sentences(text)
    listed = False
    for number, one in enumerate(told):
        sentence = THOUGHT_LABEL.sub("", one.text)
        # Under such a heading every item is one, however it is worded.
        listed = _HEADED.match(sentence) is not None or (listed and one.kind == "item")
        if _agent_chose(sentence) or (listed and one.kind == "item"):
            following = told[number + 1].text if number + 1 < len(told) else ""
            yield from _choice_of(at, sentence, following)


def _agent_chose(sentence: str) -> bool:
    if _LABEL.match(sentence):
        return True
    if not _SHORTEST < len(sentence) <= 600 or sentence.endswith("?") or sentence[0] in "\"'“":
        return False
    # Few sentences choose anything: what would speak against it is looked for in those alone.
    return _names_a_choice(sentence) and not (
        _OPEN.search(sentence) or _MECHANICAL.search(sentence)
    )


def _is_chosen(sentence: str) -> bool:
    return _CHOSEN.search(sentence.lower()) is not None


def _names_a_choice(sentence: str) -> bool:
    if _is_chosen(sentence):
        return True
    does = _DOES.search(sentence)
    if does is None:
        return _ORDERS.match(sentence) is not None and bool(_TURNED_DOWN.search(sentence))
    return _has_grounds(sentence, does.end())


def _has_grounds(sentence: str, start: int) -> bool:
    """Whether a reason or what was turned down is told with what is done."""
    if _TURNED_DOWN.search(sentence, start):
        return True
    first = _REASON_FIRST.match(sentence)
    if first and _DOES.search(sentence, first.end()):
        return True
    reason = _REASON.search(sentence, start)
    return reason is not None and not sentence.rstrip().endswith(":")


@row_rule
def _of_thought(at: int, text: str) -> Iterator[StatedChoice]:
    for sentence in _plain_sentences(text):
        chosen = _LABEL.match(sentence) or _is_chosen(sentence)
        if chosen and _agent_chose(sentence):
            yield from (found for found in _choice_of(at, sentence, "") if found.reason)


@row_rule
def _of_user(at: int, text: str, *, opening: bool = False) -> Iterator[StatedChoice]:
    plain_only = opening or len(text) > _PASTED
    told = [sentence for words in own_words(text) for sentence in _plain_sentences(words)]
    for number, sentence in enumerate(told):
        if _user_chose(sentence, plain_only=plain_only):
            following = told[number + 1] if number + 1 < len(told) else ""
            yield from _choice_of(at, sentence, following, by="user")


def _user_chose(sentence: str, *, plain_only: bool) -> bool:
    if _LABEL.match(sentence):
        return True
    if not 5 <= len(sentence) <= 600 or sentence.endswith("?") or sentence[0] in "\"'“<":
        return False
    return _wishes(sentence, plain_only=plain_only) and not (
        _OPEN_TO_USER.search(sentence) or _ASKED_ABOUT.search(sentence)
    )


def _wishes(sentence: str, *, plain_only: bool) -> bool:
    if _USER_CHOSE.search(sentence.lower()):
        return True
    if plain_only:
        return False
    if _USER_OPTION.match(sentence) and len(sentence) <= 120:
        return True
    if _USER_USE.match(sentence):
        turned_down = _TURNED_DOWN.search(sentence) or REJECTED_BY_USER.search(sentence)
        return len(sentence.split()) <= _SHORT_ORDER or turned_down is not None
    turned_down = _TURNED_DOWN.search(sentence)
    return (
        turned_down is not None and _USER_WANTS.search(sentence, 0, turned_down.start()) is not None
    )


_OPEN_TO_USER = Pattern(
    r"(?i)^(?:but |and |so |or )?(?:if|unless|when|whether|should|would|could|can|do|does|is|are)\b"
    r"|\b(?:could you|can you|would you|do you|maybe|perhaps|might|could|not sure|wonder(?:ing)?)\b"
)


@row_rule
def _of_answer(at: int, call: ToolCalled, body: ToolReturned) -> Iterator[StatedChoice]:
    name = bare_tool_name(call.tool)
    if name not in QUESTION_TOOLS and name not in PLAN_TOOLS:
        return
    _, refused, words = body.output.partition("the user said:\n")
    if refused:
        yield from _of_user(at, words)
    elif body.failed or body.output.startswith("The user doesn't want"):
        return
    elif name in PLAN_TOOLS:
        yield from approved_plan(at, arguments_of(call), body.output)
    else:
        yield from answers_to_questions(at, arguments_of(call), body.output)


def _choice_of(
    at: int, sentence: str, following: str, *, by: Who = "agent"
) -> Iterator[StatedChoice]:
    label = _LABEL.match(sentence)
    plain = sentence[label.end() :] if label else sentence
    choice, reason = _parted(plain)
    if plain.endswith("because:") or (not reason and _REASON_NEXT.match(following)):
        reason = following
    choice = choice.strip(" ,;:-—(")
    if len(choice) >= 5 and not _UNFINISHED.search(choice):
        yield StatedChoice(at, clip_choice(choice), clip_choice(reason.strip(" ,;:-—")), by)


def _parted(sentence: str) -> tuple[str, str]:
    """The choice and the reason of a sentence, both as they stand in it."""
    first = _REASON_FIRST.match(sentence)
    if first:
        return sentence[first.end() :], first[1]
    does = _DOES.search(sentence) or _CHOSEN.search(sentence)
    reason = _REASON.search(sentence, does.end() if does else 0)
    if reason is None:
        return sentence, ""
    return sentence[: reason.start()], sentence[reason.end() :]


def _plain_sentences(text: str) -> list[str]:
    """The sentences of a text, word for word, without the name of who thinks aloud."""
    return [THOUGHT_LABEL.sub("", sentence.text) for sentence in sentences(text)]
