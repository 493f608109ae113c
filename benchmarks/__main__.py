"""`python -m benchmarks [NAME…]`: run all benchmarks, or those named."""

import argparse
from importlib import import_module

BENCHMARKS = (
    *(
        "start",
        "ingest",
        "turn",
        "growth",
        "calibration",
        "recall",
        "compactions",
        "quality",
        "bill",
        "engine",
    ),
    *(
        "artifacts",
        "compactbench",
        "drift",
        "checkpoint",
        "redact",
        "recovery",
        "needle",
        "query",
        "project",
        "latency",
        "serving",
        "packets",
        "hooks",
        "claude_code",
        "walks",
        "tree",
    ),
)
LISTING = ("walks", "tree")
"""Those that can name what they counted."""


def main() -> None:
    """Run what was asked for, one after the other."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument(
        "--list", action="store_true", help=f"name what was counted ({', '.join(LISTING)})"
    )
    asked = parser.parse_args()
    for name in asked.names or BENCHMARKS:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark {name!r}")
        options = {"listed": asked.list} if name in LISTING else {}
        import_module(f"benchmarks.{name}").run(**options)


if __name__ == "__main__":
    main()
