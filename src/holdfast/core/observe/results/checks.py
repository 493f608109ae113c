"""Name the checks that a command runs (tests, lint, build); decide which run includes another."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.observe.files.bash import ASSIGNMENT, ShellCommand, commands_of
from holdfast.core.observe.results.failures import is_read_only
from holdfast.text.patterns import Pattern

# `test`, `lint:fix` and `runtests.py`, but not `latest`.
_CHECK_WORD = Pattern(
    r"(?:(?:unit|run)?tests?|check|lint|build|typecheck|vet|clippy|format|fmt|pytest|jest|vitest"
    r"|mocha|tsc|tsgo|eslint|ruff|mypy|pyright|basedpyright|prettier|biome|golangci-lint|make"
    r"|gradlew|mvn|tox|nox|rspec|phpunit|unittest)(?::\S{1,60}|\.py)?"
)
# `test:ci` and `pytest`, but not `lint`.
_TEST_WORD = Pattern(
    r"(?:(?:unit|run)?tests?|pytest|jest|vitest|mocha|rspec|phpunit|unittest|tox|nox|check)"
    r"(?::\S{1,60}|\.py)?"
)
# Words before the program: `uv run`, `npx`, `sudo`, `timeout 60`; not `npm run`.
_WRAPPER = Pattern(
    r"(?:(?:uv|poetry|pipenv|pdm|rye|hatch|pixi) run|(?:pnpm|yarn|bundle) exec|npx|bunx|sudo|time"
    r"|env|command|timeout \S{1,12}|python[\d.]{0,5} -m|python[\d.]{0,5}(?= \S{0,200}tests?\.py)) "
)
# Programs whose next word is a command: `go test`, `git commit`; not `pytest tests`.
_HAS_COMMANDS = Pattern(
    r"npm|pnpm|yarn|bun|deno|go|cargo|mise|make|just|task|git|gh|docker|dotnet|mvn|gradlew?|nx|turbo"
    r"|uv|bundle|rake|composer|swift|mix|ruff|biome|holdfast"
)
# Programs of which one command may run all checks: `make check`, `npm run ci`; not `ruff check`.
_RUNS_ALL = Pattern(
    r"npm|pnpm|yarn|bun|deno|mise|make|just|task|nx|turbo|rake|composer|mix|mvn|gradlew?|go|cargo"
    r"|dotnet|swift"
)
# Commands of git that are repeated with other arguments: `commit`, `rebase`; not `add`.
_GIT_RETRIED = Pattern(r"git (?:commit|push|pull|rebase|merge|cherry-pick|fetch)")
# Options whose value selects a part: `--filter=x`, `-k=x`; not `--tb=short`.
_SELECTS = Pattern(r"(?:-k|-m|-t|-p|-run|--run|--filter|--package|--test|--lib)=\S{0,300}")
# Programs that let through only a part of the output: `grep`, `wc`; not `tail`.
_FILTER = Pattern(r"e?grep|rg|sed|awk|sort|uniq|wc")
_SHOWS_ERRORS = Pattern(r"(?i)error|fail")
# Programs that prepare and prove nothing: `cd`, `rm`; not `make`.
_PREPARES = Pattern(r"cd|export|echo|sleep|pwd|true|set|source|rm|mkdir|printf|touch|kill|pkill")
_GIT_PREPARES = Pattern(r"add|status|stash|diff|log")

_EVERYTHING = ("./...", ".", "discover")
"""Arguments that select everything: of `go test`, of most programs, of `python -m unittest`."""
_ALL_CHECKS = (" check", " ci", " verify")
"""Endings of commands that also run linters and compilers."""


class Check(Struct, frozen=True):
    """One command that can fail or pass, and what its arguments select."""

    name: str
    targets: tuple[str, ...] = ()
    filtered: bool = False
    """Whether only a part of its output is printed, so that no error proves nothing."""

    @property
    def known(self) -> bool:
        """Whether it is a check of the work and not any other command."""
        return any(_CHECK_WORD.fullmatch(word) for word in self.name.split())

    @property
    def tests(self) -> bool:
        """Whether it runs tests."""
        return any(_TEST_WORD.fullmatch(word) for word in self.name.split())


@rule(())
def checks_of(command: str) -> tuple[Check, ...]:
    """Return the commands of a command line that can fail or pass, without preparations."""
    return tuple(_checks_of(commands_of(command[:2_000])))


def _checks_of(parts: Sequence[ShellCommand]) -> Iterator[Check]:
    for number, part in enumerate(parts):
        words = _bare_words(part)
        if not words or part.operator == "|" or _PREPARES.fullmatch(words[0]):
            continue
        if words[0] == "git" and len(words) > 1 and _GIT_PREPARES.fullmatch(words[1]):
            continue
        if is_read_only(" ".join(words)[:300]):
            continue
        name, rest = _split_name(words)
        targets = () if _GIT_RETRIED.fullmatch(name) else tuple(_targets(rest))
        yield Check(name, targets, _is_filtered(parts[number + 1 :]))


def _bare_words(part: ShellCommand) -> list[str]:
    texts = [word.text for word in part.words]
    while texts and ASSIGNMENT.match(texts[0]):
        texts = texts[1:]
    line = " ".join(text.replace(" ", "_") for text in texts)
    while wrapped := _WRAPPER.match(line):
        line = line[wrapped.end() :]
    return line.split()


def _split_name(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Split a command into its name and the rest: `npm run lint`, `pytest`, `pnpm test`."""
    program = words[0].rpartition("/")[2]
    if not _HAS_COMMANDS.fullmatch(program) or len(words) < 2:
        return program, words[1:]
    if words[1].startswith(("-", ".", "/")):
        # `pnpm --filter web test` runs `pnpm test` on a part.
        check = next((word for word in words[2:] if _CHECK_WORD.fullmatch(word)), "")
        return f"{program} {check}".strip(), [word for word in words[1:] if word != check]
    size = 3 if words[1] in ("run", "exec", "compose") else 2
    return " ".join((program, *words[1:size])), words[size:]


def _targets(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        plain = not word.startswith("-") and word not in _EVERYTHING
        if plain or ("=" in word and _SELECTS.fullmatch(word)):
            yield word


def _is_filtered(after: Sequence[ShellCommand]) -> bool:
    for part in after:
        if part.operator != "|" or not part.words:
            return False
        if _FILTER.fullmatch(part.words[0].text):
            return not any(_SHOWS_ERRORS.search(word.text) for word in part.words[1:])
    return False


def includes(later: Check, failed: Check) -> bool:
    """Return whether a run checks all that a failed run checked."""
    if later.name != failed.name:
        runner = _RUNS_ALL.fullmatch(later.name.partition(" ")[0]) is not None
        wide = later.tests if failed.tests else later.name.endswith(_ALL_CHECKS)
        return runner and failed.known and wide and not later.targets
    if not later.known:
        return later.targets == failed.targets
    return all(_is_within(target, failed.targets) for target in later.targets)


def _is_within(target: str, others: Sequence[str]) -> bool:
    folder = target.removesuffix("...").rstrip("/")
    inside = (f"{folder}/", f"{folder}.")
    return any(other == target or (folder and other.startswith(inside)) for other in others)
