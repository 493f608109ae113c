"""`holdfast rules`: what is in force, and where each value came from."""

import click
from msgspec import to_builtins

from holdfast.core.plan.policy import COMPACTABLE, Policy, for_model
from holdfast.core.plan.rules import rules_for
from holdfast.core.view.rules import Shown, render_rules, render_xml
from holdfast.project.settings import Setting, Settings
from holdfast.surfaces.cli.options import (
    flags_of,
    json_option,
    policy_options,
    project_of,
    project_option,
)
from holdfast.surfaces.cli.output import echo, page, plain_lines, print_json

EXAMPLE = """\b
Examples:
  holdfast rules
  holdfast rules --profile anchored            as they would be under another profile
  holdfast rules --format xml                  the gates as <stop-hook> elements"""

TELLING = ("profile", "role", "model", "window", "reserve")
"""Shown first, whatever they are; then every value that a rule is made of."""
UNSET = {
    "model": "the session's",
    "window": "the model's",
    "reserve": "the model's",
    "at.tokens": "off",
    "at.turns": "off",
    "batch.requests": "as many as so far",
}
"""What it means when one of these is not set."""
SECTIONS = ("at.", "offload.", "truncate.", "tail.", "batch.", "summary.", "preservation.")


@click.command(epilog=EXAMPLE)
@click.option(
    "--format", "form", type=click.Choice(["text", "xml"]), default="text", show_default=True
)
@policy_options
@project_option
@json_option
@click.pass_context
def rules(
    ctx: click.Context,
    form: str,
    model: str | None,
    window: int | None,
    profile: str | None,
    role: str | None,
    root: str | None,
    as_json: bool,
) -> None:
    """Print the rules in force: values and their origin, levels, gates, rules, triggers, tree."""
    if as_json and form == "xml":
        raise click.UsageError("--json and --format xml exclude each other")
    project = project_of(ctx, root, flags_of(model, window, profile, role))
    policy = project.settings.policy
    values = in_force(project.settings)
    made = rules_for(for_model(policy, policy.model))
    if as_json:
        print_json("rules", {"values": to_builtins(values), **to_builtins(made)})
    elif form == "xml":
        echo(render_xml(made.gates))
    else:
        page(plain_lines(render_rules(made, [_shown(one) for one in values])))


def in_force(settings: Settings) -> list[Setting]:
    """The values that rules are made of, those of the model's own section included."""
    own = _own(settings.policy)
    found = [one for one in settings.values if one.name.startswith((*TELLING, *SECTIONS))]
    return [own.get(one.name, one) for one in found]


def _own(policy: Policy) -> dict[str, Setting]:
    """By name: what the settings say for the model alone."""
    plain = policy.model.lower().rsplit("/", 1)[-1]
    fitting = [name for name in policy.models if plain.startswith(name.lower())]
    if not fitting:
        return {}
    name = max(fitting, key=len)
    return {
        key: Setting(key, value, f"[models.{name}]") for key, value in policy.models[name].items()
    }


def _shown(setting: Setting) -> Shown:
    value = setting.value
    if setting.name in UNSET and not value:
        return Shown(setting.name, UNSET[setting.name], setting.origin)
    if setting.name == "preservation.compactable" and isinstance(value, tuple):
        return Shown(setting.name, f"{len(value)} of {len(COMPACTABLE)} kinds", setting.origin)
    if isinstance(value, tuple):
        return Shown(setting.name, ", ".join(value) or "-", setting.origin)
    text = f"{value:,}" if isinstance(value, int) else value or "-"
    return Shown(setting.name, text, setting.origin)
