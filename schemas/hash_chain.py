"""The chain over a game's entries, and what each entry says of its hidden parts (docs/proof.md).

Every entry's public bytes hold commitments to what they hide; the head after entry n is made of
n, the head before it, and those bytes. So whoever follows a view has the same head as everybody
else who follows that game, and whoever holds a hidden part can see that it belongs there.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

COMMITMENT_BYTES: Final = 16
HEAD_BYTES: Final = 32


def initial_head(game: str) -> bytes:
    """The head of a game's empty log."""
    return sha256(b"ledgerline/chain/1" + game.encode()).digest()


def next_head(previous_head: bytes, sequence: int, public: bytes) -> bytes:
    """The head after entry `number`, whose public bytes these are, from the head before it."""
    leaf = sha256(b"ledgerline/leaf/1" + public).digest()
    return sha256(b"ledgerline/head/1" + sequence.to_bytes(8, "big") + previous_head + leaf).digest()


def derive_salt_key(seed: str, game: str) -> bytes:
    """What the salts of a game's secrets are made of; it tells nothing of the seed, nor of another game
    that has the same one."""
    return sha256(b"ledgerline/vault/1" + bytes.fromhex(seed) + game.encode()).digest()


def derive_salt(source: bytes, sequence: int, game: str) -> bytes:
    """The salt of what one source hides in one entry: a seat's luck its own part, the vault the rest."""
    preimage = b"ledgerline/salt/1" + source + sequence.to_bytes(8, "big") + game.encode()
    return sha256(preimage).digest()[:COMMITMENT_BYTES]


def private_part_commitment(salt: bytes, private_part: bytes) -> bytes:
    """What an entry's public bytes say of one seat's own part."""
    return sha256(b"ledgerline/part/1" + salt + private_part).digest()[:COMMITMENT_BYTES]


def secret_commitment(salt: bytes, secret: bytes) -> bytes:
    """What they say of the command, who sent it, and what nobody may know yet."""
    return sha256(b"ledgerline/secret/1" + salt + secret).digest()[:COMMITMENT_BYTES]
