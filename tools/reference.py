"""Writes docs/reference from the code, so that it cannot say something else.

python -m tools.reference          write the pages
python -m tools.reference --check  fail when a page is not what the code says
"""

import ast
import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import get_args

import click
import msgspec

import holdfast
from holdfast import errors
from holdfast.core.ledger import entry, head, notes, packet, summary
from holdfast.core.measure.models import MODELS, UNKNOWN_MODEL, Model
from holdfast.core.plan import policy
from holdfast.core.plan.rules import rules_for
from holdfast.core.view.packet.document import packet_schema
from holdfast.core.view.rules import render_rules, render_xml
from holdfast.project import settings
from holdfast.surfaces.cli.main import COMMANDS, cli

PAGES = Path(__file__).parents[1] / "docs" / "reference"
GENERATED = "<!-- Written by `python -m tools.reference` from the code. -->\n"


def pages() -> dict[str, str]:
    """Every reference page by its file name."""
    made = {
        "cli.md": _cli,
        "settings.md": _settings,
        "entries.md": _entries,
        "python.md": _python,
        "errors.md": _errors,
        "models.md": _models,
        "rules.md": _rules,
    }
    written = {name: GENERATED + "\n".join(lines()) + "\n" for name, lines in made.items()}
    return {**written, "packet.schema.json": _packet_schema()}


def _cli() -> Iterator[str]:
    yield "# Command line\n"
    yield "Every command takes `--root` and `--json` (one document with a `schema` member) and"
    yield "answers `--help`.\n"
    yield "| exit code | means |\n|---|---|"
    for code, meaning in sorted(_exit_codes().items()):
        yield f"| {code} | {meaning} |"
    context = click.Context(cli, info_name="holdfast", **cli.context_settings)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        yield from _command(command, f"holdfast {name}", context)


def _exit_codes() -> dict[int, str]:
    codes = {0: "done", 1: "failed", 2: "wrong usage", 70: "a defect of ours", 130: "interrupted"}
    for error in _error_classes():
        codes.setdefault(error.exit_code, f"`{error.__name__}`")
        if codes[error.exit_code].startswith("`") and error.__name__ not in codes[error.exit_code]:
            codes[error.exit_code] += f", `{error.__name__}`"
    return codes


def _command(command: click.Command, path: str, parent: click.Context) -> Iterator[str]:
    context = click.Context(command, info_name=path.rsplit(" ", 1)[-1], parent=parent)
    yield f"\n## {path}\n"
    yield f"```text\n{command.get_help(context)}\n```"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _command(below, f"{path} {name}", context)


def _settings() -> Iterator[str]:
    yield "# Settings\n"
    yield "Flags > environment > `holdfast.toml` in the project > the block `context_management` of"
    yield "its `.loa.config.yaml` > `~/.config/holdfast/config.toml` > the block `context` of"
    yield "`~/.agentwire/config.yaml` > defaults. `holdfast config show --origin` says what is in"
    yield "force and why.\n"
    yield "| setting | environment | kind | default | what it decides |\n|---|---|---|---|---|"
    told = _told()
    for name, kind in settings.SETTINGS.items():
        plain = {"str": "text", "int": "number", "tuple": "list"}[kind.__name__]
        row = f"`{settings.variable(name)}` | {plain} | {_default(name)} | {told[name]}"
        yield f"| `{name}` | {row} |"
    yield "\nLists in environment variables are separated by `:`. In a file:\n"
    yield '```toml\nmodel = "claude-sonnet-4-5"\n\n[never_store]\npaths = ["*.env"]\n```'
    yield "\n## Profiles\n\n| profile | is for | changes |\n|---|---|---|"
    for name, values in policy.PROFILES.items():
        yield f"| `{name}` | {policy.PROFILE_TEXTS[name]} | {_changes(values)} |"
    yield "\n## Roles\n\n| role | changes |\n|---|---|"
    for name, values in policy.ROLES.items():
        yield f"| `{name}` | {_changes(values)} |"


def _changes(values: policy.Settings) -> str:
    return ", ".join(f"`{name}` {_written(value)}" for name, value in values.items()) or "nothing"


def _default(name: str) -> str:
    value: object = policy.Policy()
    for part in name.split("."):
        value = getattr(value, part)
    return _written(value)


def _written(value: object) -> str:
    """A value as a table shows it."""
    if isinstance(value, tuple):
        return ", ".join(f"`{item}`" for item in value) or "empty"
    return f"{value:,}" if isinstance(value, int) else str(value) or "empty"


def _told() -> dict[str, str]:
    """By dotted name: the text under each field of the policy."""
    told = _fields(policy, "Policy")
    for section in dict.fromkeys(
        name.partition(".")[0] for name in settings.SETTINGS if "." in name
    ):
        told.update(_prefixed(section, _fields(policy, _section_class(section))))
    return told


def _section_class(section: str) -> str:
    return type(getattr(policy.Policy(), section)).__name__


def _prefixed(section: str, fields: dict[str, str]) -> dict[str, str]:
    return {f"{section}.{name}": text for name, text in fields.items()}


def _entries() -> Iterator[str]:
    yield "# Entries\n"
    yield "What the ledger holds. Source bodies form the chain; derived ones point at it.\n"
    for module in (entry, notes, summary, packet, head):
        for node in _classes(module):
            if node.name.startswith("_"):
                continue
            yield f"## {node.name}\n\n{ast.get_docstring(node)}\n"
            fields = _fields(module, node.name)
            if issubclass(getattr(module, node.name), get_args(notes.Note)):
                del fields["what"]
                yield f"Persisted as `Noted` with `what` = `{getattr(module, node.name).what}`.\n"
            if fields:
                yield "| field | means |\n|---|---|"
                yield from (f"| `{name}` | {text} |" for name, text in fields.items())
                yield ""


def _packet_schema() -> str:
    """What the file of a packet holds, for programs that write or check one."""
    told = {name: text for name, text in _fields(packet, "Packet").items() if text}
    return msgspec.json.format(msgspec.json.encode(packet_schema(told)), indent=2).decode() + "\n"


def _python() -> Iterator[str]:
    yield "# Python\n"
    yield "Everything public; the rest may change. Names are loaded when they are first used.\n"
    for name in holdfast.__all__:
        value = getattr(holdfast, name)
        yield f"## holdfast.{name}\n\n{inspect.getdoc(value)}\n"
        if name in ("compress", "open", "ingest"):
            yield f"```python\n{name}{inspect.signature(value)}\n```\n"
        if name == "Session":
            yield from _methods(value)


def _methods(value: type) -> Iterator[str]:
    yield "| method | does |\n|---|---|"
    for name, method in vars(value).items():
        if name.startswith("_") or not callable(method):
            continue
        names = [p for p in inspect.signature(method).parameters if p != "self"]
        first_line = (inspect.getdoc(method) or "").splitlines()[0]
        yield f"| `{name}({', '.join(names)})` | {first_line} |"
    yield ""


def _errors() -> Iterator[str]:
    yield "# Errors\n"
    yield "All are `holdfast.HoldfastError`s, say one sentence and carry their facts.\n"
    yield "| error | exit code | raised when |\n|---|---|---|"
    for error in _error_classes():
        first_line = (inspect.getdoc(error) or "").splitlines()[0]
        yield f"| `{error.__name__}` | {error.exit_code} | {first_line} |"


def _error_classes() -> list[type[errors.HoldfastError]]:
    found = (value for value in vars(errors).values() if isinstance(value, type))
    return [value for value in found if issubclass(value, errors.HoldfastError)]


def _rules() -> Iterator[str]:
    yield "# Rules\n"
    yield "What is in force under the default profile, `ctx-001`; `holdfast rules` says what is in"
    yield "force in a project, and why.\n"
    rules = rules_for(policy.Policy())
    yield f"```text\n{render_rules(rules, ())}\n```\n"
    yield f"## The gates as XML\n\n```xml\n{render_xml(rules.gates)}\n```"


def _models() -> Iterator[str]:
    yield "# Models\n"
    yield "Matched by how a model's name begins, vendor and region left out. Cache prices are"
    yield "multiples of a fresh input token. *Bound* thinking is tied to every byte before it.\n"
    yield "| model | window | reserve | vocabulary | factor | cache read / write | bound |"
    yield "|---|---|---|---|---|---|---|"
    yield from (_model(model) for model in (*MODELS, UNKNOWN_MODEL))


def _model(model: Model) -> str:
    counted = f"{model.vocabulary}, exact" if model.exact else model.vocabulary
    cache = f"{model.cache.read:g} / {model.cache.write:g}"
    bound = "yes" if model.bound else "no"
    name = f"`{model.id}`" if model.id else "anything else"
    sizes = f"{model.window:,} | {model.reserve:,}"
    return f"| {name} | {sizes} | {counted} | {model.factor:g} | {cache} | {bound} |"


def _classes(module: object) -> list[ast.ClassDef]:
    tree = ast.parse(inspect.getsource(import_module(module.__name__)))  # type: ignore[attr-defined]
    return [node for node in tree.body if isinstance(node, ast.ClassDef)]


def _fields(module: object, name: str) -> dict[str, str]:
    """The fields of a class and the text under each; fields share the text of the next one."""
    node = next(node for node in _classes(module) if node.name == name)
    fields: dict[str, str] = {}
    waiting: list[str] = []
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            waiting.append(item.target.id)
        elif isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant) and waiting:
            text = " ".join(str(item.value.value).split())
            fields.update(dict.fromkeys(waiting[:-1], ""))
            fields[waiting[-1]] = text
            waiting = []
    fields.update(dict.fromkeys(waiting, ""))
    return fields


def main() -> int:
    """Write the pages, or compare them."""
    PAGES.mkdir(parents=True, exist_ok=True)
    stale = [
        name
        for name, text in pages().items()
        if not (PAGES / name).exists() or (PAGES / name).read_text() != text
    ]
    if "--check" in sys.argv:
        sys.stderr.writelines(
            f"docs/reference/{name} is not what the code says\n" for name in stale
        )
        return 1 if stale else 0
    for name in stale:
        (PAGES / name).write_text(pages()[name])
    return 0


if __name__ == "__main__":
    sys.exit(main())
