"""The public names: few, each there, and loaded only when used."""

import importlib
import subprocess
import sys

import pytest

import holdfast

PUBLIC = (
    "HoldfastError",
    "Ingested",
    "Level",
    "Policy",
    "Session",
    "Synced",
    "Usage",
    "ingest",
    "open",
)


def modules_after(statement: str) -> set[str]:
    """The modules that a fresh process has imported once it ran a statement."""
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


def test_the_public_names_are_these_and_about_a_dozen() -> None:
    assert set(PUBLIC) <= set(holdfast.__all__)
    assert sorted(holdfast.__all__) == list(holdfast.__all__)
    assert len(holdfast.__all__) <= 16


@pytest.mark.parametrize("name", holdfast.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    value = getattr(importlib.import_module("holdfast"), name)
    assert getattr(value, "__name__", name) == name


@pytest.mark.parametrize("name", holdfast.__all__)
def test_a_public_name_means_the_same_every_time_it_is_used(name: str) -> None:
    lines = f"import holdfast\nfirst = holdfast.{name}\nassert holdfast.{name} is first"
    assert "holdfast" in modules_after(lines)


def test_a_name_that_is_not_public_is_not_there() -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(holdfast, "no_such_name")  # noqa: B009 - the point is that it is not known
    assert caught.value.args != ()


def test_importing_holdfast_imports_nothing_of_it_and_nothing_heavy() -> None:
    bare, imported = modules_after("pass"), modules_after("import holdfast")
    assert sorted(imported - bare - {"typing"} - set(typing_needs())) == ["holdfast"]


def typing_needs() -> set[str]:
    """What the standard library itself imports for `typing`."""
    return modules_after("import typing") - modules_after("pass")
