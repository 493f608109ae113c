from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.entry import Source
from holdfast.core.observe.moments.state import merge_state, state_key, state_of
from tests.core.building import ask, back, bash, call, scene


def ran(*runs: tuple[str, str]) -> list[Source]:
    """Commands with their outputs."""
    bodies: list[Source] = []
    for number, (command, output) in enumerate(runs):
        bodies += [bash(f"c{number}", command), back(f"c{number}", output)]
    return bodies


def rows(*bodies: Source) -> list[str]:
    """The state after some calls."""
    return [row.text for row in state_of(scene(ask("Go"), *bodies))]


def edited(name: str, path: str) -> list[Source]:
    """An edit of a file."""
    made = call(name, "Edit", file_path=path, old_string="x", new_string="y")
    return [made, back(name, "The file has been updated.")]


@pytest.mark.parametrize(
    ("command", "output", "branch"),
    [
        ("git checkout -b fix/x", "", "fix/x"),
        ("git switch -c fix/x origin/main", "", "fix/x"),
        ("git checkout main", "Switched to branch 'main'", "main"),
        ("git status", "On branch main\nnothing to commit", "main"),
        ("git status -sb", "## fix/x...origin/fix/x [ahead 1]", "fix/x"),
        ("git branch", "  main\n* fix/x", "fix/x"),
        ("git branch --show-current", "fix/x\n", "fix/x"),
        ("git rev-parse --abbrev-ref HEAD", "fix/x", "fix/x"),
        ("git rev-parse --abbrev-ref HEAD", "HEAD", ""),
        ("git checkout a.py", "Updated 1 path", ""),
        ("cat notes", "On branch main", ""),
        ("git checkout -b fix/x", "fatal: a branch named 'fix/x' already exists", ""),
    ],
)
def test_the_branch_is_the_one_that_git_names(command: str, output: str, branch: str) -> None:
    found = [row for row in rows(*ran((command, output))) if row.startswith("git branch")]
    assert found == ([f"git branch: {branch}"] if branch else [])


@pytest.mark.parametrize(
    ("command", "output", "found"),
    [
        (
            "git add -A && git commit -m 'Fix it'",
            "lint ok\n[feat/x (root-commit) 0a1b2c3d] Fix it\n 2 files changed",
            ["git branch: feat/x", "commit 0a1b2c3d on feat/x: Fix it"],
        ),
        (
            "git push -u origin fix/x",
            "remote: hi\nTo github.com:o/r.git\n * [new branch]      fix/x -> fix/x",
            ["git branch: fix/x", "pushed: fix/x"],
        ),
        ("git push origin HEAD:main", "   1a2b3c4..5d6e7f8  HEAD -> main", ["pushed: main"]),
        (
            "gh pr create --title x --body y",
            "https://github.com/o/r/pull/13",
            ["pr 13: create https://github.com/o/r/pull/13"],
        ),
        (
            "gh pr create --head fix/x --fill",
            "https://github.com/o/r/pull/14",
            ["git branch: fix/x", "pr 14: create https://github.com/o/r/pull/14"],
        ),
        ("git pull origin main", "Already up to date.", []),
        ("gh pr view 13", "https://github.com/o/r/pull/13", []),
        ("git log", "[1/3] b", []),
        ("cat notes", "[main aaaaaaa] commit", []),
    ],
)
def test_git_is_believed_in_what_it_answers(command: str, output: str, found: list[str]) -> None:
    assert rows(*ran((command, output))) == found


def test_what_failed_or_was_refused_was_not_done() -> None:
    refused = back("a", "The user doesn't want to proceed with this tool use.")
    assert rows(bash("a", "git push origin x"), refused) == []
    assert rows(bash("a", "git push origin x"), back("a", "rejected", failed=True)) == []


def test_an_amended_commit_replaces_the_one_before() -> None:
    found = rows(
        *ran(
            ("git commit -m a", "[main aaaaaaa] a"),
            ("git commit -m b", "[main bbbbbbb] b"),
            ("git commit --amend --no-edit", "[main ccccccc] b"),
        )
    )
    assert found == ["git branch: main", "commit aaaaaaa on main: a", "commit ccccccc on main: b"]


def test_a_rebase_is_stopped_until_it_is_finished_or_given_up() -> None:
    conflict = (
        "git rebase main",
        "CONFLICT (content): Merge conflict in src/a.go\nerror: could not",
    )
    assert rows(*ran(conflict)) == ["git rebase: stopped at conflicts in a.go"]
    finished = ("git rebase --continue", "Successfully rebased and updated refs/heads/x.")
    assert rows(*ran(conflict, finished)) == ["git branch: x", "git rebase: finished"]
    assert rows(*ran(conflict, ("git rebase --abort", ""))) == ["git rebase: given up"]


def test_files_are_open_until_they_are_committed_and_checked() -> None:
    edits = [*edited("a", "/r/a.py"), *edited("b", "/r/b.py")]
    assert rows(*edits) == ["not committed: a.py, b.py", "not checked: a.py, b.py"]
    test, commit = ("pytest", "5 passed in 1.2s"), ("git commit -am x", "[main aaaaaaa] x")
    passed = "last run of pytest: 5 passed in 1.2s"
    assert rows(*edits, *ran(test)) == ["not committed: a.py, b.py", passed]
    after = rows(*edits, *ran(test, commit), *edited("c", "/r/c.py"))
    assert after[2:] == ["not committed: c.py", "not checked: c.py", passed]


def test_a_commit_ends_a_merge_that_stopped_at_conflicts() -> None:
    stopped = ("git merge x", "CONFLICT (content): Merge conflict in src/a.go\nfailed")
    commit = ("git commit --no-edit", "[main aaaaaaa] Merge branch 'x'")
    assert rows(*ran(stopped)) == ["git merge: stopped at conflicts in a.go"]
    ended = ["git branch: main", "commit aaaaaaa on main: Merge branch 'x'"]
    assert rows(*ran(stopped, commit)) == ended
    parts = (state_of(scene(ask("Go"), *ran(one))) for one in (stopped, commit))
    assert [row.text for row in merge_state(*parts)] == ended


def test_a_file_that_git_restored_waits_for_nothing() -> None:
    edits = [*edited("a", "/r/a.py"), *edited("b", "/r/b.py")]
    restored = rows(*edits, *ran(("git checkout -- /r/a.py", "")))
    assert restored == ["not committed: b.py", "not checked: b.py"]


def test_prose_is_never_waiting_for_a_check() -> None:
    assert rows(*edited("a", "notes.md")) == ["not committed: notes.md"]


def test_a_quiet_commit_commits_the_files() -> None:
    edits = edited("a", "a.py")
    assert rows(*edits, *ran(("git commit -qam x", ""))) == ["not checked: a.py"]


def test_a_stash_is_put_aside_until_it_is_applied() -> None:
    stash = ("git stash", "Saved working directory and index state WIP on main: 1a2b3c4 x")
    assert rows(*ran(stash)) == ["git stash: changes put aside"]
    assert rows(*ran(stash, ("git stash pop", "Dropped refs/stash@{0}"))) == ["git stash: applied"]
    assert rows(*ran(("git stash", "No local changes to save"))) == []
    assert rows(*ran(("git stash list", ""))) == []


def test_of_two_files_of_one_name_the_folder_is_shown() -> None:
    edits = [*edited("a", "/r/x/a.py"), *edited("b", "/r/y/a.py")]
    assert rows(*edits)[0] == "not committed: x/a.py, y/a.py"


def test_the_last_run_of_each_check_is_kept() -> None:
    found = rows(
        *ran(
            ("uv run pytest -q", "1 failed, 4 passed in 1.2s"),
            ("npm run lint", "src/a.ts: ok"),
            ("cd r && pytest tests/", "5 passed in 1.2s"),
            ("pnpm --filter web test", "3 passed (1.2s)"),
            ("ls", "a"),
        )
    )
    assert found == [
        "last run of npm run lint: src/a.ts: ok",
        "last run of pytest: $ pytest tests/ → 5 passed in 1.2s",
        "last run of pnpm test: $ pnpm --filter web test → 3 passed (1.2s)",
    ]


def test_a_run_of_everything_replaces_the_runs_of_parts() -> None:
    part = ("go test -run TestX ./a", "ok  \tpkg\t0.1s")
    found = rows(*ran(part, ("mise run test:ci", "ok  \tpkg\t0.1s\nok  \tother\t0.1s")))
    assert found == ["last run of mise run test:ci: 2 packages ok, 0 FAIL"]


PARTS: st.SearchStrategy[list[Source]] = st.sampled_from(
    [
        ran(("pytest", "5 passed in 1.2s")),
        ran(("npm run lint", "error: bad")),
        ran(("git commit -m x", "[main aaaaaaa] x")),
        ran(("git commit -m y", "[fix bbbbbbb] y")),
        ran(("git checkout -b fix", "")),
        edited("a", "a.py"),
        edited("b", "src/b.py"),
    ]
)


@given(st.lists(PARTS, max_size=6), st.lists(PARTS, max_size=6))
def test_the_states_of_two_parts_merge_into_that_of_the_whole(
    first: list[list[Source]], second: list[list[Source]]
) -> None:
    older, newer = [[*chain.from_iterable(part)] for part in (first, second)]
    merged = merge_state(state_of(scene(ask("Go"), *older)), state_of(scene(ask("Go"), *newer)))
    whole = state_of(scene(ask("Go"), *older, *newer))
    assert sorted(map(state_key, merged)) == sorted(map(state_key, whole))
    lists = ("not committed", "not checked")
    shown = {row.text for row in merged if state_key(row) not in lists}
    assert shown == {row.text for row in whole if state_key(row) not in lists}
    for key in lists:
        names = [
            {name for row in some if state_key(row) == key for name in row.text[len(key) :].split()}
            for some in (merged, whole)
        ]
        assert {name.strip(",:") for name in names[0]} == {name.strip(",:") for name in names[1]}
