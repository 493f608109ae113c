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
        "latency",
        "serving",
        "packets",
        "hooks",
        "claude_code",
    ),
)


def main() -> None:
    """Run what was asked for, one after the other."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}")
    for name in parser.parse_args().names or BENCHMARKS:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark {name!r}")
        import_module(f"benchmarks.{name}").run()


if __name__ == "__main__":
    main()
