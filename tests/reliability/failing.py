"""A file system that kills its process before a chosen write: every place to die, one by one."""

import os
import signal

import apsw


class _Countdown:
    left = 0

    @classmethod
    def tick(cls) -> None:
        cls.left -= 1
        if cls.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class _File(apsw.VFSFile):
    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        _Countdown.tick()
        # The engine's own stubs name a buffer type that this Python does not have.
        super().xWrite(data, offset)  # pyright: ignore[reportUnknownMemberType]

    def xSync(self, flags: int) -> None:  # noqa: N802
        _Countdown.tick()
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        _Countdown.tick()
        super().xTruncate(newsize)


class _Files(apsw.VFS):
    def __init__(self) -> None:
        super().__init__("deadly", "", makedefault=True)

    def xOpen(  # noqa: N802
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        return _File("unix", name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        _Countdown.tick()
        super().xDelete(filename, syncdir)


_kept: list[_Files] = []


def kill_at(writes: int) -> None:
    """Have this process killed before it writes, syncs, cuts or deletes for that time."""
    _Countdown.left = writes
    _kept.append(_Files())
