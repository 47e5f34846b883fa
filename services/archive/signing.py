"""The house's signature (Ed25519): under it stands what a finished game's last head is."""

from __future__ import annotations

from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from schemas.contract import Malformed

SETTING: Final = "LEDGERLINE_SIGNING_KEY"
SECRET_BYTES: Final = 32


class Signer:
    """Signs for the house. `key` is public. Raises Malformed: the secret isn't 64 hex digits."""

    def __init__(self, secret: str) -> None:
        try:
            told = bytes.fromhex(secret)
        except ValueError:
            told = b""
        if len(told) != SECRET_BYTES:
            raise Malformed(SETTING, "must be 64 hex digits: openssl rand -hex 32")
        self._private = Ed25519PrivateKey.from_private_bytes(told)
        self.key = self._private.public_key().public_bytes_raw()

    def sign(self, said: bytes) -> bytes:
        """The signature; the same for the same words, always."""
        return self._private.sign(said)


def is_signed(said: bytes, signature: bytes, key: bytes) -> bool:
    """Whether who holds that key signed these words."""
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, said)
    except (InvalidSignature, ValueError):
        return False
    return True
