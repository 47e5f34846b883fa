"""An engine's snapshot over the network: all keys of a node as they were at one moment, in the form of its RDB file.

The engine takes this client for a replica that wants no more than the snapshot (`redis-cli --rdb` does the same): it forks,
as for a rewrite of its AOF, and sends what the fork sees while games go on. Nothing is written to the engine's disk where
it can send without (`capa eof`: Redis from 2.8.18, Valkey).
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Final

from redis.exceptions import ConnectionError, ResponseError

from services.ledger.engine.queries import Client

PIECE_BYTES: Final = 1 << 20
SILENT_S: Final = 60.0  # an engine that prepares a snapshot says every second that it does
MARK_BYTES: Final = 40  # by which the end of a stream of unknown length is known
MAX_LINE_BYTES: Final = 256


def stream_snapshot(client: Client) -> Iterator[bytes]:
    """The bytes of a node's snapshot, in pieces. `client` is a blocking one of a single engine.

    Raises ConnectionError: the stream ends too early; ResponseError: the user may not have it."""
    with closing(_Connection(client)) as connection:
        connection.ask()
        yield from connection.read_pieces()


class _Connection:
    """A connection that is no more redis-py's once the snapshot is asked for."""

    def __init__(self, client: Client) -> None:
        self._connection = client.connection_pool.make_connection()
        self._connection.connect()  # also TLS, user and password
        self._socket: socket.socket = self._connection._sock
        self._socket.settimeout(SILENT_S)

    def close(self) -> None:
        """Let go of the engine, which stops to send."""
        self._connection.disconnect()

    def ask(self) -> None:
        """Ask for the snapshot alone. Raises ResponseError."""
        for words in (("capa", "eof"), ("rdb-only", "1")):
            self._connection.send_command("REPLCONF", *words)
            try:
                self._connection.read_response()
            except ResponseError as error:
                if "NOPERM" in str(error) or words[0] == "capa":
                    raise
        self._connection.send_command("SYNC")

    def read_pieces(self) -> Iterator[bytes]:
        """What the engine sends, up to the snapshot's end."""
        head = self._read_head()
        if head.startswith(b"$EOF:"):
            yield from self._read_to_mark(head[5:])
        elif head.startswith(b"$"):
            yield from self._read_length(int(head[1:]))
        else:
            raise ResponseError(head.lstrip(b"-").decode(errors="replace"))

    def _read_head(self) -> bytes:
        """The first line that says something: an engine that isn't ready sends empty ones."""
        line = b""
        while not line.strip() or not line.endswith(b"\n"):
            if line == b"\n":
                line = b""
            if len(line) > MAX_LINE_BYTES:
                raise ConnectionError("the engine sends no snapshot")
            line += self._receive(1)
        return line.strip()

    def _read_length(self, left: int) -> Iterator[bytes]:
        while left:
            piece = self._receive(min(left, PIECE_BYTES))
            left -= len(piece)
            yield piece

    def _read_to_mark(self, mark: bytes) -> Iterator[bytes]:
        if len(mark) != MARK_BYTES:
            raise ConnectionError("the engine names no end of its snapshot")
        unread = b""
        while not unread.endswith(mark):
            if len(unread) > MARK_BYTES:
                yield unread[:-MARK_BYTES]
                unread = unread[-MARK_BYTES:]
            unread += self._receive(PIECE_BYTES)
        if rest := unread[:-MARK_BYTES]:
            yield rest

    def _receive(self, most: int) -> bytes:
        try:
            piece = self._socket.recv(most)
        except OSError as error:
            raise ConnectionError(f"the snapshot was cut off: {error}") from None
        if not piece:
            raise ConnectionError("the engine ended the snapshot too early")
        return piece
