"""`holdfast preserve`: check that the sections that must survive compression exist."""

from collections.abc import Sequence
from pathlib import Path

import click
from msgspec import to_builtins

from holdfast.core.plan.policy import Policy
from holdfast.core.plan.preserve import PreservedState, preserved_items
from holdfast.core.view.rules import render_preserved_items
from holdfast.engine.preserve import creatable, create_missing, find_preserved, missing_message
from holdfast.errors import BadSetting
from holdfast.surfaces.cli.options import Selection, project_options
from holdfast.surfaces.cli.output import echo, is_interactive, print_json, sanitize_lines

EXAMPLE = """\b
Examples:
  holdfast preserve                        check all sections
  holdfast preserve session_continuity     check one section
  holdfast preserve --create               create missing sections in NOTES.md"""
EXIT_MISSING = 1


@click.command(epilog=EXAMPLE)
@click.argument("section", required=False)
@click.option("--create", is_flag=True, help="Create the missing sections.")
@project_options
def preserve(selection: Selection, section: str | None, create: bool, as_json: bool) -> None:
    """Check that SECTION, or each section that must survive compression, exists.

    `NOTES.md`, beads, trajectory, sprint plan and run state are checked if the project has them or
    uses `layout = "loa"`; the ledger holds the other sections. Exit code 1 if a section is missing
    or cannot be read, 2 if there is no section of that name.
    """
    project = selection.project
    policy = project.settings.policy
    names = [item.name for item in preserved_items(policy.preservation) if item.on]
    if section is not None and section not in names:
        raise click.UsageError(f"there is no section {section!r}; there are {', '.join(names)}")
    held = _sections(project.root, policy, section)
    created = (
        creatable(held)
        if _should_create(held, policy, create=create, interactive=not as_json)
        else []
    )
    if created:
        create_missing(str(project.root), created)
        held = _sections(project.root, policy, section)
    lacking = [item for item in held if item.lacks]
    if as_json:
        print_json(
            "preserve",
            {
                "enforcement": policy.preservation.enforcement,
                "preserved": not lacking,
                "created": [item.item for item in created],
                "sections": to_builtins(held),
            },
        )
    else:
        echo(sanitize_lines("\n".join(_report_lines(held, created, lacking))))
    raise click.exceptions.Exit(EXIT_MISSING if lacking else 0)


def _sections(root: Path, policy: Policy, section: str | None) -> list[PreservedState]:
    return [held for held in find_preserved(str(root), policy) if section in (None, held.item)]


def _report_lines(
    held: Sequence[PreservedState],
    created: Sequence[PreservedState],
    lacking: Sequence[PreservedState],
) -> list[str]:
    return [
        *render_preserved_items(held),
        *(f"made: {section.item} in {section.where}" for section in created),
        *([f"warning: {missing_message(lacking)}"] if lacking else []),
    ]


def _should_create(
    held: Sequence[PreservedState], policy: Policy, *, create: bool, interactive: bool
) -> bool:
    """Whether to create missing sections: by option, by setting, or by the answer to a prompt."""
    missing, rule = creatable(held), policy.preservation.create_missing
    if create and rule == "never":
        raise BadSetting("preservation.create_missing", "it is `never`", origin="--create")
    if not missing or rule == "never":
        return False
    if create or rule == "auto":
        return True
    names = ", ".join(section.item for section in missing)
    may_ask = interactive and is_interactive()
    return may_ask and click.confirm(f"make {names} in {missing[0].where}?", err=True)
