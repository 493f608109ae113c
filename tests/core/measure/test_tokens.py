import pytest

from holdfast.core.ledger.entry import (
    Attached,
    Media,
    Opaque,
    Said,
    Source,
    Thought,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.ledger.size import max_tokens, media_tokens
from holdfast.core.measure.tokens import count_body, tokens_from_bytes
from holdfast.models.tokenizers import counter

PICTURE = Media("image", width=170, height=85)


@pytest.mark.parametrize(
    ("media", "tokens"),
    [
        (PICTURE, 7 * 4),
        (Media("image", width=28, height=28), 1),
        (Media("image", width=29, height=28), 2),
        (Media("image", width=8_000, height=8_000), 1_568),
        (Media("image", width=0, height=50), 1_600),
        (Media("image"), 1_600),
        (Media("document", size=50_000), 2_500),
        (Media("audio", size=19), 0),
    ],
)
def test_pictures_count_by_their_size_and_documents_by_their_bytes(
    media: Media, tokens: int
) -> None:
    assert media_tokens(media) == tokens


@pytest.mark.parametrize(
    ("body", "tokens"),
    [
        (Said("user", "a b c"), 5),
        (Said("user", ""), 0),
        (Thought("abc", "a long seal"), 3),
        (ToolCalled("c", "read", "{}"), 6),
        (ToolReturned("c", "abc", media=(PICTURE, PICTURE)), 3 + 56),
        (Attached("user", PICTURE), 28),
        (Opaque("user", "odd", "[1]"), 3),
    ],
)
def test_a_body_counts_as_its_words_and_its_pictures(body: Source, tokens: int) -> None:
    assert count_body(body, len) == tokens


@pytest.mark.parametrize(
    "body",
    [
        Said("user", "é\U0001f600 words and words"),
        ToolCalled("c", "read", '{"a":1}'),
        ToolReturned("c", "\u4e2d\u6587", media=(PICTURE,)),
        Attached("user", PICTURE),
    ],
)
def test_no_body_has_more_tokens_than_its_bytes_and_pictures(body: Source) -> None:
    assert count_body(body, counter("o200k_base")) <= max_tokens(body)


def test_text_nobody_counted_is_taken_for_three_and_a_half_bytes_a_token() -> None:
    assert [tokens_from_bytes(size) for size in (0, 7, 3_500)] == [0, 2, 1_000]
