"""The server's signature (Ed25519) on the last head of a finished game, and whose signature is believed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from schemas.errors import InvalidInputError

SIGNING_KEY_VARIABLE: Final = "LEDGERLINE_SIGNING_KEY"
SECRET_BYTES: Final = 32
PUBLIC_KEYS_VARIABLE: Final = "LEDGERLINE_PUBLIC_KEYS"
PUBLIC_KEY_HEX: Final = r"[0-9a-fA-F]{64}"
_KEY_PATTERN: Final = re.compile(rf"({PUBLIC_KEY_HEX})(?:@(\d{{4}}-\d\d-\d\d)?\.\.(\d{{4}}-\d\d-\d\d)?)?")
_FORM: Final = "64 hex digits, or these with @2026-01-01..2026-12-31, where either day may be left out"


class Signer:
    """Signs with the server's key; `public_key` is 32 bytes. Raises InvalidInputError: the secret isn't
    64 hex digits."""

    def __init__(self, secret: str) -> None:
        try:
            key_bytes = bytes.fromhex(secret)
        except ValueError:
            key_bytes = b""
        if len(key_bytes) != SECRET_BYTES:
            raise InvalidInputError(SIGNING_KEY_VARIABLE, "must be 64 hex digits: openssl rand -hex 32")
        self._private_key = Ed25519PrivateKey.from_private_bytes(key_bytes)
        self.public_key = self._private_key.public_key().public_bytes_raw()

    def sign(self, message: bytes) -> bytes:
        """The signature, 64 bytes; Ed25519 is deterministic."""
        return self._private_key.sign(message)


def is_signed(message: bytes, signature: bytes, public_key: bytes) -> bool:
    """Whether this is a signature of the message by the owner of the key."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


class TrustedKey(NamedTuple):
    """A public key (32 bytes), and when the games were created that it may have signed: milliseconds since
    1970, from the first and before the second; None is without a bound."""

    public_key: bytes
    since_ms: int | None = None
    before_ms: int | None = None

    def may_sign(self, key: bytes, created_ms: int) -> bool:
        """Whether this is the key, and a game that was created then is one of its time."""
        return (
            key == self.public_key
            and (self.since_ms is None or created_ms >= self.since_ms)
            and (self.before_ms is None or created_ms < self.before_ms)
        )


class TrustedKeys:
    """The keys of the service. A file that is signed with another is somebody else's."""

    def __init__(self, keys: Iterable[TrustedKey]) -> None:
        self.keys: Sequence[TrustedKey] = tuple(keys)

    def may_sign(self, key: bytes, created_ms: int) -> bool:
        """Whether one of them is this key, and of that time."""
        return any(trusted.may_sign(key, created_ms) for trusted in self.keys)


def trusted_keys(setting: str, signer: Signer | None) -> TrustedKeys:
    """The keys that the setting names, and that of the service's own signer, where it has one.

    Raises InvalidInputError, naming the key that can't be read."""
    named = [_parse(word) for word in setting.replace(",", " ").split()]
    own = [] if signer is None else [TrustedKey(signer.public_key)]
    return TrustedKeys([*named, *(key for key in own if all(key.public_key != other[0] for other in named))])


def _parse(word: str) -> TrustedKey:
    match = _KEY_PATTERN.fullmatch(word)
    if match is None:
        raise InvalidInputError(PUBLIC_KEYS_VARIABLE, f"{word[:100]!r} isn't {_FORM}")
    return TrustedKey(
        bytes.fromhex(match[1]),
        None if match[2] is None else _day_ms(match[2]),
        None if match[3] is None else _day_ms(match[3]) + int(timedelta(days=1) / timedelta(milliseconds=1)),
    )


def _day_ms(text: str) -> int:
    """The begin of a day in UTC. Raises InvalidInputError: there is no such day."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise InvalidInputError(PUBLIC_KEYS_VARIABLE, f"there is no day {text}") from None
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)
