"""Reports how many clauses the tests prove; --write brings proven.py up to date."""

import argparse
import sys
from collections.abc import Collection, Sequence

from tests.seeds.markers import PROVEN_FILE, ROOT, by_clause, marked_pairs, render
from tests.seeds.requirements import CLAUSES, GROUPS


class Options(argparse.Namespace):
    """The command line."""

    groups: bool = False
    write: bool = False


def main(argv: Sequence[str] | None = None) -> int:
    """Print the report, after writing proven.py if asked to."""
    options = parse_options(argv)
    # Read from the markers and never from proven.py, so that --write also repairs a broken one.
    proven = by_clause(marked_pairs(ROOT))
    if options.write:
        PROVEN_FILE.write_text(render(proven), encoding="utf-8", newline="\n")
    print(total(proven))
    if options.groups:
        print("\n".join(group_lines(proven)))
    return 0


def parse_options(argv: Sequence[str] | None) -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.seeds", description=__doc__)
    parser.add_argument("--groups", action="store_true", help="also count group by group")
    parser.add_argument("--write", action="store_true", help="rewrite proven.py from the markers")
    return parser.parse_args(argv, namespace=Options())


def total(proven: Collection[str]) -> str:
    """Return the line that sums up all clauses."""
    done = sum(clause.id in proven for clause in CLAUSES)
    missing = len(CLAUSES) - done
    return f"seeds: {done} of {len(CLAUSES)} clauses proven by tests, {missing} not built yet"


def group_lines(proven: Collection[str]) -> list[str]:
    """Return one line for each group."""
    width = max(len(name) for name, _, _ in GROUPS)
    lines: list[str] = []
    for name, first, last in GROUPS:
        ids = [clause.id for clause in CLAUSES if first <= clause.id <= last]
        done = sum(id_ in proven for id_ in ids)
        lines.append(f"  {name:<{width}}  {first}-{last}  {done:>2} of {len(ids):>2}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
