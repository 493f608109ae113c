"""Find the directory that most paths of a session are in, and write paths relative to it."""

from collections.abc import Iterable
from itertools import accumulate

from msgspec.structs import replace

from holdfast.core.ledger.summary import File, Summary
from holdfast.core.observe.moments.moment import Moment

HERE = "./"
"""Written before a path that was relative already, where a root is given."""
LINE_CHARS = 24
"""Characters of the line that names the root, besides the root."""


def root_of(files: Iterable[File]) -> str:
    """Return the directory that saves most characters if paths below it are relative to it."""
    paths = [path for file in files for path in (file.path, file.was) if path]
    counts: dict[str, int] = {}
    for path in paths:
        folders = path.split("/")[1:-1] if path.startswith("/") else []
        for folder in accumulate(folders, lambda parent, name: f"{parent}/{name}", initial=""):
            counts[folder] = counts.get(folder, 0) + 1
    relative = sum(not path.startswith("/") for path in paths)

    def saved(folder: str) -> int:
        size = len(folder) + 1
        return (counts[folder] - 1) * size - LINE_CHARS - relative * len(HERE)

    folders = (folder for folder in counts if folder and "\n" not in folder)
    root = max(folders, key=lambda folder: (saved(folder), folder), default="")
    return root if root and saved(root) > 0 else ""


def relative_path(path: str, root: str) -> str:
    """Return a path relative to a root; as it is if it is elsewhere, marked if it was relative."""
    if not root or not path:
        return path
    if path.startswith(f"{root}/") and len(path) > len(root) + 1:
        return path[len(root) + 1 :]
    return path if path.startswith(("/", HERE)) else f"{HERE}{path}"


def relative_text(text: str, root: str) -> str:
    """Return a text in which paths below a root are relative, without changes into the root."""
    if not root or root not in text:
        return text
    return text.replace(f"cd {root} && ", "").replace(f"{root}/", "")


def relative_moments(moments: Iterable[Moment], root: str) -> list[Moment]:
    """Return moments in which paths below a root are relative."""
    texts = ((moment, relative_text(moment.text, root)) for moment in moments)
    return [moment if text == moment.text else replace(moment, text=text) for moment, text in texts]


def with_absolute_paths(summary: Summary) -> Summary:
    """Return a summary that was read from its text with the paths that it had before."""
    root = summary.root
    if not root:
        return summary
    files = (replace(file, path=_absolute(file.path, root)) for file in summary.files)
    return replace(summary, files=tuple(files))


def _absolute(path: str, root: str) -> str:
    if path.startswith(HERE):
        return path.removeprefix(HERE)
    return path if path.startswith("/") else f"{root}/{path}"
