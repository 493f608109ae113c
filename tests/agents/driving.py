"""Each client head-less: settings that lead it to our provider, and how it is started."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self
from urllib.request import Request, urlopen

from tests.agents.clients import (
    CLAUDE_CODE,
    CODEX,
    GEMINI,
    OLDER_CLAUDE_CODE,
    OPENCODE,
    OPENCODE_PLUGIN,
    Client,
)
from tests.agents.provider import Provider
from tests.agents.scratch import WAIT, Ran, Scratch


class Driven(Scratch):
    """A client in a scratch home whose provider is ours."""

    client: Client

    def __init__(self, folder: Path, provider: Provider) -> None:
        super().__init__(folder)
        self.provider = provider

    def ask(self, prompt: str, *words: str, **more: str) -> Ran:
        """Say something to the agent in a fresh session; it has to end well."""
        raise NotImplementedError


class ClaudeCode(Driven):
    """Claude Code, `claude -p`."""

    client = CLAUDE_CODE

    def __init__(self, folder: Path, provider: Provider) -> None:
        super().__init__(folder, provider)
        self.environment |= {
            "ANTHROPIC_BASE_URL": provider.url,
            "ANTHROPIC_API_KEY": "sk-ant-dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
        }

    def ask(self, prompt: str, *words: str, **more: str) -> Ran:
        """See `Driven.ask`; `--resume SESSION` goes on in one."""
        told = ("--output-format", "stream-json", "--verbose")
        return self.start(
            self.client, ["-p", prompt, "--dangerously-skip-permissions", *told, *words], **more
        )

    def transcripts(self) -> list[Path]:
        """What it wrote of its sessions."""
        return sorted(self.home.glob(".claude/projects/*/**/*.jsonl"))


class OlderClaudeCode(ClaudeCode):
    """The same before it had function hooks."""

    client = OLDER_CLAUDE_CODE


class Codex(Driven):
    """Codex, `codex exec`."""

    client = CODEX
    window = 0
    """Tokens at which it compacts by itself; 0 leaves that to it."""

    def __init__(self, folder: Path, provider: Provider) -> None:
        super().__init__(folder, provider)
        self.environment |= {"FAKE_KEY": "dummy", "RUST_LOG": "error"}
        self.settings = self.write(self.home / ".codex/config.toml", self._settings())

    def _settings(self) -> str:
        return (
            'model = "gpt-5.5"\nmodel_provider = "scripted"\n'
            'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n\n'
            "[model_providers.scripted]\n"
            f'name = "Scripted"\nbase_url = "{self.provider.url}/v1"\n'
            'env_key = "FAKE_KEY"\nwire_api = "responses"\n'
        )

    def ask(self, prompt: str, *words: str, **more: str) -> Ran:
        """See `Driven.ask`; `resume`, `--last` before the prompt go on in the newest."""
        told = ("--json", "--skip-git-repo-check", "--dangerously-bypass-hook-trust")
        return self.start(self.client, ["exec", *told, *words, prompt], **more)

    def rollouts(self) -> list[Path]:
        """What it wrote of its sessions."""
        return sorted(self.home.glob(".codex/sessions/**/rollout-*.jsonl"))


class OpenCode(Driven):
    """opencode, `opencode run`."""

    client = OPENCODE
    quiet = (
        *("MODELS_FETCH", "AUTOUPDATE", "DEFAULT_PLUGINS", "LSP_DOWNLOAD"),
        "CLAUDE_CODE",
    )

    def __init__(self, folder: Path, provider: Provider, *, context: int = 100_000) -> None:
        super().__init__(folder, provider)
        self.environment |= {f"OPENCODE_DISABLE_{what}": "1" for what in self.quiet}
        model = {"name": "Scripted", "limit": {"context": context, "output": 8_000}}
        options = {"baseURL": f"{provider.url}/v1", "apiKey": "dummy"}
        given = {"npm": "@ai-sdk/openai-compatible", "name": "Scripted", "options": options}
        settings: dict[str, Any] = {
            "$schema": "https://opencode.ai/config.json",
            "autoupdate": False,
            "share": "disabled",
            "model": "scripted/one",
            "small_model": "scripted/one",
            "permission": {"bash": "allow", "edit": "allow"},
            "provider": {"scripted": {**given, "models": {"one": model}}},
        }
        self.settings = self.write("opencode.json", json.dumps(settings, indent=2))
        for folder in (self.home / ".config/opencode", self.project / ".opencode"):
            self._furnish(folder)

    @staticmethod
    def _furnish(folder: Path) -> None:
        """Put what opencode fetches for plugins where it looks: it takes a minute each time."""
        kept = OPENCODE_PLUGIN.folder
        if (kept / "node_modules").is_dir():
            folder.mkdir(parents=True)
            shutil.copytree(kept, folder, dirs_exist_ok=True, copy_function=_linked)

    def ask(self, prompt: str, *words: str, **more: str) -> Ran:
        """See `Driven.ask`; `--continue` goes on in the newest."""
        return self.start(self.client, ["run", "--format", "json", *words, prompt], **more)


class Gemini(Driven):
    """Gemini CLI, `gemini -p`."""

    client = GEMINI

    def __init__(self, folder: Path, provider: Provider) -> None:
        super().__init__(folder, provider)
        self.environment |= {
            "GEMINI_API_KEY": "dummy",
            "GOOGLE_GEMINI_BASE_URL": provider.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "NO_BROWSER": "1",
        }
        settings: dict[str, Any] = {
            "security": {
                "auth": {"selectedType": "gemini-api-key"},
                "folderTrust": {"enabled": False},
            },
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
        }
        path = self.home / ".gemini/settings.json"
        self.settings = self.write(path, json.dumps(settings, indent=2))

    def ask(self, prompt: str, *words: str, **more: str) -> Ran:
        """See `Driven.ask`; `--resume latest` goes on in the newest."""
        told = ("--yolo", "--skip-trust", "--output-format", "json", "--model", "gemini-2.5-pro")
        return self.start(self.client, ["-p", prompt, *told, *words], **more)

    def chats(self) -> list[Path]:
        """What it wrote of its sessions."""
        return sorted(self.home.glob(".gemini/tmp/*/chats/**/*.json*"))


def _linked(source: str, target: str) -> str:
    """A file at a second place, without its bytes where that can be."""
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)
    return target


class OpenCodeServer:
    """opencode as a server, which is asked over HTTP: it starts once for many sessions."""

    def __init__(self, agent: OpenCode) -> None:
        self._process = subprocess.Popen(
            [str(agent.client.path), "serve", "--port", "0", "--hostname", "127.0.0.1"],
            cwd=agent.project,
            env=agent.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._process.stdout is not None
        said = iter(self._process.stdout.readline, "")
        self._url = next(line.split()[-1] for line in said if "http://" in line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process.wait(20)

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """One question of its own interface."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        asked = Request(self._url + path, data, headers, method=method)
        with urlopen(asked, timeout=WAIT) as answer:
            return json.loads(answer.read() or b"null")

    def begin(self) -> str:
        """A fresh session."""
        return self.ask("POST", "/session", {})["id"]

    def say(self, session: str, text: str) -> str:
        """Say something, and wait for the answer."""
        parts = [{"type": "text", "text": text}]
        answer = self.ask("POST", f"/session/{session}/message", {"parts": parts})
        return "\n".join(part["text"] for part in answer["parts"] if part["type"] == "text")

    def compact(self, session: str) -> None:
        """Have a session summarised."""
        model = {"providerID": "scripted", "modelID": "one"}
        assert self.ask("POST", f"/session/{session}/summarize", model) is True


class CodexServer:
    """Codex as a server, which is asked line by line: what only its own window can do otherwise."""

    def __init__(self, agent: Codex) -> None:
        self._process = subprocess.Popen(
            [str(agent.client.path), "app-server"],
            cwd=agent.project,
            env=agent.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        )
        self._asked, self._folder = 0, str(agent.project)
        self.ask("initialize", clientInfo={"name": "scenario", "version": "1"})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._process.wait(20)

    def ask(self, method: str, **params: object) -> Any:
        """One question of its own interface."""
        self._asked += 1
        name = self._asked
        assert self._process.stdin is not None
        frame = {"id": name, "method": method, "params": params}
        self._process.stdin.write(json.dumps(frame) + "\n")
        return self._heard(lambda told: told.get("id") == name)["result"]

    def _heard(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        assert self._process.stdout is not None
        lines = iter(self._process.stdout.readline, "")
        return next(told for told in map(json.loads, lines) if wanted(told))

    def _wait(self) -> None:
        self._heard(lambda told: told.get("method") == "turn/completed")

    def hooks(self) -> list[dict[str, Any]]:
        """The hooks that it knows, and whether it trusts them."""
        return self.ask("hooks/list", cwds=[self._folder])["data"][0]["hooks"]

    def begin(self) -> str:
        """A fresh session."""
        return self.ask("thread/start", cwd=self._folder)["thread"]["id"]

    def say(self, session: str, text: str) -> None:
        """Say something, and wait for the answer."""
        self.ask("turn/start", threadId=session, input=[{"type": "text", "text": text}])
        self._wait()

    def compact(self, session: str) -> None:
        """Have a session summarised."""
        self.ask("thread/compact/start", threadId=session)
        self._wait()


def trust_hooks(agent: Codex) -> None:
    """Look at the hooks and trust them, as a user does."""
    with CodexServer(agent) as server:
        known = server.hooks()
    assert {hook["trustStatus"] for hook in known} == {"untrusted"}
    rows = (f'[hooks.state."{h["key"]}"]\ntrusted_hash = "{h["currentHash"]}"\n' for h in known)
    agent.settings.write_text("\n".join((agent.settings.read_text(), *rows)))
