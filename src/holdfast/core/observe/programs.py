"""What programs do to the files that their words name.

A few are known, each by a rule. Words that only the shell could have filled in name no file here: a
wrong row is worse than a missing one.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.jsontext import whole_number
from holdfast.core.observe.operands import (
    after_pattern,
    letters_of,
    lines_asked,
    lines_printed,
    operands_of,
    shortened,
    takes_value,
)
from holdfast.core.observe.patches import Act, Verb, looks_like_path, patched, written
from holdfast.core.observe.paths import is_absolute, path_from
from holdfast.core.observe.pythons import opened_in
from holdfast.core.observe.script import Command, Word

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
