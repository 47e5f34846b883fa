"""Sends one request to an address that a stranger named, and reads the status of the answer, nothing more.

The host is resolved once, every address that it has must be allowed, and the connection is made to one of those: a
name that leads elsewhere a moment later gains nothing. No proxy is asked, no redirect is followed, and all of it,
an answer that drips included, has so many seconds and bytes.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cache
from ipaddress import ip_address, ip_network
from typing import Final

import h11

from schemas.errors import InvalidInputError, LedgerlineError
from services.runtime.webhook_urls import (
    Address,
    Network,
    WebhookPolicy,
    WebhookUrl,
    read_webhook_url,
    require_allowed_address,
)

SECONDS: Final = 10.0  # for a request and its answer
MAX_ANSWER_BYTES: Final = 16_384  # that are read of an answer
READ_BYTES: Final = 4_096
SLOW_S: Final = 60.0  # in which a network that gave no answer isn't asked
MAX_SLOW_NETWORKS: Final = 10_000
USER_AGENT: Final = "Ledgerline-Webhook/1"

Resolver = Callable[[str, int], Sequence[Address]]


class WebhookFailedError(LedgerlineError):
    """A webhook couldn't be notified. The text is for its owner: it says nothing of the server's own network."""


def resolve_host(host: str, port: int) -> list[Address]:
    """The addresses of a host. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ip_address(str(sockaddr[0])) for *_, sockaddr in found]


@cache
def default_tls() -> ssl.SSLContext:
    """Checks certificates by the system's authorities, and names."""
    return ssl.create_default_context()


class WebhookClient:
    """Sends requests to the addresses that the policy allows."""

    def __init__(
        self,
        policy: WebhookPolicy,
        resolve: Resolver = resolve_host,
        tls: Callable[[], ssl.SSLContext] = default_tls,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.policy, self._resolve, self._tls, self._seconds = policy, resolve, tls, seconds
        self._slow_networks = SlowNetworks(clock)

    def post(self, url: str, headers: Sequence[tuple[str, str]], body: bytes) -> int:
        """The status of the answer to a POST. Raises WebhookFailedError where there is none."""
        try:
            target = read_webhook_url(url, self.policy)  # the settings may be others than when it was set
        except InvalidInputError as error:
            raise WebhookFailedError(f"the address {error.reason}") from None
        deadline = Deadline(self._seconds)
        addresses = self._allowed_addresses(target)
        try:
            with closing(self._connect(target, addresses, deadline)) as connection:
                return _exchange(connection, target, headers, body, deadline)
        except TimeoutError:
            for address in addresses:
                self._slow_networks.add(address)
            raise WebhookFailedError(f"no answer within {self._seconds:g} s") from None
        except ssl.SSLCertVerificationError as error:
            raise WebhookFailedError(f"its certificate doesn't hold: {error.verify_message}") from None
        except OSError:
            raise WebhookFailedError("no connection") from None
        except h11.RemoteProtocolError:
            raise WebhookFailedError("its answer is no HTTP") from None

    def _connect(self, target: WebhookUrl, addresses: Sequence[Address], deadline: Deadline) -> socket.socket:
        """A connection to the first of these addresses that takes one. Raises OSError."""
        failure: OSError = OSError("no address")
        for address in addresses:
            try:
                connection = socket.create_connection((str(address), target.port), deadline.left_s())
            except OSError as error:
                failure = error
                continue
            if target.scheme == "http":
                return connection
            connection.settimeout(deadline.left_s())
            return self._tls().wrap_socket(connection, server_hostname=target.host)
        raise failure

    def _allowed_addresses(self, target: WebhookUrl) -> Sequence[Address]:
        """The addresses of the host, now. Raises WebhookFailedError."""
        try:
            addresses = self._resolve(target.host, target.port)
        except (OSError, UnicodeError):
            raise WebhookFailedError("its host has no address") from None
        for address in addresses:
            try:
                require_allowed_address(address, self.policy)
            except InvalidInputError:
                raise WebhookFailedError("its host isn't a public address") from None
            if address in self._slow_networks:
                raise WebhookFailedError("its network gave no answer a moment ago")
        return addresses


class SlowNetworks:
    """Contains an address for a while after it, or a neighbour of it, gave no answer in time: whoever has many webhooks
    that never answer holds up the others only so often."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until_s: dict[object, float] = {}

    def __contains__(self, address: Address) -> bool:
        return self._clock() < self._until_s.get(_network_of(address), 0.0)

    def add(self, address: Address) -> None:
        """Remember it for `SLOW_S`."""
        if len(self._until_s) >= MAX_SLOW_NETWORKS:
            self._until_s.clear()
        self._until_s[_network_of(address)] = self._clock() + SLOW_S


class Deadline:
    """When all must be done."""

    def __init__(self, seconds: float) -> None:
        self._ends_s = time.monotonic() + seconds

    def left_s(self) -> float:
        """The seconds that are left. Raises TimeoutError: none are."""
        left_s = self._ends_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        return left_s


def _network_of(address: Address) -> Network:
    """The network that one owner of such an address has at least."""
    return ip_network(f"{address}/{24 if address.version == 4 else 64}", strict=False)


def _exchange(
    connection: socket.socket,
    target: WebhookUrl,
    headers: Sequence[tuple[str, str]],
    body: bytes,
    deadline: Deadline,
) -> int:
    """Send the request, and return the answer's status. Raises OSError, RemoteProtocolError or WebhookFailedError."""
    protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_ANSWER_BYTES)
    fixed = [("Host", target.authority), ("User-Agent", USER_AGENT), ("Connection", "close")]
    length = ("Content-Length", str(len(body)))
    request = h11.Request(method="POST", target=target.target, headers=[*fixed, *headers, length])
    parts = [protocol.send(event) for event in (request, h11.Data(body), h11.EndOfMessage())]
    connection.settimeout(deadline.left_s())
    connection.sendall(b"".join(part for part in parts if part))
    received = 0
    while received <= MAX_ANSWER_BYTES:
        event = protocol.next_event()
        if isinstance(event, h11.Response):
            return event.status_code
        if event is h11.NEED_DATA:
            connection.settimeout(deadline.left_s())
            data = connection.recv(READ_BYTES)
            received += len(data)
            protocol.receive_data(data)
        elif not isinstance(event, h11.InformationalResponse):
            break
    raise WebhookFailedError("its answer has no end")
