"""Return what known programs (cat, sed, rm, git …) do to the files in their arguments.

Each known program has a rule. Words that the shell would have expanded are ignored: a wrong row is
worse than a missing one.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import row_rule
from holdfast.core.observe.files.bash import ShellCommand, Word
from holdfast.core.observe.files.patches import (
    FileAct,
    Verb,
    act_of_write,
    acts_of_patch,
    looks_like_path,
)
from holdfast.text.clip import clip, one_line
from holdfast.text.jsontext import whole_number
from holdfast.text.paths import is_absolute, join_path
from holdfast.text.patterns import Pattern

# Reading the words of one command: options, files, requested lines.


MAX_HOW_CHARS = 70
# `10,20p`, `10p` and `10,$p`, but not `s/a/b/p`.
_SED_PRINT = Pattern(r"(\d{1,9})(?:,(\d{1,9}|\$))?p")


def program_of(command: ShellCommand) -> str:
    """Return the name of the program without its folder."""
    return command.words[0].text.rpartition("/")[2] if command.words else ""


def operands_of(words: Sequence[Word], with_value: Sequence[str] = ()) -> list[str]:
    """Return the operands of a command: no options, no values of options, no dynamic words."""
    operands: list[str] = []
    skip = options_ended = False
    for word in words[1:]:
        if skip:
            skip = False
        elif options_ended or not word.text.startswith("-") or word.text == "-":
            operands += [] if word.dynamic or not word.text else [word.text]
        elif word.text == "--":
            options_ended = True
        else:
            skip = takes_value(word.text, with_value)
    return operands


def takes_value(option: str, with_value: Sequence[str]) -> bool:
    """Return whether the next word is the option's value; of `-abc` the last letter decides."""
    return option in with_value or (option[1:2] != "-" and f"-{option[-1:]}" in with_value)


def short_option_letters(words: Sequence[Word]) -> str:
    """Return the letters of all short options."""
    flags = (word.text for word in words[1:] if word.text[:1] == "-" and word.text[:2] != "--")
    return "".join(flags)


def requested_line_count(words: Sequence[Word]) -> int:
    """Return the number of lines that `head` or `tail` is asked for."""
    texts = [word.text for word in words[1:]]
    for text, after in pairwise([*texts, ""]):
        digits = after if text == "-n" else text.removeprefix("--lines=").lstrip("-n")
        if text.startswith("-") and digits.isascii() and digits.isdigit():
            return int(digits[:9])
    return 10


def printed_line_spans(words: Sequence[Word]) -> list[tuple[int, int]]:
    """Return first and last line of the spans that `sed -n` prints; 0 for the end of file."""
    script = next((word.text for word in words[1:] if word.text[:1].isdigit()), "")
    return [
        (int(found[1]), int(found[2] or found[1]) if found[2] != "$" else 0)
        for found in _SED_PRINT.finditer(script[:500])
    ]


def short_line(text: str) -> str:
    """Return a text on one line, cut to `MAX_HOW_CHARS`."""
    return clip(one_line(text), MAX_HOW_CHARS)


def files_after_pattern(
    words: Sequence[Word], with_value: Sequence[str], *, given: bool
) -> list[str]:
    """Return the operands after the pattern; all of them if an option has `given` the pattern."""
    # The pattern may be dynamic; it must not be skipped like a dynamic path.
    paths = operands_of([replace(word, dynamic=False) for word in words], with_value)
    dynamic = {word.text for word in words if word.dynamic}
    return [path for path in (paths if given else paths[1:]) if path not in dynamic]


# Files that a Python script writes to under a literal name.


MAX_CODE_CHARS = 200_000
"""Characters of a Python script that are searched for file names."""
# `path = "a.py"` and `path = Path("a.py")`, but not `path = name`.
_PY_PATH_VARIABLE = Pattern(
    r"(?m)^[ \t]{0,12}(\w{1,60})[ \t]{0,4}=[ \t]{0,4}(?:(?:pathlib\.)?Path\()?"
    r"r?['\"]([^'\"\n]{1,300})['\"]"
)
# `open("a.py", "w")` and `path.write_text(`, but not `open("a.py")`.
_PY_WRITES = Pattern(
    r"\bopen\([ \t]{0,4}(?:r?['\"](?P<path>[^'\"\n]{1,300})['\"]|(?P<name>\w{1,60}))"
    r",[ \t]{0,4}(?:mode=)?['\"][rb]{0,2}[wax+]"
    r"|(?:Path\(['\"](?P<file>[^'\"\n]{1,300})['\"]\)|\b(?P<variable>\w{1,60}))\.write_(?:text|bytes)\("
)
# `open("a.py")` and `path.read_text(`, but not `open("a.py", "w")`.
_PY_READS = Pattern(
    r"\bopen\([ \t]{0,4}(?:r?['\"](?P<path>[^'\"\n]{1,300})['\"]|(?P<name>\w{1,60}))"
    r"(?:\)|,[ \t]{0,4}(?:mode=)?['\"]r|,[ \t]{0,4}encoding)"
    r"|(?:Path\(['\"](?P<file>[^'\"\n]{1,300})['\"]\)|\b(?P<variable>\w{1,60}))\.read_(?:text|bytes)\("
)


@row_rule
def acts_of_python_code(code: str, *, how: str) -> Iterator[FileAct]:
    """Yield the writes and edits of a Python script to files that it names literally."""
    code = code[:MAX_CODE_CHARS]
    names = {found[1]: found[2] for found in _PY_PATH_VARIABLE.finditer(code)}
    reads = {_py_path(found, names) for found in _PY_READS.finditer(code)}
    for path in dict.fromkeys(_py_path(found, names) for found in _PY_WRITES.finditer(code)):
        if path:
            yield FileAct("edit" if path in reads else "write", path, how=how)


def _py_path(match: re.Match[str], names: Mapping[str, str]) -> str:
    literals = (match[group] for group in ("path", "file") if match[group])
    variable = next((match[group] for group in ("name", "variable") if match[group]), "")
    return next(literals, "") or names.get(variable, "")


# `patching file src/a.py`, as `patch` prints it.
_PATCHING_LINE = Pattern(r"(?m)^patching file ([^\n]{1,400})")


class ShellState(Struct, frozen=True):
    """Where a command runs, and its output."""

    base: str = ""
    """The folder of relative paths: empty for that of the session, starting with `$` if unknown."""
    output: str = ""
    failed: bool = False
    texts: Mapping[str, str] = {}
    """Known texts of files by path, such as a patch that an earlier command wrote."""


def resolve_paths(act: FileAct, base: str) -> FileAct:
    """Return an act with its paths relative to the session's folder; an empty path if unknown."""
    if base == "$" or base.startswith("$/"):
        known = is_absolute(act.path) and (not act.moved_from or is_absolute(act.moved_from))
        return act if known else replace(act, path="")
    moved_from = join_path(base, act.moved_from) if act.moved_from else ""
    return replace(act, path=join_path(base, act.path), moved_from=moved_from)


def act_of_output(name: str, command: ShellCommand, path: str, *, append: bool) -> FileAct:
    """Return the act of writing the output of a command to a file."""
    verb: Verb = "edit" if append else "write"
    text = command.here_document if name in ("cat", "tee", "") else _echo_text(name, command)
    if text is not None:
        act = act_of_write(path, text, verb=verb)
        return replace(act, text="") if append else act
    return FileAct(verb, path, how=f"output of {name}" if name else "")


def _echo_text(name: str, command: ShellCommand) -> str | None:
    if name not in ("echo", "printf") or any(word.dynamic for word in command.words):
        return None
    words = [word.text for word in command.words[1:] if word.text not in ("-e", "-n", "-en")]
    return " ".join(words) + "\n"


_Rule = Callable[[ShellCommand, ShellState], Iterator[FileAct]]


def _print(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    del shell
    for path in operands_of(command.words):
        yield FileAct("read", path)


def _print_ends(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    del shell
    words, count = command.words, requested_line_count(command.words)
    tail = words[0].text.endswith("tail")
    texts = [word.text for word in words]
    from_line = next((text[1:] for text in texts if text[:1] == "+" and text[1:].isdecimal()), "")
    for path in operands_of(words, with_value=("-n", "-c")):
        if path.isdigit() or path.startswith("+"):
            continue
        if tail:
            yield FileAct("read", path, first=int(from_line[:9] or 0), searched=not from_line)
        else:
            yield FileAct("read", path, first=1, last=count)


def _sed(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    del shell
    words = command.words
    texts = [word.text for word in words]
    in_place = any(
        text.startswith("--in-place") or (text[:1] == "-" and text[:2] != "--" and "i" in text)
        for text in texts[1:]
    )
    script_given = any(text[:1] == "-" and takes_value(text, _SED_VALUES) for text in texts[1:])
    scripts = [after for text, after in pairwise(texts) if text[:1] == "-" and text[-1] == "e"]
    fixed_words = [replace(word, dynamic=False) for word in words]
    script = (
        " ".join(scripts) if script_given else "".join(operands_of(fixed_words, _SED_VALUES)[:1])
    )
    paths = files_after_pattern(words, _SED_VALUES, given=script_given)
    if in_place:
        how = short_line(f"sed -i {script}")
        yield from (FileAct("edit", path, how=how) for path in paths)
        return
    spans = printed_line_spans([Word(""), Word(script)])
    for path in paths:
        yield from (FileAct("read", path, first=first, last=last) for first, last in spans)
        if not spans:
            yield FileAct("read", path, searched=True)


def _perl(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    del shell
    words = command.words
    at = next(
        (n for n in range(1, len(words)) if "e" in short_option_letters(words[n - 1 : n + 1])), 0
    )
    if not at or "i" not in short_option_letters(words):
        return
    # The script is the rest of its option's word (`-es/a/b/`) or the next word.
    rest = words[at].text.partition("e")[2]
    script = rest or "".join(word.text for word in words[at + 1 : at + 2])
    for word in words[at + (1 if rest else 2) :]:
        if not word.dynamic and not word.text.startswith("-"):
            yield FileAct("edit", word.text, how=short_line(f"perl -pi {script}"))


_SED_VALUES = ("-e", "-f", "--expression")
_SEARCH_VALUES = ("-e", "-f", "-m", "-A", "-B", "-C", "-g", "-t", "--type", "--glob", "--include")


def _search(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    del shell
    words = command.words
    texts = [word.text for word in words]
    name = texts[0].rpartition("/")[2]
    pattern_given = any(text[:1] == "-" and takes_value(text, ("-e", "-f")) for text in texts[1:])
    recursive = (
        name in ("rg", "ag", "ack")
        or "r" in short_option_letters(words)
        or "R" in short_option_letters(words)
    )
    how = short_line(" ".join(texts))
    for path in files_after_pattern(words, _SEARCH_VALUES, given=pattern_given):
        if (not recursive or looks_like_path(path)) and path.strip("./"):
            yield FileAct("read", path, searched=True, how=how)


def _awk(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    del shell
    for path in files_after_pattern(command.words, with_value=("-F", "-v"), given=False):
        if looks_like_path(path) or "/" in path:
            yield FileAct("read", path, searched=True)


def _remove(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    del shell
    folders = (
        "r" in short_option_letters(command.words).lower() or Word("--recursive") in command.words
    )
    for path in operands_of(command.words):
        yield FileAct("delete", path, how="rm -r" if folders else "")


def _move(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    del shell
    *sources, target = operands_of(command.words) or [""]
    any_dynamic = any(word.dynamic for word in command.words)
    for source in sources if not any_dynamic else ():
        yield FileAct("move", _target_path(target, source, many=len(sources) > 1), source)


def _copy(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    letters = short_option_letters(command.words)
    if "r" in letters.lower() or "a" in letters or any(word.dynamic for word in command.words):
        return
    *sources, target = operands_of(command.words, with_value=("-m", "-o", "-g")) or [""]
    for source in sources:
        path = _target_path(target, source, many=len(sources) > 1)
        how = f"copied from {source}"
        yield FileAct(
            "write", path, how=how, text=shell.texts.get(join_path(shell.base, source), "")
        )


def _target_path(target: str, source: str, *, many: bool) -> str:
    """Return the path of a moved or copied file: inside the target if that is a folder."""
    if many or target.endswith("/") or target in (".", ".."):
        return f"{target.rstrip('/')}/{source.rstrip('/').rpartition('/')[2]}"
    return target


def _touch(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    del shell
    for path in operands_of(command.words, with_value=("-d", "-t", "-r")):
        yield FileAct("write", path, how="touched")


def _make_folder(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    del shell
    for path in operands_of(command.words, with_value=("-m",)):
        yield FileAct("folder", path)


def _tee(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    del shell
    append = "a" in short_option_letters(command.words)
    for path in operands_of(command.words):
        if not path.startswith("/dev/"):
            yield act_of_output("tee", command, path, append=append)


def _link(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    del shell
    paths = operands_of(command.words)
    if len(paths) == 2:
        yield FileAct(
            "write", _target_path(paths[1], paths[0], many=False), how=f"link to {paths[0]}"
        )


def _fetch(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    del shell
    words = command.words
    name = words[0].text.rpartition("/")[2]
    flags = ("-o", "--output") if name == "curl" else ("-O", "--output-document")
    for flag, word in pairwise(words[1:]):
        known = not word.dynamic and word.text != "-" and not word.text.startswith("/dev/")
        if flag.text in flags and known:
            yield FileAct("write", word.text, how="downloaded")


def _apply_patch(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    del shell
    text = (
        command.here_document
        if command.here_document is not None
        else "".join(w.text for w in command.words[1:])
    )
    yield from acts_of_patch(text)


def _patch(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    """Yield the acts of `patch`: from the patch text if known, else from its output."""
    words = [word.text for word in command.words]
    if "--dry-run" in words:
        return
    patched_paths = [found[1].strip().strip("'") for found in _PATCHING_LINE.finditer(shell.output)]
    strip_levels = (whole_number(text[2:]) for text in words if text[:2] == "-p")
    level = next((number for number in strip_levels if number is not None), None)
    text = command.here_document or shell.texts.get(join_path(shell.base, _patch_file(command)), "")
    known = acts_of_patch(text, strip=level) if text else ()
    if known or not patched_paths:
        yield from known
    else:
        yield from (FileAct("edit", path, how="patch") for path in dict.fromkeys(patched_paths))


def _patch_file(command: ShellCommand) -> str:
    if command.stdin is not None:
        return command.stdin.text
    words = [word.text for word in command.words]
    given = [after for flag, after in pairwise(words) if flag == "-i"]
    return (given or operands_of(command.words)[-1:] or [""])[0]


def _python(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    """Yield the acts of a Python script given by `-c`, a here-document or a known file."""
    words = [word.text for word in command.words]
    code, how = command.here_document or "", "by a Python script"
    if "-c" in words:
        code = "".join(words[words.index("-c") + 1 :][:1])
    elif not code:
        path = "".join(operands_of(command.words)[:1])
        code, how = shell.texts.get(join_path(shell.base, path), ""), f"by {path}"
    yield from acts_of_python_code(code, how=how)


def _git(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    words = list(command.words[1:])
    base = ""
    while words and words[0].text.startswith("-"):
        base = words[1].text if words[0].text == "-C" and len(words) > 1 else base
        words = words[2:] if words[0].text in ("-C", "-c") else words[1:]
    rule = _GIT.get(words[0].text) if words else None
    if rule is not None:
        inner = replace(shell, base=join_path(shell.base, base) if base else shell.base)
        for act in rule(replace(command, words=tuple(words)), inner):
            yield resolve_paths(act, base)


def _git_restore(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    words = command.words
    texts = [word.text for word in words]
    if {"-b", "-B", "--staged", "--orphan"} & set(texts) or "Switched to" in shell.output:
        return
    if "--" in texts:
        words = (words[0], *words[texts.index("--") + 1 :])
    names_files = "--" in texts or texts[0] == "restore"
    for path in operands_of(words, with_value=("-s", "--source")):
        if path != "." and (names_files or looks_like_path(path)):
            yield FileAct("restore", path, how=f"git {texts[0]}")


def _git_apply(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    texts = [word.text for word in command.words]
    if {"--check", "--stat", "--numstat", "--summary"} & set(texts):
        return
    text = command.here_document or shell.texts.get(join_path(shell.base, _patch_file(command)), "")
    acts = acts_of_patch(text) if text else ()
    if not {"-R", "--reverse"} & set(texts):
        yield from acts
    else:
        yield from (FileAct("restore", act.path, how="git apply -R") for act in acts)


def _git_remove(command: ShellCommand, shell: ShellState) -> Iterator[FileAct]:
    if Word("--cached") not in command.words:
        yield from _remove(command, shell)


_GIT: dict[str, _Rule] = {
    "mv": _move,
    "rm": _git_remove,
    "checkout": _git_restore,
    "restore": _git_restore,
    "apply": _git_apply,
}
PROGRAM_RULES: dict[str, _Rule] = {
    **dict.fromkeys(("cat", "nl", "less", "more", "bat", "tac", "Get-Content", "type"), _print),
    **dict.fromkeys(("head", "tail"), _print_ends),
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg", "ag", "ack"), _search),
    **dict.fromkeys(("python", "python3"), _python),
    **dict.fromkeys(("curl", "wget"), _fetch),
    **dict.fromkeys(("apply_patch", "applypatch"), _apply_patch),
    "sed": _sed,
    "gsed": _sed,
    "perl": _perl,
    "awk": _awk,
    "jq": _awk,
    "rm": _remove,
    "unlink": _remove,
    "mv": _move,
    "cp": _copy,
    "install": _copy,
    "touch": _touch,
    "mkdir": _make_folder,
    "tee": _tee,
    "ln": _link,
    "patch": _patch,
    "git": _git,
}
