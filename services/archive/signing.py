"""The house's signature (Ed25519): under it stands what a finished game's last head is."""

from __future__ import annotations

from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from schemas.errors import InvalidInputError

SIGNING_KEY_VARIABLE: Final = "LEDGERLINE_SIGNING_KEY"
SECRET_BYTES: Final = 32


class Signer:
    """Signs for the house. `key` is public. Raises Malformed: the secret isn't 64 hex digits."""

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
        """The signature; the same for the same words, always."""
        return self._private_key.sign(message)


def is_signed(message: bytes, signature: bytes, public_key: bytes) -> bool:
    """Whether who holds that key signed these words."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
