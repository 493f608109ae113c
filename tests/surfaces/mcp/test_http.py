"""Over HTTP: who is answered, and who is turned away (X10, X11)."""

import http.client
import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.mcp.clients import http_server_url

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def send_request(
    url: str,
    body: bytes = PING,
    headers: Mapping[str, str] = {},
    *,
    method: str = "POST",
    path: str = "/mcp",
    plain: bool = False,
) -> tuple[int, bytes, Any]:
    """Status, body and headers of what comes back; `plain` without any header of a client."""
    port = int(url.split(":")[2].split("/", maxsplit=1)[0])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        given = {**({} if plain else JSON), **headers}
        connection.putrequest(method, path, skip_host="Host" in given)
        for name, value in given.items():
            connection.putheader(name, value.replace("PORT", str(port)))
        if "Content-Length" not in given:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers
    finally:
        connection.close()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with http_server_url(tmp_path_factory.mktemp("project")) as address:
        yield address


@pytest.mark.parametrize(
    "host", ["127.0.0.1:PORT", "localhost:PORT", "LOCALHOST:PORT", "[::1]:PORT"]
)
def test_this_machine_is_answered_by_any_of_its_names(url: str, host: str) -> None:
    status, body, _ = send_request(url, headers={"Host": host})
    assert (status, json.loads(body)) == (200, {"jsonrpc": "2.0", "id": 1, "result": {}})


@pytest.mark.parametrize(
    "host",
    [
        "attacker.example",
        "attacker.example:PORT",
        "127.0.0.1.attacker.example:PORT",
        "localhost.attacker.example:PORT",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost:PORT@attacker.example",
        "0.0.0.0:PORT",
        "127.1:PORT",
        "localhost.:PORT",
        "",
    ],
)
def test_a_name_that_is_not_this_machine_is_turned_away(url: str, host: str) -> None:
    assert send_request(url, headers={"Host": host})[0] == 421


@pytest.mark.parametrize(
    "origin",
    ["http://localhost", "http://127.0.0.1:6274", "https://localhost:8443", "http://[::1]"],
)
def test_a_page_of_this_machine_is_answered(url: str, origin: str) -> None:
    assert send_request(url, headers={"Origin": origin})[0] == 200


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "http://attacker.example",
        "http://localhost.evil",
        "http://localhost@attacker.example",
        "http://127.0.0.1.attacker.example",
        "file://",
        "chrome-extension://abcdef",
        "http://[::ffff:10.0.0.1]",
        "http://[",
        "*",
    ],
)
def test_a_page_of_elsewhere_is_turned_away(url: str, origin: str) -> None:
    status, _, headers = send_request(url, headers={"Origin": origin})
    assert status == 403
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_what_a_page_could_send_without_asking_is_not_taken(url: str, kind: str) -> None:
    assert send_request(url, headers={"Content-Type": kind}, plain=True)[0] == 415


def test_asking_whether_a_page_may_is_not_answered_with_yes(url: str) -> None:
    asked = {"Origin": "http://attacker.example", "Access-Control-Request-Method": "POST"}
    status, _, headers = send_request(url, b"", asked, method="OPTIONS", plain=True)
    assert status >= 400
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"path": "/"}, 404),
        ({"path": "/mcp/../etc"}, 404),
        ({"method": "GET", "body": b""}, 405),
        ({"headers": {"Content-Length": "99999999999"}, "body": b""}, 413),
        ({"headers": {"Content-Length": "-1"}, "body": b""}, 411),
        ({"headers": {"Content-Length": "1e3"}, "body": b""}, 411),
        ({"headers": {"Transfer-Encoding": "chunked"}, "body": b"0\r\n\r\n"}, 411),
        ({"headers": {"MCP-Protocol-Version": "1999-01-01"}}, 400),
        ({"body": b"{not json"}, 400),
        ({"body": b'{"jsonrpc":"2.0","method":"notifications/initialized"}'}, 202),
    ],
)
def test_what_is_no_request_gets_its_status(url: str, change: dict[str, Any], status: int) -> None:
    assert send_request(url, **change)[0] == status


def test_a_batch_is_answered_as_one(url: str) -> None:
    body = b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"x"}]'
    status, came, _ = send_request(url, body)
    assert status == 200
    assert [row["id"] for row in json.loads(came)] == [1, 2]


def request_with_envelope(method: str, **params: Any) -> bytes:
    prefix = "io.modelcontextprotocol/"
    meta: dict[str, Any] = {
        f"{prefix}protocolVersion": "2026-07-28",
        f"{prefix}clientCapabilities": {},
    }
    frame = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    return json.dumps(frame).encode()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Mcp-Method": "tools/call", "Mcp-Name": "context_log"}, 200),
        ({"Mcp-Method": "tools/call", "Mcp-Name": "=?base64?Y29udGV4dF9sb2c=?="}, 200),
        ({"Mcp-Method": "tools/call", "Mcp-Name": "=?base64?###?="}, 400),
        ({"Mcp-Method": "tools/call", "Mcp-Name": "context_compress"}, 400),
        ({"Mcp-Method": "tools/list", "Mcp-Name": "context_log"}, 400),
        ({"Mcp-Name": "context_log"}, 400),
    ],
)
def test_headers_that_say_something_else_than_the_request_are_refused(
    url: str, headers: dict[str, str], status: int
) -> None:
    body = request_with_envelope("tools/call", name="context_log", arguments={})
    given = {"MCP-Protocol-Version": "2026-07-28", **headers}
    came = send_request(url, body, given)
    assert came[0] == status
    if status == 400:
        assert json.loads(came[1])["error"]["code"] == -32020


def test_a_token_keeps_others_out(tmp_path: Path) -> None:
    with http_server_url(tmp_path, HOLDFAST_MCP_TOKEN="s3cret") as url:
        statuses = [
            send_request(url, headers=headers)[0]
            for headers in (
                {},
                {"Authorization": "Bearer wrong"},
                {"Authorization": "s3cret"},
                {"Authorization": "Bearer s3cret"},
            )
        ]
    assert statuses == [401, 401, 401, 200]


def test_only_this_machine_can_connect(url: str) -> None:
    port = int(url.split(":")[2].split("/", maxsplit=1)[0])
    addresses = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None)}
    for address in addresses - {"127.0.0.1", "::1"}:
        with socket.socket(socket.AF_INET6 if ":" in str(address) else socket.AF_INET) as outside:
            outside.settimeout(2)
            with pytest.raises(OSError):
                outside.connect((address, port))


def test_a_client_that_leaves_in_the_middle_harms_nobody(url: str) -> None:
    port = int(url.split(":")[2].split("/", maxsplit=1)[0])
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", port)) as leaving:
            head = f"POST /mcp HTTP/1.1\r\nHost: localhost:{port}\r\n"
            leaving.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 9".encode())
    assert send_request(url)[0] == 200
