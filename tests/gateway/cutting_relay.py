"""A relay between a client and the gateway that cuts WebSockets: what is on its way is lost, both ways."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from socket import SHUT_RDWR

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.sync.server import ServerConnection, serve


class CuttingRelay:
    """Cuts each connection after `after` messages of the gateway, with the next of `codes` (0: no closing frame), in the
    end with 4001.
    A client's command is lost at every third."""

    def __init__(self, upstream: str, after: int, codes: Sequence[int]) -> None:
        self.upstream, self.after, self.codes = upstream.replace("http", "ws", 1), after, iter(codes)
        self.cuts = self.commands = 0
        self.url = ""

    def handle(self, client: ServerConnection) -> None:
        """Relay one connection until it is cut."""
        assert client.request is not None
        headers = {"Authorization": client.request.headers["Authorization"]}
        with connect(self.upstream + client.request.path, additional_headers=headers, proxy=None) as server:
            threading.Thread(target=self._relay_commands, args=(client, server), daemon=True).start()
            with suppress(ConnectionClosed):
                for _ in range(self.after):
                    client.send(server.recv())
            self.cuts += 1
            if code := next(self.codes, 4001):
                client.close(code, "cut")
            else:
                client.socket.shutdown(SHUT_RDWR)

    def _relay_commands(self, client: ServerConnection, server: ClientConnection) -> None:
        with suppress(ConnectionClosed, OSError):
            for message in client:
                self.commands += 1
                if self.commands % 3 == 0:
                    client.close(4001, "cut before the command was sent on")
                    break
                server.send(message)
        server.close()


@contextmanager
def cutting_relay(upstream: str, after: int, *codes: int) -> Iterator[CuttingRelay]:
    """A relay to the gateway at this address, until the end of the block."""
    relay = CuttingRelay(upstream, after, codes)
    with serve(relay.handle, "127.0.0.1", 0) as server:
        relay.url = "http://{}:{}".format(*server.socket.getsockname()[:2])
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield relay
        server.shutdown()
        thread.join()
