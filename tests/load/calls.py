"""Requests over connections that stay open, at a tenth of what a whole HTTP client costs: the server has the same cores."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Mapping
from itertools import count
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

PATIENCE_S: Final = 180.0  # a killed engine may load its log meanwhile
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class RefusedError(Exception):
    """The server's final no to a request, in its own words."""


class Address(NamedTuple):
    """Where a gateway is, and from where it is called; on loopback each table has an address of its own, as players have:
    a server's limits count by address."""

    host: str
    port: int
    tls: ssl.SSLContext | None
    caller: tuple[str, int] | None = None

    @classmethod
    def of(cls, url: str) -> Address:
        """The address that an URL names."""
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        return cls(
            parts.hostname or "127.0.0.1",
            parts.port or (443 if secure else 80),
            ssl.create_default_context() if secure else None,
        )

    def called_by(self, number: int) -> Address:
        """The address as the caller of this number calls it."""
        if not self.host.startswith("127."):
            return self
        third, last = divmod(number, 250)
        return self._replace(caller=(f"127.{1 + third // 250}.{third % 250}.{1 + last}", 0))


class Calls:
    """Requests to one gateway, each repeated until there is an answer."""

    def __init__(self, address: Address, first_caller: int) -> None:
        self.address, self._callers = address, count(first_caller)
        self._idle: list[Connection] = []

    async def call(
        self, method: str, path: str, body: object = None, token: str = "", id_: str = ""
    ) -> dict[str, Any]:
        """The answer's body. Raises RefusedError for an answer of 400 to 499 that no patience changes."""
        end_s = asyncio.get_running_loop().time() + PATIENCE_S
        request = self._request(method, path, body, token, id_)
        pause_s = 0.05
        while True:
            problem: object = "no answer"
            try:
                status, answer = await self._once(request)
                if status < 300:
                    return answer
                problem = answer.get("detail") or answer
                if status < 500 and status not in (408, 425, 429):
                    raise RefusedError(f"{method} {path}: {status} {problem}")
            except (OSError, asyncio.IncompleteReadError, ValueError, TimeoutError):
                pass
            if asyncio.get_running_loop().time() > end_s:
                raise RefusedError(f"{method} {path}: for {PATIENCE_S:g} s: {problem}")
            await asyncio.sleep(pause_s)
            pause_s = min(2.0, 2 * pause_s)

    def close(self) -> None:
        for _, writer in self._idle:
            writer.close()

    def _request(self, method: str, path: str, body: object, token: str, id_: str) -> bytes:
        content = b"" if body is None else json.dumps(body).encode()
        fields: Mapping[str, str] = {
            "Host": f"{self.address.host}:{self.address.port}",
            "Content-Length": str(len(content)),
            "Content-Type": "application/json",
            "Authorization": f"Bearer {token}" if token else "",
            "Idempotency-Key": id_,
        }
        lines = [
            f"{method} {path} HTTP/1.1",
            *(f"{name}: {value}" for name, value in fields.items() if value),
        ]
        return "\r\n".join((*lines, "", "")).encode() + content

    async def _connect(self) -> Connection:
        address = self.address.called_by(next(self._callers))
        return await asyncio.open_connection(
            address.host, address.port, ssl=address.tls, local_addr=address.caller
        )

    async def _once(self, request: bytes) -> tuple[int, dict[str, Any]]:
        connection = self._idle.pop() if self._idle else await self._connect()
        reader, writer = connection
        try:
            async with asyncio.timeout(PATIENCE_S):
                writer.write(request)
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                size = int(head.partition("content-length:")[2].split("\r\n", 1)[0])
                content = await reader.readexactly(size)
        except BaseException:
            writer.close()
            raise
        if "connection: close" in head:
            writer.close()
        else:
            self._idle.append(connection)
        answer = json.loads(content or b"{}")
        return int(head.split(" ", 2)[1]), answer if isinstance(answer, dict) else {"detail": answer}
