"""The tree: files, names and lengths, counted off the source and the pages of one checkout.

The checkout is the one that `holdfast` is imported from: with `PYTHONPATH=other/src` the same file
counts another one. Every figure is of text that can be looked up; `--list` names the doubled names.
"""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import holdfast
from benchmarks.table import print_table

PACKAGE = Path(holdfast.__file__).parent
CHECKOUT = PACKAGE.parents[1]
PAGES = ("README.md", "ARCHITECTURE.md", "docs/performance.md")
TYPE_ONLY = "TYPE_CHECKING"
SHOWN = 6
"""Doubled names that a cell of the table quotes."""

Contract = list[list[str]]
"""The ranks of an import contract, highest first: the modules of each, by their full names."""


def run(*, listed: bool = False) -> None:
    """Print the tables."""
    trees = {path: ast.parse(path.read_text("utf-8")) for path in _sources(PACKAGE)}
    doubled = {
        "module basenames": _doubled(path.stem for path in trees if path.stem[:2] != "__"),
        "public function names": _doubled(_public_functions(trees.values())),
        "class names": _doubled(_class_names(trees.values())),
    }
    print_table("Size", ("", "src", "tests"), [*_sizes(), *_words()])
    print_table("Names and contracts", ("", ""), [*_names(), *_contract_rows(), *_imports(trees)])
    print_table(
        "Names that exist twice or more",
        ("", "names", "uses of them", "most frequent"),
        [
            (what, len(counts), sum(counts.values()), _quoted(counts.most_common(SHOWN)))
            for what, counts in doubled.items()
        ],
    )
    print_table("Functions", ("", "lines"), _lengths(trees.values()))
    print_table("Pages", ("", ""), _pages())
    for what, counts in doubled.items() if listed else ():
        print(f"\n{what}: {_quoted(counts.most_common())}")


def contracts() -> list[Contract]:
    """The layer contracts of this checkout, in the order of its `pyproject.toml`."""
    settings: dict[str, Any] = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))
    found: list[Contract] = []
    for contract in settings["tool"]["importlinter"]["contracts"]:
        if contract["type"] != "layers":
            continue
        for container in contract.get("containers", [""]):
            prefix = f"{container}." if container else ""
            found.append([[prefix + name for name in _layer(row)] for row in contract["layers"]])
    return found


def _layer(row: str) -> list[str]:
    """The modules of a rank: optional ones are in parentheses, neighbours between `|` or `:`."""
    return [name.strip(" ()") for name in re.split(r"[|:]", row)]


def _sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def _lines(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def _sizes() -> Iterator[tuple[object, ...]]:
    src, tests = _sources(PACKAGE), _sources(CHECKOUT / "tests")
    yield "files", len(src), len(tests)
    modules = ([path for path in paths if path.stem != "__init__"] for paths in (src, tests))
    yield "modules (files without `__init__`)", *(len(paths) for paths in modules)
    yield "lines", f"{_lines(src):,}", f"{_lines(tests):,}"
    yield (
        "lines of the largest file",
        *(max(_lines([path]) for path in paths) for paths in (src, tests)),
    )


def _words() -> Iterator[tuple[object, ...]]:
    """Counts of two words that name nothing, in both halves of the checkout."""
    texts = [
        [path.read_text("utf-8") for path in _sources(folder)]
        for folder in (PACKAGE, CHECKOUT / "tests")
    ]
    loops = [sum(_loops_over_one(ast.parse(text)) for text in half) for half in texts]
    yield "loop variables called `one`", *loops
    parts = [len(re.findall(r"(?<![a-z])told(?![a-z])", "\n".join(half))) for half in texts]
    yield "occurrences of `told` (also as a part of a name)", *parts


def _loops_over_one(tree: ast.AST) -> int:
    targets = (
        node.target
        for node in ast.walk(tree)
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension)
    )
    names = (part for target in targets for part in ast.walk(target))
    return sum(isinstance(part, ast.Name) and part.id == "one" for part in names)


def _names() -> Iterator[tuple[object, ...]]:
    folders = [path for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()]
    modules = [path for path in PACKAGE.glob("*.py") if path.stem[:2] != "__"]
    entries = [path for path in PACKAGE.iterdir() if path.name != "__pycache__"]
    parts = f"{len(folders)} packages, {len(modules)} modules"
    yield "top-level names of the package", f"{len(folders) + len(modules)} ({parts})"
    yield "the same with `__init__`, `__main__` and folders of data", len(entries)


def _contract_rows() -> Iterator[tuple[object, ...]]:
    for ranks in contracts():
        first = ranks[0][0].rpartition(".")[0]
        size = f"{len(ranks)} ranks, {sum(map(len, ranks))} names"
        yield f"layers contract of `{first}`", size


def _imports(trees: dict[Path, ast.Module]) -> Iterator[tuple[object, ...]]:
    typed = [node for tree in trees.values() for node in _type_only_imports(tree)]
    names = sum(len(node.names) for node in typed)
    files = sum(any(_type_only_imports(tree)) for tree in trees.values())
    yield (
        f"imports under `{TYPE_ONLY}`",
        f"{len(typed)} statements, {names} names, in {files} files",
    )


def _type_only_imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and TYPE_ONLY in ast.unparse(node.test):
            within = (part for statement in node.body for part in ast.walk(statement))
            yield from (part for part in within if isinstance(part, ast.Import | ast.ImportFrom))


def _doubled(names: Iterable[str]) -> Counter[str]:
    return Counter({name: count for name, count in Counter(names).items() if count > 1})


def _quoted(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"`{name}` {count}" for name, count in counts)


def _public_functions(trees: Iterable[ast.Module]) -> Iterator[str]:
    for tree in trees:
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name[0] != "_":
                yield node.name


def _class_names(trees: Iterable[ast.Module]) -> Iterator[str]:
    nodes = (node for tree in trees for node in ast.walk(tree))
    return (node.name for node in nodes if isinstance(node, ast.ClassDef))


def _lengths(trees: Iterable[ast.Module]) -> list[tuple[str, object]]:
    nodes = (node for tree in trees for node in ast.walk(tree))
    lengths = sorted(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return [
        ("functions and methods", f"{len(lengths):,} of them"),
        ("median", f"{median(lengths):.0f}"),
        ("95th percentile", lengths[len(lengths) * 95 // 100]),
        ("longest", lengths[-1]),
    ]


def _pages() -> Iterator[tuple[str, object]]:
    for page in PAGES:
        path = CHECKOUT / page
        words = f"{len(path.read_text('utf-8').split()):,}" if path.is_file() else "no such page"
        yield f"words of {page}", words
    text = (CHECKOUT / "ARCHITECTURE.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    heads = sum(set(row) <= set("|-: ") for row in rows)
    yield "rows in the tables of ARCHITECTURE.md", len(rows) - 2 * heads
