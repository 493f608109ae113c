"""The files that a script in Python opens to write, where it names them."""

import re
from collections.abc import Iterator, Mapping

from holdfast.core.faults import row_rule
from holdfast.core.observe.patches import Act

LONGEST_CODE = 200_000
"""Characters of a script in which the files that it writes are looked for."""
_PY_NAMED = re.compile(
    r"(?m)^[ \t]{0,12}(\w{1,60})[ \t]{0,4}=[ \t]{0,4}(?:(?:pathlib\.)?Path\()?"
    r"r?['\"]([^'\"\n]{1,300})['\"]"
)
_PY_WRITES = re.compile(
    r"\bopen\([ \t]{0,4}(?:r?['\"](?P<path>[^'\"\n]{1,300})['\"]|(?P<name>\w{1,60}))"
    r",[ \t]{0,4}(?:mode=)?['\"][rb]{0,2}[wax+]"
    r"|(?:Path\(['\"](?P<file>[^'\"\n]{1,300})['\"]\)|\b(?P<variable>\w{1,60}))\.write_(?:text|bytes)\("
)
_PY_READS = re.compile(
    r"\bopen\([ \t]{0,4}(?:r?['\"](?P<path>[^'\"\n]{1,300})['\"]|(?P<name>\w{1,60}))"
    r"(?:\)|,[ \t]{0,4}(?:mode=)?['\"]r|,[ \t]{0,4}encoding)"
    r"|(?:Path\(['\"](?P<file>[^'\"\n]{1,300})['\"]\)|\b(?P<variable>\w{1,60}))\.read_(?:text|bytes)\("
)


@row_rule
def opened_in(code: str, *, how: str) -> Iterator[Act]:
    """What a script does to files, as far as it says so itself."""
    code = code[:LONGEST_CODE]
    names = {found[1]: found[2] for found in _PY_NAMED.finditer(code)}
    reads = {_py_path(found, names) for found in _PY_READS.finditer(code)}
    for path in dict.fromkeys(_py_path(found, names) for found in _PY_WRITES.finditer(code)):
        if path:
            yield Act("edit" if path in reads else "write", path, how=how)


def _py_path(found: re.Match[str], names: Mapping[str, str]) -> str:
    literals = (found[group] for group in ("path", "file") if found[group])
    named = next((found[group] for group in ("name", "variable") if found[group]), "")
    return next(literals, "") or names.get(named, "")
