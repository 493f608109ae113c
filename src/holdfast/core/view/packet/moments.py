"""Choose the moments of a record for a task, and place them: by file in layer 3, else in layer 2.

What a tool printed is not passed on when it orders its reader to do something. Failed runs belong
to layer 4, requests and constraints to layer 1.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import row_rule, rule
from holdfast.core.ledger.entry import EntryId, ToolReturned
from holdfast.core.ledger.packet import RelevantFile
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.moments.moment import Moment
from holdfast.core.observe.moments.said import ANNOUNCED_SHARE, CLOSING_WEIGHT
from holdfast.core.observe.scene import Scene
from holdfast.core.shrink.summary.choose import Choices, words_of_moment
from holdfast.core.shrink.summary.root import relative_path, relative_text
from holdfast.core.view.packet.code import OUTLINE_WEIGHT, gives_orders, outline_moment
from holdfast.core.view.packet.names import NameChoice, NamesAim, UsedName, word_factors
from holdfast.text.clip import clip_and_mark
from holdfast.text.patterns import Pattern

FILE_KINDS = ("changed", "content", "looked")
"""Moments that are shown below the path of their file."""
NO_OUTLINES: Mapping[EntryId, Moment] = {}
NO_NAMES: Mapping[str, Sequence[str]] = {}
MAX_OUTLINED = 60
"""Files whose newest reading is outlined."""
FILE_VERBS = ("read ", "wrote ", "edited ", "proposed edit of ", "edit applied to ")
"""Beginnings of moments that name one file."""
MIN_SAID_WEIGHT = CLOSING_WEIGHT * ANNOUNCED_SHARE
"""Announcements weigh no more than this."""
MIN_SAID_CHARS = 40
"""`All tests pass.` says no more than the row of the tests does."""
FILE_SHARE = 0.55
"""The share of the room that lines of files may take; the rest is for the state of the work."""
NAMES_SHARE = 0.4
"""The share of the room that is kept for names that no chosen line has."""
MAX_FILE_LINES = 8
MAX_STATE_CHARS = 200
MAX_CHANGE_CHARS = 130
"""Characters of a line about a file besides its path."""
MIN_LINE_CHARS = 8
PER_TOKEN = 3.4
"""Estimated characters per token; the final packet is counted exactly."""
STATE = "<state>"
"""The place of moments that belong to no file."""
BETWEEN = "; "
OTHER_NAMES = "Other names used: "
ARROW = " → "
UNKNOWN_CHANGES = (" +0", "edit applied to")
"""Ends of changes of which nothing is known."""
FAILED = f"{ARROW}failed: "
NOTHING_PRINTED = f"{ARROW}no output"
# `cd /work/app && `, ` 2>&1`, ` | tail -5`; but not ` | grep x`.
_FRAME = Pattern(
    r"^cd \S{1,200} (?:&&|;) "
    r"|(?: 2>&1| 2>/dev/null| \|\| true| \| (?:cat|head|tail)\b[^|]{0,12}){1,6}$"
)
# `## `, `**`; but not `#include`.
_MARKS = Pattern(r"^(?:#{1,6} |\*\*|[-*] ){1,3}")
# `: package main · `: the first of the new lines of a Go file; but not `: package.json`.
_PACKAGE = Pattern(r": package \w{1,40} · ")
# `func Load() {`, `if x:`, `value,`: what only opens a block or ends a row.
_TAIL = Pattern(r"[\s{(\[,;:]{1,8}$")


class PacketSelection(Struct, frozen=True):
    """The rows that were chosen for a room."""

    files: tuple[RelevantFile, ...] = ()
    state: tuple[str, ...] = ()


class PacketAim(Struct, frozen=True):
    """What moments are chosen for, and how they are placed."""

    task: str = ""
    layers: Sequence[int] = ()
    covered: Sequence[str] = ()
    """Words that the packet shows anyway."""
    named: Sequence[str] = ()
    """Files that are shown if the record has them."""
    ranks: Mapping[str, int] = {}
    """The order of files."""
    root: str = ""
    """The directory that paths are relative to."""
    shown: str = ""
    """The text that the packet shows anyway."""
    names: Sequence[UsedName] = ()
    """Names that the agent wrote or saw last, the most needed first."""


@row_rule
def packet_moments(
    moments: Iterable[Moment], outlines: Mapping[EntryId, Moment] = NO_OUTLINES
) -> Iterator[Moment]:
    """Yield the moments that a packet may show, each with its file in place of its turn.

    `outlines` are files that were read in one line each, by the entries that show them.
    """
    entry, path = "", ""
    for one in moments:
        if one.entry != entry:
            entry, path = one.entry, ""
        if one.kind in ("changed", "looked"):
            path = _path_in(one.text)
        outline = outlines.get(entry)
        if one.kind == "looked" and outline is not None:
            yield outline
        if is_shown(one) and (one.kind != "content" or _adds_to_file(one, path, outline)):
            yield _placed(one, path)


@rule({})
def outlines_in(scene: Scene) -> dict[EntryId, Moment]:
    """Return the files that were read last in one line each, by the entries that show them."""
    found, paths = dict[EntryId, Moment](), set[str]()
    for pair in reversed(scene.pairs):
        touch = touch_of(pair.body)
        item = scene.items[pair.result] if pair.result is not None else None
        if (
            item is None
            or touch.verb != "read"
            or touch.path in paths
            or len(paths) >= MAX_OUTLINED
        ):
            continue
        if isinstance(item.body, ToolReturned) and not item.body.failed:
            paths.add(touch.path)
            outline = outline_moment(touch.path, item.body.output, item.entry.id)
            found |= {item.entry.id: outline} if outline is not None else {}
    return found


def _path_in(text: str) -> str:
    """The file that was changed or read; empty for a search."""
    verb = next((verb for verb in FILE_VERBS if text.startswith(verb)), "")
    return text.removeprefix(verb).partition(" +")[0].partition(" lines ")[0] if verb else ""


def _adds_to_file(moment: Moment, path: str, outline: Moment | None) -> bool:
    """Return whether a moment is a line of a file that its outline does not show."""
    name, _, line = moment.text.partition(": ")
    own = bool(path) and name.startswith(path.rstrip("/").rpartition("/")[2])
    return own and (outline is None or _TAIL.sub("", line) not in outline.text)


def _placed(moment: Moment, path: str) -> Moment:
    """A moment with its file, and a command without its wrapping."""
    if moment.kind == "ran":
        command, arrow, outcome = moment.text.partition(ARROW)
        row = f"$ {bare_command(command[2:])}{arrow}{outcome}"
        return replace(moment, text=clip_and_mark(row, MAX_STATE_CHARS), turn=STATE)
    if moment.kind not in FILE_KINDS or not path:
        return replace(moment, text=clip_and_mark(moment.text, MAX_STATE_CHARS), turn=STATE)
    return replace(moment, text=clip_and_mark(moment.text, len(path) + MAX_CHANGE_CHARS), turn=path)


def file_of(moment: Moment) -> str:
    """Return the file that a placed moment is about; empty if it is about none."""
    return moment.turn if moment.turn != STATE else ""


def is_shown(moment: Moment) -> bool:
    """Return whether a packet may show a moment: a statement, or an outcome that orders nothing."""
    match moment.kind:
        case "thought":
            return False
        case "said":
            return moment.weight > MIN_SAID_WEIGHT and _says_enough(moment.text)
        case "answered":
            return True
        case "changed":
            return not moment.text.startswith("edit of ")
        case "ran":
            says = FAILED not in moment.text and not moment.text.endswith(NOTHING_PRINTED)
            return says and not gives_orders(moment.text)
        case "content":
            return ": package " not in moment.text and not gives_orders(moment.text)
        case _:
            return not gives_orders(moment.text)


def _says_enough(text: str) -> bool:
    """Whether a sentence is no question, and is long enough or names something."""
    return not text.endswith("?") and (len(text) >= MIN_SAID_CHARS or "`" in text or "/" in text)


def bare_command(command: str) -> str:
    """Return a command without its wrapping."""
    command = " ".join(command.split())
    while (shorter := _FRAME.sub("", command).strip()) != command:
        command = shorter
    return command


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text from its length."""
    return int(len(text) / PER_TOKEN) + 1


class MomentChoice:
    """The choice of moments for one task, for each room tried."""

    def __init__(self, moments: Sequence[Moment], aim: PacketAim) -> None:
        self._aim = aim
        of_files = [one for one in moments if one.turn != STATE and 3 in aim.layers]
        others = [one for one in moments if one.turn == STATE and 2 in aim.layers]
        self._share = FILE_SHARE if others else 1.0
        self._must = _newest_of(of_files, aim.named)
        factors = word_factors(aim.names)
        self._of_files = Choices(of_files, self._count, aim.task, factors)
        self._others = Choices(others, self._count, aim.task, factors)
        self._covered = frozenset(aim.covered)
        files = NamesAim(paths_by_name(aim.ranks), 3 in aim.layers, 2 in aim.layers)
        self._names = NameChoice(aim.names, files, self._count)

    def fill(self, room: int) -> PacketSelection:
        """Return the rows for a room: files up to their share, then the state of the work."""
        lines = int(room * (1 - NAMES_SHARE)) if self._aim.names else room
        share = int(lines * self._share)
        of_files = self._of_files.choose(share, covered=self._covered, must=self._must)
        prices = {one.turn: self._count(one.turn) for one in of_files}
        left = lines - sum(self._count(one.text) for one in of_files) - sum(prices.values())
        words = (word for one in of_files for word in words_of_moment(one.text))
        others = self._others.choose(left, covered=self._covered.union(words))
        moments = (*of_files, *others)
        left += room - lines - sum(self._count(one.text) for one in others)
        text = "\n".join((self._aim.shown, *prices, *(one.text for one in moments)))
        return place_moments(moments, self._aim, self._names.fill(left, text))

    def _count(self, text: str) -> int:
        return estimate_tokens(relative_text(text, self._aim.root))


def _newest_of(moments: Iterable[Moment], paths: Sequence[str]) -> frozenset[str]:
    """The text of the newest moment that says what each of some files is, else of the newest."""
    best = dict[str, tuple[int, str]]()
    for one in moments:
        wrote = one.text.startswith("wrote ") or one.weight == OUTLINE_WEIGHT
        rank = 2 if wrote else int(one.kind == "changed")
        if rank >= best.get(one.turn, (0, ""))[0]:
            best[one.turn] = rank, one.text
    return frozenset(best[path][1] for path in paths if path in best)


@rule(PacketSelection())
def place_moments(
    moments: Iterable[Moment], aim: PacketAim, named: Mapping[str, Sequence[str]] = NO_NAMES
) -> PacketSelection:
    """Place moments under their files, the first in rank first, and all others as rows of state.

    The names in `named` are added to the rows of their files.
    """
    ranks, root = aim.ranks, aim.root
    chosen = tuple(moments)
    names = full_paths((*(one.turn for one in chosen if one.turn != STATE), *named, *ranks))
    state, lines = list[str](), dict[str, list[str]]()
    refs = dict[str, EntryId]()
    for one in chosen:
        if one.turn == STATE:
            state.append(relative_text(_MARKS.sub("", one.text).replace("**", ""), root))
        else:
            path = names[one.turn]
            lines.setdefault(path, []).extend(_lines_of(one))
            refs[path] = one.entry
    lines = {path: _few(rows) for path, rows in lines.items()}
    for path, others in named.items():
        if path:
            row = (f"names {', '.join(others)}",) if others else ()
            lines.setdefault(names[path], []).extend(row)
        else:
            state.append(relative_text(f"{OTHER_NAMES}{', '.join(others)}", root))
    files = (
        RelevantFile(
            relative_path(path, root),
            relative_text(BETWEEN.join(lines[path]), root),
            (refs[path],) if path in refs else (),
        )
        for path in sorted(lines, key=lambda path: ranks.get(path, len(ranks)))
    )
    return PacketSelection(tuple(files), tuple(dict.fromkeys(state)))


def _few(lines: Sequence[str]) -> list[str]:
    """The newest lines of a file, each once."""
    unique = list(dict.fromkeys(reversed(lines)))
    return unique[:MAX_FILE_LINES][::-1]


@row_rule
def _lines_of(moment: Moment) -> Iterator[str]:
    """Yield what a moment says of its file besides the path."""
    if moment.kind == "changed":
        text = moment.text.replace(f" {moment.turn}", "", 1)
        if not text.endswith(UNKNOWN_CHANGES):
            yield _PACKAGE.sub(": ", text, 1)
    elif moment.kind == "content":
        name = moment.turn.rstrip("/").rpartition("/")[2]
        line = _TAIL.sub("", moment.text.removeprefix(name).lstrip(": "))
        if len(line) >= MIN_LINE_CHARS:
            yield line


def paths_by_name(paths: Iterable[str]) -> dict[str, str]:
    """Map each path to itself, and the name of its file to it where only one file has that name."""
    known = tuple(paths)
    files = Counter(path.rpartition("/")[2] for path in known)
    names = {name: path for path in known if files[name := path.rpartition("/")[2]] == 1}
    return {**names, **{path: path for path in known}}


def full_paths(paths: Iterable[str]) -> dict[str, str]:
    """Map each path to the only longest path that ends with it: the same file."""
    known = sorted(set(paths))
    ends: dict[str, list[str]] = {}
    for path in known:
        parts = path.split("/")
        for at in range(1, len(parts)):
            ends.setdefault("/".join(parts[at:]), []).append(path)
    return {path: _longest(path, ends.get(path, [])) for path in known}


def _longest(path: str, longer: Sequence[str]) -> str:
    whole = max(longer, key=len, default=path)
    return whole if all(whole.endswith(one) for one in longer) else path
