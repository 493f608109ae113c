"""What programs do to the files that their words name.

A few are known, each by a rule. Words that only the shell could have filled in name no file here: a
wrong row is worse than a missing one.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import row_rule
from holdfast.core.observe.files.bash import Command, Word
from holdfast.core.observe.files.patches import Act, Verb, looks_like_path, patched, written
from holdfast.text.jsontext import whole_number
from holdfast.text.paths import is_absolute, path_from

# The words of one command: its options, its files, and the lines that it is asked for.


LONGEST_HOW = 70
_SPAN = re.compile(r"(\d{1,9})(?:,(\d{1,9}|\$))?p")


def program_of(command: Command) -> str:
    """The name of the program, without its folder."""
    return command.words[0].text.rpartition("/")[2] if command.words else ""


def operands_of(words: Sequence[Word], with_value: Sequence[str] = ()) -> list[str]:
    """The words of a command that are no options and that stand as they are."""
    found: list[str] = []
    skip = plain = False
    for word in words[1:]:
        if skip:
            skip = False
        elif plain or not word.text.startswith("-") or word.text == "-":
            found += [] if word.live or not word.text else [word.text]
        elif word.text == "--":
            plain = True
        else:
            skip = takes_value(word.text, with_value)
    return found


def takes_value(option: str, with_value: Sequence[str]) -> bool:
    """Whether the word after an option belongs to it; the last letter of several decides."""
    return option in with_value or (option[1:2] != "-" and f"-{option[-1:]}" in with_value)


def letters_of(words: Sequence[Word]) -> str:
    """The letters of all short options."""
    flags = (word.text for word in words[1:] if word.text[:1] == "-" and word.text[:2] != "--")
    return "".join(flags)


def lines_asked(words: Sequence[Word]) -> int:
    """The number of lines that `head` or `tail` is asked for."""
    texts = [word.text for word in words[1:]]
    for text, after in pairwise([*texts, ""]):
        digits = after if text == "-n" else text.removeprefix("--lines=").lstrip("-n")
        if text.startswith("-") and digits.isascii() and digits.isdigit():
            return int(digits[:9])
    return 10


def lines_printed(words: Sequence[Word]) -> list[tuple[int, int]]:
    """The lines that `sed -n` prints; 0 where it goes on to the end."""
    script = next((word.text for word in words[1:] if word.text[:1].isdigit()), "")
    return [
        (int(found[1]), int(found[2] or found[1]) if found[2] != "$" else 0)
        for found in _SPAN.finditer(script[:500])
    ]


def shortened(text: str) -> str:
    """A text in one line, cut when it is long."""
    plain = " ".join(text.split())
    return plain if len(plain) <= LONGEST_HOW else f"{plain[: LONGEST_HOW - 1]}…"


def after_pattern(words: Sequence[Word], with_value: Sequence[str], *, given: bool) -> list[str]:
    """The files of a command whose first operand is a pattern, unless an option gave it."""
    # The pattern may hold anything; it must not be left out as a live path would be.
    paths = operands_of([replace(word, live=False) for word in words], with_value)
    live = {word.text for word in words if word.live}
    return [path for path in (paths if given else paths[1:]) if path not in live]


# The files that a script in Python opens to write, where it names them.


LONGEST_CODE = 200_000
"""Characters of a script in which the files that it writes are looked for."""
_PY_NAMED = re.compile(
    r"(?m)^[ \t]{0,12}(\w{1,60})[ \t]{0,4}=[ \t]{0,4}(?:(?:pathlib\.)?Path\()?"
    r"r?['\"]([^'\"\n]{1,300})['\"]"
)
_PY_WRITES = re.compile(
    r"\bopen\([ \t]{0,4}(?:r?['\"](?P<path>[^'\"\n]{1,300})['\"]|(?P<name>\w{1,60}))"
    r",[ \t]{0,4}(?:mode=)?['\"][rb]{0,2}[wax+]"
    r"|(?:Path\(['\"](?P<file>[^'\"\n]{1,300})['\"]\)|\b(?P<variable>\w{1,60}))\.write_(?:text|bytes)\("
)
_PY_READS = re.compile(
    r"\bopen\([ \t]{0,4}(?:r?['\"](?P<path>[^'\"\n]{1,300})['\"]|(?P<name>\w{1,60}))"
    r"(?:\)|,[ \t]{0,4}(?:mode=)?['\"]r|,[ \t]{0,4}encoding)"
    r"|(?:Path\(['\"](?P<file>[^'\"\n]{1,300})['\"]\)|\b(?P<variable>\w{1,60}))\.read_(?:text|bytes)\("
)


@row_rule
def opened_in(code: str, *, how: str) -> Iterator[Act]:
    """What a script does to files, as far as it says so itself."""
    code = code[:LONGEST_CODE]
    names = {found[1]: found[2] for found in _PY_NAMED.finditer(code)}
    reads = {_py_path(found, names) for found in _PY_READS.finditer(code)}
    for path in dict.fromkeys(_py_path(found, names) for found in _PY_WRITES.finditer(code)):
        if path:
            yield Act("edit" if path in reads else "write", path, how=how)


def _py_path(found: re.Match[str], names: Mapping[str, str]) -> str:
    literals = (found[group] for group in ("path", "file") if found[group])
    named = next((found[group] for group in ("name", "variable") if found[group]), "")
    return next(literals, "") or names.get(named, "")


_PATCHING = re.compile(r"(?m)^patching file ([^\n]{1,400})")


class Shell(Struct, frozen=True):
    """Where a command runs, and what came of it."""

    base: str = ""
    """The folder that relative paths start from; empty when it is not known."""
    output: str = ""
    failed: bool = False
    texts: Mapping[str, str] = {}
    """What is known to stand in files, by path: a patch that was written to one before."""


def placed(act: Act, base: str) -> Act:
    """An act with its paths as they are from the folder of the session; none when that is lost."""
    if base == "$" or base.startswith("$/"):
        known = is_absolute(act.path) and (not act.was or is_absolute(act.was))
        return act if known else replace(act, path="")
    was = path_from(base, act.was) if act.was else ""
    return replace(act, path=path_from(base, act.path), was=was)


def made_by(name: str, command: Command, path: str, *, more: bool) -> Act:
    """A file made of what a command puts out."""
    verb: Verb = "edit" if more else "write"
    text = command.text if name in ("cat", "tee", "") else _echoed(name, command)
    if text is not None:
        act = written(path, text, verb=verb)
        return replace(act, text="") if more else act
    return Act(verb, path, how=f"output of {name}" if name else "")


def _echoed(name: str, command: Command) -> str | None:
    if name not in ("echo", "printf") or any(word.live for word in command.words):
        return None
    words = [word.text for word in command.words[1:] if word.text not in ("-e", "-n", "-en")]
    return " ".join(words) + "\n"


_Rule = Callable[[Command, Shell], Iterator[Act]]


def _print(command: Command, shell: Shell) -> Iterator[Act]:
    del shell
    for path in operands_of(command.words):
        yield Act("read", path)


def _print_ends(command: Command, shell: Shell) -> Iterator[Act]:
    del shell
    words, count = command.words, lines_asked(command.words)
    tail = words[0].text.endswith("tail")
    texts = [word.text for word in words]
    from_line = next((text[1:] for text in texts if text[:1] == "+" and text[1:].isdecimal()), "")
    for path in operands_of(words, with_value=("-n", "-c")):
        if path.isdigit() or path.startswith("+"):
            continue
        if tail:
            yield Act("read", path, first=int(from_line[:9] or 0), searched=not from_line)
        else:
            yield Act("read", path, first=1, last=count)


def _sed(command: Command, shell: Shell) -> Iterator[Act]:
    del shell
    words = command.words
    texts = [word.text for word in words]
    in_place = any(
        text.startswith("--in-place") or (text[:1] == "-" and text[:2] != "--" and "i" in text)
        for text in texts[1:]
    )
    given = any(text[:1] == "-" and takes_value(text, _SED_VALUES) for text in texts[1:])
    scripts = [after for text, after in pairwise(texts) if text[:1] == "-" and text[-1] == "e"]
    bare = [replace(word, live=False) for word in words]
    script = " ".join(scripts) if given else "".join(operands_of(bare, _SED_VALUES)[:1])
    paths = after_pattern(words, _SED_VALUES, given=given)
    if in_place:
        how = shortened(f"sed -i {script}")
        yield from (Act("edit", path, how=how) for path in paths)
        return
    spans = lines_printed([Word(""), Word(script)])
    for path in paths:
        yield from (Act("read", path, first=first, last=last) for first, last in spans)
        if not spans:
            yield Act("read", path, searched=True)


def _perl(command: Command, shell: Shell) -> Iterator[Act]:
    del shell
    words = command.words
    at = next((n for n in range(1, len(words)) if "e" in letters_of(words[n - 1 : n + 1])), 0)
    if not at or "i" not in letters_of(words):
        return
    # The script is the rest of its option's word (`-es/a/b/`) or the next word.
    rest = words[at].text.partition("e")[2]
    script = rest or "".join(word.text for word in words[at + 1 : at + 2])
    for word in words[at + (1 if rest else 2) :]:
        if not word.live and not word.text.startswith("-"):
            yield Act("edit", word.text, how=shortened(f"perl -pi {script}"))


_SED_VALUES = ("-e", "-f", "--expression")
_SEARCH_VALUES = ("-e", "-f", "-m", "-A", "-B", "-C", "-g", "-t", "--type", "--glob", "--include")


def _search(command: Command, shell: Shell) -> Iterator[Act]:
    del shell
    words = command.words
    texts = [word.text for word in words]
    name = texts[0].rpartition("/")[2]
    given = any(text[:1] == "-" and takes_value(text, ("-e", "-f")) for text in texts[1:])
    wide = name in ("rg", "ag", "ack") or "r" in letters_of(words) or "R" in letters_of(words)
    how = shortened(" ".join(texts))
    for path in after_pattern(words, _SEARCH_VALUES, given=given):
        if (not wide or looks_like_path(path)) and path.strip("./"):
            yield Act("read", path, searched=True, how=how)


def _awk(command: Command, shell: Shell) -> Iterator[Act]:
    del shell
    for path in after_pattern(command.words, with_value=("-F", "-v"), given=False):
        if looks_like_path(path) or "/" in path:
            yield Act("read", path, searched=True)


def _remove(command: Command, shell: Shell) -> Iterator[Act]:
    del shell
    folders = "r" in letters_of(command.words).lower() or Word("--recursive") in command.words
    for path in operands_of(command.words):
        yield Act("delete", path, how="rm -r" if folders else "")


def _move(command: Command, shell: Shell) -> Iterator[Act]:
    del shell
    *sources, target = operands_of(command.words) or [""]
    live = any(word.live for word in command.words)
    for source in sources if not live else ():
        yield Act("move", _inside(target, source, many=len(sources) > 1), source)


def _copy(command: Command, shell: Shell) -> Iterator[Act]:
    flags = letters_of(command.words)
    if "r" in flags.lower() or "a" in flags or any(word.live for word in command.words):
        return
    *sources, target = operands_of(command.words, with_value=("-m", "-o", "-g")) or [""]
    for source in sources:
        path = _inside(target, source, many=len(sources) > 1)
        how = f"copied from {source}"
        yield Act("write", path, how=how, text=shell.texts.get(path_from(shell.base, source), ""))


def _inside(target: str, source: str, *, many: bool) -> str:
    """Where a file comes to lie: in the target when that is a folder."""
    if many or target.endswith("/") or target in (".", ".."):
        return f"{target.rstrip('/')}/{source.rstrip('/').rpartition('/')[2]}"
    return target


def _touch(command: Command, shell: Shell) -> Iterator[Act]:
    del shell
    for path in operands_of(command.words, with_value=("-d", "-t", "-r")):
        yield Act("write", path, how="touched")


def _make_folder(command: Command, shell: Shell) -> Iterator[Act]:
    del shell
    for path in operands_of(command.words, with_value=("-m",)):
        yield Act("folder", path)


def _tee(command: Command, shell: Shell) -> Iterator[Act]:
    del shell
    more = "a" in letters_of(command.words)
    for path in operands_of(command.words):
        if not path.startswith("/dev/"):
            yield made_by("tee", command, path, more=more)


def _link(command: Command, shell: Shell) -> Iterator[Act]:
    del shell
    paths = operands_of(command.words)
    if len(paths) == 2:
        yield Act("write", _inside(paths[1], paths[0], many=False), how=f"link to {paths[0]}")


def _fetch(command: Command, shell: Shell) -> Iterator[Act]:
    del shell
    words = command.words
    name = words[0].text.rpartition("/")[2]
    flags = ("-o", "--output") if name == "curl" else ("-O", "--output-document")
    for flag, word in pairwise(words[1:]):
        known = not word.live and word.text != "-" and not word.text.startswith("/dev/")
        if flag.text in flags and known:
            yield Act("write", word.text, how="downloaded")


def _apply_patch(command: Command, shell: Shell) -> Iterator[Act]:
    del shell
    text = command.text if command.text is not None else "".join(w.text for w in command.words[1:])
    yield from patched(text)


def _patch(command: Command, shell: Shell) -> Iterator[Act]:
    """`patch`: its own words name the files, else the text of the patch does."""
    words = [word.text for word in command.words]
    if "--dry-run" in words:
        return
    named = [found[1].strip().strip("'") for found in _PATCHING.finditer(shell.output)]
    stripped = (whole_number(text[2:]) for text in words if text[:2] == "-p")
    level = next((number for number in stripped if number is not None), None)
    text = command.text or shell.texts.get(path_from(shell.base, _patch_file(command)), "")
    known = patched(text, strip=level) if text else ()
    if known or not named:
        yield from known
    else:
        yield from (Act("edit", path, how="patch") for path in dict.fromkeys(named))


def _patch_file(command: Command) -> str:
    if command.reads is not None:
        return command.reads.text
    words = [word.text for word in command.words]
    given = [after for flag, after in pairwise(words) if flag == "-i"]
    return (given or operands_of(command.words)[-1:] or [""])[0]


def _python(command: Command, shell: Shell) -> Iterator[Act]:
    """A script in Python: the files that it opens to write, where it names them."""
    words = [word.text for word in command.words]
    code, how = command.text or "", "by a Python script"
    if "-c" in words:
        code = "".join(words[words.index("-c") + 1 :][:1])
    elif not code:
        path = "".join(operands_of(command.words)[:1])
        code, how = shell.texts.get(path_from(shell.base, path), ""), f"by {path}"
    yield from opened_in(code, how=how)


def _git(command: Command, shell: Shell) -> Iterator[Act]:
    words = list(command.words[1:])
    base = ""
    while words and words[0].text.startswith("-"):
        base = words[1].text if words[0].text == "-C" and len(words) > 1 else base
        words = words[2:] if words[0].text in ("-C", "-c") else words[1:]
    rule = _GIT.get(words[0].text) if words else None
    if rule is not None:
        inner = replace(shell, base=path_from(shell.base, base) if base else shell.base)
        for act in rule(replace(command, words=tuple(words)), inner):
            yield placed(act, base)


def _git_restore(command: Command, shell: Shell) -> Iterator[Act]:
    words = command.words
    texts = [word.text for word in words]
    if {"-b", "-B", "--staged", "--orphan"} & set(texts) or "Switched to" in shell.output:
        return
    if "--" in texts:
        words = (words[0], *words[texts.index("--") + 1 :])
    sure = "--" in texts or texts[0] == "restore"
    for path in operands_of(words, with_value=("-s", "--source")):
        if path != "." and (sure or looks_like_path(path)):
            yield Act("restore", path, how=f"git {texts[0]}")


def _git_apply(command: Command, shell: Shell) -> Iterator[Act]:
    texts = [word.text for word in command.words]
    if {"--check", "--stat", "--numstat", "--summary"} & set(texts):
        return
    text = command.text or shell.texts.get(path_from(shell.base, _patch_file(command)), "")
    acts = patched(text) if text else ()
    if not {"-R", "--reverse"} & set(texts):
        yield from acts
    else:
        yield from (Act("restore", act.path, how="git apply -R") for act in acts)


def _git_remove(command: Command, shell: Shell) -> Iterator[Act]:
    if Word("--cached") not in command.words:
        yield from _remove(command, shell)


_GIT: dict[str, _Rule] = {
    "mv": _move,
    "rm": _git_remove,
    "checkout": _git_restore,
    "restore": _git_restore,
    "apply": _git_apply,
}
RULES: dict[str, _Rule] = {
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
