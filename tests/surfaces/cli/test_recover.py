import re
from hashlib import sha256
from pathlib import Path

import pytest

from holdfast.errors import NotRecorded
from tests.input.making import coded, line, run
from tests.surfaces.cli.commands import document, done, invoke
from tests.surfaces.cli.working import FIRST, NEEDLE, recorded

FENCE = re.compile(r"^--- data ([0-9a-f]{6}): (.*) ---\n(.*?)\n--- end \1 ---$", re.S | re.M)


@pytest.fixture
def compressed(project: Path) -> Path:
    """A project whose session was compressed, what is looked for with it."""
    recorded(project)
    done("compress", "--budget", "4000")
    return project


@pytest.mark.seed("R214")
@pytest.mark.usefixtures("compressed")
def test_what_left_the_window_is_found_again_by_its_words() -> None:
    out = done("recover", NEEDLE.upper())
    (found,) = document("recover", NEEDLE.upper())["excerpts"]
    ((token, head, text),) = FENCE.findall(out)
    assert NEEDLE in text
    assert (found["text"], found["role"], found["turn"], found["hidden"]) == (text, "tool", 4, True)
    assert token == sha256(text.encode()).hexdigest()[:6]
    assert head == f"ref {found['ref']}, tool, step 4, lines 59-66 of 120, out of sight"


@pytest.mark.usefixtures("compressed")
def test_the_best_answer_comes_first() -> None:
    found = document("recover", "export", "--limit", "50", "--budget", "100000")["excerpts"]
    scores = [one["score"] for one in found]
    assert (len(found) > 1, scores) == (True, sorted(scores, reverse=True))


def test_other_sessions_are_searched_when_asked_for(project: Path) -> None:
    for name, words in (("one", "the lantern is red"), ("two", "the lantern is green")):
        (project / f"{name}.jsonl").write_bytes(line({"role": "user", "content": words}))
        done("ingest", f"{name}.jsonl")
    assert len(document("recover", "lantern")["excerpts"]) == 1
    for scope in ("--project", "--all"):
        found = document("recover", "lantern", scope)["excerpts"]
        assert {one["session"] for one in found} == {"one", "two"}
        assert "session one" in done("recover", "lantern", scope)


@pytest.mark.usefixtures("compressed")
def test_words_that_stand_apart_are_found_in_the_entry_that_holds_them_all() -> None:
    found = document("recover", "schema nightly")["excerpts"]
    assert [one["text"] for one in found] == [FIRST]


@pytest.mark.usefixtures("compressed")
def test_limit_and_budget_bound_what_is_shown() -> None:
    assert len(document("recover", "rows", "--limit", "2")["excerpts"]) == 2
    few = document("recover", "rows", "--limit", "50", "--budget", "300")["excerpts"]
    assert 1 <= len(few) < 5


@pytest.mark.usefixtures("compressed")
def test_an_entry_is_read_by_its_reference_and_by_lines() -> None:
    (hit,) = document("recover", NEEDLE)["excerpts"]
    (part,) = document("recover", "--ref", hit["ref"], "--lines", "61-61")["excerpts"]
    assert (part["text"].strip().startswith(NEEDLE), part["first"], part["last"]) == (True, 61, 61)
    assert document("recover", "--ref", hit["ref"], "--lines", "61")["excerpts"] == [part]
    (rest,) = document("recover", "--ref", hit["ref"], "--lines", "119-")["excerpts"]
    assert (rest["first"], rest["last"]) == (119, 120)


@pytest.mark.usefixtures("compressed")
def test_a_long_entry_is_cut_at_the_budget_and_says_how_to_read_on() -> None:
    (hit,) = document("recover", NEEDLE)["excerpts"]
    result = invoke("recover", "--ref", hit["ref"], "--budget", "500")
    ((_, head, text),) = FENCE.findall(result.stdout)
    last = text.count("\n") + 1
    assert f"lines 1-{last} of 120" in head
    assert f"--lines {last + 1}-120" in result.stderr
    refused = invoke("recover", "--ref", hit["ref"], "--budget", "5")
    assert isinstance(refused.exception, NotRecorded)


@pytest.mark.usefixtures("compressed")
def test_what_is_nowhere_is_refused() -> None:
    for arguments in (("zeppelin zzyzx",), ("--ref", "ffffffff")):
        result = invoke("recover", *arguments)
        assert isinstance(result.exception, NotRecorded)
    for empty in (("",), (" ",), ("--ref", "")):
        refused = invoke("recover", *empty)
        assert (refused.exit_code, "it is empty" in refused.output) == (2, True)
    (hit,) = document("recover", NEEDLE)["excerpts"]
    beyond = invoke("recover", "--ref", hit["ref"], "--lines", "500-600")
    assert isinstance(beyond.exception, NotRecorded)


@pytest.mark.usefixtures("compressed")
@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("word", "--ref", "123456"),
        ("word", "--lines", "1-2"),
        ("--ref", "123456", "--lines", "9-2"),
        ("--ref", "123456", "--lines", "x"),
        ("--ref", "123456", "--lines", "0-2"),
        ("--ref", "123456", "--project"),
        ("--ref", "123456", "--all"),
    ],
    ids=" ".join,
)
def test_bad_usage_is_told_of(arguments: tuple[str, ...]) -> None:
    assert invoke("recover", *arguments).exit_code == 2


def test_a_long_line_is_cut_around_what_was_looked_for(project: Path) -> None:
    (project / "s.jsonl").write_bytes(
        line({"role": "user", "content": "a" * 900 + "KEY" + "b" * 900})
    )
    done("ingest", "s.jsonl")
    (found,) = document("recover", "key")["excerpts"]
    assert ("KEY" in found["text"], len(found["text"]) < 300) == (True, True)
    assert (found["text"][0], found["text"][-1]) == ("…", "…")


def test_the_words_of_a_sub_agent_are_found_with_its_name(project: Path) -> None:
    side = {**coded("the aside says lighthouse", 0), "isSidechain": True, "agentId": "a1"}
    (project / "s.jsonl").write_bytes(line(coded("main", 0)) + line(side))
    done("ingest", "s.jsonl")
    (found,) = document("recover", "lighthouse")["excerpts"]
    assert (found["agent"], found["hidden"]) == ("a1", False)
    ran = run("recover", "lighthouse", cwd=project)
    assert (ran.code, ran.err, "agent a1" in ran.out) == (0, "", True)
