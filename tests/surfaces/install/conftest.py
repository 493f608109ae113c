"""The same folder and home that commands have in their tests."""

from tests.surfaces.cli.conftest import project

__all__ = ["project"]
