import pytest

from holdfast.errors import BadSetting
from holdfast.models.tokenizers import CHUNK_CHARS, VOCABULARIES, counter, split_for_counting


@pytest.mark.parametrize(
    ("vocabulary", "text", "tokens"),
    [
        ("o200k_base", "", 0),
        ("o200k_base", "hello world", 2),
        ("cl100k_base", "hello world", 2),
        ("cl100k_base", "tiktoken is great!", 6),
        ("o200k_base", "tiktoken is great!", 6),
        ("cl100k_base", "antidisestablishmentarianism", 6),
        ("o200k_base", "antidisestablishmentarianism", 6),
        ("cl100k_base", "2 + 2 = 4", 7),
        ("o200k_base", "2 + 2 = 4", 7),
        ("cl100k_base", "お誕生日おめでとう", 9),
        ("o200k_base", "お誕生日おめでとう", 8),
    ],
)
def test_counts_are_those_the_vocabulary_is_known_for(
    vocabulary: str, text: str, tokens: int
) -> None:
    assert counter(vocabulary)(text) == tokens


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_words_that_mean_something_to_a_model_are_counted_as_plain_text(vocabulary: str) -> None:
    assert counter(vocabulary)("<|endoftext|>") > 1


@pytest.mark.parametrize(
    "line", ["def f(x):\n    return {x: 1}\n", "plain words in a row ", "a,b;c}\n\nd\n", "é中 ab\n"]
)
def test_a_long_text_has_the_tokens_of_its_parts_put_together(line: str) -> None:
    import splintr

    text = line * (CHUNK_CHARS * 2 // len(line) + 7)
    whole = len(splintr.Tokenizer.from_pretrained("o200k_base").encode_ordinary(text))
    assert counter("o200k_base")(text) == whole


@pytest.mark.parametrize("text", ["x" * (CHUNK_CHARS * 2 + 5), "word " * CHUNK_CHARS, "", "short"])
def test_a_long_text_is_cut_without_losing_a_character(text: str) -> None:
    parts = split_for_counting(text)
    assert "".join(parts) == text
    assert max(len(part) for part in [*parts, ""]) <= CHUNK_CHARS


def test_a_vocabulary_nobody_has_is_refused() -> None:
    with pytest.raises(BadSetting) as caught:
        counter("klingon")
    assert (caught.value.name, caught.value.origin) == ("vocabulary", "model")
