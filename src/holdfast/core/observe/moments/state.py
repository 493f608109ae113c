"""Read the state of the work from the record: git, and the last run of each check.

Each row has a key before its first colon. The state of a later part of a session is merged with
that of the earlier part by these keys: see `merge_state`.
"""

from collections.abc import Container, Iterable, Iterator, Sequence

from holdfast.core.faults import row_rule, rule, rule_keeping
from holdfast.core.ledger.entry import EntryId, ToolCalled, ToolReturned
from holdfast.core.ledger.summary import Quote
from holdfast.core.observe.files.bash import commands_of
from holdfast.core.observe.files.commands import ShellState
from holdfast.core.observe.files.patches import FileAct
from holdfast.core.observe.files.shell import acts_of_script
from holdfast.core.observe.files.touch import Touch, acts_of_call, touch_of
from holdfast.core.observe.moments.moment import plain_line
from holdfast.core.observe.moments.printed import outcome_of
from holdfast.core.observe.moments.ran import shown_command
from holdfast.core.observe.results.checks import Check, checks_of, includes
from holdfast.core.observe.results.errors import without_cd
from holdfast.core.observe.results.failures import (
    call_failed,
    plain_output,
    was_stopped,
    whole_result_of,
)
from holdfast.core.observe.results.tests import counts_in
from holdfast.core.observe.scene import Pair, Scene
from holdfast.text.clip import clip_and_mark
from holdfast.text.patterns import Pattern

MAX_COMMITS, MAX_CHECKS, MAX_FILES = 8, 4, 8
MAX_SUBJECT_CHARS, MAX_CHECK_CHARS, MAX_OUTCOME_CHARS, MAX_PASSED_CHARS = 72, 80, 120, 60
BRANCH, PUSHED, NOT_COMMITTED, NOT_CHECKED = "git branch", "pushed", "not committed", "not checked"
COMMIT, LAST_RUN = "commit ", "last run of "
BETWEEN = ", "
STOPPED, ENDED_BY_COMMIT = "stopped at conflicts", ("git merge", "git cherry-pick", "git revert")
"""A rebase goes on after a commit."""
_PROSE = (".md", ".rst", ".txt", ".jsonl", ".log", ".lock")
"""Endings of files that no check reads."""
# `[main 1a2b3c4] Fix it`, `[main (root-commit) 1a2b3c4] Start`; but not `[1/3] Fetching`.
_COMMIT = Pattern(
    r"(?m)^\[([\w./-]{1,120})(?: \([a-z -]{1,20}\))? ([0-9a-f]{7,12})\] ([^\n]{1,160})"
)
# `On branch main`, `Switched to a new branch 'fix'`, `* main`; not `* a b`.
_BRANCH = Pattern(
    r"(?m)^(?:On branch |Switched to (?:a new )?branch '|Already on '"
    r"|Successfully rebased and updated refs/heads/|## (?=\S{1,120}(?:\.\.\.|$))"
    r"|\* (?=\S{1,120}$))([\w/-]{1,120}(?:\.[\w/-]{1,60}){0,4})"
)
# `fix/x`, `main`; not `HEAD` or `a.py:3`.
_NAME = Pattern(r"(?!HEAD$)[\w][\w./-]{0,119}")
# `CONFLICT (content): Merge conflict in src/a.go`; not `no conflicts`.
_CONFLICT = Pattern(r"(?m)^CONFLICT \([\w/ ]{1,40}\): [^\n]{0,120}?\bin (\S{1,200})")
_OPERATIONS = ("rebase", "merge", "cherry-pick", "revert", "pull")
# `https://github.com/o/r/pull/13`; not `https://github.com/o/r/pulls`.
_URL = Pattern(r"https://[^\s\"'<>]{1,120}/(pull|merge_requests|issues)/(\d{1,9})\b")
# `gh pr create`, `glab mr merge 13`; not `gh pr view 13`.
_HOSTED = Pattern(
    r"\b(?:gh|glab) (pr|mr|issue) (create|merge|close|reopen|comment|review)\b(?: (\d{1,9})\b)?"
)
# `gh pr create --head fix/x`; not `git rev-parse HEAD`.
_HEAD = Pattern(r"\s(?:--head|-H)[ =]([\w./-]{1,120})")
_STASHED = {"push": "changes put aside", "save": "changes put aside"} | dict.fromkeys(
    ("pop", "apply"), "applied"
)
_CREATES_BRANCH = {"checkout": ("-b", "-B"), "switch": ("-c", "-C", "--create")}


@rule(())
def state_of(scene: Scene) -> tuple[Quote, ...]:
    """Return branch, commits, what is not committed or checked, and the last run of each check."""
    reader = _StateReader()
    for pair in scene.pairs:
        body = whole_result_of(scene, pair)
        if body is not None and pair.result is not None and not was_stopped(body.output):
            reader.read(pair, body, scene.items[pair.result].entry.id)
    return tuple(reader.rows())


@rule_keeping(1)
def merge_state(
    known: Sequence[Quote], new: Sequence[Quote], gone: Container[str] = ()
) -> tuple[Quote, ...]:
    """Return the state after a later part of a session: newer rows replace those of their key.

    The lists of edited files do not name those in `gone`.
    """
    rows = {state_key(row): row for row in known}
    made = {state_key(row): row for row in new}
    if any(key.startswith(LAST_RUN) for key in made):
        rows.pop(NOT_CHECKED, None)
    if any(key.startswith(COMMIT) for key in made):
        rows.pop(NOT_COMMITTED, None)
        _end_conflicts(rows)
    for key in (NOT_COMMITTED, NOT_CHECKED):
        if key in rows and key in made:
            made[key] = _joined(key, rows[key], made[key])
        for known_rows in (rows, made):
            if key in known_rows:
                _leave_out(known_rows, key, gone)
    runs = [run for run in map(_check_in, made.values()) if run is not None]
    merged = [row for key, row in rows.items() if key not in made and not _is_included(row, runs)]
    return _limited((*merged, *made.values()))


def _is_included(row: Quote, later: Iterable[Check]) -> bool:
    """Return whether a row shows a check that one of the later runs made again."""
    check = _check_in(row)
    return check is not None and any(includes(run, check) for run in later)


def _check_in(row: Quote) -> Check | None:
    """Return the check that a row shows; None if it shows something else."""
    if not row.text.startswith(LAST_RUN):
        return None
    return next((check for check in checks_of(command_of_run(row)) if check.known), None)


def command_of_run(row: Quote) -> str:
    """Return the command of a row that shows the last run of a check."""
    name, _, rest = row.text.removeprefix(LAST_RUN).partition(": ")
    return rest.removeprefix("$ ").partition(" → ")[0] if rest.startswith("$ ") else name


def state_key(row: Quote) -> str:
    """Return the key of a row of the state: a newer row with the same key replaces it."""
    return row.text.partition(":")[0]


def state_by_need(rows: Sequence[Quote]) -> Sequence[int]:
    """Return the indexes of rows: the newest commit and check come before the older ones."""
    counts: dict[str, int] = {}
    ranks = dict[int, int]()
    for at in range(len(rows) - 1, -1, -1):
        kind = next((kind for kind in (COMMIT, LAST_RUN) if rows[at].text.startswith(kind)), "")
        ranks[at] = counts[kind] = counts.get(kind, -1) + 1 if kind else 0
    return sorted(range(len(rows)), key=lambda at: (ranks[at], at))


def _joined(key: str, old: Quote, new: Quote) -> Quote:
    names = (row.text.partition(": ")[2].split(BETWEEN) for row in (old, new))
    return _list_row(key, [name for part in names for name in part], new.entry)


def _end_conflicts(rows: dict[str, Quote]) -> None:
    """Leave out what stopped at conflicts before a commit: the commit ends it."""
    for key in ENDED_BY_COMMIT:
        if key in rows and STOPPED in rows[key].text:
            del rows[key]


def _leave_out(rows: dict[str, Quote], key: str, gone: Container[str]) -> None:
    row = rows[key]
    names = row.text.partition(": ")[2].split(BETWEEN)
    kept = [name for name in names if name.rpartition("/")[2] not in gone]
    if not kept:
        del rows[key]
    elif len(kept) < len(names):
        rows[key] = _list_row(key, kept, row.entry)


def _list_row(key: str, names: Sequence[str], entry: EntryId) -> Quote:
    return Quote(f"{key}: {BETWEEN.join(dict.fromkeys(names[-MAX_FILES:]))}", entry)


def _limited(rows: Sequence[Quote]) -> tuple[Quote, ...]:
    """Return the rows in the order of the head, with the newest commits and checks."""
    commits = [row for row in rows if row.text.startswith(COMMIT)]
    checks = [row for row in rows if row.text.startswith(LAST_RUN)]
    others = [row for row in rows if row not in commits and row not in checks]
    first = [row for row in others if state_key(row) == BRANCH]
    rest = [row for row in others if row not in first]
    return (*first, *commits[-MAX_COMMITS:], *rest, *checks[-MAX_CHECKS:])


class _StateReader:
    """State of one pass over the calls of a scene."""

    def __init__(self) -> None:
        self.branch = Quote()
        self.commits: dict[str, Quote] = {}
        self.others: dict[str, Quote] = {}
        self.checks: dict[Check, Quote] = {}
        self.edits: dict[str, dict[str, EntryId]] = {NOT_COMMITTED: {}, NOT_CHECKED: {}}

    def rows(self) -> tuple[Quote, ...]:
        """Return the rows of what was read."""
        named = [Quote(f"{BRANCH}: {self.branch.text}", self.branch.entry)]
        return _limited(
            (
                *(named if self.branch.text else ()),
                *self.commits.values(),
                *self.others.values(),
                *(
                    _list_row(key, _short_names(edits), list(edits.values())[-1])
                    for key, edits in self.edits.items()
                    if edits
                ),
                *self.checks.values(),
            )
        )

    def read(self, pair: Pair, body: ToolReturned, entry: EntryId) -> None:
        """Read one call with its result."""
        touch = touch_of(pair.body)
        failed = call_failed(touch, body)
        for act in _edits_in(pair.body, touch, body, failed=failed):
            for key, edits in self.edits.items():
                edits.pop(act.path, None)
                is_restored = act.verb == "restore"
                if not is_restored and (key == NOT_COMMITTED or not act.path.endswith(_PROSE)):
                    edits[act.path] = entry
        if touch.verb != "run":
            return
        self._read_git(touch.command, body, entry, failed=failed)
        known = (check for check in checks_of(touch.command) if check.known)
        if (check := next(known, None)) is not None:
            # A run of everything replaces the runs of parts.
            for other in [*self.checks]:
                if other.name == check.name or includes(check, other):
                    del self.checks[other]
            shown = _last_run(check.name, touch.command, body, failed=failed)
            self.checks[check] = Quote(shown, entry)
            self.edits[NOT_CHECKED].clear()

    def _read_git(self, command: str, body: ToolReturned, entry: EntryId, *, failed: bool) -> None:
        if git := list(_git_commands(command)):
            # Any other command may print what looks like a commit.
            output = plain_output(body.output)
            for name in _BRANCH.findall(output):
                self.branch = Quote(name, entry)
            for words in git:
                self._read_git_command(words, output, entry, failed=failed)
            if not failed:
                self._read_commits(command, output, entry)
        hosted = _HOSTED.search(command)
        if hosted and not failed:
            if (head := _HEAD.search(command)) and not self.branch.text:
                self._set_branch(head[1], entry)
            url = _URL.search(body.output)
            number = url[2] if url else hosted[3]
            if number:
                key = f"{hosted[1]} {number}"
                known = self.others.pop(key, Quote()).text.partition("https://")
                where = url[0] if url else "".join(known[1:])
                self.others[key] = Quote(f"{key}: {hosted[2]} {where}".strip(), entry)

    def _read_commits(self, command: str, output: str, entry: EntryId) -> None:
        for name, commit, subject in _COMMIT.findall(output):
            if "--amend" in command and self.commits:
                self.commits.popitem()
            if name != "detached":
                self.branch = Quote(name, entry)
            title = clip_and_mark(plain_line(subject), MAX_SUBJECT_CHARS)
            row = f"{COMMIT}{commit} on {name}: {title}"
            self.commits[commit] = Quote(row, entry)
            self.edits[NOT_COMMITTED].clear()
            _end_conflicts(self.others)

    def _read_git_command(
        self, words: Sequence[str], output: str, entry: EntryId, *, failed: bool
    ) -> None:
        name, arguments = words[0], words[1:]
        plain = [word for word in arguments if not word.startswith("-")]
        if name in _OPERATIONS:
            self._read_operation(name, arguments, output, entry, failed=failed)
        elif failed:
            return
        elif name in _CREATES_BRANCH and any(word in _CREATES_BRANCH[name] for word in arguments):
            self._set_branch(plain[0] if plain else "", entry)
        elif {"--show-current", "--abbrev-ref"} & {*arguments}:
            self._set_branch(output.strip(), entry)
        elif name == "commit":
            self.edits[NOT_COMMITTED].clear()
        elif name == "stash" and not output.startswith("No local changes"):
            if done := _STASHED.get(plain[0] if plain else "push"):
                self.others["git stash"] = Quote(f"git stash: {done}", entry)
        elif name == "push" and "--delete" not in arguments:
            target = plain[1].lstrip("+").rpartition(":")[2] if len(plain) > 1 else ""
            pushed = target if _NAME.fullmatch(target) else self.branch.text
            self.others[PUSHED] = Quote(f"{PUSHED}: {pushed or 'the branch'}", entry)
            if not self.branch.text and target and ":" not in plain[1]:
                self._set_branch(target, entry)

    def _set_branch(self, name: str, entry: EntryId) -> None:
        if _NAME.fullmatch(name):
            self.branch = Quote(name, entry)

    def _read_operation(
        self, name: str, arguments: Sequence[str], output: str, entry: EntryId, *, failed: bool
    ) -> None:
        """Set where a rebase or merge ended: at conflicts, given up, or finished."""
        key = f"git {name}"
        files = dict.fromkeys(_CONFLICT.findall(output))
        if files:
            self.others[key] = Quote(
                f"{key}: {STOPPED} in {BETWEEN.join(_short_names(files))}", entry
            )
        elif not failed and {"--abort", "--quit"} & {*arguments}:
            self.others[key] = Quote(f"{key}: given up", entry)
        elif not failed:
            onto = next((word for word in arguments if not word.startswith("-")), "")
            known = self.others.pop(key, None)
            if known or (onto and name != "pull"):
                done = f"finished {onto}".strip()
                self.others[key] = Quote(f"{key}: {done}", entry)


def _git_commands(command: str) -> Iterator[list[str]]:
    """Yield the words of each git command after `git` and its own options."""
    for part in commands_of(command):
        words = [word.text for word in part.words if not word.dynamic]
        if words[:1] != ["git"]:
            continue
        words = words[3:] if words[1:2] in (["-C"], ["-c"]) else words[1:]
        if words:
            yield words


@row_rule
def _edits_in(
    call: ToolCalled, touch: Touch, body: ToolReturned, *, failed: bool
) -> Iterator[FileAct]:
    shell = ShellState("", body.output, failed)
    if touch.command:
        acts = acts_of_script(touch.command, shell)
    else:
        acts = () if failed else acts_of_call(call, body.output)
    for act in acts:
        if act.verb not in ("read", "folder") and act.path and not act.path.startswith("/tmp/"):
            yield act


def _short_names(paths: Iterable[str]) -> list[str]:
    """Return the names of files; with the folder where two files have the same name."""
    whole = list(paths)
    names = [path.rpartition("/")[2] for path in whole]
    return [
        plain_line(name if names.count(name) == 1 else "/".join(path.split("/")[-2:]))
        for name, path in zip(names, whole, strict=True)
    ]


def _last_run(name: str, command: str, body: ToolReturned, *, failed: bool) -> str:
    shown = clip_and_mark(shown_command(without_cd(command)), MAX_CHECK_CHARS)
    counts = counts_in(body.output)
    most = MAX_OUTCOME_CHARS if failed else MAX_PASSED_CHARS
    outcome = plain_line(counts or clip_and_mark(outcome_of(body.output), most))
    run = "" if shown == name else f"$ {shown} → "
    return f"{LAST_RUN}{name}: {run}{'failed: ' if failed else ''}{outcome}"
