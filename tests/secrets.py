"""Keys that nobody ever had, in the shapes of those that people have: put together here, so that
no scanner of this repository takes them for real."""

import random
import string


def drawn(seed: int, size: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """Letters that are the same every time, with some of every sort that there is."""
    draw = random.Random(seed)
    return "".join(draw.choice(alphabet) for _ in range(size))


UPPER = string.ascii_uppercase + "234567"
HEX = "0123456789abcdef"

PLANTED: dict[str, str] = {
    "aws-key": "AK" + "IA" + drawn(1, 16, UPPER),
    "github-token": "gh" + "p_" + drawn(2, 36),
    "gitlab-token": "gl" + "pat-" + drawn(3, 20),
    "slack-token": "xo" + "xb-" + f"{2**35}-{2**36}-" + drawn(4, 24),
    "stripe-key": "sk" + "_live_" + drawn(5, 32),
    "model-key": "sk" + "-ant-api03-" + drawn(6, 80),
    "google-key": "AI" + "za" + drawn(7, 35),
    "jwt": "ey" + "J" + drawn(8, 33) + ".ey" + "J" + drawn(9, 60) + "." + drawn(10, 43),
    "npm-token": "np" + "m_" + drawn(11, 36),
    "huggingface-token": "h" + "f_" + drawn(12, 34),
    "sendgrid-key": "S" + "G." + drawn(13, 22) + "." + drawn(14, 43),
    "pypi-token": "py" + "pi-" + drawn(15, 90),
    "digitalocean-token": "do" + "p_v1_" + drawn(16, 64, HEX),
}
"""By kind: a secret that stands for itself wherever it is."""

NAMED: dict[str, tuple[str, str]] = {
    "password": (drawn(20, 18), "DB_PASSWORD={}"),
    "secret": (drawn(21, 40), "aws_secret_access_key = {}"),
    "token": (drawn(22, 32, HEX), '"refresh_token": "{}"'),
    "key": (drawn(23, 32), "export SERVICE_API_KEY='{}'"),
    "bearer-token": (drawn(24, 40), "curl -H 'Authorization: Bearer {}' https://api.test"),
    "password of an address": (drawn(25, 16), "postgres://app:{}@db.internal:5432/main"),
}
"""Secrets that only their surroundings tell of, and those surroundings."""

MODEL_KEY = "sk" + "-proj-" + drawn(30, 60)


def pem() -> str:
    """A private key, of which no part is one."""
    kind = "RSA PRIVATE " + "KEY"
    body = "\n".join(drawn(40 + line, 64) for line in range(12))
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"


def every_value() -> list[str]:
    """All of them, the lines of the private key one by one."""
    lines = pem().split("\n")[1:-1]
    return [*PLANTED.values(), *(value for value, _ in NAMED.values()), MODEL_KEY, *lines]


def planted_text() -> str:
    """A text that holds every one of them, among other things."""
    own = [f"{kind} is {value}" for kind, value in PLANTED.items()]
    named = [shape.format(value) for value, shape in NAMED.values()]
    return "\n".join(["# settings", *own, *named, pem(), f"OPENAI={MODEL_KEY}", "# end"])
