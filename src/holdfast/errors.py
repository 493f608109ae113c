"""Every error this product raises on purpose.

HoldfastError
├── Unreadable          the input cannot be read as what it should be
├── MixedWires          one session was fed messages of two formats
├── NotRecorded         the ledger has no such session, entry or reference
│   └── Erased          it had it, and it was purged or kept long enough
├── Ambiguous           a shortened name fits several things
├── Conflict            someone else changed the session first
├── BadCompression      a compression would hide what it must not
├── Blocked             strict mode: what has to be preserved is not there
├── NotUnderstood       words were said that are no quick command
├── NothingToShrink     the window cannot be brought under its budget
├── NotWritten          a copy of what leaves the window could not be written
│   └── NotHanded       the file of a packet could not be written; the ledger has it
├── BadPacket           a packet is not what was sealed, or is none
├── BadFeedback         what a worker reported cannot be read or written
├── BadSetting          a setting has a value that cannot be meant
├── StoreRefused        the store is not safe to use as it is
├── StoreBusy           another process kept the store locked
├── StoreFull           the disk took no more; nothing was written
└── StoreDamaged        the store holds something it was never given

Each says one sentence and knows the exit code a command ends with.
"""


class HoldfastError(Exception):
    """What all of them have in common: a sentence for a person, an exit code for a script."""

    exit_code = 1


class Unreadable(HoldfastError):
    """The input cannot be read as what it should be."""

    exit_code = 65  # EX_DATAERR

    def __init__(self, where: str, reason: str, *, line: int | None = None) -> None:
        self.where, self.reason, self.line = where, reason, line
        place = where if line is None else f"{where}, line {line}"
        super().__init__(f"{place}: {reason}")


class MixedWires(HoldfastError):
    """A session speaks one format; this message is of another."""

    exit_code = 65

    def __init__(self, session: str, *, has: str, got: str) -> None:
        self.session, self.has, self.got = session, has, got
        super().__init__(f"session {session!r} holds {has} messages, and this one is {got}")


class NotRecorded(HoldfastError):
    """The ledger has no such session, entry or reference."""

    exit_code = 66  # EX_NOINPUT

    def __init__(self, what: str, name: str, *, where: str = "this ledger") -> None:
        self.what, self.name, self.where = what, name, where
        super().__init__(f"no {what} {name!r} in {where}" if name else f"no {what} in {where}")


class Erased(NotRecorded):
    """What was asked for was erased: purged by the user, or kept as long as it had to be."""

    def __init__(
        self, what: str, name: str, *, reason: str, size: int = 0, at: str = "", again: str = ""
    ) -> None:
        super().__init__(what, name)
        self.reason, self.size, self.at, self.again = reason, size, at, again
        done = "expired" if reason == "expired" else "was purged"
        when = f" on {at[:10]}" if at else ""
        how = f"; re-run {again}" if again else ""
        self.args = (f"{what} {name!r} {done}{when} ({size:,} bytes){how}",)


class Ambiguous(HoldfastError):
    """A shortened name fits several things; the sentence lists them."""

    exit_code = 64  # EX_USAGE

    def __init__(self, what: str, name: str, choices: tuple[str, ...], *, hint: str = "") -> None:
        self.what, self.name, self.choices = what, name, choices
        listed = ", ".join(choices[:5]) + (" …" if len(choices) > 5 else "")
        more = f"; {hint}" if hint else ""
        super().__init__(f"{name!r} fits {len(choices)} {what}s: {listed}{more}")


class NotUnderstood(HoldfastError):
    """Words were said that are no quick command; the sentence lists those that are."""

    exit_code = 64

    def __init__(self, words: str, known: tuple[str, ...]) -> None:
        self.words, self.known = words, known
        listed = ", ".join(f'"{one}"' for one in known)
        super().__init__(f"{words!r} is no quick command; say one of {listed}")


class Conflict(HoldfastError):
    """Someone else changed the session first; read it again and retry."""

    exit_code = 75  # EX_TEMPFAIL: scripts may retry

    def __init__(self, session: str, *, expected: object, found: object) -> None:
        self.session, self.expected, self.found = session, expected, found
        super().__init__(f"session {session!r} stands at {found}, not at {expected}")


class BadCompression(HoldfastError):
    """A compression would hide what is not there, or what came after it was planned."""

    def __init__(self, session: str, reason: str) -> None:
        self.session, self.reason = session, reason
        super().__init__(f"the compression of session {session!r} was refused: {reason}")


class Blocked(HoldfastError):
    """Strict mode: a section that has to be preserved is missing; asked again, it goes on."""

    exit_code = 69  # EX_UNAVAILABLE

    def __init__(self, session: str, reason: str) -> None:
        self.session, self.reason = session, reason
        super().__init__(
            f"the summary of session {session!r} was blocked: {reason}, or ask again to go on"
            " without it"
        )


class NothingToShrink(HoldfastError):
    """The budget cannot be reached: what is left in sight has to stay."""

    exit_code = 73  # EX_CANTCREAT

    def __init__(
        self, floor: int, budget: int, outcome: object = None, *, system: int = 0, calls: int = 0
    ) -> None:
        self.floor, self.budget, self.outcome = floor, budget, outcome
        self.system, self.calls = system, calls
        parts = [
            *([f"the system prompt and tools {system:,}"] if system else []),
            *([f"open calls, with their results and sealed thinking, {calls:,}"] if calls else []),
        ]
        made_of = f": {' and '.join(parts)}" if parts else ""
        super().__init__(
            f"the window cannot be brought under {budget:,} tokens; the smallest that is legal "
            f"has {floor:,}{made_of}"
        )


class NotWritten(HoldfastError):
    """A copy of what leaves the window could not be written; so nothing left it."""

    exit_code = 74  # EX_IOERR

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} could not be written ({reason}); the window stays as it was")


class NotHanded(NotWritten):
    """The file of a packet could not be written or taken away; the packet itself is on record."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.args = (
            f"{path} could not be written ({reason}); the packet is in the ledger, and `holdfast"
            " context read` prints it",
        )


class BadPacket(HoldfastError):
    """What should be a packet is none, or is not what was sealed; nothing of it was taken."""

    exit_code = 65  # EX_DATAERR

    def __init__(self, where: str, reason: str) -> None:
        self.where, self.reason = where, reason
        super().__init__(f"{where} is refused: {reason}")


class BadFeedback(HoldfastError):
    """What a worker reported cannot be read or written; nothing of it was taken."""

    exit_code = 65  # EX_DATAERR

    def __init__(self, where: str, reason: str) -> None:
        self.where, self.reason = where, reason
        super().__init__(f"{where} is refused: {reason}")


class BadSetting(HoldfastError):
    """A setting has a value that cannot be meant."""

    exit_code = 78  # EX_CONFIG

    def __init__(self, name: str, reason: str, *, origin: str) -> None:
        self.name, self.reason, self.origin = name, reason, origin
        super().__init__(f"setting {name!r} from {origin}: {reason}")


class StoreRefused(HoldfastError):
    """The store is not safe to use as it is: place, owner, version or engine."""

    exit_code = 77  # EX_NOPERM

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"the store {path} cannot be used: {reason}")


class StoreBusy(HoldfastError):
    """Another process kept the store locked for longer than we wait."""

    exit_code = 75

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"another process keeps the store {path} locked; nothing was written")


class StoreFull(HoldfastError):
    """The disk took no more. What was acknowledged before is safe, and nothing new was written."""

    exit_code = 74  # EX_IOERR

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"the store {path} could not be written ({reason}); nothing was changed")


class StoreDamaged(HoldfastError):
    """The store holds something it was never given; `holdfast fsck` tells what."""

    exit_code = 74  # EX_IOERR

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        # A file that is no database at all has nothing that could be looked over.
        hint = (
            "put a backup in its place, or move it away and ingest again"
            if "not a database" in reason
            else "run `holdfast fsck`"
        )
        super().__init__(f"the store {path} is damaged: {reason}; {hint}")
