"""List the decisions of a scene: what was chosen, why, by whom, and what it overrules.

Only texts of the user and the agent are read, and the user's answers to a question or a plan from
a tool; output of other tools is ignored. A sentence counts if it names a choice ("going with",
"decided to"), is labelled as a decision, or states an action together with a reason or a rejected
alternative. So a mechanical next step is not a decision.
"""

from collections.abc import Iterator

from holdfast.core.faults import row_rule, rule
from holdfast.core.ledger.entry import Said, ToolCalled, ToolReturned, is_request
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

MIN_CHOICE_CHARS, MAX_SENTENCE_CHARS = 5, 600
_PASTED = 2_000
"""A request longer than this holds templates and quotations: only plain choices count in it."""
_SHORT_ORDER = 8
"""Words of "use …" that name a thing; a longer one says how to do something."""
# `because it is fast`, `as it is faster`; not `as long as`.
_REASON = Pattern(
    r"(?i)[ ,;(—-]{1,3}(?:(?:because(?: of)?|since|so that|due to|given that)(?=[\s:])"
    r"|so (?=(?:the|we|it|that|this|they)\b)"
    r"|as (?=(?:it|this|that) is (?:more|\w{2,12}er)\b)"
    r"|(?=to (?:avoid|prevent|preserve)\b)|(?=for (?:consistency|simplicity|safety)\b)"
    r"|(?=which (?:avoids|keeps|is (?:more|safer|simpler|cleaner|faster))\b))"
)
# `Since it is there, I use it.`; not `Since then it works.`
_REASON_FIRST = Pattern(r"(?i)^(?:since|because|given(?: that)?|as) ([^,]{4,200}), ")
# `This keeps the order.`, `Reason: it is there.`; not `This is it.`
_REASON_NEXT = Pattern(
    r"(?i)^[-*\s]{0,6}(?:this (?:avoids|keeps|means|way|ensures|is (?:simpler|safer|cleaner))"
    r"|that way|because|[*_]{0,2}(?:reason|why|rationale)[*_]{0,2}:|the reason)"
)
# `a queue instead of a list`; not `a queue`.
_TURNED_DOWN = Pattern(r"(?i)\b(?:instead of|rather than|in favou?r of)\b")
# `**Decision:** JWT`, `Key decision 2: …`; not `We need a decision`.
_LABEL = Pattern(
    r"(?i)^[#\s*_]{0,8}(?:(?:final |design |key )?decision(?: \d{1,3})?|chosen approach|decided)"
    r"[*_]{0,2}:[*_]{0,2}\s{1,3}"
)
# `## Design Decisions`; not `Decisions are hard`.
_HEADED = Pattern(
    r"(?i)^[#\s*_]{0,8}(?:(?:key|main|design|technical|architecture|architectural) )?decisions"
    r"(?: made| taken| so far)?[*_]{0,2}:?[*_]{0,2}\s{0,4}$"
)
# "I decided to", "we're going with", "Option B it is", "the best fix is"; not "the user chose".
_CHOSEN = cue(
    "decided|cho|opt|settle|went with|go with|going with|stick|switch|selected|pick|best |right "
    "|simplest |cleanest |safest |better ",
    r"\b(?:i|we)(?:['’]ve| have)?(?: also)? (?:decided|chose|opted|picked|went with"
    r"|settled on|switched (?:to|from))\b"
    r"|\b(?:i|we)(?:['’]ll| will) (?:go with|stick with|stick to|opt for|settle (?:on|for))\b"
    r"|\b(?:i['’]m|we['’]re|i am|we are) (?:going with|choosing|opting for|sticking with"
    r"|switching (?:to|from))\b"
    r"|^(?:so,? |ok(?:ay)?,? )?(?:going with|choosing|chose|opting for|opted for|sticking with"
    r"|decided (?:to|on|against)|switch(?:ing|ed) (?:to|from))\b"
    r"|\blet['’]?s (?:go with|stick with|switch to)\b"
    r"|\b(?:was|were|is) (?:chosen|selected)(?= (?:because|since|over|as)\b)"
    r"|\boption [a-z0-9]{1,2} it is\b"
    r"|\bthe (?:best|right|simplest|cleanest|safest|better) (?:approach|fix|solution|way|option"
    r"|choice|design|path)(?: here| forward| now)? is\b(?! not)",
)
# `I'll use a cache`, `Let me keep it`, `Moved it`; not `I see it`.
_DOES = Pattern(
    r"(?i)(?:\b(?:(?:I|we)(?:['’]ll| will|['’]m going to|['’]ve| have| am going to)?"
    r"|let me|let['’]s)(?: also| now| instead| just| simply| therefore)? "
    r"|^(?:so,? )?(?=(?:us|mov|chang|switch|replac)ed |kept |made |using |keeping ))"
    r"(?:(?:use|keep|store|make|replace|move|implement|add|modify|change|extract|skip|drop|avoid"
    r"|write|return|create|set|treat|rename|revert|remove|pass|wrap|split|merge|pin|limit|reuse"
    r"|inline|update|adopt|follow|leave|put|build|convert|refactor|fix|queue|defer|switch)"
    r"(?:d|ed|ped|ned)?|using|keeping|made|kept|wrote|left)\b"
)
# `Use the queue instead of appending`: a line of the agent's own plan; not `The use of it`.
_ORDERS = Pattern(r"^(?:Actually use|Use|Take|Store|Keep|Extract|Return|Call|Put|Make|Pass) ")
# `If it fails`, `maybe`, `could you`; not `go with it`.
_OPEN = Pattern(
    r"(?i)^(?:but,? |and,? |so,? |or )?(?:if|unless|when|whether|should|would|could|can|do|does)\b"
    r"|\b(?:might|could|maybe|perhaps|whether|can you|would you|do you|not sure|wonder(?:ing)?)\b"
)
# `I'd recommend`, `Now I'll`, `a script`, `git stash`: a step or an offer; not `I'll use a lock`.
_STEP = Pattern(
    r"(?i)^(?:now|next|first)\b|\b(?:should I|shall I|if you|I can|we can|I bet|try|trying|tried"
    r"|I['’]d|would be|would have|wait|sed|grep|awk|cat|heredoc|head|tail"
    r"|git (?:checkout|stash|status|diff)|(?:python3?|shell|bash|small|quick|temporary|temp"
    r"|separate|reproduction|test) (?:script|command)|a script|re-?run|absolute path|debug"
    r"|reproduc\w{0,6})\b"
)
# "what we decided", "which one you chose"; not "we decided".
_ASKED_ABOUT = Pattern(
    r"(?i)\b(?:what|which|who|how|why|whether)\b[^.;]{0,40}\b(?:we|I|you)\b[^.;]{0,12}"
    r"\b(?:decided|chose|agreed|prefer|picked|settled)\b"
)
# "let's use JWT", "And go with YAML", "do option 2"; not "good to go", "go with it".
_USER_CHOSE = cue(
    "let|go with|go for|choose|prefer|decided|chose|opted|agreed|switch|want|use|option|take",
    r"\blet['’]?s (?:go with|use|stick (?:with|to)|switch|keep|drop|abandon|skip|call it|rename"
    r"|not|leave|go for)\b"
    r"|^(?:(?:ok(?:ay)?|and|so|then|yes|no|actually|please|just|well)[,.]? ){0,3}"
    r"(?:(?:i|we)(?:['’]ll|['’]d| will| would| should)?(?: like to)? )?"
    r"(?:go (?:with|for) (?!it\b)"
    r"|switch (?:(?:the|our|all) (?:[\w-]{1,30} ){1,6})?(?:to|from|back)\b)"
    r"|\b(?:i|we)(?:['’]d| would)?(?: rather)? (?:choose|prefer|decided|chose|opted|agreed)\b"
    r"|\bi want (?:you |us )?to use\b|\bwe(?: wi|['’])ll (?:use|take)\b"
    r"|\boption [a-z0-9]{1,2} it is\b"
    r"|\b(?:proceed with|do|take|pick|want|approve|make the) option [a-z0-9]{1,2}\b",
)
# `No, use bun`, `Option 2, please`; not `what about option 2`.
_USER_SHORT = Pattern(
    r"(?i)^(?:please |just |ok,? |no,? |yes,? |actually,? )?"
    r"(?:use|(?:option|approach|variant) [a-z0-9]{1,2})\b"
)
# `It should be called tap`; not `it is tap`.
_USER_WANTS = Pattern(
    r"(?i)\b(?:use|make|should|want|call|called|rename|put|do|name|return|keep|change|prefer|need"
    r"|set|store|write)\b"
)
# "The best way is to": the choice follows in a list; not "use it".
_UNFINISHED = Pattern(r"(?i)\b(?:is|to|that|with|be)$")
_QUOTES = ("?", '"', "'", "“", "<")


@rule(())
def decisions_of(scene: Scene) -> tuple[Decision, ...]:
    """Return the decisions of a scene, oldest first, without duplicates."""
    kept: dict[str, StatedChoice] = {}
    for stated in sorted(_choices_in(scene), key=lambda stated: stated.at):
        kept.setdefault(" ".join(stated.choice.lower().split()), stated)
    return tuple(link_decisions(scene, list(kept.values())))


def _choices_in(scene: Scene) -> Iterator[StatedChoice]:
    for at, item in enumerate(scene.items):
        match item.body:
            case Said(role="assistant", by="", text=text):
                yield from _of_agent(at, text)
            case Said(text=text) as body if is_request(body):
                yield from _of_user(at, text, opening=scene.turns[at] <= 1)
            case ToolReturned() as body if at in scene.by_result:
                yield from _of_answer(at, scene.by_result[at].body, body)
            case _:
                pass


@row_rule
def _of_agent(at: int, text: str) -> Iterator[StatedChoice]:
    found = sentences(text)
    texts = [THOUGHT_LABEL.sub("", sentence.text) for sentence in found]
    listed = False
    for sentence, words, following in zip(found, texts, (*texts[1:], ""), strict=False):
        # Under such a heading every item is a decision, however it is worded.
        listed = bool(_HEADED.match(words)) or (listed and sentence.kind == "item")
        if (listed and sentence.kind == "item") or _agent_chose(words):
            yield from _choice_of(at, words, following)


@row_rule
def _of_user(at: int, text: str, *, opening: bool = False) -> Iterator[StatedChoice]:
    plain_only = opening or len(text) > _PASTED
    texts = [sentence.text for words in own_words(text) for sentence in sentences(words)]
    for words, following in zip(texts, (*texts[1:], ""), strict=False):
        if _user_chose(words, plain_only=plain_only):
            yield from _choice_of(at, words, following, by="user")


def _is_statement(sentence: str) -> bool:
    fits = MIN_CHOICE_CHARS <= len(sentence) <= MAX_SENTENCE_CHARS
    return fits and not sentence.endswith("?") and not sentence.startswith(_QUOTES)


def _agent_chose(sentence: str) -> bool:
    if _LABEL.match(sentence):
        return True
    if not _is_statement(sentence) or not _names_a_choice(sentence):
        return False
    # Few sentences choose anything: what speaks against it is searched in those alone.
    return not (_OPEN.search(sentence) or _STEP.search(sentence))


def _names_a_choice(sentence: str) -> bool:
    if _CHOSEN.search(sentence.lower()):
        return True
    does = _DOES.search(sentence)
    if _TURNED_DOWN.search(sentence, does.end() if does else 0):
        return does is not None or _ORDERS.match(sentence) is not None
    first = _REASON_FIRST.match(sentence)
    if does is None or sentence.endswith(":"):
        return False
    if first:
        return _DOES.search(sentence, first.end()) is not None
    return _REASON.search(sentence, does.end()) is not None


def _user_chose(sentence: str, *, plain_only: bool) -> bool:
    if _LABEL.match(sentence):
        return True
    if not _is_statement(sentence) or not _is_wish(sentence, plain_only=plain_only):
        return False
    return not (_OPEN.search(sentence) or _ASKED_ABOUT.search(sentence))


def _is_wish(sentence: str, *, plain_only: bool) -> bool:
    if _USER_CHOSE.search(sentence.lower()) or plain_only:
        return _USER_CHOSE.search(sentence.lower()) is not None
    if _USER_SHORT.match(sentence) and len(sentence.split()) <= _SHORT_ORDER:
        return True
    rejects = _TURNED_DOWN.search(sentence) or REJECTED_BY_USER.search(sentence)
    return rejects is not None and _USER_WANTS.search(sentence, 0, rejects.start()) is not None


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
    choice, reason = _split_reason(plain)
    if plain.endswith("because:") or (not reason and _REASON_NEXT.match(following)):
        reason = following
    choice = choice.strip(" ,;:-—(")
    if len(choice) >= MIN_CHOICE_CHARS and not _UNFINISHED.search(choice):
        yield StatedChoice(at, clip_choice(choice), clip_choice(reason.strip(" ,;:-—")), by)


def _split_reason(sentence: str) -> tuple[str, str]:
    """Return the choice and the reason of a sentence, word for word."""
    first = _REASON_FIRST.match(sentence)
    if first:
        return sentence[first.end() :], first[1]
    does = _DOES.search(sentence) or _CHOSEN.search(sentence)
    reason = _REASON.search(sentence, does.end() if does else 0)
    if reason is None:
        return sentence, ""
    return sentence[: reason.start()], sentence[reason.end() :]
