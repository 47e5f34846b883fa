"""Seat tokens: a signed statement that the bearer holds a seat of a game (or is its host).

A token needs no storage, so no crash can leave a seat taken and its token lost: a repeated request
to join, under the same command id, returns the same token. The holder of the key can make any
token; only the servers have it.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from typing import Final, NamedTuple

from schemas.field_types import Seat

HOST: Final = "host"
_PREFIX: Final = "ll1"


class Holder(NamedTuple):
    """The holder of a token: a seat, or the host of the game (None)."""

    game: str
    seat: Seat | None


def mint(key: bytes, game: str, seat: Seat | None) -> str:
    """The token of a seat, or of the host (None)."""
    claim = f"{game}/{HOST if seat is None else seat}"
    return f"{_PREFIX}.{_encode_base64(claim.encode())}.{_encode_base64(_signature(key, claim))}"


def verify(key: bytes, token: str) -> Holder | None:
    """The holder that the token names, or None if it wasn't made with this key."""
    try:
        prefix, body, signature = token.split(".")
        claim = _decode_base64(body).decode()
        expected = _encode_base64(_signature(key, claim)).encode()  # as text: base64 reads other texts alike
        if prefix != _PREFIX or not hmac.compare_digest(signature.encode(), expected):
            return None
        game, holder = claim.split("/")
        return Holder(game, None if holder == HOST else int(holder))
    except (ValueError, UnicodeError):
        return None


def _signature(key: bytes, claim: str) -> bytes:
    return hmac.new(key, b"ledgerline/token/1" + claim.encode(), sha256).digest()[:24]


def _encode_base64(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")


def _decode_base64(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
