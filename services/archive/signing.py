"""The server's signature (Ed25519) on the last head of a finished game."""

from __future__ import annotations

from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from schemas.errors import InvalidInputError

SIGNING_KEY_VARIABLE: Final = "LEDGERLINE_SIGNING_KEY"
SECRET_BYTES: Final = 32


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
