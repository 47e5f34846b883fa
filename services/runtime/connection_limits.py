"""The server's limits on strangers: connections at once, sockets that are being opened, and what each of them may do."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, Final, NamedTuple, Protocol

from services.metrics import declared as metrics

OTHER_FILES: Final = 256  # that a gateway has open besides connections: the engine, logs, pages
IPV6_PREFIX: Final = 64  # bits: a network this large is one household, which may use any address in it
SOCKET_WAIT_S: Final = 5.0  # for its turn: clients leave after 9 s or 10 s, of which some go by elsewhere
REFUSED_A_TURN: Final = 8
OPENING_SHARE_S: Final = 0.008  # of the loop's time for each opening: two to four times what one costs
OPENED_A_TURN: Final = 50  # at most, however long the loop stood still: 0.1 s to 0.2 s of work


@dataclass(frozen=True)
class ServerLimits:
    """The patience of a gateway with its clients and its referees, the same in every installation."""

    burst_s: float = 4  # so many seconds' worth of its rate a sender may send at once
    header_s: float = 10  # until a request's header is there
    body_s: float = 30  # until its body is there
    unread_s: float = 30  # that a client may take in nothing of what it was sent
    unsent_bytes: int = 256 << 10  # that wait for a client that reads slowly
    answer_s: float = 5  # until a command without a verdict is answered `unknown`
    stall_s: float = 10  # until a partition is logged whose oldest command has no verdict


SERVER_LIMITS: Final = ServerLimits()


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits of one connection."""

    header_s: float = ServerLimits.header_s
    body_s: float = ServerLimits.body_s
    unsent_bytes: int = ServerLimits.unsent_bytes
    frames_a_second: float = 200  # of a WebSocket, of all kinds
    frames_at_once: int = 800


class RefusedConnection(NamedTuple):
    """Why there is no room for a connection: the HTTP status of the answer, and its title."""

    status: int
    title: str


class Asking(Protocol):
    """A client that asked for a socket, or for an answer."""

    loop: asyncio.AbstractEventLoop

    @property
    def peer(self) -> str:
        """Its address."""

    def begin(self) -> None:
        """Begin with it."""

    def refuse(self) -> None:
        """Tell the client to come back later."""


class Openings:
    """Sockets and answers that were asked for. In each turn of the loop one begins, and more after a long turn, so that a
    gateway with much to send begins as many a second as it can. A turn lasts as long as the work of all that were begun: those
    few are soon done, and open sockets keep their turns. Nothing is done for clients that have left meanwhile. After a restart
    most would have, had they waited for a gateway that does all at once, or lets them wait in the kernel, and it would work for
    nobody else: they come again. So who would wait for too long is refused, which costs a tenth of an opening. Addresses take
    turns: else a few that ask for a hundred each, again and again, would have everybody else refused."""

    def __init__(self) -> None:
        self._waiting = OrderedDict[str, OrderedDict[Asking, float]]()  # by address; since when
        self._has_turn = False
        self._last_turn_s = 0.0

    def ask(self, asked: Asking) -> None:
        """Begin with it in its turn, the next if none waits; or refuse it."""
        now_s = asked.loop.time()
        self._waiting.setdefault(network_of(asked.peer), OrderedDict())[asked] = now_s
        if not self._has_turn:
            self._has_turn, self._last_turn_s = True, now_s
            asked.loop.call_soon(self._take_turn, asked.loop)

    def leave(self, asked: Asking) -> None:
        """Begin with it no more, if it waits."""
        waiting = self._waiting.get(address := network_of(asked.peer), OrderedDict())
        if waiting.pop(asked, None) is not None and not waiting:
            del self._waiting[address]

    def _take_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        now_s = loop.time()
        left_to_open = min(max(1, int((now_s - self._last_turn_s) / OPENING_SHARE_S)), OPENED_A_TURN)
        left_to_refuse = REFUSED_A_TURN
        self._last_turn_s = now_s
        while left_to_open and left_to_refuse:
            if not self._waiting:
                self._has_turn = False
                return
            address, waiting = self._waiting.popitem(last=False)
            asked, since_s = waiting.popitem(last=False)
            if waiting:
                self._waiting[address] = waiting  # behind the others
            if now_s - since_s <= SOCKET_WAIT_S:
                left_to_open -= 1
                asked.begin()
            else:
                left_to_refuse -= 1
                metrics.LIMIT_HITS.add("openings")
                asked.refuse()
        loop.call_soon(self._take_turn, loop)


class OpenConnections:
    """Counts connections, by address and in total. Those of `proxies` count in total only: a proxy limits its own
    clients."""

    def __init__(
        self, most: int, most_per_address: int, proxies: Collection[IPv4Network | IPv6Network] = ()
    ) -> None:
        self.most, self.most_per_address, self.proxies = most, most_per_address, proxies
        self.total = 0
        self.by_address: Counter[str] = Counter()
        self.openings = Openings()

    def open(self, host: str) -> RefusedConnection | None:
        """Count a new connection. Where there are too many already: why, and it isn't counted."""
        address = network_of(host)
        if self.total >= self.most:
            metrics.LIMIT_HITS.add("connections")
            return RefusedConnection(503, f"The gateway has {self.most} connections: as many as it takes")
        if self.by_address[address] >= self.most_per_address and not self._is_proxy(host):
            metrics.LIMIT_HITS.add("connections")
            return RefusedConnection(
                429, f"Your address has {self.most_per_address} connections: as many as one may have"
            )
        self.total += 1
        self.by_address[address] += 1
        return None

    def close(self, host: str) -> None:
        """Count a connection no longer."""
        address = network_of(host)
        self.total -= 1
        self.by_address[address] -= 1
        if not self.by_address[address]:
            del self.by_address[address]

    def _is_proxy(self, host: str) -> bool:
        address = _parse_address(host) if self.proxies else None
        return address is not None and any(address in network for network in self.proxies)


UvicornArgument = Any  # of its protocols: a configuration, a state, a loop


class LimitedConnection:
    """A protocol beside one of uvicorn's: it has its limits, and the count that it is in."""

    client: tuple[str, int] | None  # as uvicorn sets it

    def __init__(
        self,
        *arguments: UvicornArgument,
        limits: ConnectionLimits,
        open_connections: OpenConnections,
        **named_arguments: UvicornArgument,
    ) -> None:
        super().__init__(*arguments, **named_arguments)
        self.limits, self.open_connections = limits, open_connections

    @property
    def peer(self) -> str:
        """The address at the other end; empty where there is none."""
        return self.client[0] if self.client else ""


def network_of(host: str) -> str:
    """The address that limits count: an IPv4 address, the network of an IPv6 address, or a client's other name."""
    address = _parse_address(host)
    if isinstance(address, IPv6Address):
        return str(IPv6Network((int(address), IPV6_PREFIX), strict=False))
    return host if address is None else str(address)


def _parse_address(host: str) -> IPv4Address | IPv6Address | None:
    """The address; an IPv4 address where IPv6 only carries one."""
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address
