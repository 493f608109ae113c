"""What is written for people is true: pages follow from the code, links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tools.reference import PAGES, pages

import holdfast
from holdfast.project.settings import SETTINGS, variable
from holdfast.surfaces.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
MARKDOWN = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("name", pages())
def test_a_reference_page_says_what_the_code_says(name: str) -> None:
    assert (PAGES / name).read_text() == pages()[name]


@pytest.mark.parametrize("path", MARKDOWN, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path: Path) -> None:
    targets = [path.parent / target for target in LINK.findall(path.read_text())]
    assert [target for target in targets if not target.exists()] == []


def test_the_readme_is_read_in_a_minute_and_names_the_page_with_the_tree() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 140
    assert "](ARCHITECTURE.md)" in text


def test_every_command_is_documented() -> None:
    page = (PAGES / "cli.md").read_text()
    assert [name for name in COMMANDS if f"## holdfast {name}" not in page] == []


def test_every_setting_is_documented_with_its_variable() -> None:
    page = (PAGES / "settings.md").read_text()
    rows = [f"| `{name}` | `{variable(name)}` |" for name in SETTINGS]
    assert [row for row in rows if row not in page] == []


def test_every_public_name_is_documented() -> None:
    page = (PAGES / "python.md").read_text()
    assert [name for name in holdfast.__all__ if f"## holdfast.{name}\n" not in page] == []


def test_the_examples_of_the_readme_run_and_print_what_they_say(tmp_path: Path) -> None:
    example = "\n".join(PYTHON.findall((ROOT / "README.md").read_text()))
    ran = subprocess.run(
        [sys.executable, "-c", example],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    told = re.findall(r"^ *print\(.*\) +# (.*)$", example, re.MULTILINE)
    assert len(told) == 4
    assert ran.stdout.splitlines() == told


def test_the_readme_quotes_what_the_demo_prints(tmp_path: Path) -> None:
    session = str(ROOT / "examples" / "session" / "ledgerly.jsonl")
    commands = (
        ("replay", "--window", "100000", session),
        ("ingest", session),
        ("compress", "--window", "100000"),
        ("log",),
        ("undo",),
        ("compress", "--budget", "40000"),
        ("show", "--summary", "--form", "anchored"),
        ("undo",),
    )
    printed = "".join(
        subprocess.run(
            [sys.executable, "-m", "holdfast", "--root", str(tmp_path), *words],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for words in commands
    )
    quoted = (ROOT / "README.md").read_text().partition("and without:\n")[2]
    lines = [line.strip() for line in quoted.partition("Both need")[0].splitlines()]
    told = [line for line in lines if line and line != "every byte came back"]
    assert [line for line in told if line not in printed and not line.startswith("then ")] == []
