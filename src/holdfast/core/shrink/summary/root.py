"""Find the directory that most paths of a session are in, and write paths relative to it."""

from collections.abc import Iterable
from itertools import accumulate

from msgspec.structs import replace

from holdfast.core.ledger.summary import File, Summary

MIN_SHARE = 0.8
"""The share of the paths that have to be below the root."""
MIN_ROOT_CHARS = 4


def root_of(files: Iterable[File]) -> str:
    """Return the deepest directory with most paths below it; empty if any path is relative."""
    paths = [file.path for file in files]
    if not all(path.startswith("/") for path in paths):
        return ""
    counts: dict[str, int] = {}
    for path in paths:
        folders = path.split("/")[1:-1]
        for folder in accumulate(folders, lambda parent, name: f"{parent}/{name}", initial=""):
            counts[folder] = counts.get(folder, 0) + 1
    common = [folder for folder, count in counts.items() if count >= MIN_SHARE * len(paths)]
    root = max(common, key=len, default="")
    return root if len(root) >= MIN_ROOT_CHARS and "\n" not in root else ""


def relative_path(path: str, root: str) -> str:
    """Return a path relative to a root; as it is if it is elsewhere."""
    inside = root and path.startswith(f"{root}/") and len(path) > len(root) + 1
    return path[len(root) + 1 :] if inside else path


def relative_text(text: str, root: str) -> str:
    """Return a text in which paths below a root are relative, without changes into the root."""
    if not root or root not in text:
        return text
    return text.replace(f"cd {root} && ", "").replace(f"{root}/", "")


def with_absolute_paths(summary: Summary) -> Summary:
    """Return a summary that was read from its text with the paths that it had before."""
    root = summary.root
    if not root:
        return summary
    files = (
        file if file.path.startswith("/") else replace(file, path=f"{root}/{file.path}")
        for file in summary.files
    )
    return replace(summary, files=tuple(files))
