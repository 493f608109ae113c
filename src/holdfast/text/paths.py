"""Paths: their one spelling, and where those lie that are told from some folder."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

LONGEST_PATH = 500
AGREED = 0.75
"""The share of relative paths that have to lie in the same folder for it to be theirs."""
_NO_PATH = re.compile(r"[\n\0|<>\"*?`]")
_SLASHES = re.compile(r"/{2,}")


def normal(path: str) -> str:
    """The one spelling of a path; what is no path is empty."""
    plain = path.strip().removeprefix("file://")
    if not 0 < len(plain) <= LONGEST_PATH or _NO_PATH.search(plain):
        return ""
    if "\\" in plain and "/" not in plain:
        return plain
    kept: list[str] = []
    for part in _SLASHES.sub("/", plain).split("/"):
        if part == ".." and kept and kept[-1] not in ("..", "~", ""):
            kept.pop()
        elif part != "." and (part or not kept):
            kept.append(part)
    joined = "/".join(kept)
    return "" if joined in ("", "-", ".", "..") else joined


def homes_of(names: Iterable[str], folders: Sequence[str]) -> dict[str, str]:
    """For relative paths: where they lie, as far as the absolute ones among the names tell."""
    files = {name: None for name in names if is_absolute(name)}
    known = {**files, **{folder: None for name in files for folder in folders_of(name)}}
    alike: dict[str, list[str]] = {}
    for name in known:
        for end in _ends(name):
            alike.setdefault(end, []).append(name)
    found = {
        name: [
            home
            for home in alike.get(_ends(name)[-1], ())
            # A folder shares its bare name with too much to be known by it.
            if home.endswith(f"/{name}") and ("/" in name or home in files)
        ]
        for name in names
        if not is_absolute(name)
    }
    root = _root(found, [folder for folder in folders if folder in known])
    homes: dict[str, str] = {}
    for name, candidates in found.items():
        rooted = f"{root}/{name}"
        if root and (rooted in candidates or len(candidates) != 1 or "/" not in name):
            homes[name] = normal(rooted)
        elif len(candidates) == 1:
            homes[name] = candidates[0]
    return homes


def _ends(name: str) -> list[str]:
    """The last part of a path, the last two, and the last three: what alike paths share."""
    parts = name.rsplit("/", 3)[-3:]
    return ["/".join(parts[-count:]) for count in range(1, len(parts) + 1)]


def _root(found: Mapping[str, Sequence[str]], folders: Sequence[str]) -> str:
    """The folder that relative paths start from; none when they do not agree on one."""
    if len(folders) == 1:
        return folders[0]
    votes = Counter(
        homes[0].removesuffix(f"/{name}")
        for name, homes in found.items()
        if len(homes) == 1 and "/" in name
    )
    best = votes.most_common(1)
    return best[0][0] if best and best[0][1] >= votes.total() * AGREED else ""


def folders_of(path: str) -> Iterator[str]:
    """Every folder that a path lies in, nearest first."""
    folder = path.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]


def path_from(base: str, path: str) -> str:
    """A path as it is told from the folder that `base` is told from."""
    if is_absolute(path) or not base:
        return path
    return f"{base.rstrip('/')}/{path}"


def is_absolute(path: str) -> bool:
    """Whether a path says the same thing from anywhere."""
    return path.startswith(("/", "~", "\\\\")) or (path[1:2] == ":" and path[:1].isalpha())
