"""One table in somebody's TOML file: put in and taken out, and nothing else is touched."""

from pathlib import Path

import pytest

from holdfast.errors import Unreadable
from holdfast.surfaces.install.plan import edit_bytes
from holdfast.surfaces.install.toml import NotToml, table_at, with_table, without_table

NAME = "mcp_servers.holdfast"
VALUES = {"command": "/opt/it's \\here/holdfast", "args": ["mcp"], "startup_timeout_sec": 20}
THEIRS = """\
# mine, by hand
model = "gpt-5.5"   # the good one

[mcp_servers.other]
command = "other"
text = '''
[mcp_servers.holdfast]
'''
"""


@pytest.mark.parametrize("text", ["", "\n", THEIRS, THEIRS.rstrip(), THEIRS.replace("\n", "\r\n")])
def test_a_table_that_was_put_in_can_be_read_and_what_was_there_still_begins_the_text(
    text: str,
) -> None:
    made = with_table(text, NAME, VALUES)
    assert table_at(made, NAME) == VALUES
    assert made.startswith(text)
    assert with_table(made, NAME, VALUES) == made


def test_taking_it_out_leaves_what_others_wrote_since() -> None:
    made = with_table("a = 1\n", NAME, VALUES) + '\n[notice]\nhide = true # "mine"\n'
    assert without_table(made, NAME) == 'a = 1\n\n[notice]\nhide = true # "mine"\n'
    assert without_table(with_table("a = 1\n", NAME, VALUES), NAME) == "a = 1\n"


def test_another_value_replaces_the_one_that_was_there() -> None:
    made = with_table(with_table("a = 1\n", NAME, VALUES), NAME, {"command": "new"})
    assert table_at(made, NAME) == {"command": "new"}
    assert made.count("[mcp_servers.holdfast]") == 1


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = {holdfast = {command = "inline"}}\n',
        '[mcp_servers]\nholdfast.command = "dotted"\n',
        '[mcp_servers."holdfast"]\ncommand = "quoted"\n',
        "this is no toml [\n",
    ],
)
def test_what_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(NotToml):
        with_table(text, NAME, VALUES)


def test_a_file_that_is_no_text_is_refused_by_its_name() -> None:
    with pytest.raises(Unreadable):
        edit_bytes(Path("config.toml"), b"\xff\xfe", lambda text: text)
