"""Never-store filter: cut out what the user's rules exclude before anything is written.

A message is filtered as a value, in any wire. A tool named in the rules loses its arguments and
results, a file named in them loses the content that tools read or wrote, and every match of a
pattern is cut out of every text, and out of bytes that could not be parsed.
"""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import cast

from holdfast.core.ledger.entry import Entry, ToolCalled
from holdfast.core.plan.policy import NeverStore
from holdfast.text.jsontext import Json, NotJson, as_list, as_object, as_text, encode, parse
from holdfast.text.linear import compile_checked

PATH_KEYS = ("file_path", "path", "notebook_path", "filename", "file")
IDENTIFYING_KEYS = frozenset(
    {"type", "id", "call_id", "tool_use_id", "tool_call_id", "role", "name", "status"}
)
"""Members that identify a call or a result and hold none of its content."""
MAX_PATTERN_TEXT_CHARS = 1_000_000
"""Characters of one text that patterns are tried on; a longer one is withheld whole."""
NOTICE = "[not stored]"


class NeverStoreFilter:
    """Applies never-store rules to one session's messages; remembers which calls they matched."""

    def __init__(self, rules: NeverStore) -> None:
        """Compile the rules.

        Raises:
            BadSetting: a pattern cannot be used, so nothing may be stored.
        """
        self._rules = rules
        self.idle = rules == NeverStore()
        self._calls: dict[str, str] = {}
        self._patterns = compile_checked("never_store.patterns", rules.patterns)
        self._byte_patterns = [re.compile(pattern.encode()) for pattern in rules.patterns]

    def remember(self, entries: Iterable[Entry]) -> None:
        """Learn from stored entries which calls the rules match: their results may still arrive."""
        for entry in entries:
            if isinstance(entry.body, ToolCalled):
                rule = self._rule(entry.body.tool, entry.body.arguments)
                if rule:
                    self._calls[entry.body.call] = rule

    def apply(self, value: Json) -> Json:
        """Return the value as it may be stored; the very same object if nothing was cut."""
        if self.idle:
            return value
        self.find_calls(value)
        return self._filter_value(value)

    def scrub(self, raw: bytes) -> bytes:
        """Cut matches of the patterns out of bytes that were not parsed."""
        if self._byte_patterns and len(raw) > MAX_PATTERN_TEXT_CHARS:
            return NOTICE.encode()
        for pattern in self._byte_patterns:
            raw = pattern.sub(NOTICE.encode(), raw)
        return raw

    def text(self, text: str) -> str:
        """Cut matches of the patterns out of a text."""
        if self._patterns and len(text) > MAX_PATTERN_TEXT_CHARS:
            return f"[not stored: {len(text):,} characters, too long for the patterns]"
        for pattern in self._patterns:
            text = pattern.sub(NOTICE, text)
        return text

    def find_calls(self, value: Json) -> None:
        """Remember the calls in a value first: a result may precede the call it answers."""
        if isinstance(value, dict):
            self._call_rule(value)
            for item in value.values():
                self.find_calls(item)
        elif isinstance(value, list):
            for item in as_list(value):
                self.find_calls(item)

    def _filter_value(self, value: Json) -> Json:
        match value:
            case str():
                return self.text(value)
            case list():
                return _old_if_equal(value, [self._filter_value(item) for item in value])
            case dict():
                return self._filter_object(value)
            case _:
                return value

    def _filter_object(self, value: dict[str, Json]) -> Json:
        rule = self._call_rule(value) or self._result_rule(value)
        if rule:
            return {key: _empty_member(key, item, rule) for key, item in value.items()}
        members = {self.text(key): self._filter_value(item) for key, item in value.items()}
        filtered = _old_if_equal(value, members) if members.keys() == value.keys() else members
        # Claude Code transcripts repeat a result beside the message, in another form.
        if filtered is not value and "toolUseResult" in value:
            return {**as_object(filtered), "toolUseResult": NOTICE}
        return filtered

    def _call_rule(self, value: Mapping[str, Json]) -> str:
        """Return the rule that a call matches, and remember it for the call's result."""
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
        withheld = as_text(as_object(arguments).get("withheld"))
        if withheld.startswith("[not stored: "):
            return withheld.removeprefix("[not stored: ").removesuffix("]")
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


def _empty_member(key: str, item: Json, rule: str) -> Json:
    """Empty a member of a withheld call or result; identifying members stay."""
    notice = f"[not stored: {rule}]"
    if key in IDENTIFYING_KEYS or not isinstance(item, str | list | dict):
        return item
    if key in ("function", "custom"):
        return {name: _empty_member(name, part, rule) for name, part in as_object(item).items()}
    if key == "input" and isinstance(item, dict):
        return {"withheld": notice}
    return encode({"withheld": notice}).decode() if key in ("arguments", "input") else notice


def _old_if_equal(old: Json, new: Json) -> Json:
    """Return the old value if the new one has the same parts, so that identity shows a change."""
    if isinstance(old, dict):
        fresh = cast(dict[str, Json], new)
        return old if all(fresh[key] is old[key] for key in old) else new
    parts = zip(cast(list[Json], old), cast(list[Json], new), strict=True)
    return old if all(old_part is new_part for old_part, new_part in parts) else new
