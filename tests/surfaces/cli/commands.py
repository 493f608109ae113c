"""Short ways to run commands in this process."""

import json
from typing import Any

from click.testing import CliRunner, Result

from holdfast.surfaces.cli.main import cli


def invoke(*arguments: str) -> Result:
    """A command in this process; what it raises stays in the result."""
    return CliRunner().invoke(cli, list(arguments))


def done(*arguments: str) -> str:
    """What a command that succeeds prints."""
    result = invoke(*arguments)
    assert (result.exit_code, result.exception) == (0, None)
    return result.stdout


def document(*arguments: str) -> dict[str, Any]:
    """The document of a command that was asked for JSON."""
    return json.loads(done(*arguments, "--json"))
