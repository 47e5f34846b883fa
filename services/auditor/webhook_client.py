"""Sends one request to an address that a stranger named, and reads the status of the answer, nothing more.

The host is resolved once, every address that it has must be allowed, and the connection is made to one of those: a
name that leads elsewhere a moment later gains nothing. No proxy is asked, no redirect is followed, and all of it,
an answer that drips included, has so many seconds and bytes.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from ipaddress import ip_address, ip_network
from threading import Lock
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
SLOW_S: Final = 60.0  # in which a receiver that gave no answer isn't asked
BUSY_S: Final = 2.0  # until an address to which enough is being sent is asked for
ADDRESS_REQUESTS: Final = 2  # at once; of the auditor's eight
NETWORK_REQUESTS: Final = 4  # at once; whoever has a network has many addresses
MAX_SLOW_RECEIVERS: Final = 10_000
NOT_CONNECTED: Final = (
    "no connection to a public address of its host"  # whatever the reason, to tell nothing inside
)
USER_AGENT: Final = "Ledgerline-Webhook/1"

Resolver = Callable[[str, int], Sequence[Address]]
Request = tuple[Sequence[tuple[str, str]], bytes]  # headers and body


class WebhookFailedError(LedgerlineError):
    """A webhook couldn't be notified. The text is for its owner: it says nothing of the server's own network."""


class ReceiverBusyError(LedgerlineError):
    """Nothing was sent, as the receiver was slow lately or enough is being sent to its address: no failed try."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"it is asked again in {wait_s:.0f} s")
        self.wait_s = wait_s


class _NotConnectedError(LedgerlineError):
    """An address takes no connection, so the next one is tried."""


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
        self.turns = Turns(clock)

    def post(self, url: str, headers: Sequence[tuple[str, str]], body: bytes) -> int:
        """The status of the answer to a POST. Raises WebhookFailedError where there is none, and ReceiverBusyError
        where nothing is sent now."""
        try:
            target = read_webhook_url(url, self.policy)  # the settings may be others than when it was set
        except InvalidInputError as error:
            raise WebhookFailedError(f"the address {error.reason}") from None
        deadline = Deadline(self._seconds)
        addresses = self._allowed_addresses(target)
        try:
            return self._ask_first(target, addresses, (headers, body), deadline)
        except TimeoutError:
            raise WebhookFailedError(f"no answer within {self._seconds:g} s") from None
        except ssl.SSLCertVerificationError as error:
            raise WebhookFailedError(f"its certificate doesn't hold: {error.verify_message}") from None
        except OSError:
            raise WebhookFailedError(NOT_CONNECTED) from None
        except h11.RemoteProtocolError:
            raise WebhookFailedError("its answer is no HTTP") from None

    def _ask_first(
        self, target: WebhookUrl, addresses: Sequence[Address], request: Request, deadline: Deadline
    ) -> int:
        """The status of the first of these addresses that has a turn and takes a connection. Raises OSError,
        RemoteProtocolError, WebhookFailedError or ReceiverBusyError."""
        why_not: LedgerlineError = WebhookFailedError(NOT_CONNECTED)
        for address in addresses:
            try:
                with (
                    self.turns.take(target.host, address),
                    self._connect(target, address, deadline) as connection,
                ):
                    return _exchange(connection, target, request, deadline)
            except _NotConnectedError:
                continue
            except ReceiverBusyError as error:
                why_not = error
        raise why_not

    def _connect(self, target: WebhookUrl, address: Address, deadline: Deadline) -> socket.socket:
        """A connection to this address of the host. Raises _NotConnectedError: it takes none; or OSError."""
        try:
            connection = socket.create_connection((str(address), target.port), deadline.left_s())
        except TimeoutError:
            raise
        except OSError:
            raise _NotConnectedError from None
        if target.scheme == "http":
            return connection
        with ExitStack() as unless_secured:
            unless_secured.enter_context(connection)
            connection.settimeout(deadline.left_s())
            secured = self._tls().wrap_socket(connection, server_hostname=target.host)
            unless_secured.pop_all()
        return secured

    def _allowed_addresses(self, target: WebhookUrl) -> Sequence[Address]:
        """The addresses of the host, now. Raises WebhookFailedError."""
        try:
            addresses = self._resolve(target.host, target.port)
        except (OSError, UnicodeError):
            raise WebhookFailedError(NOT_CONNECTED) from None
        for address in addresses:
            try:
                require_allowed_address(address, self.policy)
            except InvalidInputError:
                raise WebhookFailedError(NOT_CONNECTED) from None
        return addresses


class Turns:
    """Says who is asked now: a receiver, which is a host at an address, that gave no answer in time is left alone for a
    while, and an address and its network get so many requests at once. Strangers who never answer hold up only
    themselves, and delay their neighbours a little."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = Lock()
        self._slow_until_s: dict[tuple[str, Address], float] = {}
        self._running: Counter[Address | Network] = Counter()

    @contextmanager
    def take(self, host: str, address: Address) -> Iterator[None]:
        """Send something to this receiver during the block. Raises ReceiverBusyError instead, if it must wait."""
        network = ip_network(f"{address}/{24 if address.version == 4 else 64}", strict=False)
        with self._lock:
            slow_s = self._slow_until_s.get((host, address), 0.0) - self._clock()
            if slow_s > 0:
                raise ReceiverBusyError(slow_s)
            if self._running[address] >= ADDRESS_REQUESTS or self._running[network] >= NETWORK_REQUESTS:
                raise ReceiverBusyError(BUSY_S)
            self._running.update((address, network))
        try:
            yield
        except TimeoutError:
            with self._lock:
                if len(self._slow_until_s) >= MAX_SLOW_RECEIVERS:
                    self._slow_until_s.clear()
                self._slow_until_s[host, address] = self._clock() + SLOW_S
            raise
        finally:
            with self._lock:
                self._running -= Counter((address, network))


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


def _exchange(
    connection: socket.socket,
    target: WebhookUrl,
    request: Request,
    deadline: Deadline,
) -> int:
    """Send the request, and return the answer's status. Raises OSError, RemoteProtocolError or WebhookFailedError."""
    headers, body = request
    protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_ANSWER_BYTES)
    fixed = [("Host", target.authority), ("User-Agent", USER_AGENT), ("Connection", "close")]
    length = ("Content-Length", str(len(body)))
    begin = h11.Request(method="POST", target=target.target, headers=[*fixed, *headers, length])
    parts = [protocol.send(event) for event in (begin, h11.Data(body), h11.EndOfMessage())]
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
