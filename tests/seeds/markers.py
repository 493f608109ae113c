"""Finds the seed markers of the test suite, and renders proven.py from them."""

import ast
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROVEN_FILE = Path(__file__).with_name("proven.py")
WIDTH = 100
MARKER = frozenset({"pytest.mark.seed", "mark.seed"})

HEADER = '''"""The tests that prove each clause; written by `python -m tests.seeds --write`."""

PROVEN: dict[str, tuple[str, ...]] = {'''

Function = ast.FunctionDef | ast.AsyncFunctionDef
Pair = tuple[str, str]


def marked_pairs(root: Path) -> set[Pair]:
    """Return every (clause, test) pair that a marker in the suite states."""
    return {
        (clause, f"{path.relative_to(root).as_posix()}::{function.name}")
        for path in suite(root)
        for function in tests_of(parse(path))
        for decorator in seed_decorators(function)
        for clause in named_clauses(decorator)
    }


def misplaced(root: Path) -> list[str]:
    """Return where a marker stands that marked_pairs cannot count, as path:line."""
    found: list[str] = []
    for path in suite(root):
        tree = parse(path)
        counted = {
            decorator.func
            for function in tests_of(tree)
            for decorator in seed_decorators(function)
            if decorator.args and len(named_clauses(decorator)) == len(decorator.args)
        }
        lost = [node for node in ast.walk(tree) if is_marker(node) and node not in counted]
        found += [f"{path.relative_to(root).as_posix()}:{line}" for line in line_numbers(lost)]
    return found


def has_test(root: Path, node_id: str) -> bool:
    """Say whether a node id names a top-level test of an existing file."""
    file, _, name = without_parameters(node_id).partition("::")
    path = root / file
    return path.is_file() and name in {function.name for function in tests_of(parse(path))}


def without_parameters(node_id: str) -> str:
    """Return a node id without its [parameters]."""
    return node_id.partition("[")[0]


def by_clause(pairs: Iterable[Pair]) -> dict[str, tuple[str, ...]]:
    """Group pairs by clause, both sorted."""
    grouped: dict[str, list[str]] = {}
    for clause, test in sorted(set(pairs)):
        grouped.setdefault(clause, []).append(test)
    return {clause: tuple(tests) for clause, tests in grouped.items()}


def render(proven: dict[str, tuple[str, ...]]) -> str:
    """Return the text of proven.py, laid out as the formatter would leave it."""
    if not proven:
        return f"{HEADER}}}\n"
    entries = [render_entry(clause, tests) for clause, tests in proven.items()]
    return "\n".join([HEADER, *entries, "}\n"])


def render_entry(clause: str, tests: tuple[str, ...]) -> str:
    """Return one entry; the formatter joins a tuple of one when it fits on the line."""
    joined = f'    "{clause}": ("{tests[0]}",),'
    if len(tests) == 1 and len(joined) <= WIDTH:
        return joined
    return "\n".join([f'    "{clause}": (', *(f'        "{test}",' for test in tests), "    ),"])


def suite(root: Path) -> list[Path]:
    """Return the test files of the repository."""
    return sorted((root / "tests").rglob("test_*.py"))


def parse(path: Path) -> ast.Module:
    """Parse one file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def tests_of(tree: ast.Module) -> list[Function]:
    """Return the top-level test functions of a module."""
    functions = [node for node in tree.body if isinstance(node, Function)]
    return [function for function in functions if function.name.startswith("test_")]


def seed_decorators(function: Function) -> list[ast.Call]:
    """Return the seed markers of a function."""
    calls = [node for node in function.decorator_list if isinstance(node, ast.Call)]
    return [call for call in calls if is_marker(call.func)]


def named_clauses(decorator: ast.Call) -> list[str]:
    """Return the clause ids that a marker names as plain strings."""
    values = [node.value for node in decorator.args if isinstance(node, ast.Constant)]
    return [value for value in values if isinstance(value, str)]


def is_marker(node: ast.AST) -> bool:
    """Say whether a node is the name of the seed marker."""
    return isinstance(node, ast.Attribute) and ast.unparse(node) in MARKER


def line_numbers(nodes: Iterable[ast.AST]) -> list[int]:
    """Return the lines that nodes start on, in order."""
    return sorted(node.lineno for node in nodes if isinstance(node, ast.expr))
