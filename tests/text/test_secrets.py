"""Keys and passwords are found by their shape; what only looks like one is left alone."""

import time

import pytest

from holdfast.text.secrets import Secret, find_secrets, looks_random
from tests.secrets import MODEL_KEY, NAMED, PLANTED, pem, planted_text


def values(text: str) -> list[tuple[str, str]]:
    return [(text[one.start : one.end], one.kind) for one in find_secrets(text)]


@pytest.mark.parametrize("kind", PLANTED)
def test_a_key_of_a_provider_is_found_wherever_it_stands(kind: str) -> None:
    key = PLANTED[kind]
    for text in (key, f"use {key}, please", f'{{"k":"{key}"}}', f"a\\n{key}\\nb", f"x={key};"):
        assert values(text) == [(key, kind)]


@pytest.mark.parametrize("kind", NAMED)
def test_a_password_is_found_by_the_name_it_is_given(kind: str) -> None:
    value, shape = NAMED[kind]
    text = f"before\n{shape.format(value)}\nafter"
    assert values(text) == [(value, kind.partition(" ")[0])]


DRAWN = "Zk93hsPq71xLmTuW8r2Q"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"curl -u deploy:{DRAWN} https://x/", "password"),
        (f"curl --user deploy:{DRAWN} https://x/", "password"),
        (f"vercel --token {DRAWN}", "token"),
        (f"tool --password={DRAWN}", "password"),
        (f"tool --api-key {DRAWN} run", "key"),
        (f"Set-Cookie: sid={DRAWN}; HttpOnly", "cookie"),
        (f"https://x.blob.core.windows.net/c?sv=1&sig={DRAWN}", "signature"),
    ],
)
def test_what_is_handed_over_without_a_name_is_found(text: str, kind: str) -> None:
    assert values(text) == [(DRAWN, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "sort -u file:one-two-three",
        "docker run -u 1000:1000 image",
        "tool --token $DEPLOY_TOKEN",
        "tool --token your-token-here-123",
        "Set-Cookie: theme=dark-mode-of-the-page",
        "msig=abcdefabcdef",
    ],
)
def test_what_only_stands_where_something_could_be_handed_over_is_left_alone(text: str) -> None:
    assert values(text) == []


def test_every_line_of_a_private_key_is_found_by_itself() -> None:
    lines = pem().split("\n")[1:-1]
    assert values(f"cat id_rsa\n{pem()}\nthen more words") == [(ln, "private-key") for ln in lines]


def test_a_private_key_is_found_where_a_tool_numbers_its_lines_or_shows_only_some() -> None:
    lines = pem().split("\n")
    numbered = "\n".join(f"{at:>6}→{text}" for at, text in enumerate(lines[:5], start=1))
    assert values(numbered) == [(line, "private-key") for line in lines[1:5]]


def test_a_private_key_in_the_arguments_of_a_call_is_found() -> None:
    lines = pem().split("\n")[1:-1]
    escaped = pem().replace("\n", "\\n")
    assert [value for value, _ in values(f'{{"content":"{escaped}"}}')] == lines


@pytest.mark.parametrize(
    "text",
    [
        "password: string",
        "const password = process.env.DB_PASSWORD2",
        "token = get_token(user1)",
        "self.token_count = tokens_2_count",
        "secret: ${{ secrets.DEPLOY_KEY_1 }}",
        "password=$PASSWORD1",
        'api_key = "your-api-key-here-123"',
        "JWT_SECRET=e2e-test-jwt-secret-key-for-ci",
        "accessToken: 'access-123'",
        "the secret: Settings > Deploy keys",
        "https://user@example.com:8080/path",
        "postgres://app:${DB_PASSWORD}@db/main",
        "http://localhost:5173/@vite/client",
        "class sk-cube-grid sk-folding-cube-2",
        "commit 3f2a9c1b4d5e6f708192a3b4c5d6e7f801234567",
        "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "Token Program/Token-2022 instructions",
        "eyJ is how JSON in base64 begins",
        "ghp_user_token_456",
        "AKIA is the prefix",
        "const privateKey = secp256k1.utils.randomPrivateKey()",
        "3:const ownerPrivateKey = vaultKeypair2.privateKey;",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
    ],
)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert values(text) == []


def test_a_weak_password_is_redacted_in_its_place_and_not_looked_for_elsewhere() -> None:
    (found,) = find_secrets("postgres://app:hunter2@db.internal/main")
    assert found == Secret(15, 22, "password", everywhere=False)


def test_looking_random_takes_letters_and_digits_in_no_order() -> None:
    assert looks_random("x7Kp2mQ9vL4t") and looks_random("0f3a9b2c7d1e4f60")
    assert not looks_random("aaaaaaaa11111111") and not looks_random("test-key-1234")
    assert not looks_random("short1") and not looks_random("abcdefghijklmnop")


@pytest.mark.parametrize(
    "run",
    ["password=", "eyJ", "://a:", "sk-", "Bearer ", "-----BEGIN RSA PRIVATE KEY-----", "token:'"],
)
def test_a_text_made_to_be_slow_takes_time_in_proportion(run: str) -> None:
    def seconds(size: int) -> float:
        text = (run * (size // len(run) + 1))[:size]
        best = float("inf")
        for _ in range(3):
            start = time.thread_time()
            find_secrets(text)
            best = min(best, time.thread_time() - start)
        return best

    small = seconds(50_000)
    assert seconds(400_000) < max(small * 16, 0.05)


def test_all_of_them_in_one_text_are_found_once() -> None:
    found = values(planted_text())
    assert len(found) == len(PLANTED) + len(NAMED) + 12 + 1
    assert (MODEL_KEY, "model-key") in found
