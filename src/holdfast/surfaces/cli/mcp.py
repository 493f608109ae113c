"""`holdfast mcp`: run the Model Context Protocol server over pipes or HTTP."""

import click

EXAMPLE = """\b
Examples:
  holdfast mcp                               over stdin and stdout, as agents start it
  holdfast mcp --session 3ae3                use this session instead of the newest
  holdfast mcp --http 8765                   at http://127.0.0.1:8765/mcp
  claude mcp add holdfast -- holdfast mcp"""


def _check_prefix(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Check that clients accept the value as a prefix of a tool's name."""
    plain = value.replace("_", "").replace("-", "")
    if not value or (plain.isascii() and plain.isalnum() and len(value) <= 32):
        return value
    raise click.BadParameter("letters, digits, `_` and `-`, 32 at the most", ctx, param)


@click.command(epilog=EXAMPLE)
@click.option(
    "--http",
    "port",
    type=click.IntRange(0, 65535),
    help="Serve HTTP on this port; default: stdin and stdout.",
)
@click.option(
    "--session",
    "name",
    envvar="HOLDFAST_SESSION",
    help="Session name or its beginning; default: the newest.",
)
@click.option("--agent", default="", help="Name of a sub-agent; default: the main agent.")
@click.option("--prefix", default="", callback=_check_prefix, help="Prefix of all tool names.")
@click.option(
    "--root",
    metavar="FOLDER",
    help="Project folder; default: HOLDFAST_ROOT, else the git top level.",
)
@click.pass_context
def mcp(
    ctx: click.Context,
    port: int | None,
    name: str | None,
    agent: str,
    prefix: str,
    root: str | None,
) -> None:
    """Run a Model Context Protocol server with tools for status, recovery and packets.

    The server uses the project of the current folder and its newest session, unless --root or
    --session is given. It ends when its client disconnects.
    """
    from holdfast.surfaces.mcp.server import ServerOptions

    place = ServerOptions(root or ctx.find_object(str), name or "", agent, prefix)
    if port is None:
        from holdfast.surfaces.mcp.stdio import serve

        serve(place)
    from holdfast.surfaces.mcp.http import serve as serve_http

    serve_http(place, port)
