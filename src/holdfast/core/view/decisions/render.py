"""Render the graph of decisions for Graphviz, Mermaid, JSON or a person."""

from collections.abc import Iterator

from msgspec.structs import asdict

from holdfast.core.view.decisions.graph import DecisionGraph, DecisionNode
from holdfast.text.clip import clip, one_line
from holdfast.text.jsontext import Json
from holdfast.text.patterns import Pattern

MAX_LABEL_CHARS = 60
"""Characters of a label."""
# Matches tabs and line feeds; not a space.
CONTROL_CHARS = Pattern(r"[\x00-\x1f\x7f]+")


def as_dot(graph: DecisionGraph) -> str:
    """Render the graph for Graphviz: a cluster per session, an arrow from newer to older."""
    lines = ["digraph decisions {", '  rankdir="LR";', '  node [shape="box"];']
    for number, (session, title) in enumerate(graph.sessions):
        lines.append(f"  subgraph cluster_{number} {{")
        lines.append(f"    label={_dot_string(_session_label(session, title))};")
        lines += [
            f"    {_dot_string(node.id)} {_dot_attributes(node)};"
            for node in _nodes_of(graph, session)
        ]
        # Graphviz draws arrows between nodes only, so each session has a node of its own.
        lines.append(f'    {_dot_string(session)} [shape="point"];')
        lines.append("  }")
    lines += [
        f"  {_dot_string(edge.source)} -> {_dot_string(edge.target)} [label="
        f"{_dot_string(edge.kind)}];"
        for edge in graph.edges
    ]
    return "\n".join([*lines, "}"])


def _dot_attributes(node: DecisionNode) -> str:
    style = ', style="dashed"' if node.superseded_by else ""
    return f"[label={_dot_string(_node_label(node))}{style}]"


def _dot_string(text: str) -> str:
    plain = CONTROL_CHARS.sub(" ", text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'


def as_mermaid(graph: DecisionGraph) -> str:
    """Render the graph for Mermaid, which Markdown viewers draw."""
    number = {session: f"s{at}" for at, (session, _) in enumerate(graph.sessions)}
    names = {node.id: f"d{at}" for at, node in enumerate(graph.nodes)}
    lines = ["graph LR"]
    for session, title in graph.sessions:
        lines.append(
            f"  subgraph {number[session]}[{_mermaid_string(_session_label(session, title))}]"
        )
        lines += [
            f"    {names[node.id]}[{_mermaid_string(_node_label(node))}]"
            for node in _nodes_of(graph, session)
        ]
        lines.append("  end")
    ids = {**number, **names}
    lines += [f"  {ids[edge.source]} -->|{edge.kind}| {ids[edge.target]}" for edge in graph.edges]
    superseded = [names[node.id] for node in graph.nodes if node.superseded_by]
    if superseded:
        lines += ["  classDef gone stroke-dasharray: 5 5", f"  class {','.join(superseded)} gone"]
    return "\n".join(lines)


def _mermaid_string(text: str) -> str:
    """Quote a label; characters that would end it or be markup become entities."""
    plain = CONTROL_CHARS.sub(" ", text).replace("#", "#35;").replace("&", "#amp;")
    for sign, entity in (('"', "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("`", "#96;")):
        plain = plain.replace(sign, entity)
    return f'"{plain}"'


def _nodes_of(graph: DecisionGraph, session: str) -> list[DecisionNode]:
    return [node for node in graph.nodes if node.session == session]


def _node_label(node: DecisionNode) -> str:
    return f"{_shorten(node.choice)} ({node.by})"


def _session_label(session: str, title: str) -> str:
    return f"{session}: {_shorten(title)}" if title else session


def _shorten(text: str) -> str:
    return clip(one_line(text), MAX_LABEL_CHARS)


def graph_document(graph: DecisionGraph) -> dict[str, Json]:
    """Return the graph as one JSON document."""
    return {
        "sessions": [{"session": name, "title": title} for name, title in graph.sessions],
        "nodes": [asdict(node) for node in graph.nodes],
        "edges": [asdict(edge) for edge in graph.edges],
    }


def render_graph(graph: DecisionGraph) -> str:
    """Render the graph as a page: the decisions of each session and their fate."""
    return "\n".join(_graph_lines(graph))


def _graph_lines(graph: DecisionGraph) -> Iterator[str]:
    if not graph.nodes:
        yield "No decision is on record in this project."
    for session, title in graph.sessions:
        nodes = _nodes_of(graph, session)
        if not nodes:
            continue
        after = next(
            (e.target for e in graph.edges if e.kind == "continues" and e.source == session), ""
        )
        yield _session_label(session, title) + (f" (goes on from {after})" if after else "")
        for node in nodes:
            yield from _node_lines(node, graph)


def _node_lines(node: DecisionNode, graph: DecisionGraph) -> Iterator[str]:
    yield f"  {node.id}  {node.choice} [{node.by}]"
    if node.reason:
        yield f"    why: {node.reason}"
    newer = graph.node(node.superseded_by)
    if newer is not None:
        where = f" in {newer.session}" if newer.session != node.session else ""
        yield f"    superseded by {newer.id}{where}: {newer.choice}"
    if node.referenced_by:
        yield f"    referenced by: {', '.join(node.referenced_by)}"
