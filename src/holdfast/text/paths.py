"""Normalize paths, and resolve relative paths with the help of known absolute ones."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from holdfast.text.patterns import Pattern

MAX_PATH_CHARS = 500
MIN_AGREEMENT = 0.75
"""The share of relative paths that must be in the same folder to make it the root of all."""
_NO_PATH = Pattern(r"[\n\0|<>\"*?`]")
"""A character that a path does not contain: `src/*.py`, `a | b`, but not `src/my app.py`."""
_SLASHES = Pattern(r"/{2,}")


def normalize_path(path: str) -> str:
    """Normalize a path; return an empty text for something that is not a path."""
    plain = path.strip().removeprefix("file://")
    if not 0 < len(plain) <= MAX_PATH_CHARS or _NO_PATH.search(plain):
        return ""
    if "\\" in plain and "/" not in plain:
        return plain
    parts: list[str] = []
    for part in _SLASHES.sub("/", plain).split("/"):
        if part == ".." and parts and parts[-1] not in ("..", "~", ""):
            parts.pop()
        elif part != "." and (part or not parts):
            parts.append(part)
    joined = "/".join(parts)
    return "" if joined in ("", "-", ".", "..") else joined


def resolve_relative(names: Iterable[str], folders: Sequence[str]) -> dict[str, str]:
    """Map relative paths to absolute ones, as far as the absolute names allow it."""
    files = {name: None for name in names if is_absolute(name)}
    known = {**files, **{folder: None for name in files for folder in folders_of(name)}}
    by_ending: dict[str, list[str]] = {}
    for name in known:
        for end in _endings(name):
            by_ending.setdefault(end, []).append(name)
    candidates_of = {
        name: [
            home
            for home in by_ending.get(_endings(name)[-1], ())
            # The bare name of a folder is too common to identify it.
            if home.endswith(f"/{name}") and ("/" in name or home in files)
        ]
        for name in names
        if not is_absolute(name)
    }
    root = _common_root(candidates_of, [folder for folder in folders if folder in known])
    homes: dict[str, str] = {}
    for name, candidates in candidates_of.items():
        rooted = f"{root}/{name}"
        if root and (rooted in candidates or len(candidates) != 1 or "/" not in name):
            homes[name] = normalize_path(rooted)
        elif len(candidates) == 1:
            homes[name] = candidates[0]
    return homes


def _endings(name: str) -> list[str]:
    """Return the last part of a path, the last two and the last three."""
    parts = name.rsplit("/", 3)[-3:]
    return ["/".join(parts[-count:]) for count in range(1, len(parts) + 1)]


def _common_root(candidates_of: Mapping[str, Sequence[str]], folders: Sequence[str]) -> str:
    """Return the folder that relative paths start from; empty if they do not agree on one."""
    if len(folders) == 1:
        return folders[0]
    votes = Counter(
        homes[0].removesuffix(f"/{name}")
        for name, homes in candidates_of.items()
        if len(homes) == 1 and "/" in name
    )
    best = votes.most_common(1)
    return best[0][0] if best and best[0][1] >= votes.total() * MIN_AGREEMENT else ""


def folders_of(path: str) -> Iterator[str]:
    """Yield the folders that contain a path, nearest first."""
    folder = path.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]


def join_path(base: str, path: str) -> str:
    """Join a relative path to a base folder; return an absolute one unchanged."""
    if is_absolute(path) or not base:
        return path
    return f"{base.rstrip('/')}/{path}"


def is_absolute(path: str) -> bool:
    """Whether a path does not depend on the current folder."""
    return path.startswith(("/", "~", "\\\\")) or (path[1:2] == ":" and path[:1].isalpha())
