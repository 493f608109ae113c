"""Sets the clock of a Python process by so many seconds as a file says, whenever it is asked.

Put on PYTHONPATH, it is imported before anything else: whoever imports from `time` gets these.
"""

import datetime
import os
import time

_FILE = os.environ.get("CLOCK_FILE", "")
_time, _gmtime = time.time, time.gmtime


def _shifted() -> float:
    with open(_FILE) as file:
        return _time() + float(file.read())


def _broken_down(seconds: float | None = None, /) -> time.struct_time:
    return _gmtime(_shifted() if seconds is None else seconds)


class _Datetime(datetime.datetime):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> "_Datetime":
        return cls.fromtimestamp(_shifted(), tz)


if _FILE:
    time.time, time.gmtime = _shifted, _broken_down
    datetime.datetime = _Datetime
