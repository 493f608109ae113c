"""The graph of decisions as text: Graphviz, Mermaid, a JSON document, or a page for a person."""

import re
from collections.abc import Iterator

from holdfast.core.view.decisions.graph import Graph, Node
from holdfast.text.jsontext import Json

WIDTH = 60
"""Characters of a label."""
CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


def as_dot(graph: Graph) -> str:
    """The graph for Graphviz: a cluster a session, an arrow from the newer to the older."""
    lines = ["digraph decisions {", '  rankdir="LR";', '  node [shape="box"];']
    for number, (session, title) in enumerate(graph.sessions):
        lines.append(f"  subgraph cluster_{number} {{")
        lines.append(f"    label={_quoted(_label(session, title))};")
        lines += [f"    {_quoted(one.id)} {_dot_look(one)};" for one in _of(graph, session)]
        # An arrow to a session needs something in it to point at.
        lines.append(f'    {_quoted(session)} [shape="point"];')
        lines.append("  }")
    lines += [
        f"  {_quoted(edge.source)} -> {_quoted(edge.target)} [label={_quoted(edge.kind)}];"
        for edge in graph.edges
    ]
    return "\n".join([*lines, "}"])


def _dot_look(one: Node) -> str:
    style = ', style="dashed"' if one.superseded_by else ""
    return f"[label={_quoted(_told(one))}{style}]"


def _quoted(text: str) -> str:
    plain = CONTROL.sub(" ", text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'


def as_mermaid(graph: Graph) -> str:
    """The graph for Mermaid, which Markdown pages draw."""
    number = {session: f"s{at}" for at, (session, _) in enumerate(graph.sessions)}
    names = {one.id: f"d{at}" for at, one in enumerate(graph.nodes)}
    lines = ["graph LR"]
    for session, title in graph.sessions:
        lines.append(f"  subgraph {number[session]}[{_mermaid(_label(session, title))}]")
        lines += [f"    {names[one.id]}[{_mermaid(_told(one))}]" for one in _of(graph, session)]
        lines.append("  end")
    known = {**number, **names}
    lines += [
        f"  {known[edge.source]} -->|{edge.kind}| {known[edge.target]}" for edge in graph.edges
    ]
    gone = [names[one.id] for one in graph.nodes if one.superseded_by]
    if gone:
        lines += ["  classDef gone stroke-dasharray: 5 5", f"  class {','.join(gone)} gone"]
    return "\n".join(lines)


def _mermaid(text: str) -> str:
    """A label; what would end it or be read as markup is written as an entity."""
    plain = CONTROL.sub(" ", text).replace("#", "#35;").replace("&", "#amp;")
    for sign, entity in (('"', "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("`", "#96;")):
        plain = plain.replace(sign, entity)
    return f'"{plain}"'


def _of(graph: Graph, session: str) -> list[Node]:
    return [one for one in graph.nodes if one.session == session]


def _told(one: Node) -> str:
    return f"{_short(one.choice)} ({one.by})"


def _label(session: str, title: str) -> str:
    return f"{session}: {_short(title)}" if title else session


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


def graph_document(graph: Graph) -> dict[str, Json]:
    """The graph as one JSON document."""
    return {
        "sessions": [{"session": name, "title": title} for name, title in graph.sessions],
        "nodes": [_row(one) for one in graph.nodes],
        "edges": [
            {"source": edge.source, "target": edge.target, "kind": edge.kind}
            for edge in graph.edges
        ],
    }


def _row(one: Node) -> Json:
    return {
        "id": one.id,
        "session": one.session,
        "choice": one.choice,
        "reason": one.reason,
        "by": one.by,
        "turn": one.turn,
        "at": one.at,
        "superseded_by": one.superseded_by,
        "referenced_by": list(one.referenced_by),
    }


def render_graph(graph: Graph) -> str:
    """The graph as a page: session by session, each decision with what became of it."""
    return "\n".join(_lines(graph))


def _lines(graph: Graph) -> Iterator[str]:
    if not graph.nodes:
        yield "No decision is on record in this project."
    for session, title in graph.sessions:
        nodes = _of(graph, session)
        if not nodes:
            continue
        after = next(
            (e.target for e in graph.edges if e.kind == "continues" and e.source == session), ""
        )
        yield _label(session, title) + (f" (goes on from {after})" if after else "")
        for one in nodes:
            yield from _node_lines(one, graph)


def _node_lines(one: Node, graph: Graph) -> Iterator[str]:
    yield f"  {one.id}  {one.choice} [{one.by}]"
    if one.reason:
        yield f"    why: {one.reason}"
    newer = graph.node(one.superseded_by)
    if newer is not None:
        where = f" in {newer.session}" if newer.session != one.session else ""
        yield f"    superseded by {newer.id}{where}: {newer.choice}"
    if one.referenced_by:
        yield f"    referenced by: {', '.join(one.referenced_by)}"
