import pytest

from holdfast.core.ledger.marks import is_stand_in


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("[holdfast 0123456789ab] Bash result out of sight: 3 lines", True),
        ("## Offloaded: Bash Result\n**Path:** x\n**Ref:** 0123456789ab\n", True),
        ("## Tool Call: Write\n**Ref:** 0123456789ab\n", True),
        ("## Offloaded: Bash Result\n**Path:** x\n", False),
        ("## Tool Call: how to make one\n", False),
        ("He said: [holdfast 0123456789ab]", False),
        ("## Offloaded: " + "x" * 700 + "\n**Ref:** 0123456789ab", False),
        ("", False),
    ],
)
def test_a_stand_in_is_known_by_how_it_begins(text: str, ours: bool) -> None:
    assert is_stand_in(text) is ours
