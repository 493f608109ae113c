"""The rows of files while the acts on them are folded, in the order in which they were done."""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.summary import Action, File
from holdfast.core.observe.files.patches import Act, changed, looks_like_path
from holdfast.text.code import MOST_SYMBOLS
from holdfast.text.paths import folders_of

LONGEST_CHANGE = 120
LONGEST_MOVED = 90
LONGEST_WHY = 100


class Doing(Struct, frozen=True):
    """An act, and the call that it is read from."""

    act: Act
    entry: str
    failed: bool = False
    why: str = ""


def clipped(text: str) -> str:
    """A text of one line, cut at a word when it is too long for a clause."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= LONGEST_WHY else line[:LONGEST_WHY].rpartition(" ")[0] or line[:100]


class _Row:
    """What is known of one path while the acts are folded."""

    def __init__(self, path: str, order: int, *, existed: bool) -> None:
        self.path, self.order, self.existed = path, order, existed
        self.exists = True
        self.changed = self.partial = self.whole = False
        self.entry = self.was = self.why = self.text = self.searched = ""
        self.spans: list[tuple[int, int]] = []
        self.added = self.removed = 0
        self.symbols: dict[str, None] = {}
        self.hows: dict[str, None] = {}

    @property
    def action(self) -> Action:
        """What it all comes to."""
        if not self.exists:
            return "deleted"
        if not self.existed:
            return "created"
        if self.was:
            return "renamed"
        return "modified" if self.changed else "read"

    def delete(self, entry: str) -> None:
        """Forget what it held."""
        self.exists = self.partial = False
        self.entry, self.text = entry, ""
        self.added = self.removed = 0
        self.symbols, self.hows = {}, {}

    def file(self) -> File:
        """The row as it is kept."""
        action = self.action
        seen = action == "read"
        return File(
            path=self.path,
            action=action,
            entry=self.entry,
            change="" if seen else self._change(action),
            partial=self.partial,
            lines=() if self.whole or not seen else joined(self.spans),
            why=(self.why or self.searched) if seen else "",
            was=self.was,
        )

    def _change(self, action: Action) -> str:
        if action == "deleted":
            return "" if self.existed else "made and deleted again"
        counts = [f"+{self.added}"] * bool(self.added) + [f"−{self.removed}"] * bool(self.removed)
        # The old path stands whole in the row; a part of it here would be another path.
        moved = [f"moved from {self.was}"] if 0 < len(self.was) <= LONGEST_MOVED else []
        rest = [*moved, " ".join(counts), *list(self.hows)[-2:]]
        names = list(self.symbols)[:MOST_SYMBOLS]
        while True:
            text = "; ".join(part for part in (", ".join(names), *rest) if part)
            if len(text) <= LONGEST_CHANGE:
                return text
            (names or rest).pop()


def joined(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Spans of lines, sorted, with those that meet made one."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return tuple(merged)


class Trail:
    """The rows while the acts are folded."""

    def __init__(self) -> None:
        self.known: dict[str, _Row] = {}
        self.folders: set[str] = set()
        self.count = 0

    def rows(self) -> tuple[File, ...]:
        """All rows, in the order of first touch; what turned out to be a folder is none."""
        folders = {folder for path in self.known for folder in folders_of(path)}
        kept = [row for path, row in self.known.items() if path not in folders]
        return tuple(row.file() for row in sorted(kept, key=lambda row: row.order))

    def take(self, doing: Doing) -> None:
        """Fold one act."""
        act = doing.act
        if doing.failed:
            row = self.known.get(act.path)
            if row is not None and act.verb != "read":
                row.partial = True
                row.entry = doing.entry
            return
        match act.verb:
            case "folder":
                self.folders.add(act.path)
                return
            case "read":
                self._read(doing)
            case "delete":
                self._delete(doing)
            case "move":
                self._move(act.was, act.path, doing)
            case _:
                self._write(doing)
        self.folders.update(folders_of(act.path))

    def _row(self, path: str, *, existed: bool) -> _Row:
        row = self.known.get(path)
        if row is None:
            self.count += 1
            row = self.known[path] = _Row(path, self.count, existed=existed)
        return row

    def _read(self, doing: Doing) -> None:
        act = doing.act
        if act.path in self.folders:
            return
        row = self._row(act.path, existed=True)
        row.entry, row.exists = doing.entry, True
        row.why = row.why or doing.why
        if act.first or act.last:
            row.spans.append((max(act.first, 1), max(act.last, act.first, 1)))
        elif act.searched:
            row.searched = row.searched or clipped(act.how)
        else:
            row.whole = True

    def _write(self, doing: Doing) -> None:
        act = doing.act
        path = self._target(act)
        fresh = path not in self.known
        row = self._row(path, existed=act.verb not in ("create", "write"))
        if act.verb == "create" and not row.changed:
            row.existed = False
        if act.verb == "restore":
            row.added = row.removed = 0
            row.symbols, row.hows = {}, {f"restored by {act.how}": None}
        else:
            self._count(row, act, fresh=fresh)
        row.entry, row.exists, row.changed, row.partial = doing.entry, True, True, False

    def _target(self, act: Act) -> str:
        """The file that is written: one in the folder when a folder is named."""
        source = act.how.removeprefix("copied from ")
        if act.path in self.folders and source != act.how:
            return f"{act.path}/{source.rpartition('/')[2]}"
        return act.path

    def _count(self, row: _Row, act: Act, *, fresh: bool) -> None:
        row.hows = {how: None for how in row.hows if not how.startswith("restored")}
        if act.text and row.text:
            act = replace(changed(act.path, [(row.text, act.text)]), how=act.how, text=act.text)
        elif act.text and not fresh and row.exists and row.existed:
            row.hows["rewritten"] = None
        row.text = act.text
        row.added += act.added
        row.removed += act.removed
        row.symbols.update(dict.fromkeys(act.symbols))
        if act.how:
            short = len(act.how) <= LONGEST_CHANGE
            row.hows[act.how if short else f"{act.how.partition(' ')[0]} …"] = None

    def _delete(self, doing: Doing) -> None:
        path, deep = doing.act.path, doing.act.how == "rm -r"
        beneath = [row for name, row in self.known.items() if name.startswith(f"{path}/")]
        if deep:
            for row in beneath:
                row.delete(doing.entry)
        folder = bool(beneath) or path in self.folders or (deep and not looks_like_path(path))
        if path in self.known or not folder:
            self._row(path, existed=True).delete(doing.entry)

    def _move(self, was: str, path: str, doing: Doing) -> None:
        if path in self.folders:
            path = f"{path}/{was.rpartition('/')[2]}"
        beneath = [name for name in self.known if name.startswith(f"{was}/")]
        for name in beneath:
            self._move(name, f"{path}{name.removeprefix(was)}", doing)
        if beneath:
            self.folders.discard(was)
            self.folders.add(path)
            return
        row = self._row(was, existed=True)
        target = self.known.pop(path, None)
        self.known.pop(was, None)
        self.known[path] = row
        # A file that is worked on beside itself and put back in its place is changed, not moved.
        if (target is not None and target.existed) or was.startswith(path):
            row.existed, row.was = True, ""
            row.hows = {f"replaced by {was.rpartition('/')[2]}": None}
            row.order = target.order if target is not None else row.order
        else:
            row.was = "" if path == row.was else row.was or was
        row.path, row.entry, row.partial = path, doing.entry, False
        row.changed = row.exists = True
        self._count(row, replace(doing.act, text=row.text), fresh=True)
