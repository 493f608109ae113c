"""A user's message with its pastes cut."""

import pytest

from holdfast.core.ledger.summary import Intent, Quote
from holdfast.core.shrink.clip_pastes import (
    IN_SUMMARY,
    ONE_LINE,
    PasteForm,
    cut_intent,
    cut_pastes,
    fit_request,
    keeps_users_words,
)
from holdfast.models.tokenizers import counter

COUNT = counter("o200k_base")
REF = "0123456789abcdef0123456789abcdef"
LOG = "".join(
    f"2026-03-01 12:00:{number % 60:02} {'ERROR' if number == 77 else 'INFO'} request {number}\n"
    for number in range(300)
)
TEXT = f"why is this slow?\n\n{LOG}\nDo not touch the database."
PROSE = "I want the import to be quick and to lose nothing.\n" * 60 + "Never change the schema.\n"


@pytest.mark.parametrize("form", [IN_SUMMARY, ONE_LINE])
def test_a_paste_gives_way_to_its_beginning_an_outline_and_a_reference(form: PasteForm) -> None:
    shown = cut_pastes(TEXT, REF, form)
    assert shown.startswith("why is this slow?\n\n[paste 0123456789ab] ")
    assert shown.endswith("\nDo not touch the database.")
    assert "300 lines, log" in shown
    assert len(shown) < len(TEXT) // 10
    assert ("│ 2026-03-01 12:00:00 INFO request 0" in shown) == (form == IN_SUMMARY)
    assert ("request 77" in shown) == (form == IN_SUMMARY)


def test_a_message_without_a_paste_is_the_same() -> None:
    assert cut_pastes(PROSE, REF, ONE_LINE) == PROSE


def test_what_was_cut_is_not_cut_again_and_can_still_get_smaller() -> None:
    once = cut_pastes(TEXT, REF, IN_SUMMARY)
    assert cut_pastes(once, "f" * 32, IN_SUMMARY) == once
    line = cut_pastes(once, "f" * 32, ONE_LINE)
    assert "[paste 0123456789ab] " in line
    assert "│" not in line
    assert line.endswith("\nDo not touch the database.")


@pytest.mark.parametrize("room", [60, 100, 200, 400, 2_000])
@pytest.mark.parametrize("text", [TEXT, PROSE, "x" * 80_000, "word " * 5_000, "語" * 9_000])
def test_a_message_fits_its_room_and_says_nothing_that_was_not_said(text: str, room: int) -> None:
    shown = fit_request(text, REF, room, COUNT)
    assert COUNT(shown) <= room
    assert keeps_users_words(text, shown)
    assert shown == text or REF[:12] in shown
    assert fit_request(shown, REF, room, COUNT) == shown


def test_a_long_request_keeps_its_beginning_and_the_sentences_that_bind() -> None:
    shown = fit_request(PROSE, REF, 120, COUNT)
    assert shown.startswith("I want the import to be quick")
    assert "\nNever change the schema.\n" in shown
    assert shown.endswith(f"[more {REF[:12]}] {len(PROSE):,} characters in all")


def test_words_that_are_missing_or_made_up_are_not_the_same() -> None:
    cut = cut_pastes(TEXT, REF, ONE_LINE)
    assert keeps_users_words(TEXT, cut)
    assert not keeps_users_words(TEXT, cut.replace("Do not touch", "Drop"))
    assert not keeps_users_words(TEXT, cut.replace("why is this slow?", ""))
    begun = fit_request(PROSE, REF, 100, COUNT)
    assert not keeps_users_words(PROSE, begun.replace("quick", "slow", 1))


def test_the_one_request_that_is_both_stays_one() -> None:
    both = Quote(TEXT, REF)
    cut = cut_intent(Intent(both, both))
    assert cut.current == cut.original
    assert cut.original.text == cut_pastes(TEXT, REF, IN_SUMMARY)
