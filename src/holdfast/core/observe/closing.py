"""Find the texts with which the agent ended its turns, and sentences that report finished work."""

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import Said, ToolCalled
from holdfast.core.observe.scene import Scene
from holdfast.core.observe.sentences import own_words
from holdfast.text.patterns import Pattern


@rule([])
def closing_texts(scene: Scene) -> list[int]:
    """Return the indexes of the agent texts that ended a turn: the user spoke next, or no one did.

    Text that a program inserted as a user message, such as command output, does not end a turn.
    """
    found: list[int] = []
    ended = True
    for at in range(len(scene.items) - 1, -1, -1):
        match scene.items[at].body:
            case ToolCalled():
                ended = False
            case Said(role="user", by="", text=text):
                ended = bool(own_words(text))
            case Said(role="assistant", by="") if ended:
                found.append(at)
            case _:
                pass
    return found[::-1]


# Matches "I've added the lock." and "All 12 tests pass."; not "I've checked it."
_FINISHED = Pattern(
    r"(?i)^\W{0,6}(?:(?:all )?done[:.!,— -]"
    r"|(?:I['’]ve|I have|we['’]ve)(?: now| also| successfully)? (?!locat|examin|retriev|review"
    r"|check|look|notic|confirm|analy|explor|identif|reach|attach|provid|list|document)\w{2,20}ed\b"
    r"|(?:I['’]ve|I have)(?: now| also)? (?:built|written|made|set|run|put)\b"
    r"|(?:all )?(?:\d{1,5} )?tests (?:are )?(?:now )?pass(?:ing)?\b)"
)
# "Fixed the race.", "I updated the README."; not "Fixing the race". It may be about older work.
_PARTICIPLE = Pattern(
    r"(?i)^\W{0,6}(?:I )?(?:successfully )?(?:fixed|added|implemented|created|updated|removed"
    r"|renamed|refactored|moved|replaced|committed|pushed|merged|wrote|completed|resolved|converted"
    r"|deleted|extracted|rebased|released|published|replied|cancelled|booked)\b"
)
# "it has not been committed", "not yet"; not "nothing else".
_NOT_DONE = Pattern(r"(?i)\b(?:have|has|is|are|was|were|did|do)(?: not|n['’]t)\b|\bnot yet\b")
# "All done.", "Everything is in place", "All three steps are complete"; not "Step 1 is done".
_ALL_DONE = Pattern(
    r"(?i)^\W{0,6}(?:(?:all|everything)(?: [\w ]{1,30}?)? (?:is|are)(?: now| all)? "
    r"(?:done|complete[d]?|finished|implemented|in place)|all (?:done|set)|done)\b"
)
_SHORTEST = 10


def says_done(sentence: str, *, acted: bool) -> bool:
    """Return whether a sentence reports work; `acted` is whether the agent changed anything."""
    if len(sentence) <= _SHORTEST or sentence.endswith(("?", ":", ":**")):
        return False
    title = sentence.endswith("**") and sentence.count("**") % 2
    if title or _NOT_DONE.search(sentence):
        return False
    return bool(_FINISHED.match(sentence) or (acted and _PARTICIPLE.match(sentence)))


def says_all_done(sentence: str) -> bool:
    """Return whether a sentence reports that nothing is left to do."""
    return _ALL_DONE.match(sentence) is not None
