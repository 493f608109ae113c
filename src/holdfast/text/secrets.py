"""Find keys, tokens and passwords in a text, with their positions and kinds.

Keys of providers are recognised by their prefix; a password by the name it is assigned to and by
looking random. Every search starts from a few letters that are rare in texts, and takes time in
proportion to the text. A secret never contains a quote, a backslash or white space: it can be
replaced inside JSON, and the result is valid JSON.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import log2

from msgspec import Struct

from holdfast.text.patterns import Pattern

PROVIDER_KEYS: Mapping[str, tuple[str, str]] = {
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
"""Keys of providers: the letters to search for, then the kind and the pattern of the key."""
KEY_PATTERNS = {letters: Pattern(shape) for letters, (_, shape) in PROVIDER_KEYS.items()}
UNMISTAKABLE = frozenset({"AKIA", "ASIA", "hooks.slack.com/", "AGE-SECRET-KEY-"})
"""Letters that only keys have; keys with other letters also have to look random."""
LETTERS_BEFORE = {"k_live_": 1, "k_test_": 1}
"""The number of characters that a key has before the letters to search for."""

URL = Pattern(r"://[^\s:/@'\"<>\\?#]{0,80}:([^\s/@'\"<>\\]{3,200})@[A-Za-z0-9\[]")
BEARER = Pattern(
    r"(?:(?:[Bb]earer|[Bb]asic|[Tt]oken|ApiKey)[ 	]{1,3})([A-Za-z0-9._~+/\-]{16,4000}={0,2})"
)
AUTHORIZATION = Pattern(r"uthorization\\?[\"']?[ 	]{0,3}[:=,][ 	]{0,3}\\?[\"']?")
ASSIGNMENT = Pattern(
    r"[A-Za-z0-9_\-]{0,24}\\?[\"']?[ \t]{0,4}(?::=|=>|=|:)[ \t]{0,4}(?:[A-Za-z]{1,2}(?=[\"']))?"
    r"(?P<quote>\\?[\"'`])?(?P<value>[^\s\"'`\\<>(){}\[\],;|]{8,250})(?P<end>\\?[\"'`])?"
)
"""Matches behind the name of a secret: the rest of the name, a sign, and the value.

After `token`: `_id = "a1B2c3D4"`, but not `izer returns a list`."""
ARGUMENTS: Mapping[str, tuple[str, str]] = {
    " -u ": ("password", r" -u {1,3}[^\s:'\"\\]{1,80}:([^\s'\"\\@]{6,200})"),
    "--user ": ("password", r"--user {1,3}[^\s:'\"\\]{1,80}:([^\s'\"\\@]{6,200})"),
    "--token": ("token", r"--token[ =]{1,3}([A-Za-z0-9._~+/\-]{12,400}={0,2})"),
    "--password": ("password", r"--password[ =]{1,3}([^\s'\"\\]{8,200})"),
    "--api-key": ("key", r"--api-key[ =]{1,3}([A-Za-z0-9._~+/\-]{12,400}={0,2})"),
    "ookie: ": ("cookie", r"ookie: {1,3}[^\s=;]{1,60}=([A-Za-z0-9%._~+/\-]{16,1000}={0,2})"),
    "sig=": ("signature", r"sig=([A-Za-z0-9%._~+/\-]{12,500})"),
    ":AA": ("telegram-token", r":(AA[A-Za-z0-9_\-]{33})(?![A-Za-z0-9_\-])"),
}
"""Secrets in command arguments, cookies and signed URLs: letters, kind and pattern."""
ARGUMENT_PATTERNS = {letters: Pattern(shape) for letters, (_, shape) in ARGUMENTS.items()}
SECRET_NAMES: Mapping[str, tuple[str, ...]] = {
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
"""Names of secrets in lower case, and the texts of which one must be right before the name."""
KIND_BY_NAME = {"token": "token", "key": "key", "secret": "secret"}
PEM = "PRIVATE KEY-----"
PEM_BODY_LINE = Pattern(r"(?:\\[nrt])?([A-Za-z0-9+/]{4,200}={0,2})")
"""A line of a private key, also after an escaped line break in JSON."""
PEM_BEGIN = Pattern(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----")
MAX_PEM_LINES = 200
MAX_PEM_LINE_CHARS = 400
"""Characters of a line of a key, with the text that a tool may print before it."""

PLACEHOLDER = Pattern(
    r"[$%{*]|x{4}|\.\.\.|example|changeme|placeholder|your|dummy|redacted|process\.env|os\.environ",
    re.IGNORECASE,
)
"""A placeholder for a secret: `${TOKEN}`, `xxxx`, `your-key`."""
PLAIN_WORDS = Pattern(
    r"(?:(?:[A-Za-z]{1,40}\d{0,3}|\d{1,4}|[a-z]\d[a-z])(?:[_\-./:+=~@!?#&]{1,3}|$)){1,40}"
)
"""Words, numbered or joined: `my-service_v2`, `src/app.py`, but not `x7Kq9ZbT`."""
CHAR_CLASSES = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "A" * 26 + "a" * 26 + "0" * 10
)
MIN_BITS_PER_CHAR = 2.9
"""Entropy of a character: 'hunter22hunter22' has 2.7, sixteen random hexadecimal digits 3.2."""
MIN_CHARS_EVERYWHERE = 12
"""A value of at least this length is also searched for in other texts."""


MARK_START = "[redacted:"
REDACTION_MARK = Pattern(r"\[redacted:[a-z\-]{2,40}(?:#[0-9a-f]{1,12})?\]")
"""The text that replaces a secret, such as `[redacted:jwt#1a]`."""


class Secret(Struct, frozen=True):
    """A secret in a text."""

    start: int
    end: int
    kind: str
    everywhere: bool = True
    """Whether it cannot occur in another text by chance."""


def find_secrets(text: str, patterns: Sequence[re.Pattern[str]] = ()) -> list[Secret]:
    """Return the secrets in a text in order and without overlaps; `patterns` are the user's."""
    secrets = [
        *_provider_keys(text),
        *_private_keys(text),
        *_url_passwords(text),
        *_bearer_tokens(text),
        *_argument_secrets(text),
        *_assigned_secrets(text),
        *_pattern_matches(text, patterns),
    ]
    return _without_overlaps(_outside_marks(text, secrets)) if secrets else secrets


def _outside_marks(text: str, secrets: list[Secret]) -> list[Secret]:
    """Leave out secrets that are part of a redaction mark."""
    marks = [match.span() for match in REDACTION_MARK.finditer(text)] if MARK_START in text else []
    if not marks:
        return secrets
    starts = [start for start, _ in marks]
    ends = [0, *(end for _, end in marks)]
    # The last mark that starts before a secret ends has to end before the secret starts.
    return [secret for secret in secrets if ends[bisect_left(starts, secret.end)] <= secret.start]


def _without_overlaps(secrets: Iterable[Secret]) -> list[Secret]:
    """Leave out secrets that overlap an earlier or longer one."""
    separate: list[Secret] = []
    for secret in sorted(secrets, key=lambda secret: (secret.start, -secret.end)):
        if not separate or secret.start >= separate[-1].end:
            separate.append(secret)
    return separate


def _provider_keys(text: str) -> Iterator[Secret]:
    for letters, shape in KEY_PATTERNS.items():
        for at in _positions(text, letters):
            match = shape.match(text, at)
            if match is None:
                continue
            start = at - LETTERS_BEFORE.get(letters, 0)
            if not _continues_word(text, start) and (
                letters in UNMISTAKABLE or looks_random(match[0])
            ):
                yield Secret(start, match.end(), PROVIDER_KEYS[letters][0])


def _continues_word(text: str, start: int) -> bool:
    """Whether the text at this position continues the word before it."""
    before = text[max(start - 2, 0) : start]
    # In the arguments of a call, a line break is a backslash and a letter.
    return before[-1:].isalnum() and before not in ("\\n", "\\r", "\\t")


def _private_keys(text: str) -> Iterator[Secret]:
    """Yield the lines of private keys one by one: a tool may number them or print only some."""
    at = text.find(PEM)
    upto = 0
    while at >= 0:
        begun = PEM_BEGIN.search(text, max(at - 60, 0), at + len(PEM))
        if begun is not None and begun.end() > upto:
            upto = begun.end()
            for start, end in _pem_lines(text, upto):
                upto = end
                long = end - start >= MIN_CHARS_EVERYWHERE
                yield Secret(start, end, "private-key", everywhere=long)
        at = text.find(PEM, at + len(PEM))


def _pem_lines(text: str, start: int) -> Iterator[tuple[int, int]]:
    last = text.find("-----", start)
    stop = min(last if last >= 0 else len(text), start + MAX_PEM_LINES * MAX_PEM_LINE_CHARS)
    reached = start
    for match in PEM_BODY_LINE.finditer(text, start, stop):
        if match.start() - reached > MAX_PEM_LINE_CHARS:
            return
        reached = match.end()
        yield match.span(1)


def _url_passwords(text: str) -> Iterator[Secret]:
    for at in _positions(text, "://"):
        match = URL.match(text, at)
        if match is not None and not PLACEHOLDER.search(match[1]):
            yield _secret_from(match, 1, "password")


def _bearer_tokens(text: str) -> Iterator[Secret]:
    starts = [at - 1 for at in _positions(text, "earer ") if at]
    for at in _positions(text, "uthorization"):
        named = AUTHORIZATION.match(text, at)
        starts += [named.end()] if named is not None else []
    for start in starts:
        match = BEARER.match(text, start)
        if match is not None and looks_random(match[1]) and not PLACEHOLDER.search(match[1]):
            yield _secret_from(match, 1, "bearer-token")


def _argument_secrets(text: str) -> Iterator[Secret]:
    """Yield the secrets in command arguments, cookies and signed URLs."""
    for letters, shape in ARGUMENT_PATTERNS.items():
        for at in _positions(text, letters):
            match = shape.match(text, at)
            if match is not None and looks_random(match[1]) and not PLACEHOLDER.search(match[1]):
                yield _secret_from(match, 1, ARGUMENTS[letters][0])


def _assigned_secrets(text: str) -> Iterator[Secret]:
    lowered = text.lower()
    # If lower case changes the length of the text, the positions would differ.
    if len(lowered) != len(text):
        lowered = "".join(char.lower() if char.isascii() else char for char in text)
    for name, before in SECRET_NAMES.items():
        for at in _positions(lowered, name):
            if not lowered.endswith(before, max(at - 12, 0), at):
                continue
            match = ASSIGNMENT.match(text, at + len(name))
            if match is not None and _is_secret(match):
                yield _secret_from(match, "value", KIND_BY_NAME.get(name, "password"))


def _is_secret(match: re.Match[str]) -> bool:
    value = match["value"]
    if PLACEHOLDER.search(value) or not looks_random(value):
        return False
    # A value without quotes may be code: a name with a digit, an attribute, a call.
    code = value.replace(".", "_").replace("?", "").isidentifier()
    return bool(match["quote"]) or not code or ("." not in value and len(value) >= 20)


def _pattern_matches(text: str, patterns: Sequence[re.Pattern[str]]) -> Iterator[Secret]:
    for pattern in patterns:
        for match in pattern.finditer(text):
            if match.end() > match.start():
                long = match.end() - match.start() >= MIN_CHARS_EVERYWHERE
                yield Secret(match.start(), match.end(), "pattern", everywhere=long)


def _secret_from(match: re.Match[str], group: int | str, kind: str) -> Secret:
    value = match[group]
    sure = len(value) >= MIN_CHARS_EVERYWHERE and looks_random(value)
    start, end = match.span(group)
    return Secret(start, end, kind.replace("_", "-"), everywhere=sure)


def _positions(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def may_begin_secret(word: str) -> bool:
    """Whether a truncated word may be the beginning of a secret."""
    lowered = word.lower()
    return any(letters in word for letters in (*PROVIDER_KEYS, "://")) or any(
        name in lowered for name in SECRET_NAMES
    )


def looks_random(value: str) -> bool:
    """Whether a value looks random: letters and digits without order."""
    if len(value) < 8 or PLAIN_WORDS.fullmatch(value):
        return False
    kinds = value.translate(CHAR_CLASSES)
    if "0" not in kinds or not ("A" in kinds or "a" in kinds):
        return False
    turns = sum(kind != next_kind for kind, next_kind in pairwise(kinds))
    return turns * 6 >= len(value) and _entropy(value) >= MIN_BITS_PER_CHAR


def _entropy(value: str) -> float:
    """Return the entropy of a character in bits, by the frequency of each."""
    size = len(value)
    shares = (value.count(char) / size for char in set(value))
    return -sum(share * log2(share) for share in shares)
