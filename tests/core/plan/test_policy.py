import msgspec
import pytest

from holdfast.core.plan.policy import NeverStore, Policy


def test_a_policy_says_nothing_until_the_user_does() -> None:
    assert Policy() == Policy("", 0, 0, "", NeverStore((), (), ()))


def test_a_policy_is_read_by_name() -> None:
    given = {"model": "m", "window": 9, "never_store": {"tools": ["secret_*"]}}
    assert msgspec.convert(given, Policy) == Policy(
        model="m", window=9, never_store=NeverStore(tools=("secret_*",))
    )


@pytest.mark.parametrize("given", [{"modle": "m"}, {"never_store": {"tool": []}}, {"window": "9"}])
def test_a_policy_with_a_name_or_value_that_cannot_be_meant_is_refused(
    given: dict[str, object],
) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(given, Policy)
    assert caught.value.args != ()
