"""The program lets us compact: our summary stands for what was in sight, and no model is asked.

One message takes the place of everything: nothing older is sent again, so that no signature can be
broken. What the agent was just doing follows as text, because its calls and results go as well.
"""

from holdfast.core.ledger.marks import SUMMARY
from holdfast.surfaces.hooks.event import Happened, Reply, Shown
from holdfast.surfaces.hooks.events.before_compaction import secure
from holdfast.surfaces.hooks.session import followed, has_record, opened

ANCHORED = "anchored"
"""The note that our own summary was put in sight."""
BUDGET = 4_000
"""Tokens of the summary."""
LATEST = 6_000
"""Characters of what was said and done last."""
EACH = 1_500
NOT_SAID = ("<system-reminder>", "<local-command", "<command-name>", SUMMARY)
"""How texts begin that nobody said just now."""
GOES_ON = "Go on with the work from here; do not ask what it was about."


def answer(happened: Happened) -> Reply:
    """Give the summary that stands for everything."""
    with opened(happened) as session:
        followed(happened, session)
        if happened.lane or not has_record(session):
            return Reply()
        secure(session)
        told = str(session.summary(BUDGET))
        session.note(ANCHORED, trigger=happened.source)
    latest = _latest(happened.messages)
    asked = (
        f"\n\nThe user asked of this compaction: {happened.instructions}"
        if (happened.instructions)
        else ""
    )
    return Reply(anchor=f"{told}{asked}\n\n{latest}{GOES_ON}")


def _latest(messages: tuple[Shown, ...]) -> str:
    """The last messages as text, from the user's last words on, as far as there is room."""
    lines: list[str] = []
    room = LATEST
    for one in reversed(messages):
        text = _cut(one.text.strip())
        if not text or text.startswith(NOT_SAID):
            continue
        line = f"[{one.role}] {text}"
        room -= len(line)
        if room < 0:
            break
        lines.append(line)
    return "Latest, as it was said:\n" + "\n\n".join(reversed(lines)) + "\n\n" if lines else ""


def _cut(text: str) -> str:
    if len(text) <= EACH:
        return text
    half = EACH // 2
    return f"{text[:half]}\n[… {len(text) - EACH:,} characters …]\n{text[-half:]}"
