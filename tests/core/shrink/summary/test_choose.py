from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core.observe.moments.moment import Moment
from holdfast.core.shrink.summary.choose import choose, words_of_moment
from tests.core.building import named, words
from tests.examples import examples

TEXTS = (
    "The parser drops rows with an empty date.",
    "edited src/parser.py +3 −1: def parse_rows(text):",
    "$ pytest -q → 12 passed",
    "The invoices are sorted by customer.",
    "The parser drops rows with an empty date, and rows without a customer.",
)
POOL = [Moment("said", text, named(at), turn=named(0)) for at, text in enumerate(TEXTS, 1)]


def texts(chosen: tuple[Moment, ...]) -> list[str]:
    return [moment.text for moment in chosen]


def test_with_room_for_all_every_moment_is_chosen_in_its_order() -> None:
    assert texts(choose(POOL, 1_000, count=words)) == list(TEXTS)


def test_without_room_nothing_is_chosen() -> None:
    assert choose(POOL, 0, count=words) == ()


def test_a_text_that_came_twice_is_chosen_once() -> None:
    assert texts(choose([*POOL, *POOL], 1_000, count=words)) == list(TEXTS)


def test_a_text_that_came_twice_is_where_it_came_last() -> None:
    again = Moment("ran", TEXTS[2], named(9), turn=named(8))
    chosen = choose([*POOL, again], 1_000, count=words)
    assert chosen[-1] == again


def test_many_texts_take_about_their_room() -> None:
    pool = [Moment("said", f"Row {n} of table {n * 7} was kept.", named(n)) for n in range(1, 400)]
    taken = sum(words(text) for text in texts(choose(pool, 600, count=words)))
    assert 150 < taken <= 600


def test_words_that_only_outputs_have_are_worth_less() -> None:
    seen = Moment("content", "rows.py:5: def load_rows(path)", named(6), turn=named(0))
    other = Moment("content", "plan.py:5: def make_plan(path)", named(7), turn=named(0))
    used = Moment("said", "The fix goes into load_rows.", named(8), turn=named(0))
    assert seen in choose([other, seen, used], 22, count=words)
    assert other not in choose([other, seen, used], 22, count=words)


def test_a_text_that_must_be_there_is_taken_before_better_ones() -> None:
    must = frozenset({"The invoices are sorted by customer."})
    assert texts(choose(POOL, 40, count=words, must=must)).count(*must) == 1


def test_what_the_reader_sees_anyway_is_taken_last() -> None:
    seen = words_of_moment(TEXTS[0])
    first = texts(choose(POOL, 24, count=words, covered=seen))
    assert TEXTS[0] not in first


def test_words_like_those_of_the_focus_are_worth_more() -> None:
    plain = texts(choose(POOL, 22, count=words))
    about = texts(choose(POOL, 22, count=words, focus="what did pytest say, was it passed"))
    assert TEXTS[2] not in plain
    assert TEXTS[2] in about


def test_words_with_a_factor_are_worth_more() -> None:
    factors = dict.fromkeys(words_of_moment(TEXTS[2]), 9.0)
    assert TEXTS[2] in texts(choose(POOL, 22, count=words, factors=factors))


def test_a_text_without_spaces_has_its_pairs_of_signs_as_words() -> None:
    assert words_of_moment("数据库迁移 in src/db.py") == (
        "in",
        "src/db.py",
        "数据",
        "据库",
        "库迁",
        "迁移",
    )


moments = st.lists(
    st.builds(
        Moment,
        st.just("said"),
        st.text("ab/_ 1数据", min_size=1, max_size=40),
        st.integers(1, 9).map(named),
        st.sampled_from((0.2, 1.0, 1.6)),
        st.integers(1, 3).map(named),
    ),
    max_size=30,
)


@settings(max_examples=examples(200))
@given(moments, st.integers(0, 200))
def test_a_choice_keeps_its_room_its_order_and_its_moments(pool: list[Moment], room: int) -> None:
    chosen = choose(pool, room, count=words)
    assert sum(words(moment.text) for moment in chosen) <= room
    last = {moment.text: at for at, moment in enumerate(pool)}
    assert list(chosen) == [pool[at] for at in sorted(last.values()) if pool[at] in chosen]
    assert choose(list(pool), room, count=words) == chosen
