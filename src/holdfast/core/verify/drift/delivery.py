"""What has been delivered for a request: work made, checks passed, and what is still broken.

It is read off the calls and how they ended, never off what a text claims.
"""

import re

from msgspec import Struct

from holdfast.core.ledger.entry import Said, ToolReturned
from holdfast.core.observe.answered import PLANS, QUESTIONS
from holdfast.core.observe.artifacts import SEARCHES, Touch, plain_name, touch_of
from holdfast.core.observe.calls import Pair, Scene
from holdfast.core.observe.counts import counts_in
from holdfast.core.observe.failures import only_looks, result_of, went_wrong
from holdfast.core.observe.patches import SEARCH

_ASIDE = QUESTIONS | PLANS | SEARCHES
_LISTS = re.compile(r"todo|plan|task|think|skill|toolsearch|output|get_|list_|search|find_|fetch")
"""Tools that keep a list, think or look: calling one delivers nothing."""
_FAILS = re.compile(r"(?i)(?<![\d,])(?!0 )\d{1,7} (?:fail|error)|FAILED|\bfail [1-9]")
_OUTSIDE = re.compile(
    r"\b(?:git (?:commit|push|merge|rebase|tag|cherry-pick|apply|mv|rm)|gh (?:pr|issue|release)"
    r"|npm publish|docker push|mkdir|mv|cp|rm|chmod|tee|sed -i|patch|curl)\b|>{1,2} ?\w"
)
"""Commands that leave something behind."""


_CHECKS = re.compile(
    r"\b(?:tests?|pytest|jest|vitest|lint|build|check|tsc|mypy|pyright|ruff|vet|clippy|verify|cargo"
    r"|make|tox|eslint|compile|unittest|rspec|phpunit)\b"
)
"""Commands that tell whether the work holds."""


AN_ANSWER = 40
"""Words from which a text of the agent's can be an answer and not only a remark."""


class Delivered(Struct, frozen=True):
    """What a request has come to so far."""

    made: bool = False
    """Whether something was written, changed or done."""
    passed: bool = False
    """Whether a check went well after the last change."""
    failing: str = ""
    """What the newest check or command came to, when it went wrong and nothing changed since."""
    looking: bool = False
    """Whether the agent was only looking around when it was last seen."""
    answered: bool = False
    """Whether the agent has said enough since to be an answer."""


def delivered_since(scene: Scene, request: str) -> Delivered:
    """What was delivered after the entry of a request; from the beginning when it is not there."""
    start = next((at for at, item in enumerate(scene.items) if item.entry.id == request), -1)
    made = passed = looking = False
    failing = ""
    for pair in scene.pairs:
        body = result_of(scene, pair)
        if pair.call <= start or body is None:
            continue
        touch = touch_of(pair.body)
        bad = went_wrong(touch, body)
        looking = _looks(pair, touch)
        if looking:
            continue
        if touch.verb != "run" or _OUTSIDE.search(touch.command):
            made, failing = made or not bad, "" if not bad else failing
            continue
        counts = counts_in(body.output)
        failed = bad or bool(_FAILS.search(counts))
        passed = not failed and (passed or bool(counts) or bool(_CHECKS.search(touch.command)))
        failing = _line(touch, counts, body) if failed else ""
    said = [
        item.body.text
        for item in scene.items[start + 1 :]
        if isinstance(item.body, Said) and item.body.role == "assistant"
    ]
    edited = any(SEARCH in text for text in said)
    answered = any(len(text.split()) >= AN_ANSWER for text in said)
    return Delivered(made or edited, passed, failing, looking, answered)


def _looks(pair: Pair, touch: Touch) -> bool:
    """Whether a call only looks at something."""
    name = plain_name(pair.body.tool).rpartition(".")[2]
    if touch.verb in ("read", "search") or name in _ASIDE or _LISTS.search(name):
        return True
    return touch.verb == "run" and only_looks(touch.command)


def _line(touch: Touch, counts: str, body: ToolReturned) -> str:
    end = next((line for line in reversed(body.output[-2_000:].split("\n")) if line.strip()), "")
    return f"`{' '.join(touch.command.split())[:80]}`: {counts or end.strip()[:120]}"
