"""Settings are the fields of the policy: their names, kinds, defaults and choices."""

from msgspec import Struct
from msgspec.inspect import IntType, StrType, StructType, VarTupleType, type_info

from holdfast.core.plan.policy import Policy
from holdfast.project.settings import DEFAULTS, SETTINGS, choices_of

KINDS: dict[type, type] = {IntType: int, StrType: str, VarTupleType: tuple}


def declared(section: type[Struct], prefix: str = "") -> dict[str, object]:
    """The kind of every field of a section and of those in it, as its type says."""
    found: dict[str, object] = {}
    info = type_info(section)
    assert isinstance(info, StructType)
    for field in info.fields:
        kind = getattr(field.type, "type", field.type)
        if isinstance(kind, StructType):
            found |= declared(kind.cls, f"{prefix}{field.name}.")
        elif type(kind) in KINDS:
            found[prefix + field.name] = KINDS[type(kind)]
    return found


def test_every_field_of_the_policy_is_a_setting_of_the_kind_that_its_type_says() -> None:
    assert list(SETTINGS.items()) == list(declared(Policy).items())


def test_a_default_is_one_of_the_words_that_a_setting_takes() -> None:
    limited = {name: choices for name in SETTINGS if (choices := choices_of(name)) is not None}
    assert len(limited) == 14
    for name, choices in limited.items():
        value = DEFAULTS[name]
        words = value if isinstance(value, tuple) else (value,)
        assert set(words) <= set(choices), name
