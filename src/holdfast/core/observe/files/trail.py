"""Fold acts on files, in order, into one summary row per path."""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.summary import Action, File
from holdfast.core.observe.files.patches import FileAct, act_of_replacements, looks_like_path
from holdfast.text.clip import clip_words
from holdfast.text.code import MAX_SYMBOLS
from holdfast.text.paths import folders_of

MAX_CHANGE_CHARS = 120
MADE_AND_DELETED, RESTORED = "made and deleted again", "restored by "
"""The change of a file of which nothing is left, and how that of one begins that is as it was."""
MAX_MOVED_CHARS = 90
MAX_WHY_CHARS = 100


class RecordedAct(Struct, frozen=True):
    """An act with the entry of its call."""

    act: FileAct
    entry: str
    failed: bool = False
    why: str = ""


def clip_first_line(text: str) -> str:
    """Return the first line of a text, cut at a word to `MAX_WHY_CHARS`."""
    line = text.strip().partition("\n")[0]
    return clip_words(line, MAX_WHY_CHARS, within=MAX_WHY_CHARS)


class _FileRow:
    """State of one path while the acts are applied."""

    def __init__(self, path: str, order: int, *, existed: bool) -> None:
        self.path, self.order, self.existed = path, order, existed
        self.exists = True
        self.changed = self.partial = self.read_whole = False
        self.entry = self.moved_from = self.why = self.text = self.searched = ""
        self.spans: list[tuple[int, int]] = []
        self.added = self.removed = 0
        self.symbols: dict[str, None] = {}
        self.methods: dict[str, None] = {}

    @property
    def action(self) -> Action:
        """Net effect of all acts on the path."""
        if not self.exists:
            return "deleted"
        if not self.existed:
            return "created"
        if self.moved_from:
            return "renamed"
        return "modified" if self.changed else "read"

    def delete(self, entry: str) -> None:
        """Mark the file as deleted and reset its counts."""
        self.exists = self.partial = False
        self.entry, self.text = entry, ""
        self.added = self.removed = 0
        self.symbols, self.methods = {}, {}

    def to_file(self) -> File:
        """Return the row of the summary."""
        action = self.action
        only_read = action == "read"
        return File(
            path=self.path,
            action=action,
            entry=self.entry,
            change="" if only_read else self._change(action),
            partial=self.partial,
            lines=() if self.read_whole or not only_read else merge_spans(self.spans),
            why=(self.why or self.searched) if only_read else "",
            was=self.moved_from,
        )

    def _change(self, action: Action) -> str:
        if action == "deleted":
            return "" if self.existed else MADE_AND_DELETED
        counts = [f"+{self.added}"] * bool(self.added) + [f"−{self.removed}"] * bool(self.removed)
        # The row has the whole old path; a cut one here would be read as another path.
        moved = (
            [f"moved from {self.moved_from}"] if 0 < len(self.moved_from) <= MAX_MOVED_CHARS else []
        )
        rest = [*moved, " ".join(counts), *list(self.methods)[-2:]]
        names = list(self.symbols)[:MAX_SYMBOLS]
        while True:
            text = "; ".join(part for part in (", ".join(names), *rest) if part)
            if len(text) <= MAX_CHANGE_CHARS:
                return text
            (names or rest).pop()


def merge_spans(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return sorted spans of lines, with adjacent and overlapping ones merged."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return tuple(merged)


class Trail:
    """State of all paths while the acts are applied."""

    def __init__(self) -> None:
        self.rows_by_path: dict[str, _FileRow] = {}
        self.folders: set[str] = set()
        self.row_count = 0

    def rows(self) -> tuple[File, ...]:
        """Return all rows in the order of first touch, without paths that are folders."""
        folders = {folder for path in self.rows_by_path for folder in folders_of(path)}
        rows = [row for path, row in self.rows_by_path.items() if path not in folders]
        return tuple(row.to_file() for row in sorted(rows, key=lambda row: row.order))

    def apply(self, recorded: RecordedAct) -> None:
        """Apply one act."""
        act = recorded.act
        if recorded.failed:
            row = self.rows_by_path.get(act.path)
            if row is not None and act.verb != "read":
                row.partial = True
                row.entry = recorded.entry
            return
        match act.verb:
            case "folder":
                self.folders.add(act.path)
                return
            case "read":
                self._apply_read(recorded)
            case "delete":
                self._apply_delete(recorded)
            case "move":
                self._apply_move(act.moved_from, act.path, recorded)
            case _:
                self._apply_write(recorded)
        self.folders.update(folders_of(act.path))

    def _row(self, path: str, *, existed: bool) -> _FileRow:
        row = self.rows_by_path.get(path)
        if row is None:
            self.row_count += 1
            row = self.rows_by_path[path] = _FileRow(path, self.row_count, existed=existed)
        return row

    def _apply_read(self, recorded: RecordedAct) -> None:
        act = recorded.act
        if act.path in self.folders:
            return
        row = self._row(act.path, existed=True)
        row.entry, row.exists = recorded.entry, True
        row.why = row.why or recorded.why
        if act.first or act.last:
            row.spans.append((max(act.first, 1), max(act.last, act.first, 1)))
        elif act.searched:
            row.searched = row.searched or clip_first_line(act.how)
        else:
            row.read_whole = True

    def _apply_write(self, recorded: RecordedAct) -> None:
        act = recorded.act
        path = self._target(act)
        fresh = path not in self.rows_by_path
        row = self._row(path, existed=act.verb not in ("create", "write"))
        if act.verb == "create" and not row.changed:
            row.existed = False
        if act.verb == "restore":
            row.added = row.removed = 0
            row.symbols, row.methods = {}, {f"{RESTORED}{act.how}": None}
        else:
            self._add_counts(row, act, fresh=fresh)
        row.entry, row.exists, row.changed, row.partial = recorded.entry, True, True, False

    def _target(self, act: FileAct) -> str:
        """Return the path that is written: inside `act.path` if that is a folder."""
        source = act.how.removeprefix("copied from ")
        if act.path in self.folders and source != act.how:
            return f"{act.path}/{source.rpartition('/')[2]}"
        return act.path

    def _add_counts(self, row: _FileRow, act: FileAct, *, fresh: bool) -> None:
        row.methods = {how: None for how in row.methods if not how.startswith(RESTORED)}
        if act.text and row.text:
            act = replace(
                act_of_replacements(act.path, [(row.text, act.text)]), how=act.how, text=act.text
            )
        elif act.text and not fresh and row.exists and row.existed:
            row.methods["rewritten"] = None
        row.text = act.text
        row.added += act.added
        row.removed += act.removed
        row.symbols.update(dict.fromkeys(act.symbols))
        if act.how:
            short = len(act.how) <= MAX_CHANGE_CHARS
            row.methods[act.how if short else f"{act.how.partition(' ')[0]} …"] = None

    def _apply_delete(self, recorded: RecordedAct) -> None:
        path, recursive = recorded.act.path, recorded.act.how == "rm -r"
        beneath = [row for name, row in self.rows_by_path.items() if name.startswith(f"{path}/")]
        if recursive:
            for row in beneath:
                row.delete(recorded.entry)
        folder = bool(beneath) or path in self.folders or (recursive and not looks_like_path(path))
        if path in self.rows_by_path or not folder:
            self._row(path, existed=True).delete(recorded.entry)

    def _apply_move(self, moved_from: str, path: str, recorded: RecordedAct) -> None:
        if path in self.folders:
            path = f"{path}/{moved_from.rpartition('/')[2]}"
        beneath = [name for name in self.rows_by_path if name.startswith(f"{moved_from}/")]
        for name in beneath:
            self._apply_move(name, f"{path}{name.removeprefix(moved_from)}", recorded)
        if beneath:
            self.folders.discard(moved_from)
            self.folders.add(path)
            return
        row = self._row(moved_from, existed=True)
        target = self.rows_by_path.pop(path, None)
        self.rows_by_path.pop(moved_from, None)
        self.rows_by_path[path] = row
        # A copy that is moved back over its original is a change, not a move.
        if (target is not None and target.existed) or moved_from.startswith(path):
            row.existed, row.moved_from = True, ""
            row.methods = {f"replaced by {moved_from.rpartition('/')[2]}": None}
            row.order = target.order if target is not None else row.order
        else:
            row.moved_from = "" if path == row.moved_from else row.moved_from or moved_from
        row.path, row.entry, row.partial = path, recorded.entry, False
        row.changed = row.exists = True
        self._add_counts(row, replace(recorded.act, text=row.text), fresh=True)
