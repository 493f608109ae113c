"""Return what a shell command line did to files, from its commands and its output.

A command counts if it certainly ran and its output shows no error for the file. `commands` has the
rules of the single programs.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec.structs import replace

from holdfast.core.faults import row_rule, rule
from holdfast.core.observe.files.bash import ASSIGNMENT, ShellCommand, Word, commands_of
from holdfast.core.observe.files.commands import (
    PROGRAM_RULES,
    ShellState,
    act_of_output,
    printed_line_spans,
    program_of,
    requested_line_count,
    resolve_paths,
)
from holdfast.core.observe.files.patches import FileAct
from holdfast.text.paths import join_path
from holdfast.text.patterns import Pattern

MAX_SHELL_DEPTH = 3
"""Maximum depth of nested shells (`bash -c`)."""
# `<returncode>1`, `Exit code: 1`, `"exit_code": 1`; not `exit 1`.
_EXIT_CODE = Pattern(
    r"(?:<returncode>|[Ee]xit code:? |[Ee]xited with code |\"exit_code\": ?)(-?\d{1,5})"
)
# Words of an error message: `rm: a.py: No such file`, but not `a.py: 12 lines`.
_COMPLAINT = Pattern(
    r"No such file|[Cc]annot |[Cc]an't |denied|[Ii]s a directory|[Nn]ot a directory|not found"
    r"|did not match|[Ii]nvalid|[Uu]nrecognized|[Uu]sage:|[Ff]ailed|[Ee]rror|fatal|missing|unable"
    r"|unknown|illegal|unterminated|undefined"
)


@rule(None)
def exit_code(output: str) -> int | None:
    """Return the exit code that the host printed at either end of an output."""
    ends = (output[:300], output[-300:]) if len(output) > 600 else (output,)
    return next((int(found[1]) for part in ends for found in _EXIT_CODE.finditer(part)), None)


@rule(())
def acts_of_script(script: str, shell: ShellState, *, depth: int = 0) -> tuple[FileAct, ...]:
    """Return the acts of a command line that its words and its output prove."""
    acts: list[FileAct] = []
    commands = commands_of(script)
    current = shell
    for number, ran in enumerate(_surely_ran(commands, shell)):
        command = _without_prefixes(commands[number])
        if command.operator == "||" or not ran:
            continue
        name = program_of(command)
        if name in ("cd", "pushd") and len(command.words) > 1:
            current = _enter_folder(current, command.words[1])
        elif name in ("bash", "sh", "zsh") and depth < MAX_SHELL_DEPTH:
            acts += _acts_of_inner_shell(command, current, depth)
        else:
            later = commands[number + 1 : number + 2]
            candidates = [
                *_acts_of_program(name, command, current, later),
                *_acts_of_redirects(name, command),
            ]
            accepted = [
                resolve_paths(act, current.base)
                for act in candidates
                if not _has_complaint(name, act, shell)
            ]
            acts += accepted
            new_texts = {act.path: act.text for act in accepted if act.text}
            current = (
                replace(current, texts={**current.texts, **new_texts}) if new_texts else current
            )
    # A lone dash is standard input or output.
    return tuple(act for act in acts if act.path not in ("", "-"))


_KEYWORDS = frozenset(
    ("then", "do", "else", "elif", "if", "while", "until", "!", "{", "time", "nohup")
)
_WRAPPERS = frozenset(("sudo", "env", "command", "exec", "nice", "stdbuf", "builtin"))


def _without_prefixes(command: ShellCommand) -> ShellCommand:
    """Return a command without leading keywords, assignments, `sudo` and `timeout 5`."""
    words = list(command.words)
    while words:
        word = words[0].text
        if word in _KEYWORDS or ASSIGNMENT.match(word):
            words = words[1:]
        elif word in _WRAPPERS:
            words = _after_options(words[1:], with_value=("-u", "-n", "-g"))
        elif word == "timeout":
            words = _after_options(words[1:], with_value=("-s", "-k"))[1:]
        else:
            break
    return replace(command, words=tuple(words))


def _after_options(words: list[Word], with_value: Sequence[str]) -> list[Word]:
    while words and words[0].text.startswith("-"):
        words = words[2:] if words[0].text in with_value else words[1:]
    return words


_REPORTS_FAILURES = frozenset(
    ("cd", "mkdir", "cat", "echo", "printf", "touch", "cp", "mv", "rm", "tee", "export", "chmod")
) | {"pwd", "ls", "head", "tail", "nl", "sed", "ln", "pushd", "popd", "source", "true", "set", "wc"}
"""Programs that print a line with their name when they fail."""


def _surely_ran(commands: Sequence[ShellCommand], shell: ShellState) -> Iterator[bool]:
    """Yield for each command of a chain whether it certainly ran.

    If the chain succeeded, all ran. Otherwise those before the last one ran, as long as every
    program that could have stopped them prints an error when it fails.
    """
    if not shell.failed:
        yield from (True for _ in commands)
        return
    started = exit_code(shell.output) is not None
    last = max((n for n, command in enumerate(commands) if command.operator != "|"), default=0)
    strict = may_have_stopped = False
    for number, command in enumerate(commands):
        tidy = _without_prefixes(command)
        name = program_of(tidy)
        strict = strict or (name == "set" and Word("-e") in tidy.words)
        may_have_stopped = may_have_stopped and command.operator == "&&"
        yield started and number < last and not (strict or may_have_stopped or command.silenced)
        may_have_stopped = may_have_stopped or name not in _REPORTS_FAILURES or command.silenced


def _has_complaint(name: str, act: FileAct, shell: ShellState) -> bool:
    """Return whether the output has an error of the program for this file."""
    path = act.moved_from or act.path
    for line in shell.output[:20_000].split("\n") if shell.output else ():
        from_program = line.startswith(
            (f"{name}:", "bash:", "sh:", "/bin/sh:", "/bin/bash:", "zsh:")
        )
        if from_program and _COMPLAINT.search(line[:500]) and path in line:
            return True
        if line.startswith(("error:", "fatal:")) and name == "git" and path in line:
            return True
    return False


def _enter_folder(shell: ShellState, word: Word) -> ShellState:
    """Return the shell in another folder; in `$` if the folder is unknown."""
    if word.dynamic or word.text == "-":
        return replace(shell, base="$")
    return replace(shell, base=join_path(shell.base, word.text))


def _acts_of_inner_shell(
    command: ShellCommand, shell: ShellState, depth: int
) -> tuple[FileAct, ...]:
    words = command.words
    for flag, script in pairwise(words[1:]):
        if flag.text.startswith("-") and flag.text.endswith("c"):
            return () if script.dynamic else acts_of_script(script.text, shell, depth=depth + 1)
    return (
        acts_of_script(command.here_document, shell, depth=depth + 1)
        if command.here_document
        else ()
    )


def _acts_of_redirects(name: str, command: ShellCommand) -> Iterator[FileAct]:
    """Yield the writes of a command's redirects."""
    for word, append in command.redirects:
        if not word.dynamic:
            yield act_of_output(name, command, word.text, append=append)


@row_rule
def _acts_of_program(
    name: str, command: ShellCommand, shell: ShellState, later: Sequence[ShellCommand]
) -> Iterator[FileAct]:
    rule = PROGRAM_RULES.get(name)
    if rule is None:
        return
    for act in rule(command, shell):
        yield from _limit_by_pipe(act, later) if act.verb == "read" else (act,)


def _limit_by_pipe(act: FileAct, later: Sequence[ShellCommand]) -> tuple[FileAct, ...]:
    """Return a read limited to the lines that pass the next command of its pipe."""
    if not later or later[0].operator != "|" or act.first or act.last or act.searched:
        return (act,)
    name, words = program_of(later[0]), later[0].words
    if name == "head":
        return (replace(act, first=1, last=requested_line_count(words)),)
    if name == "sed" and (spans := printed_line_spans(words)):
        return tuple(replace(act, first=first, last=last) for first, last in spans)
    return (replace(act, searched=True),)
