"""Never-store rules: what the user excludes is cut out before anything is written.

A message is looked at as a value, in any format: a tool named in the rules loses its arguments
and its results, a file named in them loses the content that tools read or wrote, and whatever a
pattern matches is cut out of every text, and out of bytes that could not be read.
"""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import cast

from holdfast.core.ledger.entry import Entry, ToolCalled
from holdfast.core.plan.policy import NeverStore
from holdfast.text.jsontext import Json, NotJson, as_list, as_object, as_text, encode, parse
from holdfast.text.linear import compiled

PATH_KEYS = ("file_path", "path", "notebook_path", "filename", "file")
STAYS = frozenset(
    {"type", "id", "call_id", "tool_use_id", "tool_call_id", "role", "name", "status"}
)
"""Members that say what a call or a result is, not what it holds."""
LONGEST = 1_000_000
"""Characters of one text that patterns are tried on; a longer one is withheld whole."""
NOTICE = "[not stored]"


class Withholder:
    """Applies never-store rules to one session's messages; remembers which calls they hit."""

    def __init__(self, rules: NeverStore) -> None:
        """Take the rules.

        Raises:
            BadSetting: a pattern cannot be used, so nothing may be stored.
        """
        self._rules = rules
        self.idle = rules == NeverStore()
        self._calls: dict[str, str] = {}
        self._patterns = compiled("never_store.patterns", rules.patterns)
        self._byte_patterns = [re.compile(pattern.encode()) for pattern in rules.patterns]

    def remember(self, entries: Iterable[Entry]) -> None:
        """Learn from what is stored which calls the rules hit: their results may still come."""
        for entry in entries:
            if isinstance(entry.body, ToolCalled):
                rule = self._rule(entry.body.tool, entry.body.arguments)
                if rule:
                    self._calls[entry.body.call] = rule

    def apply(self, value: Json) -> Json:
        """The value as it may be stored; the very same object when nothing was cut."""
        if self.idle:
            return value
        self.find_calls(value)
        return self._node(value)

    def scrub(self, raw: bytes) -> bytes:
        """Bytes that were not read, less what the patterns match."""
        if self._byte_patterns and len(raw) > LONGEST:
            return NOTICE.encode()
        for pattern in self._byte_patterns:
            raw = pattern.sub(NOTICE.encode(), raw)
        return raw

    def text(self, text: str) -> str:
        """A text, less what the patterns match."""
        if self._patterns and len(text) > LONGEST:
            return f"[not stored: {len(text):,} characters, too long for the patterns]"
        for pattern in self._patterns:
            text = pattern.sub(NOTICE, text)
        return text

    def find_calls(self, value: Json) -> None:
        """Look for calls first: a result may stand before the call it answers."""
        if isinstance(value, dict):
            self._call_rule(value)
            for item in value.values():
                self.find_calls(item)
        elif isinstance(value, list):
            for item in as_list(value):
                self.find_calls(item)

    def _node(self, value: Json) -> Json:
        match value:
            case str():
                return self.text(value)
            case list():
                return _same(value, [self._node(item) for item in value])
            case dict():
                return self._object(value)
            case _:
                return value

    def _object(self, value: dict[str, Json]) -> Json:
        rule = self._call_rule(value) or self._result_rule(value)
        if rule:
            return {key: _emptied(key, item, rule) for key, item in value.items()}
        fresh = {self.text(key): self._node(item) for key, item in value.items()}
        kept = _same(value, fresh) if fresh.keys() == value.keys() else fresh
        # A transcript repeats a result in a form of its own, beside the message that holds it.
        if kept is not value and "toolUseResult" in value:
            return {**as_object(kept), "toolUseResult": NOTICE}
        return kept

    def _call_rule(self, value: Mapping[str, Json]) -> str:
        """The rule that a call falls under, remembered for its result."""
        call = as_text(value.get("call_id") or value.get("id"))
        inner = as_object(value.get("function") or value.get("custom")) or value
        name = as_text(inner.get("name"))
        arguments = inner.get("input", inner.get("arguments"))
        if not call or not name or arguments is None:
            return ""
        rule = self._rule(name, arguments)
        if rule:
            self._calls[call] = rule
        return rule

    def _rule(self, tool: str, arguments: Json) -> str:
        if any(fnmatchcase(tool, pattern) for pattern in self._rules.tools):
            return f"tool {tool}"
        if isinstance(arguments, str):
            try:
                arguments, _ = parse(arguments.encode("utf-8", "replace"))
            except NotJson:
                return ""
        known = as_text(as_object(arguments).get("withheld"))
        if known.startswith("[not stored: "):
            return known.removeprefix("[not stored: ").removesuffix("]")
        found = (as_text(as_object(arguments).get(key)) for key in PATH_KEYS)
        return next((f"path {path}" for path in found if path and self._is_excluded(path)), "")

    def _is_excluded(self, path: str) -> bool:
        return any(
            fnmatchcase(path, pattern) or fnmatchcase(path.rsplit("/", 1)[-1], pattern)
            for pattern in self._rules.paths
        )

    def _result_rule(self, value: Mapping[str, Json]) -> str:
        call = value.get("tool_use_id") or value.get("tool_call_id") or value.get("call_id")
        return self._calls.get(as_text(call), "")


def _emptied(key: str, item: Json, rule: str) -> Json:
    """A member of a withheld call or result: what it is stays, what it says goes."""
    notice = f"[not stored: {rule}]"
    if key in STAYS or not isinstance(item, str | list | dict):
        return item
    if key in ("function", "custom"):
        return {name: _emptied(name, part, rule) for name, part in as_object(item).items()}
    if key == "input" and isinstance(item, dict):
        return {"withheld": notice}
    return encode({"withheld": notice}).decode() if key in ("arguments", "input") else notice


def _same(old: Json, new: Json) -> Json:
    """The old value when the new one has the same parts: nothing cut, nothing moved."""
    if isinstance(old, dict):
        fresh = cast(dict[str, Json], new)
        return old if all(fresh[key] is old[key] for key in old) else new
    parts = zip(cast(list[Json], old), cast(list[Json], new), strict=True)
    return old if all(one is other for one, other in parts) else new
