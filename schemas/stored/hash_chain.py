"""The hash chain over a game's entries, and the commitments to their hidden parts (docs/reference/proof.md).

Every entry's public bytes hold commitments to what they hide; the head after entry n is a hash of n,
the head before it, and those bytes. So all viewers of a game have the same head, and the holder of a
hidden part can check that it belongs to its entry.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Final

COMMITMENT_BYTES: Final = 16


def _labelled_hash(label: bytes) -> Callable[[bytes], bytes]:
    """SHA-256 of the label and what follows it. Each goes on from a copy, which costs two thirds of beginning one."""
    begun = sha256(label)

    def digest(content: bytes) -> bytes:
        hashed = begun.copy()
        hashed.update(content)
        return hashed.digest()

    return digest


_hash_leaf: Final = _labelled_hash(b"ledgerline/leaf/1")
_hash_head: Final = _labelled_hash(b"ledgerline/head/1")
_hash_salt: Final = _labelled_hash(b"ledgerline/salt/1")
_hash_part: Final = _labelled_hash(b"ledgerline/part/1")
_hash_secret: Final = _labelled_hash(b"ledgerline/secret/1")


def initial_head(game: str) -> bytes:
    """The head of a game's empty log (32 bytes)."""
    return sha256(b"ledgerline/chain/1" + game.encode()).digest()


def next_head(previous_head: bytes, sequence: int, public: bytes) -> bytes:
    """The head after entry `sequence` with these public bytes, from the head before it (32 bytes)."""
    return _hash_head(sequence.to_bytes(8, "big") + previous_head + _hash_leaf(public))


def derive_salt_key(seed: str, game: str) -> bytes:
    """The key that the salts of a game's secrets are derived from (32 bytes). It discloses neither the seed
    (64 hex digits) nor another game with the same one."""
    return sha256(b"ledgerline/vault/1" + bytes.fromhex(seed) + game.encode()).digest()


def derive_salt(source: bytes, sequence: int, game: str) -> bytes:
    """The salt of one hidden part of an entry (16 bytes). `source` is a seat's secret for its private part,
    and the game's salt key for what nobody may know yet."""
    return _hash_salt(source + sequence.to_bytes(8, "big") + game.encode())[:COMMITMENT_BYTES]


def private_part_commitment(salt: bytes, private_part: bytes) -> bytes:
    """The commitment of an entry's public bytes to one seat's private part (16 bytes)."""
    return _hash_part(salt + private_part)[:COMMITMENT_BYTES]


def secret_commitment(salt: bytes, secret: bytes) -> bytes:
    """Their commitment to the command, its sender, and what nobody may know yet (16 bytes)."""
    return _hash_secret(salt + secret)[:COMMITMENT_BYTES]
