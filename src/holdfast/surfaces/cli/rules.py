"""`holdfast rules`: show the compression rules in force and where each value is set."""

import click
from msgspec import to_builtins

from holdfast.core.plan.policy import COMPACTABLE, Policy, for_model
from holdfast.core.plan.rules import rules_for
from holdfast.core.view.rules import SettingInForce, render_rules, render_xml
from holdfast.project.settings import Setting, Settings
from holdfast.surfaces.cli.options import Selection, policy_options, project_options
from holdfast.surfaces.cli.output import echo, page, print_json, sanitize_lines

EXAMPLE = """\b
Examples:
  holdfast rules
  holdfast rules --profile anchored            the rules of another profile
  holdfast rules --format xml                  the gates as <stop-hook> elements"""

FIRST_SETTINGS = ("profile", "role", "model", "window", "reserve")
"""Settings that are always shown, before the settings that rules use."""
MEANING_IF_UNSET = {
    "model": "the session's",
    "window": "the model's",
    "reserve": "the model's",
    "at.tokens": "off",
    "at.turns": "off",
    "batch.requests": "as many as so far",
}
"""Text to show for a setting that is not set."""
RULE_SECTIONS = ("at.", "offload.", "truncate.", "tail.", "batch.", "summary.", "preservation.")


@click.command(epilog=EXAMPLE)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "xml"]),
    default="text",
    show_default=True,
    help="Print text, or the gates as XML.",
)
@policy_options
@project_options
def rules(selection: Selection, form: str, as_json: bool) -> None:
    """Print the rules in force: values with origin, levels, gates, rules, triggers, tree."""
    if as_json and form == "xml":
        raise click.UsageError("--json and --format xml exclude each other")
    project = selection.project
    policy = project.settings.policy
    values = rule_settings(project.settings)
    in_force = rules_for(for_model(policy, policy.model))
    if as_json:
        print_json("rules", {"values": to_builtins(values), **to_builtins(in_force)})
    elif form == "xml":
        echo(render_xml(in_force.gates))
    else:
        page(sanitize_lines(render_rules(in_force, [_display_row(setting) for setting in values])))


def rule_settings(settings: Settings) -> list[Setting]:
    """Return the settings that rules use, with those of the model's own section."""
    own = _model_settings(settings.policy)
    found = [
        setting
        for setting in settings.values
        if setting.name.startswith((*FIRST_SETTINGS, *RULE_SECTIONS))
    ]
    return [own.get(setting.name, setting) for setting in found]


def _model_settings(policy: Policy) -> dict[str, Setting]:
    """Return the settings of the model's own section, by name."""
    plain = policy.model.lower().rsplit("/", 1)[-1]
    matches = [name for name in policy.models if plain.startswith(name.lower())]
    if not matches:
        return {}
    name = max(matches, key=len)
    return {
        key: Setting(key, value, f"[models.{name}]") for key, value in policy.models[name].items()
    }


def _display_row(setting: Setting) -> SettingInForce:
    value = setting.value
    if setting.name in MEANING_IF_UNSET and not value:
        return SettingInForce(setting.name, MEANING_IF_UNSET[setting.name], setting.origin)
    if setting.name == "preservation.compactable" and isinstance(value, tuple):
        return SettingInForce(
            setting.name, f"{len(value)} of {len(COMPACTABLE)} kinds", setting.origin
        )
    if isinstance(value, tuple):
        return SettingInForce(setting.name, ", ".join(value) or "-", setting.origin)
    text = f"{value:,}" if isinstance(value, int) else value or "-"
    return SettingInForce(setting.name, text, setting.origin)
