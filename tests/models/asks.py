"""Questions to ask of models in tests."""

from collections.abc import Generator

from holdfast.core.asking import Answer, Ask, Failed

ASK = Ask("Be brief.", "What is it?", {"type": "object"}, 100)


def asking(times: int = 1) -> Generator[Ask, Answer | Failed, list[Answer | Failed]]:
    """A computation that asks so often and gives back all it was sent."""
    replies: list[Answer | Failed] = []
    for _ in range(times):
        replies.append((yield ASK))
    return replies
