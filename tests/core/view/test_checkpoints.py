"""What two checkpoints differ in."""

from msgspec.structs import replace

from holdfast.core.ledger.entry import Checkpointed, Entry
from holdfast.core.ledger.summary import Constraint, File, Next, Progress, Quote, Summary
from holdfast.core.view.checkpoints import (
    SectionChange,
    checkpoint_row,
    render_changes,
    section_changes,
)
from tests.core.view.goldens import RICH


def taken(seq: int, summary: Summary) -> Entry:
    body = Checkpointed(summary, upto=seq - 1, trigger="asked for", tokens=100 * seq, limit=9_000)
    return Entry(f"{seq:012x}".ljust(32, "0"), None, body, seq)


def test_a_difference_names_what_came_what_went_and_nothing_else() -> None:
    newer = replace(
        RICH,
        intent=replace(RICH.intent, current=Quote("Now ship it.", "ab" * 16)),
        constraints=(*RICH.constraints, Constraint("Ship on Friday.", "ab" * 16)),
        files=(*RICH.files, File("ship.py", "created")),
        progress=Progress(phase="shipping", tests="3 passed"),
        next=(Next("Tag the release", "ab" * 16),),
    )
    found = {one.section: one for one in section_changes(RICH, newer)}
    assert found["current request"].added == ("Now ship it.",)
    assert found["constraints"] == SectionChange("constraints", added=("Ship on Friday.",))
    assert found["files changed"].added == ("ship.py (created)",)
    assert found["next steps"].added == ("Tag the release",)
    assert found["phase"] == SectionChange("phase", ("shipping",), (RICH.progress.phase,))
    assert {"request", "decisions", "errors", "files read"}.isdisjoint(found)


def test_a_constraint_that_was_lifted_since_is_gone() -> None:
    rule = Constraint("Use XML.", "ab" * 16)
    gone = replace(rule, lifted="cd" * 16)
    assert section_changes(Summary(constraints=(rule,)), Summary(constraints=(gone,))) == (
        SectionChange("constraints", gone=("Use XML.",)),
    )


def test_a_difference_reads_as_rows_that_went_and_came() -> None:
    old, new = taken(3, Summary(next=(Next("Look", "ab" * 16),))), taken(8, Summary())
    assert isinstance(old.body, Checkpointed)
    assert isinstance(new.body, Checkpointed)
    found = section_changes(old.body.summary, new.body.summary)
    assert render_changes(checkpoint_row(old), checkpoint_row(new), found).split("\n") == [
        "## Checkpoint 000000000003 → 000000000008",
        "+5 entries, window 300 → 800 tokens",
        "",
        "### Next steps",
        "- Look",
    ]
    same = render_changes(checkpoint_row(old), checkpoint_row(old), ())
    assert same.endswith("Nothing changed")
