"""The real clients: where they are kept, and getting them there."""

import os
import shutil
import subprocess
from pathlib import Path

from msgspec import Struct

PROJECT = Path(__file__).parents[2]
SECONDS = 900
"""What one client may take to be fetched."""


class Client(Struct, frozen=True):
    """A program of somebody else's, at a version that scenarios were written for."""

    name: str
    package: str
    version: str
    program: str

    @property
    def folder(self) -> Path:
        """Where it is kept."""
        return kept_in() / f"{self.name}-{self.version}"

    @property
    def path(self) -> Path:
        """What is started."""
        installed = self.folder / "node_modules"
        return installed / ".bin" / self.program if self.program else installed / self.package

    @property
    def title(self) -> str:
        """How people call it."""
        return f"{self.name} {self.version}"


CLAUDE_CODE = Client("claude-code", "@anthropic-ai/claude-code", "2.1.325", "claude")
OLDER_CLAUDE_CODE = Client("claude-code", "@anthropic-ai/claude-code", "2.1.197", "claude")
CODEX = Client("codex", "@openai/codex", "0.166.0", "codex")
OPENCODE = Client("opencode", "opencode-ai", "1.18.33", "opencode")
OPENCODE_PLUGIN = Client("opencode-plugin", "@opencode-ai/plugin", "1.18.33", "")
"""What opencode fetches by itself wherever it finds a plugin."""
GEMINI = Client("gemini", "@google/gemini-cli", "0.61.0", "gemini")
CLIENTS = (CLAUDE_CODE, OLDER_CLAUDE_CODE, CODEX, OPENCODE, OPENCODE_PLUGIN, GEMINI)


def kept_in() -> Path:
    """The folder of all clients: `HOLDFAST_AGENTS`, or `.agents` of the project."""
    return Path(os.environ.get("HOLDFAST_AGENTS") or PROJECT / ".agents")


def absence(client: Client) -> str:
    """Why a client cannot be used here; nothing when it can."""
    if client.path.exists():
        return ""
    return f"{client.title} is not in {kept_in().name}/: `make test-agents` installs it"


def install(client: Client) -> str:
    """Fetch a client unless it is there; why that failed, or nothing."""
    if client.path.exists():
        return ""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not here"
    client.folder.mkdir(parents=True, exist_ok=True)
    words = ["install", "--no-audit", "--no-fund", "--prefix", "."]
    try:
        done = subprocess.run(
            [npm, *words, f"{client.package}@{client.version}"],
            cwd=client.folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"npm took longer than {SECONDS} s"
    return "" if client.path.exists() else (done.stderr.strip() or "npm left nothing")[-300:]
