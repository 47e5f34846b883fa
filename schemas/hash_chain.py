"""The hash chain over a game's entries, and the commitments to their hidden parts (docs/proof.md).

Every entry's public bytes hold commitments to what they hide; the head after entry n is a hash of n,
the head before it, and those bytes. So all viewers of a game have the same head, and the holder of a
hidden part can check that it belongs to its entry.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

COMMITMENT_BYTES: Final = 16
HEAD_BYTES: Final = 32
# Never updated: each hash goes on from a copy, which costs two thirds of beginning one.
_BEGUN_LEAF: Final = sha256(b"ledgerline/leaf/1")
_BEGUN_HEAD: Final = sha256(b"ledgerline/head/1")
_BEGUN_SALT: Final = sha256(b"ledgerline/salt/1")
_BEGUN_PART: Final = sha256(b"ledgerline/part/1")
_BEGUN_SECRET: Final = sha256(b"ledgerline/secret/1")


def initial_head(game: str) -> bytes:
    """The head of a game's empty log (32 bytes)."""
    return sha256(b"ledgerline/chain/1" + game.encode()).digest()


def next_head(previous_head: bytes, sequence: int, public: bytes) -> bytes:
    """The head after entry `sequence` with these public bytes, from the head before it (32 bytes)."""
    leaf, head = _BEGUN_LEAF.copy(), _BEGUN_HEAD.copy()
    leaf.update(public)
    head.update(sequence.to_bytes(8, "big") + previous_head + leaf.digest())
    return head.digest()


def derive_salt_key(seed: str, game: str) -> bytes:
    """The key that the salts of a game's secrets are derived from (32 bytes). It discloses neither the seed
    (64 hex digits) nor another game with the same one."""
    return sha256(b"ledgerline/vault/1" + bytes.fromhex(seed) + game.encode()).digest()


def derive_salt(source: bytes, sequence: int, game: str) -> bytes:
    """The salt of one hidden part of an entry (16 bytes). `source` is a seat's secret for its private part,
    and the game's salt key for what nobody may know yet."""
    salt = _BEGUN_SALT.copy()
    salt.update(source + sequence.to_bytes(8, "big") + game.encode())
    return salt.digest()[:COMMITMENT_BYTES]


def private_part_commitment(salt: bytes, private_part: bytes) -> bytes:
    """The commitment of an entry's public bytes to one seat's private part (16 bytes)."""
    commitment = _BEGUN_PART.copy()
    commitment.update(salt + private_part)
    return commitment.digest()[:COMMITMENT_BYTES]


def secret_commitment(salt: bytes, secret: bytes) -> bytes:
    """Their commitment to the command, its sender, and what nobody may know yet (16 bytes)."""
    commitment = _BEGUN_SECRET.copy()
    commitment.update(salt + secret)
    return commitment.digest()[:COMMITMENT_BYTES]
