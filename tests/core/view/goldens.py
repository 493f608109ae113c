"""Every written form of one invented summary, and of an empty one, kept byte for byte.

`python -m tests.core.view.goldens` writes them anew.
"""

from pathlib import Path

from holdfast.core.ledger.summary import (
    Constraint,
    Decision,
    Error,
    Fact,
    File,
    Intent,
    Next,
    Progress,
    Quote,
    Ref,
    Summary,
)
from holdfast.core.view.forms import FORMS, render_form

FOLDER = Path(__file__).parent / "golden"
SESSION, TASK = "seedbank-7", "SB-41"
ARCHIVE = ".holdfast/cache/conversations/seedbank-7_full.md"


def named(number: int) -> str:
    """An entry of the invented session."""
    return f"{number:02x}5eedba2c91".ljust(32, "0")


RICH = Summary(
    intent=Intent(
        original=Quote(
            "Build the germination log for the seed bank:\n"
            "\n"
            "### API\n"
            "- POST /trials stores a trial\n"
            "- GET /trials/{id} gives it back",
            named(1),
        ),
        current=Quote("Good. Now the weekly report, as CSV.", named(40)),
        changes=(Quote("Actually, drop the XML export.", named(18)),),
    ),
    constraints=(
        Constraint("Never write to the table accessions.", named(1), negative=True),
        Constraint("Temperatures are in °C, one decimal.", named(1)),
        Constraint("Keep the public API as it is.", named(2), by="system"),
        Constraint("Use XML for the export.", named(3), lifted=named(18)),
    ),
    words=(
        Quote("The bench scales are off by 0.2 g | see the label.", named(9)),
        Quote("Two things:\n1. the lab closes at 18:00\n2. Ines has the key", named(22)),
    ),
    files=(
        File("src/trials/store.py", "created", named(12), "class TrialStore; def save(trial)"),
        File("docs/api.md", "read", named(5), lines=((1, 80), (120, 160)), why="to see the routes"),
        File(
            "src/trials/routes.py",
            "modified",
            named(30),
            "def post_trial(body: dict | None) -> Response, +31 −4",
            partial=True,
        ),
        File("src/export_xml.py", "deleted", named(19), "the XML export"),
        File("src/trials/report.py", "renamed", named(41), was="src/report.py"),
        File("config/lab | bench.toml", "read", named(6)),
    ),
    decisions=(
        Decision("SQLite, one file per season", named(10), "the lab has no server"),
        Decision("No XML", named(18), by="user", overrules=named(3)),
        Decision('"trial_no" is text: it has leading zeros', named(25), "07 and 7 differ"),
    ),
    facts=(
        Fact("bench.toml: max_batch = 384", named(7), "content", 1, 0.15, named(1)),
        Fact("store.py: def save(self) -> int:", named(13), "content", 2, 0.3, named(1)),
        Fact("store.py: class Trial(Struct, frozen=True):", named(13), "content", 3, 0.3, named(1)),
        Fact("schema.sql: CREATE TABLE trials (no TEXT)", named(14), "content", 4, 0.15, named(9)),
        Fact('routes.py: @app.post("/trials")', named(29), "content", 5, 0.3, named(22)),
        Fact("$ pytest tests/test_routes.py → failed", named(33), "ran", 6, 1.3, named(22)),
        Fact("A temperature is rounded twice in routes.py.", named(34), "said", 7, 1.6, named(22)),
        Fact("Let me write the report.", named(41), "said", 8, 0.2, named(40)),
        Fact("The freezer is unit F-12.", "", "", 0, 1),
    ),
    state=(
        Quote("git branch: trials", named(30)),
        Quote("last run of $ pytest → failed: 11 passed, 1 failed", named(33)),
    ),
    errors=(
        Error(
            "Traceback (most recent call last):\n"
            '  File "store.py", line 21, in save\n'
            "sqlite3.OperationalError: database is locked",
            named(15),
            "pytest tests/test_store.py",
            named(17),
        ),
        Error(
            "E   AssertionError: 21.5 != 21.50\nE   at test_routes.py:88",
            named(33),
            "pytest tests/test_routes.py",
        ),
    ),
    progress=Progress(
        "implementing",
        ("store", "POST /trials"),
        ("GET /trials/{id}", "weekly report", "docs"),
        "11 passed, 1 failed",
        named(42),
    ),
    next=(
        Next("Round temperatures in GET /trials/{id}", named(42), status="in_progress"),
        Next("Write the weekly report as CSV", named(42)),
        Next("Send the key of the bench computer", named(43), owner="user"),
    ),
    questions=(Quote("Does the week start on Monday?", named(44)),),
    refs=(
        Ref(named(8), "Bash find / -name '*.db'", 18_400),
        Ref(named(16), "Read src/legacy/importer.py", 9_120),
    ),
    revision=3,
    hidden=212,
    saved=104_233,
    at="2031-04-02T09:15:00Z",
)  # fmt: skip
SUMMARIES = {"rich": RICH, "empty": Summary()}


def made() -> dict[str, str]:
    """Every form of each summary, by the name of its file."""
    return {
        f"{form}_{name}.md": _made(summary, form, name)
        for form in FORMS
        for name, summary in SUMMARIES.items()
    }


def _made(summary: Summary, form: str, name: str) -> str:
    if name == "empty":
        return render_form(summary, form) + "\n"
    return render_form(summary, form, session=SESSION, task=TASK, archive=ARCHIVE) + "\n"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in made().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
