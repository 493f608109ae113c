"""Decisions of sessions, joined: what replaced what, and which session refers to which."""

import json
import subprocess

import pytest
from msgspec.structs import replace

from holdfast.core.ledger.summary import Quote
from holdfast.core.view.decisions.graph import (
    DecisionEdge,
    DecisionGraph,
    build_graph,
    decisions_about,
    statements_of_all,
)
from holdfast.core.view.decisions.history import lineages
from holdfast.core.view.decisions.render import as_dot, as_mermaid, graph_document, render_graph
from holdfast.core.view.questions.statements import SessionStatements, Statement
from tests.core.building import named


def decided(number: int, text: str, *, session: str, replaces: int = 0) -> Statement:
    old = named(replaces) if replaces else ""
    return Statement("decision", text, named(number), by="user", session=session, replaces=old)


def session(name: str, *rows: Statement, asked: str = "", after: str = "") -> SessionStatements:
    requests = (Quote(asked, named(99)),) if asked else ()
    return SessionStatements(name, settled=rows, requests=requests, after=after)


def ref(number: int) -> str:
    return named(number)[:12]


AUTH = session(
    "A",
    decided(1, "Use session cookies for login", session="A"),
    decided(2, "Use JWT instead of session cookies", session="A", replaces=1),
    asked="Add auth",
)
API = session("B", asked="Build the API, every route checks the JWT")
MOBILE = session("C", asked="The mobile client sends the JWT", after="B")


@pytest.mark.seed("R355")
def test_a_decision_is_referenced_by_later_sessions_that_speak_of_it() -> None:
    graph = build_graph([AUTH, API, MOBILE])
    node = graph.node(ref(2))
    assert node is not None
    assert (node.session, node.by, node.referenced_by) == ("A", "user", ("B", "C"))
    assert DecisionEdge("C", "B", "continues") in graph.edges


def test_nothing_refers_to_what_comes_later() -> None:
    graph = build_graph([API, AUTH])
    assert [edge for edge in graph.edges if edge.kind == "references"] == []


@pytest.mark.seed("R356")
def test_a_decision_knows_what_took_its_place_and_history_tells_it_in_order() -> None:
    graph = build_graph([AUTH, API])
    assert [one.superseded_by for one in graph.nodes] == [ref(2), ""]
    assert [[one.id for one in line.versions] for line in lineages(graph)] == [[ref(1), ref(2)]]


def test_decisions_that_never_changed_are_told_only_when_asked_for() -> None:
    graph = build_graph([session("A", decided(1, "Use Kafka for events", session="A"))])
    assert lineages(graph) == ()
    assert len(lineages(graph, single=True)) == 1


def test_a_later_session_may_replace_what_an_earlier_one_decided() -> None:
    first = session("A", decided(1, "Use Redis for the settings cache", session="A"))
    later = session(
        "B", decided(5, "Switch the settings cache to SQLite instead of Redis", session="B")
    )
    graph = build_graph([first, later])
    assert DecisionEdge(ref(5), ref(1), "supersedes") in graph.edges
    assert [one.replaced_by for one in statements_of_all([first, later])] == [named(5), ""]


def test_the_first_decision_of_the_newest_session_is_the_one_that_was_replaced() -> None:
    cached = "Use Redis for the settings cache"
    older = session("A", decided(1, cached, session="A"))
    newer = session(
        "B",
        decided(2, f"{cached} of users", session="B"),
        decided(3, f"{cached} of teams", session="B"),
    )
    for turned in ("Abandon Redis for the cache", "Actually, a settings cache in Redis"):
        last = session("C", decided(5, turned, session="C"))
        edges = build_graph([older, newer, last]).edges
        assert [e.target for e in edges if e.kind == "supersedes"] == [ref(2)]


def test_versions_are_the_same_without_references() -> None:
    whole, short = (
        build_graph([AUTH, API, MOBILE], references=references) for references in (True, False)
    )
    assert [e for e in whole.edges if e.kind != "references"] == list(short.edges)
    assert lineages(short) == tuple(
        replace(line, versions=tuple(replace(one, referenced_by=()) for one in line.versions))
        for line in lineages(whole)
    )


@pytest.mark.parametrize(
    "text",
    [
        "Use Redis for the queue",  # it turns from nothing
        "Use tabs instead of Redis",  # it shares one word with it
        "Actually, scrap the cache",  # one word again
    ],
)
def test_a_word_in_common_replaces_nothing(text: str) -> None:
    first = session("A", decided(1, "Use Redis for the settings cache", session="A"))
    later = session("B", decided(5, text, session="B"))
    assert [e for e in build_graph([first, later]).edges if e.kind == "supersedes"] == []


def test_what_a_packet_handed_on_or_a_request_names_is_referred_to() -> None:
    handed = SessionStatements("B", handed=(named(2),))
    naming = session("C", asked=f"Look at {named(1)} first")
    edges = build_graph([AUTH, handed, naming]).edges
    assert DecisionEdge("B", ref(2), "references") in edges
    assert DecisionEdge("C", ref(1), "references") in edges


def test_a_plain_word_in_common_is_no_reference() -> None:
    first = session("A", decided(1, "Keep the nightly export small", session="A"))
    assert build_graph([first, session("B", asked="Write a small parser")]).edges == ()


def test_two_words_of_a_short_decision_are_a_reference() -> None:
    first = session("A", decided(1, "Keep the nightly export small", session="A"))
    edges = build_graph([first, session("B", asked="Speed up the nightly export")]).edges
    assert edges == (DecisionEdge("B", ref(1), "references"),)


def test_sessions_that_share_a_beginning_share_its_decisions() -> None:
    again = session("B", decided(1, "Use session cookies for login", session="B"))
    graph = build_graph([AUTH, again])
    assert [one.id for one in graph.nodes] == [ref(1), ref(2)]


def test_two_decisions_of_one_entry_are_two_nodes() -> None:
    both = session(
        "A", decided(1, "Use Kafka", session="A"), decided(1, "Keep RabbitMQ out", session="A")
    )
    assert [one.id for one in build_graph([both]).nodes] == [ref(1), f"{ref(1)}.2"]


def test_a_task_touches_the_decisions_whose_names_it_holds() -> None:
    told = [AUTH, session("K", decided(7, "Use Kafka for order events", session="K"))]
    assert [one.text for one in decisions_about("Check the JWT on every route", told)] == [
        "Use JWT instead of session cookies"
    ]
    assert decisions_about("Paint the fence", told) == []


NASTY = session(
    'a"b]\n<script>',
    decided(1, 'Use "quotes" ] --> <b>`x`</b> # & \\ \n end', session='a"b]\n<script>'),
)


def test_dot_and_mermaid_keep_any_text_inside_its_label() -> None:
    graph = build_graph([NASTY])
    dot, mermaid = as_dot(graph), as_mermaid(graph)
    assert all(line.count('"') - line.count('\\"') in (0, 2, 4) for line in dot.split("\n"))
    assert "<script>" not in mermaid
    assert all(line.count('"') in (0, 2) for line in mermaid.split("\n"))


def test_every_edge_of_a_drawing_joins_what_is_in_it() -> None:
    graph = build_graph([AUTH, API, MOBILE])
    lines = as_mermaid(graph).split("\n")
    assert "  d1 -->|supersedes| d0" in lines
    assert "  s1 -->|references| d1" in lines
    assert "  s2 -->|continues| s1" in lines
    assert "  class d0 gone" in lines
    assert f'  "C" -> "{ref(2)}" [label="references"];' in as_dot(graph)


def test_the_page_tells_of_each_decision_what_became_of_it() -> None:
    page = render_graph(build_graph([AUTH, API, MOBILE]))
    assert f"superseded by {ref(2)}: Use JWT instead of session cookies" in page
    assert "referenced by: B, C" in page
    assert render_graph(DecisionGraph()) == "No decision is on record in this project."


def test_the_document_is_json() -> None:
    document = graph_document(build_graph([AUTH, API]))
    assert json.loads(json.dumps(document))["nodes"][1]["referenced_by"] == ["B"]


def test_dot_is_read_by_graphviz_where_it_is_installed() -> None:
    try:
        made = subprocess.run(
            ["dot", "-Tplain"],
            input=as_dot(build_graph([NASTY, AUTH])),
            text=True,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("graphviz is not installed")
    assert made.returncode == 0
