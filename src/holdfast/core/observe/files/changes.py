"""The trail of files: what the agent made, changed, moved, deleted and read, one row per path.

Every call that went well is an act on some paths; the acts are folded in order. A call that failed,
or that nobody answered yet, changes no row but for the note that an attempt was not finished.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from holdfast.core.faults import row_rule, rule, rule_or
from holdfast.core.ledger.entry import Said, Source, ToolCalled, ToolReturned
from holdfast.core.ledger.summary import File
from holdfast.core.ledger.window import Item
from holdfast.core.observe.files.commands import Shell
from holdfast.core.observe.files.patches import (
    SEARCH,
    Act,
    changed,
    count_lines,
    fenced,
    looks_like_path,
    replaced,
)
from holdfast.core.observe.files.shell import acts_of, exit_code
from holdfast.core.observe.files.touch import (
    RUNS,
    acts_of_call,
    arguments_of,
    command_of,
    plain_name,
    shown_acts,
)
from holdfast.core.observe.files.trail import Doing, Trail, clipped
from holdfast.core.observe.scene import Scene
from holdfast.text.jsontext import as_list, as_text
from holdfast.text.paths import homes_of, normal

_REFUSED = re.compile(
    r"\s{0,9}(?:<tool_use_error>|\[?error\b ?:|\[error\]|no such file|file does not exist"
    r"|file not found|file has not been read|string to replace not found|could not find"
    r"|no changes made|no replacement|sibling tool call|the user doesn't want|user rejected"
    r"|your proposed edit has|failed to |execution error|permission denied|cannot |unable to "
    r"|apply_patch verification|patch rejected|tool execution (?:failed|aborted)"
    r"|the tool call was rejected|access denied)",
    re.IGNORECASE,
)
_APPLIED = re.compile(r"(?m)^Applied edit to ([^\n]{1,400})")
_UNMATCHED = re.compile(r"failed to (?:exactly )?match lines in ([^\n]{1,400})")
_ADDED = re.compile(r"(?m)^Added ([^\n]{1,400}) to the chat")
_ASKED = "Add these files to the chat? yes"
_OBSERVED = ("<returncode>", "OBSERVATION:", "Observation:")
_FENCE = re.compile(r"```(?:bash|sh|shell|mswea_bash_command)\n")
_FOLDER = re.compile(r"<cwd>([^<\n]{1,300})</cwd>|[Ww]orking directory: ([^\s<]{1,300})")
_CURRENT = re.compile(r"\(Current directory: ([^)\n]{1,300})\)")
_SENTENCE = re.compile(r"[.!?][ \n]|\n")
_HUNKS = re.compile(r"(\d{1,6}) out of (\d{1,6}) hunks?")


@rule(())
def files_of(scene: Scene) -> tuple[File, ...]:
    """Every file that was touched, in the order of first touch."""
    doings = _Reader(scene).doings()
    trail = Trail()
    for doing in _met(doings, _folders_named(scene)):
        trail.take(doing)
    return trail.rows()


def _original(item: Item) -> Source:
    """What an item was before it was shrunk: the trail is read off the record itself."""
    body = item.entry.body
    same = len(item.covers) <= 1 and isinstance(body, type(item.body))
    return body if same and isinstance(body, Said | ToolCalled | ToolReturned) else item.body


class _Reader:
    """A scene while its acts are read, in the order of the calls."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.bodies = [_original(item) for item in scene.items]
        self.texts: dict[str, str] = {}
        self.folder = ""
        """Where the agent's shell stands, when its results say so."""
        self.said: tuple[int, str] = (-1, "")
        """The last words of the agent, with their step."""

    def doings(self) -> list[Doing]:
        """All that was done to files."""
        found: list[Doing] = []
        for at, body in enumerate(self.bodies):
            match body:
                case ToolCalled():
                    found += self._called(at, body)
                case Said(role="assistant"):
                    self.said = (self.scene.steps[at], body.text)
                    found += self._acted_in_words(at, body.text)
                case Said(role="user" | "tool"):
                    found += self._told(at, body.text)
                case _:
                    pass
        return found

    def _entry(self, at: int) -> str:
        return self.scene.items[at].entry.id

    @row_rule
    def _called(self, at: int, body: ToolCalled) -> Iterator[Doing]:
        pair = self.scene.of_call.get(at)
        result = self.bodies[pair.result] if pair and pair.result is not None else None
        if not isinstance(result, ToolReturned):
            return
        if plain_name(body.tool).rpartition(".")[2] in RUNS:
            yield from self._ran(at, body, result)
            return
        failed = result.failed or _REFUSED.match(result.output) is not None
        code = exit_code(result.output) if "patch" in body.tool else 0
        why = self._why(at, body)
        for act in acts_of_call(body, result.output):
            yield Doing(act, self._entry(at), failed or bool(code), why)

    def _ran(self, at: int, body: ToolCalled, result: ToolReturned) -> Iterator[Doing]:
        arguments = arguments_of(body)
        words = [as_text(word) for word in as_list(arguments.get("command"))]
        command = shlex.join(words) if words[:1] == ["apply_patch"] else command_of(arguments)
        base = as_text(arguments.get("workdir")) or as_text(arguments.get("cwd"))
        yield from self._in_shell(at, command, result, base, self._why(at, body))

    def _in_shell(
        self, at: int, command: str, result: ToolReturned, base: str, why: str
    ) -> Iterator[Doing]:
        code = exit_code(result.output)
        failed = result.failed or bool(code) or (code is None and _shell_refused(result.output))
        shell = Shell(base or self.folder, result.output, failed, self.texts)
        if current := _CURRENT.search(result.output[-600:]):
            self.folder = current[1]
        acts = shown_acts(command, result.output) or acts_of(command, shell)
        for act in acts if len(acts) != 1 else [_to_the_end(acts[0], result.output)]:
            if act.text:
                self.texts[act.path] = act.text
            yield Doing(act, self._entry(at), why=why)
        for act, whole in _half_patched(result.output) if failed else ():
            yield from (Doing(act, self._entry(at), failed=miss) for miss in (whole, True))

    def _why(self, at: int, body: ToolCalled) -> str:
        step, text = self.said
        said = last_sentence(text) if step == self.scene.steps[at] else ""
        return said or clipped(as_text(arguments_of(body).get("description")))

    @row_rule
    def _acted_in_words(self, at: int, text: str) -> Iterator[Doing]:
        """A command that an agent without tools wrote in a fence, and whose output came back."""
        after = self.bodies[at + 1] if at + 1 < len(self.bodies) else None
        if not isinstance(after, Said) or not after.text.startswith(_OBSERVED):
            return
        fences = list(_FENCE.finditer(text))
        if fences:
            command = text[fences[-1].end() :].rpartition("\n```")[0]
            result = ToolReturned("", after.text)
            yield from self._in_shell(at, command, result, "", last_sentence(text))

    @row_rule
    def _told(self, at: int, text: str) -> Iterator[Doing]:
        """What a program that edits files for the agent says it did with its last words."""
        entry = self._entry(at)
        for path in (*_asked_for(text), *(found[1] for found in _ADDED.finditer(text))):
            yield Doing(Act("read", path.strip()), entry)
        words = self.said[1]
        applied = dict.fromkeys(found[1].strip() for found in _APPLIED.finditer(text))
        if not applied and SEARCH not in words:
            return
        acts = {act.path: act for act in (*fenced(words), *replaced(words))}
        for path in applied:
            yield Doing(acts.get(path, changed(path, [])), entry)
        missed = dict.fromkeys(found[1].strip() for found in _UNMATCHED.finditer(text))
        for path in (path for path in missed if path not in applied):
            yield Doing(Act("edit", path), entry, failed=True)


def _asked_for(text: str) -> list[str]:
    """The files that the user let into the chat: the lines right above the question."""
    above, found, _ = text.partition(_ASKED)
    paths: list[str] = []
    for line in reversed(above.rstrip().split("\n")) if found else ():
        if not looks_like_path(line.strip()):
            break
        paths.append(line.strip())
    return paths[::-1]


def _to_the_end(act: Act, output: str) -> Act:
    """A page that goes on to the end of its file: as long as what was printed."""
    open_ended = act.verb == "read" and act.first and not act.last
    return replace(act, last=act.first + max(count_lines(output), 1) - 1) if open_ended else act


def _half_patched(output: str) -> Iterator[tuple[Act, bool]]:
    """The files of which `patch` says that it failed at, and whether at all of its changes."""
    path = ""
    for line in output[:20_000].split("\n") if "hunk" in output else ():
        path = line.removeprefix("patching file ") if line.startswith("patching file ") else path
        missed = _HUNKS.match(line)
        if path and missed:
            how = f"patch, {missed[0]} failed"
            yield Act("edit", path.strip("'\r"), how=how), missed[1] == missed[2]


def _shell_refused(output: str) -> bool:
    """Whether a command did not run at all."""
    starts = ("<tool_use_error>", "execution error", "The user doesn't want", "Sibling tool call")
    return output.lstrip()[:40].startswith(starts)


@rule("")
def last_sentence(text: str) -> str:
    """The last sentence that an agent said before it acted, word for word, cut when it is long."""
    prose = [part.strip() for part in text.split("```")[::2] if part.strip()]
    plain = prose[-1][-2_000:].removeprefix("THOUGHT:").strip() if prose else ""
    ends = [found.end() for found in _SENTENCE.finditer(plain)]
    return clipped(plain[ends[-1] if ends else 0 :].strip().strip("*#:- "))


def _folders_named(scene: Scene) -> list[str]:
    """The working folders that the agent's program told it."""
    found: list[str] = []
    for item in scene.items:
        if isinstance(item.body, Said) and item.body.role != "assistant":
            names = (match[1] or match[2] for match in _FOLDER.finditer(item.body.text[:20_000]))
            found += [normal(name) for name in names]
    return list(dict.fromkeys(found))


def _unplaced(doings: Iterable[Doing], folders: Sequence[str]) -> Iterator[Doing]:
    """Acts with their paths as they were written."""
    del folders
    return iter(tuple(doings))


@rule_or(_unplaced)
def _met(doings: Iterable[Doing], folders: Sequence[str]) -> Iterator[Doing]:
    """Acts with their paths in one spelling, and relative paths where they turn out to lie."""
    tidy = [
        replace(
            doing, act=replace(doing.act, path=normal(doing.act.path), was=normal(doing.act.was))
        )
        for doing in doings
    ]
    names = dict.fromkeys(name for d in tidy for name in (d.act.path, d.act.was) if name)
    homes = homes_of(names, folders)
    for doing in tidy:
        path, was = doing.act.path, doing.act.was
        if path:
            found = homes.get(path, path), homes.get(was, was)
            yield replace(doing, act=replace(doing.act, path=found[0], was=found[1]))
