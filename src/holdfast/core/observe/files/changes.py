"""List the files that the agent created, changed, moved, deleted and read, one row per path.

Every successful call is an act on some paths; the acts are applied in order. A failed call only
marks a known row as partial. A call without a result changes nothing.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from holdfast.core.faults import row_rule, rule, rule_or
from holdfast.core.ledger.entry import Said, Source, ToolCalled, ToolReturned
from holdfast.core.ledger.summary import File
from holdfast.core.ledger.window import Item
from holdfast.core.observe.files.commands import ShellState
from holdfast.core.observe.files.patches import (
    SEARCH_MARK,
    FileAct,
    act_of_replacements,
    acts_of_fenced_files,
    acts_of_search_replace,
    count_lines,
    looks_like_path,
)
from holdfast.core.observe.files.shell import acts_of_script, exit_code
from holdfast.core.observe.files.touch import (
    SHELL_TOOLS,
    acts_of_call,
    acts_of_window_editor,
    arguments_of,
    bare_tool_name,
    command_of,
)
from holdfast.core.observe.files.trail import RecordedAct, Trail, clip_first_line
from holdfast.core.observe.scene import Scene
from holdfast.text.jsontext import as_list, as_text
from holdfast.text.paths import normalize_path, resolve_relative
from holdfast.text.patterns import Pattern

# Start of the result of a file tool that did nothing: `Error: …`, `File not found` …
_REFUSAL = Pattern(
    r"\s{0,9}(?:<tool_use_error>|\[?error\b ?:|\[error\]|no such file|file does not exist"
    r"|file not found|file has not been read|string to replace not found|could not find"
    r"|no changes made|no replacement|sibling tool call|the user doesn't want|user rejected"
    r"|your proposed edit has|failed to |execution error|permission denied|cannot |unable to "
    r"|apply_patch verification|patch rejected|tool execution (?:failed|aborted)"
    r"|the tool call was rejected|access denied)",
    re.IGNORECASE,
)
# `Applied edit to src/a.py`, as aider prints it.
_APPLIED_LINE = Pattern(r"(?m)^Applied edit to ([^\n]{1,400})")
# `failed to match lines in src/a.py`, as aider prints it.
_UNMATCHED_LINE = Pattern(r"failed to (?:exactly )?match lines in ([^\n]{1,400})")
# `Added src/a.py to the chat`, as aider prints it.
_ADDED_LINE = Pattern(r"(?m)^Added ([^\n]{1,400}) to the chat")
_CHAT_CONFIRMATION = "Add these files to the chat? yes"
_OBSERVATION_STARTS = ("<returncode>", "OBSERVATION:", "Observation:")
# Start of a fenced shell block, but not of one in another language.
_SHELL_FENCE = Pattern(r"```(?:bash|sh|shell|mswea_bash_command)\n")
# `<cwd>/src</cwd>` and `Working directory: /src`.
_WORKING_FOLDER = Pattern(r"<cwd>([^<\n]{1,300})</cwd>|[Ww]orking directory: ([^\s<]{1,300})")
# `(Current directory: /src)`, as SWE-agent prints it.
_CURRENT_FOLDER = Pattern(r"\(Current directory: ([^)\n]{1,300})\)")
_SENTENCE_BREAK = Pattern(r"[.!?][ \n]|\n")
# `2 out of 5 hunks FAILED`, as `patch` prints it.
_FAILED_HUNKS = Pattern(r"(\d{1,6}) out of (\d{1,6}) hunks?")


@rule(())
def files_of(scene: Scene) -> tuple[File, ...]:
    """Return a row for every file that was touched, in the order of first touch."""
    acts = _ActReader(scene).read_acts()
    trail = Trail()
    for recorded in _with_normal_paths(acts, _working_folders(scene)):
        trail.apply(recorded)
    return trail.rows()


def _original_body(item: Item) -> Source:
    """Return the body of an item before compression."""
    body = item.entry.body
    same = len(item.covers) <= 1 and isinstance(body, type(item.body))
    return body if same and isinstance(body, Said | ToolCalled | ToolReturned) else item.body


class _ActReader:
    """Reads the acts of a scene in the order of its calls."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.bodies = [_original_body(item) for item in scene.items]
        self.texts: dict[str, str] = {}
        self.folder = ""
        """Working folder of the agent's shell, if its results state it."""
        self.last_words: tuple[int, str] = (-1, "")
        """The last text of the agent, with its step."""

    def read_acts(self) -> list[RecordedAct]:
        """Return all acts on files, in order."""
        acts: list[RecordedAct] = []
        for at, body in enumerate(self.bodies):
            match body:
                case ToolCalled():
                    acts += self._acts_of_call(at, body)
                case Said(role="assistant"):
                    self.last_words = (self.scene.steps[at], body.text)
                    acts += self._acts_of_fenced_command(at, body.text)
                case Said(role="user" | "tool"):
                    acts += self._acts_of_report(at, body.text)
                case _:
                    pass
        return acts

    def _entry(self, at: int) -> str:
        return self.scene.items[at].entry.id

    @row_rule
    def _acts_of_call(self, at: int, body: ToolCalled) -> Iterator[RecordedAct]:
        pair = self.scene.by_call.get(at)
        result = self.bodies[pair.result] if pair and pair.result is not None else None
        if not isinstance(result, ToolReturned):
            return
        if bare_tool_name(body.tool).rpartition(".")[2] in SHELL_TOOLS:
            yield from self._acts_of_shell_call(at, body, result)
            return
        failed = result.failed or _REFUSAL.match(result.output) is not None
        code = exit_code(result.output) if "patch" in body.tool else 0
        why = self._reason_for(at, body)
        for act in acts_of_call(body, result.output):
            yield RecordedAct(act, self._entry(at), failed or bool(code), why)

    def _acts_of_shell_call(
        self, at: int, body: ToolCalled, result: ToolReturned
    ) -> Iterator[RecordedAct]:
        arguments = arguments_of(body)
        words = [as_text(word) for word in as_list(arguments.get("command"))]
        command = shlex.join(words) if words[:1] == ["apply_patch"] else command_of(arguments)
        base = as_text(arguments.get("workdir")) or as_text(arguments.get("cwd"))
        yield from self._acts_of_command(at, command, result, base, self._reason_for(at, body))

    def _acts_of_command(
        self, at: int, command: str, result: ToolReturned, base: str, why: str
    ) -> Iterator[RecordedAct]:
        code = exit_code(result.output)
        failed = result.failed or bool(code) or (code is None and _shell_refused(result.output))
        shell = ShellState(base or self.folder, result.output, failed, self.texts)
        if current := _CURRENT_FOLDER.search(result.output[-600:]):
            self.folder = current[1]
        acts = acts_of_window_editor(command, result.output) or acts_of_script(command, shell)
        for act in acts if len(acts) != 1 else [_with_last_line(acts[0], result.output)]:
            if act.text:
                self.texts[act.path] = act.text
            yield RecordedAct(act, self._entry(at), why=why)
        for act, whole in _partly_patched_files(result.output) if failed else ():
            yield from (RecordedAct(act, self._entry(at), failed=miss) for miss in (whole, True))

    def _reason_for(self, at: int, body: ToolCalled) -> str:
        step, text = self.last_words
        sentence = last_sentence(text) if step == self.scene.steps[at] else ""
        return sentence or clip_first_line(as_text(arguments_of(body).get("description")))

    @row_rule
    def _acts_of_fenced_command(self, at: int, text: str) -> Iterator[RecordedAct]:
        """Yield the acts of a command that an agent without tools wrote in a fenced block."""
        after = self.bodies[at + 1] if at + 1 < len(self.bodies) else None
        if not isinstance(after, Said) or not after.text.startswith(_OBSERVATION_STARTS):
            return
        fences = list(_SHELL_FENCE.finditer(text))
        if fences:
            command = text[fences[-1].end() :].rpartition("\n```")[0]
            result = ToolReturned("", after.text)
            yield from self._acts_of_command(at, command, result, "", last_sentence(text))

    @row_rule
    def _acts_of_report(self, at: int, text: str) -> Iterator[RecordedAct]:
        """Yield the acts that an editing program (aider) reports for the agent's last text."""
        entry = self._entry(at)
        for path in (
            *_files_added_to_chat(text),
            *(found[1] for found in _ADDED_LINE.finditer(text)),
        ):
            yield RecordedAct(FileAct("read", path.strip()), entry)
        words = self.last_words[1]
        applied = dict.fromkeys(found[1].strip() for found in _APPLIED_LINE.finditer(text))
        if not applied and SEARCH_MARK not in words:
            return
        acts = {
            act.path: act for act in (*acts_of_fenced_files(words), *acts_of_search_replace(words))
        }
        for path in applied:
            yield RecordedAct(acts.get(path, act_of_replacements(path, [])), entry)
        missed = dict.fromkeys(found[1].strip() for found in _UNMATCHED_LINE.finditer(text))
        for path in (path for path in missed if path not in applied):
            yield RecordedAct(FileAct("edit", path), entry, failed=True)


def _files_added_to_chat(text: str) -> list[str]:
    """Return the files that the user added to the chat: the lines right above the question."""
    above, confirmed, _ = text.partition(_CHAT_CONFIRMATION)
    paths: list[str] = []
    for line in reversed(above.rstrip().split("\n")) if confirmed else ():
        if not looks_like_path(line.strip()):
            break
        paths.append(line.strip())
    return paths[::-1]


def _with_last_line(act: FileAct, output: str) -> FileAct:
    """Return a read without a last line, with the last line computed from the printed output."""
    open_ended = act.verb == "read" and act.first and not act.last
    return replace(act, last=act.first + max(count_lines(output), 1) - 1) if open_ended else act


def _partly_patched_files(output: str) -> Iterator[tuple[FileAct, bool]]:
    """Yield the files in which `patch` failed, each with whether all of its hunks failed."""
    path = ""
    for line in output[:20_000].split("\n") if "hunk" in output else ():
        path = line.removeprefix("patching file ") if line.startswith("patching file ") else path
        missed = _FAILED_HUNKS.match(line)
        if path and missed:
            how = f"patch, {missed[0]} failed"
            yield FileAct("edit", path.strip("'\r"), how=how), missed[1] == missed[2]


def _shell_refused(output: str) -> bool:
    """Return whether a command did not run at all."""
    starts = ("<tool_use_error>", "execution error", "The user doesn't want", "Sibling tool call")
    return output.lstrip()[:40].startswith(starts)


@rule("")
def last_sentence(text: str) -> str:
    """Return the last sentence of an agent's text, clipped to `MAX_WHY_CHARS`."""
    prose = [part.strip() for part in text.split("```")[::2] if part.strip()]
    plain = prose[-1][-2_000:].removeprefix("THOUGHT:").strip() if prose else ""
    ends = [found.end() for found in _SENTENCE_BREAK.finditer(plain)]
    return clip_first_line(plain[ends[-1] if ends else 0 :].strip().strip("*#:- "))


def _working_folders(scene: Scene) -> list[str]:
    """Return the working folders that the host program stated in its messages."""
    folders: list[str] = []
    for item in scene.items:
        if isinstance(item.body, Said) and item.body.role != "assistant":
            names = (
                match[1] or match[2] for match in _WORKING_FOLDER.finditer(item.body.text[:20_000])
            )
            folders += [normalize_path(name) for name in names]
    return list(dict.fromkeys(folders))


def _with_written_paths(
    acts: Iterable[RecordedAct], folders: Sequence[str]
) -> Iterator[RecordedAct]:
    """Return the acts with their paths as written: the fallback of `_with_normal_paths`."""
    del folders
    return iter(tuple(acts))


@rule_or(_with_written_paths)
def _with_normal_paths(
    acts: Iterable[RecordedAct], folders: Sequence[str]
) -> Iterator[RecordedAct]:
    """Yield the acts with normalized paths; relative paths become the full path if one is known."""
    normalized = [
        replace(
            recorded,
            act=replace(
                recorded.act,
                path=normalize_path(recorded.act.path),
                moved_from=normalize_path(recorded.act.moved_from),
            ),
        )
        for recorded in acts
    ]
    names = dict.fromkeys(
        name for d in normalized for name in (d.act.path, d.act.moved_from) if name
    )
    homes = resolve_relative(names, folders)
    for recorded in normalized:
        path, moved_from = recorded.act.path, recorded.act.moved_from
        if path:
            placed = homes.get(path, path), homes.get(moved_from, moved_from)
            yield replace(recorded, act=replace(recorded.act, path=placed[0], moved_from=placed[1]))
