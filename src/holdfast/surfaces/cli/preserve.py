"""`holdfast preserve`: is everything there that has to survive a compression?"""

from collections.abc import Sequence
from pathlib import Path

import click
from msgspec import to_builtins

from holdfast.core.plan.policy import Policy
from holdfast.core.plan.preserve import Held, always_of
from holdfast.core.view.rules import render_held
from holdfast.engine.preserve import creatable, held_in, offer
from holdfast.engine.preserve import create as create_missing
from holdfast.errors import BadSetting
from holdfast.surfaces.cli.options import json_option, project_of, project_option
from holdfast.surfaces.cli.output import echo, for_a_person, plain_lines, print_json

EXAMPLE = """\b
Examples:
  holdfast preserve                        every section that has to survive
  holdfast preserve session_continuity     one of them
  holdfast preserve --create               make what is missing in NOTES.md"""
LACKS = 1


@click.command(epilog=EXAMPLE)
@click.argument("section", required=False)
@click.option("--create", is_flag=True, help="Make the sections that are missing.")
@project_option
@json_option
@click.pass_context
def preserve(
    ctx: click.Context, section: str | None, create: bool, root: str | None, as_json: bool
) -> None:
    """Check that the sections which survive every compression are there: all, or SECTION.

    The ledger holds what no file of the project does. `NOTES.md`, beads, trajectory, sprint plan
    and run state are looked at where the project has them, or works that way (`layout = "loa"`).
    Exit code 1 when one is missing or may not be read, 2 when there is no such section.
    """
    project = project_of(ctx, root)
    policy = project.settings.policy
    names = [one.name for one in always_of(policy.preservation) if one.on]
    if section is not None and section not in names:
        raise click.UsageError(f"there is no section {section!r}; there are {', '.join(names)}")
    held = _chosen(project.root, policy, section)
    made = creatable(held) if _wanted(held, policy, create=create, asks=not as_json) else []
    if made:
        create_missing(str(project.root), made)
        held = _chosen(project.root, policy, section)
    lacking = [one for one in held if one.lacks]
    if as_json:
        print_json(
            "preserve",
            {
                "enforcement": policy.preservation.enforcement,
                "preserved": not lacking,
                "created": [one.item for one in made],
                "sections": to_builtins(held),
            },
        )
    else:
        echo(plain_lines("\n".join(_told(held, made, lacking))))
    raise click.exceptions.Exit(LACKS if lacking else 0)


def _chosen(root: Path, policy: Policy, section: str | None) -> list[Held]:
    return [one for one in held_in(str(root), policy) if section in (None, one.item)]


def _told(held: Sequence[Held], made: Sequence[Held], lacking: Sequence[Held]) -> list[str]:
    return [
        *render_held(held),
        *(f"made: {one.item} in {one.where}" for one in made),
        *([f"warning: {offer(lacking)}"] if lacking else []),
    ]


def _wanted(held: Sequence[Held], policy: Policy, *, create: bool, asks: bool) -> bool:
    """Whether what is missing should be made: said so, set so, or agreed to."""
    missing, rule = creatable(held), policy.preservation.create_missing
    if create and rule == "never":
        raise BadSetting("preservation.create_missing", "it is `never`", origin="--create")
    if not missing or rule == "never":
        return False
    if create or rule == "auto":
        return True
    names = ", ".join(one.item for one in missing)
    asked = asks and for_a_person()
    return asked and click.confirm(f"make {names} in {missing[0].where}?", err=True)
