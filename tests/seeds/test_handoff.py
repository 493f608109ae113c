"""The example flow: an orchestrator hands a task to a worker, with a real client on both sides."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import TextContent

from holdfast.models.tokenizers import counter
from holdfast.packets.packet import Packet
from holdfast.session.open import open as open_session
from tests.surfaces.mcp.clients import MODES, run_async, stdio_client_of

TASK = "Add JWT auth"
USER_MODEL = '''"""Accounts and who they belong to."""

from dataclasses import dataclass


@dataclass
class User:
    """Someone who can sign in."""

    id: int
    email: str
    password_hash: str
    is_active: bool = True

    def check_password(self, plain: str) -> bool:
        """Whether this is the password that was chosen at registration."""
        return verify(plain, self.password_hash)


class UserStore:
    """Finds users by id or by address."""

    def by_email(self, email: str) -> User | None:
        return self._by_email.get(email.lower())

    def by_id(self, number: int) -> User | None:
        return self._users.get(number)
'''
AUTH = '''"""Signing in and out. Sessions are kept in a cookie for now."""

from fastapi import APIRouter, Depends, HTTPException, Response

from app.models.user import User, UserStore

router = APIRouter(prefix="/auth")


@router.post("/login")
def login(form: LoginForm, response: Response, users: UserStore = Depends()) -> dict[str, str]:
    user = users.by_email(form.email)
    if user is None or not user.check_password(form.password):
        raise HTTPException(401)
    response.set_cookie("session", make_session(user))
    return {"status": "ok"}


@router.post("/logout")
def logout(response: Response) -> dict[str, str]:
    response.delete_cookie("session")
    return {"status": "ok"}
'''
SETTINGS = '''"""What the service is started with, read from the environment."""

from pydantic_settings import BaseSettings


class Settings(BaseSettings):
    database_url: str
    cookie_name: str = "session"
    cookie_seconds: int = 86_400
    allowed_origins: list[str] = []
    smtp_host: str = "localhost"
    smtp_port: int = 25

    def is_local(self) -> bool:
        """Whether this runs on a developer's machine."""
        return "localhost" in self.database_url


def load() -> Settings:
    """The settings, once."""
    return Settings()
'''
TESTS = '''"""Signing in, as a browser does it."""

import pytest
from fastapi.testclient import TestClient


@pytest.fixture
def client(app):
    return TestClient(app)


def test_a_good_password_sets_the_cookie(client, user):
    answer = client.post("/auth/login", json={"email": user.email, "password": "right"})
    assert answer.status_code == 200
    assert "session" in answer.cookies


def test_a_wrong_password_is_refused(client, user):
    answer = client.post("/auth/login", json={"email": user.email, "password": "wrong"})
    assert answer.status_code == 401


def test_logging_out_takes_the_cookie_away(client, signed_in):
    answer = client.post("/auth/logout")
    assert "session" not in answer.cookies
'''
REGISTRATION = "\n".join(
    f"def check_field_{at}(form):\n    return form.field_{at}.strip() != ''\n" for at in range(12)
)


def _read(name: str, path: str, text: str) -> list[dict[str, Any]]:
    function = {"name": "read_file", "arguments": json.dumps({"path": path})}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": name, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": name, "content": text},
    ]


def conversation() -> list[dict[str, Any]]:
    """About 1,800 tokens: files that were read, what was talked over, what was planned."""
    return [
        {
            "role": "user",
            "content": "Add JWT authentication to the API. Don't touch the registration flow.",
        },
        {"role": "assistant", "content": "I will look at the user model and at auth first."},
        *_read("r1", "app/models/user.py", USER_MODEL),
        *_read("r2", "app/api/auth.py", AUTH),
        *_read("r3", "app/api/registration.py", REGISTRATION),
        *_read("r4", "app/settings.py", SETTINGS),
        *_read("r5", "tests/test_auth.py", TESTS),
        {
            "role": "assistant",
            "content": "Sessions are cookies today. Two questions: which signing algorithm should "
            "the tokens use, HS256 with a shared secret or RS256 with a key pair? And how long "
            "should a token be valid? Other services will have to verify them without our secret.",
        },
        {
            "role": "user",
            "content": "Use RS256, because other services must verify tokens without our secret. "
            "Let's go with a 24h expiry.",
        },
        {
            "role": "assistant",
            "content": "I decided to use python-jose for the tokens because it supports RS256 and "
            "is maintained; PyJWT would need an extra package for key handling.",
        },
        {"role": "user", "content": "Fine. Plan it and hand it to a worker."},
        {
            "role": "assistant",
            "content": "Plan: 1. a token module that signs with RS256 and sets exp to 24h from "
            "now; 2. /auth/login in app/api/auth.py returns a token instead of the cookie; 3. a "
            "dependency that reads the Authorization header and loads the User; 4. tests for an "
            "expired token, a forged one and a good one. The registration flow stays as it is. I "
            "will spawn a worker in pane 1 for this.",
        },
    ]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "holdfast.toml").write_text('layout = "agentwire"\n')
    with open_session("orchestrator", root=root) as session:
        session.extend(conversation())
    return root


async def said(client: Client, tool: str, **arguments: Any) -> str:
    came = await client.call_tool(tool, arguments)
    (block,) = came.content
    assert isinstance(block, TextContent)
    assert not came.is_error, block.text
    return block.text


@pytest.mark.seed("R286", "R287", "R288", "R350", "R351", "R352")
@pytest.mark.parametrize("mode", MODES)
def test_a_worker_gets_the_right_context_for_a_fifth_of_the_tokens(
    project: Path, mode: str
) -> None:
    count = counter("o200k_base")
    spent = sum(count(json.dumps(message)) for message in conversation())

    async def orchestrate() -> str:
        async with stdio_client_of(project, mode=mode) as client:
            return await said(client, "context_generate", task=TASK, depth="standard", pane=1)

    made = run_async(orchestrate)
    path = project / ".agentwire" / "context" / "pane-1.yaml"
    packet = Packet.from_yaml(made)
    assert packet == Packet.from_yaml(path.read_text())
    assert "Read your context packet first: .agentwire/context/pane-1.yaml" in made

    text = packet.to_prompt()
    assert packet.token_count == count(text) <= 400
    assert packet.goal
    assert "Don't touch the registration flow." in "\n".join(packet.constraints)
    settled = "\n".join((*packet.constraints, *(one.choice for one in packet.decisions)))
    assert [word for word in ("RS256", "24h", "python-jose") if word not in settled] == []
    assert {"user", "orchestrator"} <= {one.made_by for one in packet.decisions}
    files = {one.path: one.summary for one in packet.codebase.relevant_files}
    assert files["app/models/user.py"]
    assert files["app/api/auth.py"]
    assert spent >= 1_500
    assert 1 - packet.token_count / spent >= 0.75

    async def work() -> Any:
        async with stdio_client_of(project, mode=mode, HOLDFAST_PANE="1") as client:
            read = await said(client, "context_read")
            known = await said(
                client, "context_query", question="What authentication approach was decided?"
            )
            unknown = await said(client, "context_query", question="Which database do we shard by?")
            with open_session("worker", root=project) as own:
                own.append({"role": "user", "content": "Read your packet, then implement."})
            later = await said(client, "context_read", layers="2")
            done = await said(client, "context_feedback", gaps=[], unused=[], outcome="done")
            return read, known, unknown, later, done

    read, known, unknown, later, done = run_async(work)
    assert read.startswith(text)
    assert "RS256" in known
    assert "user" in known
    assert unknown.startswith("Not known")
    assert "RS256" in later
    assert "Don't touch" not in later
    assert "pane-1" in done
    with open_session("orchestrator", root=project) as session:
        from holdfast.packets.records import packet_records

        (one,) = packet_records(session.ledger)
        assert (one.reads, one.reported) == (2, True)
    # The record stays; the file went with the task.
    assert not path.exists()
