"""`holdfast mcp`: the server that agents ask. What it answers first needs nothing to be loaded."""

import click

EXAMPLE = """\b
Examples:
  holdfast mcp                               over pipes, as agents start it
  holdfast mcp --session 3ae3                this session, not the newest
  holdfast mcp --http 8765                   at http://127.0.0.1:8765/mcp
  claude mcp add holdfast -- holdfast mcp"""


def _prefix(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """What clients take as the beginning of a tool's name."""
    plain = value.replace("_", "").replace("-", "")
    if not value or (plain.isascii() and plain.isalnum() and len(value) <= 32):
        return value
    raise click.BadParameter("letters, digits, `_` and `-`, 32 at the most", ctx, param)


@click.command(epilog=EXAMPLE)
@click.option("--http", "port", type=click.IntRange(0, 65535), help="Serve HTTP at this port.")
@click.option("--session", "name", envvar="HOLDFAST_SESSION", help="Name or its beginning.")
@click.option("--agent", default="", help="A sub-agent, whose window is its own.")
@click.option("--prefix", default="", callback=_prefix, help="Put before the name of every tool.")
@click.option("--root", metavar="FOLDER", help="The project; found by git when not given.")
@click.pass_context
def mcp(
    ctx: click.Context,
    port: int | None,
    name: str | None,
    agent: str,
    prefix: str,
    root: str | None,
) -> None:
    """Serve the Model Context Protocol: status, recovery and context packets as tools.

    It works on the project of the folder that it is started in, and there on the newest session
    unless one is named. It ends when its client does.
    """
    from holdfast.surfaces.mcp.server import Place

    place = Place(root or ctx.find_object(str), name or "", agent, prefix)
    if port is None:
        from holdfast.surfaces.mcp.stdio import serve

        serve(place)
    from holdfast.surfaces.mcp.http import serve as serve_http

    serve_http(place, port)
