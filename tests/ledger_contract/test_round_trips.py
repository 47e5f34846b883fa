"""A round trip to one engine answers as redis-py's own pipeline does, and fails as it does; commands are sent as they are made."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from socket import create_server, socket
from threading import Thread
from typing import Any, Final, TypeVar

import fakeredis
import pytest
import redis
from redis.exceptions import ConnectionError

from schemas.stored import rows
from services.ledger import AppendStatus, RedisLedger
from services.ledger.engine.connection import connect, connect_async
from services.ledger.engine.queries import (
    SENT_AT_ONCE_BYTES,
    RedisCommand,
    command,
    is_one_engine,
    make_async_round_trip,
    make_round_trip,
    pack,
    send_commands,
)
from tests.conftest import Connect
from tests.ledger_contract.given import GAME, append_request

WAIT_S: Final = 60.0
Asked = TypeVar("Asked")
COMMANDS = [
    command("FLUSHDB"),
    command("SET", "text", b"\x00bytes\r\n"),
    command("GET", "text"),
    command("GET", "nothing"),
    command("XADD", "stream", "1-0", "e", 7),
    command("XRANGE", "stream", "-", "+"),
    command("ZADD", "scores", 2.5, "b", 1, "a"),
    command("ZREVRANGE", "scores", 0, -1, "WITHSCORES", withscores=True, score_cast_func=float),
    command("XGROUP CREATE", "stream", "group", "0"),
    command("XINFO GROUPS", "stream"),
    command("INCR", "text"),
    command("EVALSHA", "0" * 40, 0),
    command("XGROUP", "CREATE", "stream", "readers", "0"),
    command("XREADGROUP", "GROUP", "readers", "me", "STREAMS", "stream", ">"),
    command("HSET", "hash", "a", 1, b"b", "2" * SENT_AT_ONCE_BYTES),
    command("HGETALL", "hash"),
    command("GET", "text"),
]


class AnError(Exception):
    """What making a command raises."""


@pytest.fixture
def client(engine_url: str) -> Iterator[redis.Redis]:
    """A client of a real engine, emptied."""
    with connect(engine_url) as client:
        client.flushdb()
        yield client


def test_the_replies_are_those_of_redis_py_errors_among_them(engine_url: str) -> None:
    with closing(connect(engine_url)) as client:
        assert is_one_engine(client)
        pipe: Any = client.pipeline(transaction=False)
        for arguments, options, *_ in COMMANDS:
            pipe.execute_command(*arguments, **options)
        expected = pipe.execute(raise_on_error=False)
        replies = make_round_trip(client, COMMANDS)
    assert [*map(repr, replies)] == [*map(repr, expected)]
    assert [type(reply).__name__ for reply in replies[10:12]] == ["ResponseError", "NoScriptError"]


def test_P8_a_reply_that_cannot_be_decoded_leaves_nothing_for_the_next_round_trip(engine_url: str) -> None:
    def broken(_: object) -> object:
        raise ValueError("no such reply")

    with closing(connect(engine_url)) as client:
        client.set_response_callback("PING", broken)
        with pytest.raises(ValueError, match="no such reply"):
            make_round_trip(client, [command("PING"), command("ECHO", "earlier")])
        assert make_round_trip(client, [command("ECHO", "now")]) == [b"now"]


def ask_asyncio_client(url: str, ask: Callable[[Any], Awaitable[Asked]]) -> Asked:
    """What `ask` returns with an asyncio client of this engine."""

    async def scenario() -> Asked:
        client: Any = connect_async(url)
        async with client:
            return await ask(client)

    return asyncio.run(scenario())


def test_an_asyncio_client_gets_the_same_replies(engine_url: str) -> None:
    async def ask(client: Any) -> tuple[list[object], list[object]]:
        pipe = client.pipeline(transaction=False)
        for arguments, options, *_ in COMMANDS:
            pipe.execute_command(*arguments, **options)
        return await pipe.execute(raise_on_error=False), await send_commands(client, COMMANDS)

    expected, replies = ask_asyncio_client(engine_url, ask)
    assert [*map(repr, replies)] == [*map(repr, expected)]


@contextmanager
def answering_engine(answer: Callable[[socket], None]) -> Iterator[str]:
    """The address of what takes connections at this socket and answers them."""
    with create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=answer, args=[listening])
        thread.start()
        yield f"redis://127.0.0.1:{listening.getsockname()[1]}"
    thread.join()


def read_until_echo(connection: socket) -> bool:
    """Whether a client that introduces itself came to ask."""
    while received := connection.recv(1 << 16):
        connection.sendall(b"+OK\r\n" * received.count(b"CLIENT"))
        if b"ECHO" in received:
            return True
    return False


def answer_half(listening: socket) -> None:
    """Half of a round trip, twice; then the connection is closed."""
    for _ in range(2):
        with listening.accept()[0] as connection:
            read_until_echo(connection)
            connection.sendall(b"$5\r\nfirst\r\n$6\r\nsec")


def answer_loading(listening: socket) -> None:
    """The first two of three commands, and the third when it is asked again."""
    with listening.accept()[0] as connection:
        read_until_echo(connection)
        connection.sendall(b"$5\r\nfirst\r\n-LOADING the log\r\n")
        read_until_echo(connection)
        connection.sendall(b"$9\r\nof before\r\n$3\r\nnow\r\n")


def test_P8_a_connection_that_is_lost_amid_the_replies_is_an_error_and_is_opened_anew() -> None:
    with answering_engine(answer_half) as url, closing(connect(url)) as client:
        for _ in range(2):
            with pytest.raises(ConnectionError):
                make_round_trip(client, [command("ECHO", "first"), command("ECHO", "second")])


def test_P8_a_connection_that_an_asyncio_client_loses_amid_the_replies_is_an_error_too() -> None:
    async def ask(client: Any) -> None:
        for _ in range(2):
            with pytest.raises(ConnectionError):
                await make_async_round_trip(client, [command("ECHO", "first"), command("ECHO", "second")])

    with answering_engine(answer_half) as url:
        ask_asyncio_client(url, ask)


def test_P8_a_reply_that_comes_after_a_round_trip_failed_answers_no_other_command() -> None:
    async def ask(client: Any) -> None:
        with pytest.raises(ConnectionError, match="the log"):
            await make_async_round_trip(client, [command("ECHO", word) for word in ("first", "b", "c")])
        assert await make_async_round_trip(client, [command("ECHO", "now")]) == [b"now"]
        assert await make_async_round_trip(client, []) == []

    with answering_engine(answer_loading) as url:
        ask_asyncio_client(url, ask)


def test_only_an_engines_own_client_makes_them(connection: Connect, client: Any) -> None:
    assert is_one_engine(client)
    other = connection()
    assert is_one_engine(other) == (type(other) is redis.Redis)
    assert not is_one_engine(fakeredis.FakeRedis())
    assert not is_one_engine(redis.Redis())  # it sends again by itself
    assert make_round_trip(client, iter(())) == []


def test_a_command_that_was_packed_before_is_sent_so(client: Any) -> None:
    arguments = ("SET", "key", "value")
    assert make_round_trip(
        client, [RedisCommand(arguments, packed=pack(arguments)), command("GET", "key")]
    ) == [
        True,
        b"value",
    ]


def test_commands_are_on_their_way_while_the_next_are_made(client: Any, engine_url: str) -> None:
    def make() -> Iterator[RedisCommand]:
        yield command("SET", "first", "x" * SENT_AT_ONCE_BYTES)
        yield command("SET", "second", "")
        with redis.Redis.from_url(engine_url) as witness:
            end_s = time.monotonic() + WAIT_S
            while not witness.exists("first"):
                assert time.monotonic() < end_s, "the first command waits for the others"
                time.sleep(0.005)
        yield command("SET", "last", "")

    assert make_round_trip(client, make()) == [True, True, True]


def test_no_reply_is_taken_for_another_commands_where_making_one_fails(client: Any) -> None:
    client.set("mine", "value")

    def make() -> Iterator[RedisCommand]:
        yield command("BLPOP", "y" * SENT_AT_ONCE_BYTES, 0.5)  # its reply comes later
        yield command("SET", "never sent", "")
        raise AnError

    with pytest.raises(AnError):
        make_round_trip(client, make())
    assert client.get("mine") == b"value"
    assert make_round_trip(client, [command("GET", "never sent")]) == [None]


def test_P3_a_decision_that_fails_leaves_those_before_it_whole_or_unwritten(ledger: RedisLedger) -> None:
    requests = [
        append_request(expected=n, id_=f"c{n + 1}", secret=rows.pack(("c", 0, b"x" * 9_000, {})))
        for n in range(3)
    ]

    def decide() -> Iterator[Any]:
        yield from requests[:2]
        raise AnError

    with pytest.raises(AnError):
        ledger.append(decide())
    results = ledger.append(iter(requests))
    assert {result.status for result in results} <= {AppendStatus.APPENDED, AppendStatus.DUPLICATE}
    assert [result.sequence for result in results] == [1, 2, 3]
    assert ledger.head(GAME)[0] == len(ledger.read_entries(GAME)) == 3
