"""`python -m tests.gauntlet`: every public operation over every session, and a table of findings.

Exit code 0 when there are none, 1 when there are. Each finding names the command that repeats it.
"""

import argparse
import json
import subprocess
import sys
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import monotonic
from typing import Any, get_origin

import msgspec

from tests.gauntlet.corpus import Sample, data_folder, named, own, recorded
from tests.gauntlet.damage import CUTS, DAMAGES
from tests.gauntlet.findings import Findings, Variant
from tests.gauntlet.running import Choice, all_of, alone, put_through

SEED = 20260301
"""What is taken when no other is given: two runs do the same."""
OWN = 56
"""Generated sessions: eight of each wire."""


def parsed() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.gauntlet", description=__doc__)
    parser.add_argument("--corpus", choices=("own", "recorded", "all"), default="all")
    parser.add_argument("--data", default="", help="The folder of the recorded sessions.")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--seconds", type=float, default=0, help="Mutations with new seeds, so long."
    )
    parser.add_argument(
        "--shard", default="1/1", help="K/N: the sessions that are this one's part."
    )
    parser.add_argument("--jobs", type=int, default=1, help="Processes that share the sessions.")
    parser.add_argument("--own", type=int, default=OWN, help="Generated sessions.")
    parser.add_argument("--cuts", type=int, default=CUTS, help="Places that each is cut at.")
    parser.add_argument("--mutations", type=int, default=2, help="Damages done to each.")
    parser.add_argument("--commands", type=int, default=5, help="Commands run on each.")
    parser.add_argument("--only", default="", help="One session, by its name.")
    parser.add_argument("--cut", type=int, default=0, help="With --only: tenths of it.")
    parser.add_argument("--mutation", choices=("", *DAMAGES), default="", help="With --only.")
    parser.add_argument("--operation", default="", help="Only what begins like this.")
    parser.add_argument("--sample", default="", metavar="K/N", help="Every Nth session only.")
    parser.add_argument("--times", action="store_true", help="Where the processor time went.")
    parser.add_argument("--quiet", action="store_true", help="No progress.")
    parser.add_argument("--json", action="store_true", help="Findings as one JSON document.")
    return parser.parse_args()


def chosen(asked: argparse.Namespace) -> list[Sample]:
    """The sessions that are put through."""
    folder = data_folder(asked.data)
    found = recorded(folder) if asked.corpus in ("recorded", "all") else []
    if asked.corpus != "own" and not found:
        print(f"no recorded sessions in {folder} (HOLDFAST_DATA says where)", file=sys.stderr)
    if asked.corpus in ("own", "all"):
        found += own(asked.seed, asked.own)
    for part in filter(None, (asked.sample, asked.shard)):
        number, many = map(int, part.split("/"))
        found = found[number - 1 :: many]
    return found


def run_here(asked: argparse.Namespace) -> Findings:
    """Everything in this process."""
    choice = Choice(
        cuts=asked.cuts, mutations=asked.mutations, commands=asked.commands, only=asked.operation
    )

    def tell(line: str) -> None:
        if not asked.quiet:
            print(line, file=sys.stderr, flush=True)

    folder = data_folder(asked.data)
    with alone():
        if asked.only:
            findings = Findings()
            variant = Variant(asked.only, asked.cut, asked.mutation, asked.seed)
            put_through(named(asked.only, folder), variant, findings, choice)
            return findings
        return all_of(chosen(asked), asked.seed, choice, tell, seconds=asked.seconds)


def run_apart(asked: argparse.Namespace) -> Findings:
    """Everything in several processes, each with its part of the sessions."""
    # The last of two equal options counts.
    words = [sys.executable, "-m", "tests.gauntlet", *sys.argv[1:], "--jobs", "1", "--json"]
    started = [
        subprocess.Popen(
            [*words, "--shard", f"{k}/{asked.jobs}"],
            stdout=subprocess.PIPE,
        )
        for k in range(1, asked.jobs + 1)
    ]
    findings = Findings()
    for process in started:
        out = process.communicate()[0]
        if process.returncode not in (0, 1):
            raise SystemExit(f"a part of the gauntlet ended with {process.returncode}")
        findings.add(msgspec.convert(json.loads(out)["findings"], Findings, dec_hook=_tables))
    return findings


def _tables(kind: type, value: Any) -> object:
    """A table of counts, which JSON has as an object."""
    return (get_origin(kind) or kind)(value)


def _processor(who: int) -> float:
    """Seconds of processor time of this process, or of those that it started."""
    used = getrusage(who)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Run it and print what was found."""
    asked = parsed()
    start = monotonic()
    findings = run_apart(asked) if asked.jobs > 1 else run_here(asked)
    if asked.json:
        told: Any = {"seed": asked.seed, "findings": msgspec.to_builtins(findings)}
        print(json.dumps(told))
    else:
        print(f"seed {asked.seed}")
        print(findings.table())
        if findings.found:
            print(findings.listed())
        if asked.times:
            for name, took in sorted(findings.seconds.items(), key=lambda one: -one[1])[:40]:
                print(f"{took:8.1f} s  {findings.operations[name]:>6,} ×  {name}")
        word = f"{len(findings.found):,} failed" if findings.found else "all passed"
        many = sum(findings.operations.values())
        spent = sum(_processor(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN))
        print(f"processor time: {spent:.0f} s")
        print(f"{many:,} operations, {word} in {monotonic() - start:.0f} s")
    raise SystemExit(1 if findings.found else 0)


if __name__ == "__main__":
    main()
