import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

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
from holdfast.core.observe.moments.moment import Moment
from holdfast.core.shrink.summary.text import is_summary, read_summary, write_summary
from holdfast.core.view.forms import FORMS, render_form, summary_object
from holdfast.errors import BadSetting
from tests.core.view.goldens import ARCHIVE, FOLDER, RICH, SESSION, TASK, made

A, B = "3fa9c1e2b4d0" + "1" * 20, "77aa00bb11cc" + "2" * 20
TITLE = re.compile(r"^#{2,3} .*$", re.MULTILINE)


def titles(text: str) -> list[str]:
    """The headings outside of fences."""
    bare = re.sub(r"(?ms)^(`{3,})text\n.*?^\1$", "", text)
    return [line.lstrip("# ") for line in TITLE.findall(bare)]


@pytest.mark.seed("R067", "R078", "R080", "R109", "R189", "R191")
@pytest.mark.parametrize("name", made())
def test_a_form_is_what_it_was(name: str) -> None:
    assert made()[name] == (FOLDER / name).read_text(encoding="utf-8")


def test_every_golden_is_of_a_form_that_there_is() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(made())


def test_the_form_of_the_protocol_is_the_one_that_stands_in_the_window() -> None:
    shown = render_form(RICH, "ctx-001", session="s")
    assert shown == write_summary(RICH, session="s", frame="whole")


def test_no_other_form_is_taken_for_the_one_in_the_window() -> None:
    others = [render_form(RICH, form, session="s") for form in FORMS if form != "ctx-001"]
    assert [text for text in others if is_summary(text) or read_summary(text) is not None] == []


def test_a_form_that_there_is_not_is_refused() -> None:
    with pytest.raises(BadSetting) as caught:
        render_form(RICH, "haiku")
    assert caught.value.name == "form"


@pytest.mark.seed("R067", "R068", "R069", "R070", "R071", "R072", "R073", "R074", "R078")
def test_the_skills_form_has_the_sections_of_its_template_in_their_order() -> None:
    text = render_form(RICH, "lar-033", session=SESSION, archive=ARCHIVE)
    assert titles(text) == [
        "Session Summary [seedbank-7]",
        "Session Intent",
        "Artifacts Created",
        "Key Decisions",
        "Current Progress",
        "Critical Facts",
        "Next Steps",
        "Recovery References",
    ]
    assert f"- Full conversation: {ARCHIVE}" in text


@pytest.mark.seed("R080", "R081", "R082", "R083", "R084", "R085", "R086", "R087", "R196")
def test_the_anchored_form_has_the_sections_of_its_template_in_their_order() -> None:
    assert titles(render_form(RICH, "anchored", task=TASK)) == [
        "Session Summary — SB-41",
        "Session Intent",
        "Files Modified",
        "Files Read (Not Modified)",
        "Decisions Made",
        "Current State",
        "Next Steps",
        "Error Context (if any)",
    ]


@pytest.mark.seed("R085")
def test_the_state_counts_the_steps_and_says_when_nothing_is_in_the_way() -> None:
    now = Progress("build", ("login", "logout"), ("reset",), "12 unit, 4 integration passing")
    assert (
        "### Current State\n"
        "- build\n"
        "- 2/3 steps done (done: login, logout; pending: reset)\n"
        "- 12 unit, 4 integration passing\n"
        "- No blockers\n"
    ) in render_form(Summary(progress=now), "anchored")


@pytest.mark.seed("R087")
def test_a_blocker_is_named_in_the_state_and_told_among_the_errors() -> None:
    text = render_form(Summary(errors=(Error("no REDIS_URL", A, "make"),)), "anchored")
    assert "- Blocker: 1 open error, see below" in text
    assert "- [3fa9c1e2, open] make → no REDIS_URL" in text


@pytest.mark.seed("R109")
def test_notes_are_session_continuity_and_the_decision_log() -> None:
    text = render_form(RICH, "notes", session=SESSION, task=TASK)
    assert [line for line in text.split("\n") if line.startswith("## ")] == [
        "## Session Continuity",
        "## Decision Log",
    ]
    assert "| SQLite, one file per season | the lab has no server | agent |" in text


WORDS = [quote.text for quote in (RICH.intent.original, RICH.intent.current, *RICH.intent.changes)]
HELD = [one.text for one in RICH.constraints if not one.lifted]


@pytest.mark.seed("R068", "R081")
@pytest.mark.parametrize("form", ["ctx-001", "lar-033", "anchored", "notes", "checkpoint"])
def test_the_requests_and_the_constraints_stand_word_for_word(form: str) -> None:
    text = render_form(RICH, form)
    assert [words for words in WORDS + HELD if words not in text] == []
    taken_back = "taken back by 125eedba] Use XML for the export."
    assert ("Use XML for the export." in text) == (form == "ctx-001") == (taken_back in text)


@pytest.mark.seed("R197")
@pytest.mark.parametrize("form", FORMS.keys() - {"lar-033", "planning"})
def test_no_path_is_left_out_or_shortened(form: str) -> None:
    text = render_form(RICH, form).replace(r"\|", "|")
    assert [file.path for file in RICH.files if file.path not in text] == []


@pytest.mark.parametrize("form", FORMS)
def test_a_section_with_nothing_in_it_says_so(form: str) -> None:
    parts = render_form(Summary(), form).split("\n\n### ")[1:]
    filled = ("Active Context\n", "Recovery References\n- Full", "Resume\n")
    bare = [part.split("\n\n## ")[0] for part in parts if not part.startswith(filled)]
    assert len(bare) >= 4
    assert [part for part in bare if part.split("\n")[1:] != ["None"]] == []


forged = st.text("`#\n\r- a|\u2028", max_size=20).map(
    lambda text: f"{text}\n## Forged\n### Forged\n"
)


@given(forged, st.sampled_from(sorted(FORMS.keys() - {"ctx-001"})))
@example("##\n## Forged\n### Forged\n", "research")
def test_no_text_starts_a_section(text: str, form: str) -> None:
    quote = Quote(text, A)
    told = Summary(
        Intent(quote, Quote(text + "!", B), (quote,)),
        (Constraint(text, A),),
        (quote,),
        (File(text, "modified", A, text, was=text), File(text, "read", A, why=text)),
        (Decision(text, A, text, overrules=B),),
        (Fact(text, A, text), Fact(f"x.py: def f(): {text}", A, "content")),
        (Error(text, A, text), Error(text, A, text, B)),
        Progress(text, (text,), (text,), text),
        (Next(text, A, status=text),),
        (quote,),
        (Ref(A, text),),
        at=text,
    )
    found = titles(render_form(told, form, session=text, task=text, archive=text))
    plain = titles(render_form(RICH, form, session="s", task="t"))
    assert found[1:] == plain[1:]


def test_a_fence_is_longer_than_any_in_the_words() -> None:
    said = "look:\n````\n```\ncode"
    text = render_form(Summary(Intent(Quote(said, A))), "anchored")
    assert f"`````text\n{said}\n`````\n" in text


def many(count: int) -> Summary:
    return Summary(
        Intent(Quote("word " * 5_000, A), Quote("now " * 300, B)),
        (Constraint("Never write to accessions.", A, negative=True),),
        files=tuple(File(f"src/part_{n}.py", "read", A, why="to see it") for n in range(count)),
        decisions=(Decision("No XML", B, by="user"),),
        facts=tuple(
            fact
            for n in range(count)
            for fact in (
                Fact(f"parts.py: def part_{n}(first: int, second: str) -> None:", A, "content"),
                Fact(f"The part number {n} reads the table of year{n}.", A, "said", worth=1),
            )
        ),
    )


@pytest.mark.seed("R190", "R192")
@pytest.mark.parametrize(("form", "most"), [("research", 1_000), ("planning", 2_000)])
@pytest.mark.parametrize("count", [0, 10, 700])
def test_a_phase_form_keeps_within_its_words(form: str, most: int, count: int) -> None:
    text = render_form(many(count), form, archive=ARCHIVE)
    assert len(text.split()) <= most
    if count == 700:
        assert len(text.split()) > most * 0.9
        assert f"more not shown; all are in {ARCHIVE}" in text


@pytest.mark.seed("R189", "R190")
def test_what_is_left_out_is_counted_and_what_binds_is_not_left_out() -> None:
    text = render_form(many(700), "research")
    shown = len(re.findall(r"(?m)^- src/part_\d+", text))
    assert f"- {700 - shown} more not shown; all are in `holdfast recover WORDS`" in text
    assert "- Never write to accessions." in text
    assert "- No XML (user)" in text
    assert "(4,850 more words: `holdfast recover --ref 3fa9c1e2`)" in text


@pytest.mark.seed("R189")
def test_no_kind_of_row_crowds_out_another() -> None:
    text = render_form(many(700), "research")
    assert text.count("- src/part_") > 30
    assert text.count("- The part number ") > 15


@pytest.mark.seed("R189")
def test_findings_are_sentences_and_neither_code_nor_commands_nor_announcements() -> None:
    findings = render_form(RICH, "research").partition("### Key Findings\n")[2]
    findings = findings.partition("\n\n###")[0]
    assert "- A temperature is rounded twice in routes.py. [225eedba]" in findings
    assert [
        text for text in ("def save", "$ pytest tests/test_routes", "Let me") if text in findings
    ] == []


@pytest.mark.seed("R190")
def test_a_research_form_of_a_short_session_is_short() -> None:
    assert len(render_form(RICH, "research").split()) < 250


@pytest.mark.seed("R191")
def test_a_contract_is_quoted_as_the_request_writes_it() -> None:
    asked = "Build it:\n- POST /login returns {token, expires_in}\n- `def rotate(key: Key) -> None`"
    text = render_form(Summary(Intent(Quote(asked, A))), "planning")
    assert "- `POST /login returns {token, expires_in}` ([3fa9c1e2])" in text
    assert "- `def rotate(key: Key) -> None` ([3fa9c1e2])" in text


def test_a_form_chooses_among_all_moments_if_it_gets_them() -> None:
    moments = [Moment("content", "api.ts: export function sign(key: Key): Token {", A, 0.3)]
    text = render_form(RICH, "planning", moments=moments)
    assert "- `export function sign(key: Key): Token {` (api.ts)" in text
    assert "def save(self" not in text


def planned(*lines: str) -> dict[str, list[str]]:
    facts = tuple(Fact(f"notes.md: {line}", A, "content") for line in lines)
    parts = render_form(Summary(facts=facts), "planning").split("\n\n### ")[2:]
    rows = {part.split("\n")[0]: part.split("\n")[1:] for part in parts}
    return {title: [row[3:].split("` (")[0] for row in found] for title, found in rows.items()}


NOTHING = {
    "Function Signatures": ["e"],
    "Type Definitions": ["e"],
    "API Contracts": ["e"],
    "Data Models": ["e"],
}


@pytest.mark.seed("R191")
@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("Function Signatures", "def save(self, trial: Trial) -> int:"),
        ("Function Signatures", "async def save(trial):"),
        ("Function Signatures", "func (s *Store) Save(t Trial) error {"),
        ("Function Signatures", "pub fn save<T>(t: T) -> u64 {"),
        ("Function Signatures", "export function save(t: Trial): number {"),
        ("Function Signatures", "export const save = async (t: Trial): Promise<void> => {"),
        ("Function Signatures", "public static int save(Trial t) {"),
        ("Type Definitions", "class Trial(Struct, frozen=True):"),
        ("Type Definitions", "export interface Trial {"),
        ("Type Definitions", "type Trial struct {"),
        ("Type Definitions", "export type Id = string | number"),
        ("Type Definitions", "pub enum Level {"),
        ("Type Definitions", 'Row = TypedDict("Row", {"no": str})'),
        ("API Contracts", "POST /trials stores a trial"),
        ("API Contracts", '@app.get("/trials/{id}")'),
        ("API Contracts", "router.delete('/trials/:id', remove)"),
        ("API Contracts", '@GetMapping("/trials")'),
        ("API Contracts", "rpc GetTrial(Id) returns (Trial);"),
        ("Data Models", "CREATE TABLE trials (no TEXT PRIMARY KEY)"),
        ("Data Models", "create unique index by_no on trials(no)"),
        ("Data Models", "no: Mapped[str] = mapped_column(primary_key=True)"),
        ("Data Models", "model Trial {"),
    ],
)
def test_a_specification_knows_a_definition_by_its_line(title: str, line: str) -> None:
    assert planned(line) == {**NOTHING, title: [line]}


@pytest.mark.seed("R191")
@pytest.mark.parametrize(
    "line",
    ["the class of 2031", "what type of seed", "He will get there", "save(trial)", "x = f(), 2"],
)
def test_prose_and_calls_are_no_definitions(line: str) -> None:
    assert planned(line) == NOTHING


@pytest.mark.seed("R191")
def test_a_specification_has_no_tests_and_no_function_twice() -> None:
    facts = tuple(
        Fact(f"a.ts: {line}", A, "content")
        for line in ("function load(key: Key): Row {", "def test_load(row):", "class TestLoad:")
    )
    files = (File("src/a.ts", "modified", A, "Load, load(); +31 −4"),)
    text = render_form(Summary(files=files, facts=facts), "planning")
    assert re.findall("(?m)^- .*", text) == ["- `function load(key: Key): Row {` (a.ts)"]


@pytest.mark.seed("R191")
def test_functions_that_a_change_names_are_in_the_specification() -> None:
    files = (File("src/a.ts", "modified", A, "Load, save(), find(); +31 −4"),)
    assert "- `Load, save(), find()` (src/a.ts)" in render_form(Summary(files=files), "planning")


@pytest.mark.seed("R076")
def test_the_object_has_the_keys_of_the_protocol_in_plain_values() -> None:
    summary = Summary(
        Intent(Quote("Build it.", A), changes=(Quote("No XML.", B),)),
        (Constraint("Be kind.", A), Constraint("Use XML.", A, lifted=B)),
        files=(File("a.py", "created", A, "class A", partial=True), File("b.py", "read", A)),
        decisions=(Decision("SQLite", A, "small"),),
        progress=Progress("build", ("a",), ("b",), "1 passed"),
        next=(Next("Test", A),),
        at="2031-04-02T09:15:00Z",
    )
    found = summary_object(summary, "s-1")
    assert json.loads(json.dumps(found)) == found
    assert found == {
        "session_id": "s-1",
        "generated": "2031-04-02T09:15:00Z",
        "intent": {
            "original": "Build it.",
            "current": "Build it.",
            "scope_changes": ["No XML."],
            "constraints": ["Be kind."],
        },
        "artifacts": [
            {"path": "a.py", "action": "created", "status": "Partial", "what_changed": "class A"}
        ],
        "decisions": [
            {"decision": "SQLite", "rationale": "small", "by": "agent", "ref": "3fa9c1e2"}
        ],
        "progress": {
            "phase": "build",
            "completed": ["a"],
            "remaining": ["b"],
            "tests": "1 passed",
        },
        "next_steps": [{"step": "Test", "owner": "agent", "status": "pending"}],
        "recovery_refs": {
            "full_conversation": "cache/conversations/s-1_full.md",
            "offloaded": "cache/offloaded/",
            "checkpoints": "cache/checkpoints/",
        },
    }


@pytest.mark.seed("R076")
def test_the_object_names_the_folder_that_the_archive_is_in() -> None:
    assert summary_object(Summary(), "s", archive=ARCHIVE)["recovery_refs"] == {
        "full_conversation": ARCHIVE,
        "offloaded": ".holdfast/cache/offloaded/",
        "checkpoints": ".holdfast/cache/checkpoints/",
    }


def test_a_checkpoint_shows_what_was_said_last_whole_and_the_rest_by_its_beginning() -> None:
    said = tuple(Quote(f"number {number}: " + "word " * 1_000, A) for number in range(100))
    page = render_form(Summary(words=(*said, Quote("and mind the gap", B))), "checkpoint")
    assert "and mind the gap" in page
    assert said[-1].text.strip() in page
    assert said[0].text not in page
    assert all(f"number {number}: " in page for number in range(100))
    assert "(5,010 characters)" in page
    assert len(page) < 40_000
