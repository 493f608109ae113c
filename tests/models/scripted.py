"""A model that says what it was told to say: for tests and for trying things out."""

from collections.abc import Iterable

from holdfast.core.asking import Answer, Ask, Failed
from holdfast.models.drive import AskFn


def scripted(replies: Iterable[Answer | Failed | str], *, asked: list[Ask] | None = None) -> AskFn:
    """Answers in order; what it was asked is put into `asked`."""
    waiting = iter(replies)

    def ask(question: Ask, seconds: float) -> Answer | Failed:
        del seconds
        if asked is not None:
            asked.append(question)
        reply = next(waiting, Failed("the script has no more answers"))
        return Answer(reply, "scripted") if isinstance(reply, str) else reply

    return ask
