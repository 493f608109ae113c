"""One variant put through the gauntlet, and the order in which all of them are."""

import logging
import os
import signal
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from random import Random
from time import monotonic
from types import FrameType

from tests.gauntlet import commands, hooking, library, tools
from tests.gauntlet.corpus import Sample
from tests.gauntlet.damage import CUTS, DAMAGES, cut_at, damaged
from tests.gauntlet.findings import Findings, Run, Variant
from tests.gauntlet.strict import strictly

LONGEST = 240
"""Seconds after which a variant is given up: that is a finding as well."""


class TookTooLong(Exception):
    """An operation did not come back."""


class Choice:
    """How much is done; every number rotates with the seed."""

    def __init__(
        self, *, cuts: int = CUTS, mutations: int = 2, commands: int = 6, only: str = ""
    ) -> None:
        self.cuts, self.mutations, self.commands, self.only = cuts, mutations, commands, only
        self.doctor = True
        """Whether `doctor` has still to be run: it starts many processes, so once is enough."""


class Logged(logging.Handler):
    """Keeps what was logged with a traceback: somebody caught it, and it is a finding."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.errors: list[BaseException] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the error of a record that has one."""
        if record.exc_info and record.exc_info[1] is not None:
            self.errors.append(record.exc_info[1])


@contextmanager
def alone() -> Generator[Path]:
    """A home of our own, no settings, and faults that are raised."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="gauntlet-") as folder:
        for name in list(os.environ):
            if name.startswith(("HOLDFAST_", "CLAUDE", "XDG_", "CODEX", "GEMINI")):
                del os.environ[name]
        os.environ.update(HOME=folder, HOLDFAST_STRICT="1", HOLDFAST_DEBUG="1", NO_COLOR="1")
        logging.getLogger("holdfast").propagate = False
        try:
            with strictly():
                yield Path(folder)
        finally:
            os.environ.clear()
            os.environ.update(before)


def seed_of(name: str, seed: int) -> int:
    """A number for a session and a seed: the same in every process and every order."""
    return int.from_bytes(sha256(f"{name}\0{seed}".encode()).digest()[:6], "big")


def variants_of(sample: Sample, seed: int, choice: Choice) -> Iterator[Variant]:
    """A session whole, cut at some places, and with some damages done to it."""
    random = Random(seed_of(sample.name, seed))
    yield Variant(sample.name, seed=seed)
    small = sample.small
    for cut in sorted(random.sample(range(1, CUTS), min(choice.cuts, 1 if small else CUTS - 1))):
        yield Variant(sample.name, cut=cut, seed=seed)
    names = random.sample(sorted(DAMAGES), min(choice.mutations, 1 if small else len(DAMAGES)))
    for name in names:
        yield Variant(sample.name, mutation=name, seed=seed)


def endless(samples: list[Sample], seed: int) -> Iterator[tuple[Sample, Variant]]:
    """Mutations with new seeds, one after the other."""
    random = Random(seed)
    while True:
        sample = random.choice(samples)
        cut = random.choice((0, 0, *range(1, CUTS)))
        name = random.choice(sorted(DAMAGES))
        yield sample, Variant(sample.name, cut=cut, mutation=name, seed=random.randrange(10**9))


def put_through(sample: Sample, variant: Variant, findings: Findings, choice: Choice) -> None:
    """Put one variant through everything that is its turn."""
    findings.sessions.add(sample.name)
    findings.variants += 1
    run = Run(variant, findings, choice.only)
    with watched(run), tempfile.TemporaryDirectory(prefix="gauntlet-") as folder:
        data = sample.load()
        data = cut_at(data, variant.cut) if variant.cut else data
        data = damaged(data, variant.mutation, variant.seed)
        place = Path(folder)
        path = place / f"session{sample.suffix}"
        path.write_bytes(data)
        root = place / "project"
        root.mkdir()
        random = Random(seed_of(f"{variant.session}{variant.cut}{variant.mutation}", variant.seed))
        scene = library.opened(run, path, root, data, random)
        whole = not variant.cut and not variant.mutation
        if scene is not None:
            library.exercise(scene, _exercises(variant, random, every=bool(choice.only)))
        surfaces = (
            choice.only.startswith(("cli", "hook", "mcp"))
            or whole
            or random.randrange(20 if variant.cut else 4) == 0
        )
        if surfaces:
            _surfaces(run, path, random, choice)


def _exercises(variant: Variant, random: Random, *, every: bool) -> tuple[str, ...]:
    """All of them for a whole session; for a cut or a damaged one, a part that rotates.

    A session is cut at every tenth of it, so a cut one gets the smallest part.
    """
    if every or not (variant.cut or variant.mutation):
        return tuple(library.EXERCISES)
    always, more = (library.ALWAYS, 6) if variant.mutation else (library.AT_CUTS, 2)
    rest = sorted(set(library.EXERCISES) - set(always))
    return (*always, *random.sample(rest, more))


def _surfaces(run: Run, path: Path, random: Random, choice: Choice) -> None:
    """The session in a ledger on disk: commands, tools and hooks whose turn it is."""
    root = path.parent / "surfaces"
    root.mkdir()
    found = _ingested(run, path, root, random)
    if found is None:
        return
    order = list(commands.COMMANDS)
    names = order if choice.only.startswith("cli") else random.sample(order, choice.commands)
    turn = random.randrange(3)
    if turn == 0 or choice.only.startswith("mcp"):
        tools.exercise(run, root, found.session, found.ref, random)
    if turn == 1 or choice.only.startswith("hook"):
        agents = list(hooking.HOSTS)
        chosen = agents if choice.only else [random.choice(agents)]
        hooking.exercise(run, root, path, found.session, random, chosen)
    commands.exercise(run, found, [name for name in order if name in names])
    if random.randrange(40) == 0 or choice.only == "cli mcp":
        commands.served(run, found, tools.frames_of(random, found.session, found.ref))
    if choice.doctor or choice.only == "cli doctor":
        agents = commands.AGENTS if choice.only else random.sample(commands.AGENTS, 1)
        commands.examined(run, found, agents)
        choice.doctor = False


def _ingested(run: Run, path: Path, root: Path, random: Random) -> commands.Place | None:
    """The session read into the ledger of a project, by the command."""
    said = run.do(
        "cli ingest", commands.called, ["--root", str(root), "ingest", str(path), "--json"]
    )
    document = commands.judged(run, "ingest", said, as_json=True) if said is not None else None
    files: list[dict[str, str]] = document["files"] if document else []
    if not files:
        return None
    import holdfast

    session = files[0]["session"]
    with holdfast.open(session, root=root) as opened:
        entries = opened.ledger.path()
    ref = random.choice(entries).id[:12] if entries else "0" * 12
    return commands.Place(root, path, session, ref, random)


@contextmanager
def watched(run: Run) -> Generator[None]:
    """Gives a variant up when it takes too long, and notes what was caught and logged."""
    logged = Logged()
    log = logging.getLogger("holdfast")
    log.addHandler(logged)

    def end(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise TookTooLong(f"not done after {LONGEST} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(LONGEST)
    try:
        yield
    except TookTooLong as error:
        run.wrong("exception", "variant", str(error))
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        log.removeHandler(logged)
    for error in logged.errors:
        run.do("logged", _raise, error)


def _raise(error: BaseException) -> None:
    raise error


def all_of(
    samples: list[Sample],
    seed: int,
    choice: Choice,
    tell: Callable[[str], None],
    *,
    seconds: float = 0,
) -> Findings:
    """Put samples through the gauntlet: each as often as chosen, or anew until time is up."""
    findings = Findings()
    start, told = monotonic(), 0
    if seconds:
        for sample, variant in endless(samples, seed):
            put_through(sample, variant, findings, choice)
            told = _tell_new(findings, told, tell)
            if monotonic() - start > seconds:
                break
        return findings
    for number, sample in enumerate(samples, 1):
        begun = monotonic()
        for variant in variants_of(sample, seed, choice):
            put_through(sample, variant, findings, choice)
        took, many = monotonic() - begun, len(findings.found)
        tell(f"{number}/{len(samples)} {sample.name}: {took:.1f} s, {many} findings so far")
        told = _tell_new(findings, told, tell)
    return findings


def _tell_new(findings: Findings, told: int, tell: Callable[[str], None]) -> int:
    """Print the findings after the first `told` ones as they are made; returns how many there are.

    A long run that is cut off has then said what it found.
    """
    for one in findings.found[told:]:
        tell(f"  {one.kind}: {one.sentence[:200]}\n    {one.command}")
    return len(findings.found)
