"""Define the error classes that Holdfast raises, with their messages and exit codes.

HoldfastError
├── Unreadable          the input cannot be read in the expected format
├── MixedWires          one session received messages of two formats
├── NotRecorded         the ledger has no such session, entry or reference
│   └── Erased          the ledger had it, and it was purged or has expired
├── Ambiguous           a shortened name matches several things
├── Conflict            another writer changed the session first
├── BadCompression      a compression would hide entries that it must not hide
├── Blocked             strict mode: a section that must be preserved is missing
├── NotUnderstood       the words are not a quick command
├── NothingToShrink     the window cannot be reduced to its budget
├── NotWritten          the copy of a removed part could not be written
│   └── NotHanded       the file of a packet could not be written; the ledger has the packet
├── BadPacket           the input is not a packet, or the packet was changed
├── BadFeedback         the feedback of a worker cannot be read or written
├── BadSetting          invalid value for a setting
├── StoreRefused        the store is not safe to use
├── StoreBusy           another process kept the store locked
├── StoreFull           the disk is full; nothing was written
└── StoreDamaged        the content of the store is not what was written to it

Each error has a message of one sentence and the exit code of a command that ends with it.
"""


class HoldfastError(Exception):
    """Base class of all errors: a message of one sentence for people, an exit code for scripts."""

    exit_code = 1


class Unreadable(HoldfastError):
    """The input cannot be read in the expected format."""

    exit_code = 65  # EX_DATAERR

    def __init__(self, where: str, reason: str, *, line: int | None = None) -> None:
        self.where, self.reason, self.line = where, reason, line
        place = where if line is None else f"{where}, line {line}"
        super().__init__(f"{place}: {reason}")


class MixedWires(HoldfastError):
    """A message has another format than the messages that its session holds."""

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
    """The requested content was erased: purged by the user, or expired after its retention time."""

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
    """A shortened name matches several things; the message lists them."""

    exit_code = 64  # EX_USAGE

    def __init__(self, what: str, name: str, choices: tuple[str, ...], *, hint: str = "") -> None:
        self.what, self.name, self.choices = what, name, choices
        listed = ", ".join(choices[:5]) + (" …" if len(choices) > 5 else "")
        more = f"; {hint}" if hint else ""
        super().__init__(f"{name!r} fits {len(choices)} {what}s: {listed}{more}")


class NotUnderstood(HoldfastError):
    """The words are not a quick command; the message lists the quick commands."""

    exit_code = 64

    def __init__(self, words: str, known: tuple[str, ...]) -> None:
        self.words, self.known = words, known
        listed = ", ".join(f'"{phrase}"' for phrase in known)
        super().__init__(f"{words!r} is not a quick command; use one of {listed}")


class Conflict(HoldfastError):
    """Another writer changed the session first; read the session again and retry."""

    exit_code = 75  # EX_TEMPFAIL: scripts may retry

    def __init__(self, session: str, *, expected: object, found: object) -> None:
        self.session, self.expected, self.found = session, expected, found
        super().__init__(f"session {session!r} has changed: expected {expected}, found {found}")


class BadCompression(HoldfastError):
    """A compression would hide entries that are missing, or were added after it was planned."""

    def __init__(self, session: str, reason: str) -> None:
        self.session, self.reason = session, reason
        super().__init__(f"the compression of session {session!r} was refused: {reason}")


class Blocked(HoldfastError):
    """Strict mode: a section that must be preserved is missing; a second call continues anyway."""

    exit_code = 69  # EX_UNAVAILABLE

    def __init__(self, session: str, reason: str) -> None:
        self.session, self.reason = session, reason
        super().__init__(
            f"the summary of session {session!r} was blocked: {reason}, or ask again to go on"
            " without it"
        )


class NothingToShrink(HoldfastError):
    """The window cannot be reduced to the budget: everything that is left in it must stay."""

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
    """The copy of a part could not be written, so the part was not removed from the window."""

    exit_code = 74  # EX_IOERR

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} could not be written ({reason}); the window stays as it was")


class NotHanded(NotWritten):
    """The file of a packet could not be written or removed; the ledger has the packet."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.args = (
            f"{path} could not be written ({reason}); the packet is in the ledger, and `holdfast"
            " context read` prints it",
        )


class BadPacket(HoldfastError):
    """The input is not a packet, or the packet was changed after sealing; nothing of it is used."""

    exit_code = 65  # EX_DATAERR

    def __init__(self, where: str, reason: str) -> None:
        self.where, self.reason = where, reason
        super().__init__(f"{where} is refused: {reason}")


class BadFeedback(HoldfastError):
    """The feedback of a worker cannot be read or written; nothing of it is used."""

    exit_code = 65  # EX_DATAERR

    def __init__(self, where: str, reason: str) -> None:
        self.where, self.reason = where, reason
        super().__init__(f"{where} is refused: {reason}")


class BadSetting(HoldfastError):
    """Invalid value for a setting."""

    exit_code = 78  # EX_CONFIG

    def __init__(self, name: str, reason: str, *, origin: str) -> None:
        self.name, self.reason, self.origin = name, reason, origin
        super().__init__(f"setting {name!r} from {origin}: {reason}")


class StoreRefused(HoldfastError):
    """The store is not safe to use: its place, owner, version or database engine is wrong."""

    exit_code = 77  # EX_NOPERM

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"the store {path} cannot be used: {reason}")


class StoreBusy(HoldfastError):
    """Another process kept the store locked for longer than the waiting time."""

    exit_code = 75

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"another process keeps the store {path} locked; nothing was written")


class StoreFull(HoldfastError):
    """The disk is full. Earlier writes are safe; nothing of this write was stored."""

    exit_code = 74  # EX_IOERR

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"the store {path} could not be written ({reason}); nothing was changed")


class StoreDamaged(HoldfastError):
    """The content of the store is not what was written to it; `holdfast fsck` lists the damage."""

    exit_code = 74  # EX_IOERR

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        # `fsck` cannot check a file that is not a database.
        hint = (
            "put a backup in its place, or move it away and ingest again"
            if "not a database" in reason
            else "run `holdfast fsck`"
        )
        super().__init__(f"the store {path} is damaged: {reason}; {hint}")
