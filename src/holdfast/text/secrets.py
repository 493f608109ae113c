"""Keys, tokens and passwords in a text: where they stand, and of what kind they are.

Shapes that a provider gives its keys are told by how they begin; a password is told by the name
it is given and by looking like one. Every shape is found from a few letters that texts seldom
hold, and takes time in proportion to the text. What is found never holds a quote, a backslash or
white space: it can be replaced inside JSON and leaves JSON behind.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import log2

from msgspec import Struct

KEYS: Mapping[str, tuple[str, str]] = {
    "AKIA": ("aws-key", r"AKIA[A-Z2-7]{16}(?![A-Za-z0-9])"),
    "ASIA": ("aws-key", r"ASIA[A-Z2-7]{16}(?![A-Za-z0-9])"),
    "ghp_": ("github-token", r"ghp_[A-Za-z0-9]{36,255}"),
    "gho_": ("github-token", r"gho_[A-Za-z0-9]{36,255}"),
    "ghs_": ("github-token", r"ghs_[A-Za-z0-9]{36,255}"),
    "ghu_": ("github-token", r"ghu_[A-Za-z0-9]{36,255}"),
    "github_pat_": ("github-token", r"github_pat_[A-Za-z0-9_]{22,255}"),
    "glpat-": ("gitlab-token", r"glpat-[A-Za-z0-9_\-.]{20,300}"),
    "xox": ("slack-token", r"xox[abceoprs]-[A-Za-z0-9\-]{10,250}"),
    "xapp-": ("slack-token", r"xapp-\d-[A-Za-z0-9\-]{20,250}"),
    "hooks.slack.com/": (
        "slack-hook",
        r"hooks\.slack\.com/services/[A-Z0-9]{6,14}/[A-Z0-9]{6,14}/[A-Za-z0-9]{20,30}",
    ),
    "k_live_": ("stripe-key", r"k_live_[A-Za-z0-9]{10,250}"),
    "k_test_": ("stripe-key", r"k_test_[A-Za-z0-9]{16,250}"),
    "whsec_": ("stripe-key", r"whsec_[A-Za-z0-9+/]{24,250}={0,2}"),
    "sk-": (
        "model-key",
        r"sk-(?:(?:ant-[a-z0-9]{2,12}|proj|svcacct|admin|or-v1)-[A-Za-z0-9_\-]{20,250}"
        r"|[A-Za-z0-9]{32,64}(?![A-Za-z0-9_\-]))",
    ),
    "AIza": ("google-key", r"AIza[A-Za-z0-9_\-]{35}(?![A-Za-z0-9])"),
    "ya29.": ("google-key", r"ya29\.[A-Za-z0-9_\-]{20,1000}"),
    "GOCSPX-": ("google-key", r"GOCSPX-[A-Za-z0-9_\-]{20,40}"),
    "eyJ": (
        "jwt",
        r"eyJ[A-Za-z0-9_\-]{8,4000}\.eyJ[A-Za-z0-9_\-]{8,8000}\.[A-Za-z0-9_\-]{8,2000}",
    ),
    "npm_": ("npm-token", r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    "pypi-": ("pypi-token", r"pypi-[A-Za-z0-9_\-]{50,300}"),
    "hf_": ("huggingface-token", r"hf_[A-Za-z0-9]{30,60}"),
    "SG.": ("sendgrid-key", r"SG\.[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{32,64}"),
    "gsk_": ("groq-key", r"gsk_[A-Za-z0-9]{40,64}"),
    "xai-": ("xai-key", r"xai-[A-Za-z0-9]{60,90}"),
    "dop_v1_": ("digitalocean-token", r"dop_v1_[a-f0-9]{64}"),
    "shpat_": ("shopify-token", r"shpat_[a-fA-F0-9]{32}"),
    "hvs.": ("vault-token", r"hvs\.[A-Za-z0-9_\-]{24,250}"),
    "AGE-SECRET-KEY-": ("age-key", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
}
"""What providers give out: the letters a key is found by, what it is called, and its shape."""
SHAPES = {letters: re.compile(shape) for letters, (_, shape) in KEYS.items()}
SURE = frozenset({"AKIA", "ASIA", "hooks.slack.com/", "AGE-SECRET-KEY-"})
"""Shapes that nothing else has; what comes after other beginnings has to look random as well."""
MIDDLES = {"k_live_": 1, "k_test_": 1}
"""Letters that a key has before those it is found by."""

URL = re.compile(r"://[^\s:/@'\"<>\\?#]{0,80}:([^\s/@'\"<>\\]{3,200})@[A-Za-z0-9\[]")
BEARER = re.compile(
    r"(?:(?:[Bb]earer|[Bb]asic|[Tt]oken|ApiKey)[ 	]{1,3})([A-Za-z0-9._~+/\-]{16,4000}={0,2})"
)
AUTHORIZED = re.compile(r"uthorization\\?[\"']?[ 	]{0,3}[:=,][ 	]{0,3}\\?[\"']?")
ASSIGNED = re.compile(
    r"[A-Za-z0-9_\-]{0,24}\\?[\"']?[ \t]{0,4}(?::=|=>|=|:)[ \t]{0,4}(?:[A-Za-z]{1,2}(?=[\"']))?"
    r"(?P<quote>\\?[\"'`])?(?P<value>[^\s\"'`\\<>(){}\[\],;|]{8,250})(?P<end>\\?[\"'`])?"
)
"""What follows the name of a secret: the rest of the name, a sign, and the value."""
HANDED: Mapping[str, tuple[str, str]] = {
    " -u ": ("password", r" -u {1,3}[^\s:'\"\\]{1,80}:([^\s'\"\\@]{6,200})"),
    "--user ": ("password", r"--user {1,3}[^\s:'\"\\]{1,80}:([^\s'\"\\@]{6,200})"),
    "--token": ("token", r"--token[ =]{1,3}([A-Za-z0-9._~+/\-]{12,400}={0,2})"),
    "--password": ("password", r"--password[ =]{1,3}([^\s'\"\\]{8,200})"),
    "--api-key": ("key", r"--api-key[ =]{1,3}([A-Za-z0-9._~+/\-]{12,400}={0,2})"),
    "ookie: ": ("cookie", r"ookie: {1,3}[^\s=;]{1,60}=([A-Za-z0-9%._~+/\-]{16,1000}={0,2})"),
    "sig=": ("signature", r"sig=([A-Za-z0-9%._~+/\-]{12,500})"),
    ":AA": ("telegram-token", r":(AA[A-Za-z0-9_\-]{33})(?![A-Za-z0-9_\-])"),
}
"""What is handed over without a name of its own: arguments, cookies, signed addresses."""
HANDED_SHAPES = {letters: re.compile(shape) for letters, (_, shape) in HANDED.items()}
NAMES: Mapping[str, tuple[str, ...]] = {
    "passw": ("",),
    "passphrase": ("",),
    "pwd": ("",),
    "secret": ("",),
    "token": ("",),
    "credential": ("",),
    "key": tuple(
        f"{name}{joint}"
        for name in ("api", "access", "account", "private", "encryption", "signing", "auth")
        for joint in ("_", "-", "")
    ),
}
"""How the name of a secret is spelled, in small letters, and what has to stand before that."""
CALLED = {"token": "token", "key": "key", "secret": "secret"}
PEM = "PRIVATE KEY-----"
ENCODED = re.compile(r"(?:\\[nrt])?([A-Za-z0-9+/]{4,200}={0,2})")
"""A line of a key, after a line break or what stands for one in JSON."""
BEGUN = re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----")
PEM_LINES = 200
PEM_LINE = 400
"""Characters of a line of a key, with what a tool may print before it."""

STANDS_FOR = re.compile(
    r"[$%{*]|x{4}|\.\.\.|example|changeme|placeholder|your|dummy|redacted|process\.env|os\.environ",
    re.IGNORECASE,
)
"""What stands where a secret will be, and is none."""
WORDS = re.compile(
    r"(?:(?:[A-Za-z]{1,40}\d{0,3}|\d{1,4}|[a-z]\d[a-z])(?:[_\-./:+=~@!?#&]{1,3}|$)){1,40}"
)
"""Words, numbered or joined: a name, a path, a title, and not what a machine drew."""
CLASSES = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "A" * 26 + "a" * 26 + "0" * 10
)
LEAST_BITS = 2.9
"""Of entropy a character: 'hunter22hunter22' has 2.7, sixteen random hexadecimal digits 3.2."""
SHORTEST_EVERYWHERE = 12
"""Characters from which a value is looked for in other texts too."""


OPENS = "[redacted:"
MARK = re.compile(r"\[redacted:[a-z\-]{2,40}(?:#[0-9a-f]{1,12})?\]")
"""What stands in the place of a secret."""


class Found(Struct, frozen=True):
    """A secret in a text."""

    start: int
    end: int
    kind: str
    everywhere: bool = True
    """Whether it is one that cannot stand elsewhere by chance."""


def find_secrets(text: str, patterns: Sequence[re.Pattern[str]] = ()) -> list[Found]:
    """Every secret in a text, in order, none inside another."""
    found = [
        *_keys(text),
        *_locked_keys(text),
        *_in_addresses(text),
        *_borne(text),
        *_handed(text),
        *_assigned(text),
        *_asked_for(text, patterns),
    ]
    return _apart(_unmarked(text, found)) if found else found


def _unmarked(text: str, found: list[Found]) -> list[Found]:
    """Those that are not part of what stands for a secret already."""
    marks = [match.span() for match in MARK.finditer(text)] if OPENS in text else []
    if not marks:
        return found
    starts = [start for start, _ in marks]
    ends = [0, *(end for _, end in marks)]
    # The last mark that starts before a find ends has to end before that find starts.
    return [one for one in found if ends[bisect_left(starts, one.end)] <= one.start]


def _apart(found: Iterable[Found]) -> list[Found]:
    """Those that overlap no earlier or longer one."""
    kept: list[Found] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _keys(text: str) -> Iterator[Found]:
    for letters, shape in SHAPES.items():
        for at in _places(text, letters):
            match = shape.match(text, at)
            if match is None:
                continue
            start = at - MIDDLES.get(letters, 0)
            if not _joined(text, start) and (letters in SURE or looks_random(match[0])):
                yield Found(start, match.end(), KEYS[letters][0])


def _joined(text: str, start: int) -> bool:
    """Whether what starts here only goes on from what stands before it."""
    before = text[max(start - 2, 0) : start]
    # In the arguments of a call, a line break is a backslash and a letter.
    return before[-1:].isalnum() and before not in ("\\n", "\\r", "\\t")


def _locked_keys(text: str) -> Iterator[Found]:
    """The lines of private keys, each by itself: a tool may print some of them, or number them."""
    at = text.find(PEM)
    upto = 0
    while at >= 0:
        begun = BEGUN.search(text, max(at - 60, 0), at + len(PEM))
        if begun is not None and begun.end() > upto:
            upto = begun.end()
            for start, end in _lines_after(text, upto):
                upto = end
                long = end - start >= SHORTEST_EVERYWHERE
                yield Found(start, end, "private-key", everywhere=long)
        at = text.find(PEM, at + len(PEM))


def _lines_after(text: str, start: int) -> Iterator[tuple[int, int]]:
    last = text.find("-----", start)
    stop = min(last if last >= 0 else len(text), start + PEM_LINES * PEM_LINE)
    reached = start
    for match in ENCODED.finditer(text, start, stop):
        if match.start() - reached > PEM_LINE:
            return
        reached = match.end()
        yield match.span(1)


def _in_addresses(text: str) -> Iterator[Found]:
    for at in _places(text, "://"):
        match = URL.match(text, at)
        if match is not None and not STANDS_FOR.search(match[1]):
            yield _of(match, 1, "password")


def _borne(text: str) -> Iterator[Found]:
    """What is sent to be let in."""
    starts = [at - 1 for at in _places(text, "earer ") if at]
    for at in _places(text, "uthorization"):
        named = AUTHORIZED.match(text, at)
        starts += [named.end()] if named is not None else []
    for start in starts:
        match = BEARER.match(text, start)
        if match is not None and looks_random(match[1]) and not STANDS_FOR.search(match[1]):
            yield _of(match, 1, "bearer-token")


def _handed(text: str) -> Iterator[Found]:
    """What a command or an address is given to be let in."""
    for letters, shape in HANDED_SHAPES.items():
        for at in _places(text, letters):
            match = shape.match(text, at)
            if match is not None and looks_random(match[1]) and not STANDS_FOR.search(match[1]):
                yield _of(match, 1, HANDED[letters][0])


def _assigned(text: str) -> Iterator[Found]:
    small = text.lower()
    # Where small letters take more room than large ones, places would not be the same.
    if len(small) != len(text):
        small = "".join(char.lower() if char.isascii() else char for char in text)
    for name, before in NAMES.items():
        for at in _places(small, name):
            if not small.endswith(before, max(at - 12, 0), at):
                continue
            match = ASSIGNED.match(text, at + len(name))
            if match is not None and _is_secret(match):
                yield _of(match, "value", CALLED.get(name, "password"))


def _is_secret(match: re.Match[str]) -> bool:
    value = match["value"]
    if STANDS_FOR.search(value) or not looks_random(value):
        return False
    # What is not quoted may be code: a name with a digit in it, a member of something, a call.
    code = value.replace(".", "_").replace("?", "").isidentifier()
    return bool(match["quote"]) or not code or ("." not in value and len(value) >= 20)


def _asked_for(text: str, patterns: Sequence[re.Pattern[str]]) -> Iterator[Found]:
    for pattern in patterns:
        for match in pattern.finditer(text):
            if match.end() > match.start():
                long = match.end() - match.start() >= SHORTEST_EVERYWHERE
                yield Found(match.start(), match.end(), "pattern", everywhere=long)


def _of(match: re.Match[str], group: int | str, kind: str) -> Found:
    value = match[group]
    sure = len(value) >= SHORTEST_EVERYWHERE and looks_random(value)
    start, end = match.span(group)
    return Found(start, end, kind.replace("_", "-"), everywhere=sure)


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def may_begin_secret(word: str) -> bool:
    """Whether a word that was cut may be the beginning of a secret."""
    small = word.lower()
    return any(one in word for one in (*KEYS, "://")) or any(name in small for name in NAMES)


def looks_random(value: str) -> bool:
    """Whether a machine drew it, or a person who was told to: letters and digits in no order."""
    if len(value) < 8 or WORDS.fullmatch(value):
        return False
    kinds = value.translate(CLASSES)
    if "0" not in kinds or not ("A" in kinds or "a" in kinds):
        return False
    turns = sum(one != other for one, other in pairwise(kinds))
    return turns * 6 >= len(value) and _bits(value) >= LEAST_BITS


def _bits(value: str) -> float:
    """Entropy a character, by how often each stands in it."""
    size = len(value)
    shares = (value.count(char) / size for char in set(value))
    return -sum(share * log2(share) for share in shares)
