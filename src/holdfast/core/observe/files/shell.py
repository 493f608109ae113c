"""What a command line did to files, read off its commands and what it printed.

A command counts when it was surely carried out and did not complain. What each program does to the
files that it names stands in `programs`.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec.structs import replace

from holdfast.core.faults import row_rule, rule
from holdfast.core.observe.files.bash import ASSIGNED, Command, Word, commands_of
from holdfast.core.observe.files.commands import (
    RULES,
    Shell,
    lines_asked,
    lines_printed,
    made_by,
    placed,
    program_of,
)
from holdfast.core.observe.files.patches import Act
from holdfast.text.paths import path_from

DEEPEST = 3
"""Shells within shells."""
_EXIT = re.compile(
    r"(?:<returncode>|[Ee]xit code:? |[Ee]xited with code |\"exit_code\": ?)(-?\d{1,5})"
)
_COMPLAINT = re.compile(
    r"No such file|[Cc]annot |[Cc]an't |denied|[Ii]s a directory|[Nn]ot a directory|not found"
    r"|did not match|[Ii]nvalid|[Uu]nrecognized|[Uu]sage:|[Ff]ailed|[Ee]rror|fatal|missing|unable"
    r"|unknown|illegal|unterminated|undefined"
)


@rule(None)
def exit_code(output: str) -> int | None:
    """The exit code that an agent's program printed with an output, at either end of it."""
    ends = (output[:300], output[-300:]) if len(output) > 600 else (output,)
    return next((int(found[1]) for part in ends for found in _EXIT.finditer(part)), None)


@rule(())
def acts_of(script: str, shell: Shell, *, depth: int = 0) -> tuple[Act, ...]:
    """What a command line did to files, as far as its words and its output prove it."""
    acts: list[Act] = []
    commands = commands_of(script)
    at = shell
    for number, ran in enumerate(_carried_out(commands, shell)):
        command = _tidied(commands[number])
        if command.joined == "||" or not ran:
            continue
        name = program_of(command)
        if name in ("cd", "pushd") and len(command.words) > 1:
            at = _moved(at, command.words[1])
        elif name in ("bash", "sh", "zsh") and depth < DEEPEST:
            acts += _nested(command, at, depth)
        else:
            later = commands[number + 1 : number + 2]
            found = [*_by_program(name, command, at, later), *_redirected(name, command)]
            kept = [placed(act, at.base) for act in found if not _complained(name, act, shell)]
            acts += kept
            made = {act.path: act.text for act in kept if act.text}
            at = replace(at, texts={**at.texts, **made}) if made else at
    # A lone dash is standard input or output.
    return tuple(act for act in acts if act.path not in ("", "-"))


_LEADS = frozenset(
    ("then", "do", "else", "elif", "if", "while", "until", "!", "{", "time", "nohup")
)
_WRAPS = frozenset(("sudo", "env", "command", "exec", "nice", "stdbuf", "builtin"))


def _tidied(command: Command) -> Command:
    """A command without what only stands before it: keywords, variables, `sudo`, `timeout 5`."""
    words = list(command.words)
    while words:
        word = words[0].text
        if word in _LEADS or ASSIGNED.match(word):
            words = words[1:]
        elif word in _WRAPS:
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


_LOUD = frozenset(
    ("cd", "mkdir", "cat", "echo", "printf", "touch", "cp", "mv", "rm", "tee", "export", "chmod")
) | {"pwd", "ls", "head", "tail", "nl", "sed", "ln", "pushd", "popd", "source", "true", "set", "wc"}
"""Programs that do not fail without a word that begins with their name."""


def _carried_out(commands: Sequence[Command], shell: Shell) -> Iterator[bool]:
    """For each command of a chain: whether it was surely carried out.

    All were when the chain went well. When it did not, then only those before the last one, as long
    as everything that could have stopped them fails with a complaint.
    """
    if not shell.failed:
        yield from (True for _ in commands)
        return
    started = exit_code(shell.output) is not None
    last = max((n for n, command in enumerate(commands) if command.joined != "|"), default=0)
    strict = quiet = False
    for number, command in enumerate(commands):
        tidy = _tidied(command)
        name = program_of(tidy)
        strict = strict or (name == "set" and Word("-e") in tidy.words)
        quiet = quiet and command.joined == "&&"
        yield started and number < last and not (strict or quiet or command.hushed)
        quiet = quiet or name not in _LOUD or command.hushed


def _complained(name: str, act: Act, shell: Shell) -> bool:
    """Whether the output says that it could not be done to that file."""
    path = act.was or act.path
    for line in shell.output[:20_000].split("\n") if shell.output else ():
        told = line.startswith((f"{name}:", "bash:", "sh:", "/bin/sh:", "/bin/bash:", "zsh:"))
        if told and _COMPLAINT.search(line[:500]) and path in line:
            return True
        if line.startswith(("error:", "fatal:")) and name == "git" and path in line:
            return True
    return False


def _moved(shell: Shell, word: Word) -> Shell:
    """The shell in another folder; nowhere known when nobody can say which."""
    if word.live or word.text == "-":
        return replace(shell, base="$")
    return replace(shell, base=path_from(shell.base, word.text))


def _nested(command: Command, shell: Shell, depth: int) -> tuple[Act, ...]:
    words = command.words
    for flag, script in pairwise(words[1:]):
        if flag.text.startswith("-") and flag.text.endswith("c"):
            return () if script.live else acts_of(script.text, shell, depth=depth + 1)
    return acts_of(command.text, shell, depth=depth + 1) if command.text else ()


def _redirected(name: str, command: Command) -> Iterator[Act]:
    """The files that a command's output goes into."""
    for word, more in command.into:
        if not word.live:
            yield made_by(name, command, word.text, more=more)


@row_rule
def _by_program(
    name: str, command: Command, shell: Shell, later: Sequence[Command]
) -> Iterator[Act]:
    rule = RULES.get(name)
    if rule is None:
        return
    for act in rule(command, shell):
        yield from _piped(act, later) if act.verb == "read" else (act,)


def _piped(act: Act, later: Sequence[Command]) -> tuple[Act, ...]:
    """A read of which only some lines get through the pipe."""
    if not later or later[0].joined != "|" or act.first or act.last or act.searched:
        return (act,)
    name, words = program_of(later[0]), later[0].words
    if name == "head":
        return (replace(act, first=1, last=lines_asked(words)),)
    if name == "sed" and (spans := lines_printed(words)):
        return tuple(replace(act, first=first, last=last) for first, last in spans)
    return (replace(act, searched=True),)
