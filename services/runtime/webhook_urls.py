"""Which addresses webhooks may have: a stranger names them, and the server asks them.

So a webhook must lead out of the server's own network, whatever its URL looks like: what counts is the number that its
host is resolved to, and the connection is made to the very number that was checked. Pure.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

from schemas.errors import InvalidInputError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
WebhookMode = Literal["off", "https", "http"]

DEFAULT_PORTS: Final = {"https": 443, "http": 80}
FIRST_OPEN_PORT: Final = 1_024
# Of services that take a line of a request for a command: those of the Fetch standard ("bad ports"), Redis, memcached.
REFUSED_PORTS: Final = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6380, 6566, 6679, 6697, 10080, 11211}
    | set(range(6665, 6670))
)
GLOBAL_UNICAST: Final = ip_network("2000::/3")  # all of IPv6 that is routed on the internet
# What Python's `is_global` lets through, or did until lately.
NEVER: Final = tuple(
    map(
        ip_network,
        (
            "168.63.129.16/32",  # Azure's own services answer there
            "192.0.0.0/24",  # IETF protocols; Oracle's metadata
            "192.88.99.0/24",  # relays of 6to4
            "2001::/23",  # IETF protocols, Teredo
            "2002::/16",  # 6to4, which nobody carries any more
            "3fff::/20",  # documentation
        ),
    )
)
NAT64: Final = ip_network("64:ff9b::/96")
_HOST: Final = re.compile(
    r"(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.?"
)
_CHARACTERS: Final = re.compile(r"[!-~]+")


class WebhookPolicy(NamedTuple):
    """The addresses that the settings allow."""

    mode: WebhookMode = "https"  # none at all; https alone; http too
    networks: Sequence[Network] = ()  # that are allowed though they aren't public


class WebhookUrl(NamedTuple):
    """The parts of a webhook's URL."""

    scheme: str
    host: str
    port: int
    target: str  # path and query, as a request names them

    @property
    def authority(self) -> str:
        """Host and port as a request's Host header names them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


def read_webhook_url(text: str, policy: WebhookPolicy) -> WebhookUrl:
    """The parts of a URL that somebody names. Raises InvalidInputError: a webhook may not have it. A host's name is
    resolved only when something is sent."""
    schemes = ("https", "http") if policy.mode == "http" else ("https",)
    if not _CHARACTERS.fullmatch(text) or "\\" in text:
        raise _wrong("must be written in ASCII, without blanks (a host as xn--...)")
    try:
        parts = urlsplit(text)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError as error:
        raise _wrong(f"is no URL: {error}") from None
    if parts.scheme not in schemes or not parts.netloc:
        raise _wrong(f"must begin with {' or '.join(f'{scheme}://' for scheme in schemes)}")
    if "@" in parts.netloc:
        raise _wrong("must name no user and no password")
    if "#" in text:
        raise _wrong("must have no fragment")
    address = _literal_address(host)
    if address is None and ("[" in parts.netloc or not _HOST.fullmatch(host)):
        raise _wrong("must name a host")
    if address is not None:
        require_allowed_address(address, policy)
    port = DEFAULT_PORTS[parts.scheme] if port is None else port
    if port not in DEFAULT_PORTS.values() and (port < FIRST_OPEN_PORT or port in REFUSED_PORTS):
        raise _wrong(f"must name another port than {port}")
    return WebhookUrl(
        parts.scheme, host, port, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    )


def require_allowed_address(address: Address, policy: WebhookPolicy) -> None:
    """Raises InvalidInputError where nothing may be sent to this address."""
    inner = _inner_address(address)
    if any(each in network for each in (address, inner) for network in policy.networks):
        return
    if not _is_public(inner):
        raise _wrong(f"leads to {address}, which is no public address")


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and address not in GLOBAL_UNICAST:
        return False
    if address.is_multicast or address.is_reserved or any(address in network for network in NEVER):
        return False
    return address.is_global


def _inner_address(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for; any other as it is."""
    if isinstance(address, IPv4Address):
        return address
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address


def _literal_address(host: str) -> Address | None:
    """The address that a host is written as, also in the old forms that resolvers take (127.1, 0x7f000001)."""
    try:
        return ip_address(host)
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


def _wrong(reason: str) -> InvalidInputError:
    return InvalidInputError("url", reason)
