"""A worker starts: it is told how to ask for what it lacks, and how to report what it lacked."""

from holdfast.surfaces.hooks.event import NOTHING, Happened, Reply
from holdfast.surfaces.hooks.session import policy_of

PROTOCOL = """\
Your task may begin with a context packet: decisions in it are made (do not decide them again), and
constraints hold exactly. Something is missing: ask context_query before you decide it yourself.
End your answer with what you lacked and what you did not need, in these words (leave lists empty
where nothing was missing):

```yaml
context_gaps: []
context_unused: []
outcome: done
```"""


def answer(happened: Happened) -> Reply:
    """Tell the protocol to a worker that somebody handed a task to."""
    if not happened.worker or policy_of(happened).packets.generate != "on":
        return NOTHING
    return Reply(context=PROTOCOL)
