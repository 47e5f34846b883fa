"""A round trip to one engine answers as redis-py's own pipeline does, and fails as it does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from socket import create_server
from threading import Thread
from typing import Any

import pytest
from redis.exceptions import ConnectionError

from services.ledger.connection import connect
from services.ledger.queries import command
from services.ledger.round_trips import is_one_engine, send_at_once

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
    command("GET", "text"),
]


def test_the_replies_are_those_of_redis_py_errors_among_them(engine_url: str) -> None:
    with closing(connect(engine_url)) as client:
        assert is_one_engine(client)
        pipe: Any = client.pipeline(transaction=False)
        for arguments, options in COMMANDS:
            pipe.execute_command(*arguments, **options)
        expected = pipe.execute(raise_on_error=False)
        replies = send_at_once(client, COMMANDS)
    assert [*map(repr, replies)] == [*map(repr, expected)]
    assert [type(reply).__name__ for reply in replies[10:12]] == ["ResponseError", "NoScriptError"]


def test_P8_a_reply_that_cannot_be_decoded_leaves_nothing_for_the_next_round_trip(engine_url: str) -> None:
    def broken(_: object) -> object:
        raise ValueError("no such reply")

    with closing(connect(engine_url)) as client:
        client.set_response_callback("PING", broken)
        with pytest.raises(ValueError, match="no such reply"):
            send_at_once(client, [command("PING"), command("ECHO", "of before")])
        assert send_at_once(client, [command("ECHO", "now")]) == [b"now"]


@contextmanager
def half_answering_engine() -> Iterator[str]:
    """The address of what answers half of a round trip, and closes."""
    with create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            for _ in range(2):
                with listening.accept()[0] as connection:
                    while b"ECHO" not in (received := connection.recv(1 << 16)):
                        connection.sendall(b"+OK\r\n" * received.count(b"CLIENT"))  # it introduces itself
                    connection.sendall(b"$5\r\nfirst\r\n$6\r\nsec")

        thread = Thread(target=answer)
        thread.start()
        yield f"redis://127.0.0.1:{listening.getsockname()[1]}"
    thread.join()


def test_P8_a_connection_that_is_lost_amid_the_replies_is_an_error_and_is_opened_anew() -> None:
    with half_answering_engine() as url, closing(connect(url)) as client:
        for _ in range(2):
            with pytest.raises(ConnectionError):
                send_at_once(client, [command("ECHO", "first"), command("ECHO", "second")])
