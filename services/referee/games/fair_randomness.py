"""Fair randomness: shuffles follow from a seed that the server committed to and a contribution of every seat.

docs/reference/proof.md specifies it byte by byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from typing import Final

from schemas.events import Contributor, GameCreated
from schemas.field_types import Seat
from schemas.stored.hash_chain import derive_salt_key
from schemas.stored.rows import pack
from services.referee.games.shuffle import derive_seat_secret, shuffled
from services.referee.games.state import GameState, RandomnessPolicy, Ruleset

LEAF_BYTES: Final = 16
NO_CONTRIBUTION: Final = "00" * 32  # stands for the contribution of a player who makes none
NODE_LABEL: Final = b"ledgerline/node/1"
SALT_LABEL: Final = b"ledgerline/card-salt/1"
LEAF_LABEL: Final = b"ledgerline/card/1"
_BEGUN_NODE: Final = sha256(NODE_LABEL)  # never updated: each hash goes on from a copy
_BEGUN_LEAF: Final = sha256(LEAF_LABEL)
_BEGUN_SALT: Final = sha256(SALT_LABEL)

# -- the game's key ------------------------------------------------------------------------


def derive_contribution(seed: str, seat: Seat) -> str:
    """The server's contribution for a seat (64 hex digits); it follows from the seed, but reveals nothing of it."""
    return sha256(b"ledgerline/contribution/1" + bytes.fromhex(seed) + bytes([seat])).hexdigest()


def derive_shuffle_key(state: GameState) -> str:
    """The key (64 hex digits) of all shuffles of the game: a hash of the seed, the rules, every seat's
    contribution, and the game's id. The id is left out where the seed was named, so that all games of
    that seed are dealt alike, as a tournament needs it. The state must have the seed."""
    assert state.seed is not None, "only who has the seed can make the key"
    digest = sha256(b"ledgerline/key/1" + bytes.fromhex(state.seed) + bytes.fromhex(state.setup_digest))
    for seat_state in state.seats:
        digest.update(bytes.fromhex(seat_state.contribution or NO_CONTRIBUTION))
    if not state.seed_was_named:
        digest.update(state.game.encode())
    return digest.hexdigest()


def compute_setup_digest(event: GameCreated) -> str:
    """A digest (64 hex digits) of the resolved rules: equal for equal games, independent of players and time."""
    board = event.board, event.board_digest
    setup = (event.ruleset, event.rules, *board, event.parameters, len(event.seats))
    return sha256(b"ledgerline/rules/1" + pack(setup)).hexdigest()


# -- commitments to cards --------------------------------------------------------------------


def card_salt(salt_key: bytes, epoch: int, position: int) -> bytes:
    """The salt (LEAF_BYTES bytes) of the card at this position of an epoch's order."""
    salt = _BEGUN_SALT.copy()
    salt.update(salt_key + epoch.to_bytes(8, "big") + position.to_bytes(8, "big"))
    return salt.digest()[:LEAF_BYTES]


def card_leaf(salt: bytes, name: str) -> bytes:
    """The commitment to a face-down card: LEAF_BYTES bytes."""
    leaf = _BEGUN_LEAF.copy()
    leaf.update(salt + name.encode())
    return leaf.digest()[:LEAF_BYTES]


@lru_cache(maxsize=64)  # needed at the shuffle, and again when the entry is sealed
def card_leaves(salt_key: bytes, epoch: int, names: Sequence[str]) -> bytes:
    """The leaves of a pile's cards from the top, joined. Equals `card_salt` and `card_leaf`, inlined:
    a game's shuffles have some 300 leaves, and a call costs as much as a hash. To copy a hash that has begun
    costs less than to begin one."""
    begun_salt = sha256(SALT_LABEL + salt_key + epoch.to_bytes(8, "big"))
    encoded_names = {name: name.encode() for name in names}
    leaves = []
    for position, name in enumerate(names):
        salt, leaf = begun_salt.copy(), _BEGUN_LEAF.copy()
        salt.update(position.to_bytes(8, "big"))
        leaf.update(salt.digest()[:LEAF_BYTES] + encoded_names[name])
        leaves.append(leaf.digest()[:LEAF_BYTES])
    return b"".join(leaves)


def merkle_root(leaves: bytes) -> bytes:
    """The Merkle root (32 bytes) over leaves of LEAF_BYTES each; an unpaired last node moves up unchanged."""
    nodes = [leaves[offset : offset + LEAF_BYTES] for offset in range(0, len(leaves), LEAF_BYTES)]
    if len(nodes) < 2:
        return sha256(NODE_LABEL + leaves).digest()
    while len(nodes) > 1:
        parents, unpaired = [], nodes[-1:] if len(nodes) % 2 else []
        for offset in range(0, len(nodes) - 1, 2):
            node = _BEGUN_NODE.copy()
            node.update(nodes[offset] + nodes[offset + 1])
            parents.append(node.digest())
        nodes = parents + unpaired
    return nodes[0]


# -- shuffles, secrets, contributions ---------------------------------------------------------


def shuffle_with_key(state: GameState, items: Sequence[str]) -> tuple[str, ...]:
    """The items, shuffled by the game's key in the current epoch."""
    return shuffled(items, state.shuffle_key, state.epoch)


def compute_order_root(state: GameState, order: Sequence[str]) -> str:
    """The Merkle root (64 hex digits) over the leaves of this order. The state must have the seed."""
    assert state.seed is not None, "only the referee shuffles"
    return merkle_root(card_leaves(derive_salt_key(state.seed, state.game), state.epoch, tuple(order))).hex()


def derive_any_seat_secret(seed: str, game: str, seat: Seat, policy: str | None, times_freed: int) -> str:
    """The seat's secret. A bot's is the same in every game of a named seed, so that it plays alike; a
    person's depends on the game, so that knowing it helps in no other game. Both depend on how often the seat
    was freed, so that who sat there before doesn't know it."""
    return derive_seat_secret(seed, seat, "" if policy else game, times_freed)


def contribution_origin(
    seed: str, seed_was_named: bool, seat: Seat, policy: str | None, offered: str | None
) -> tuple[str, Contributor]:
    """A seat's contribution (64 hex digits) and who made it."""
    if seed_was_named:
        return derive_contribution(seed, seat), "seed"
    if policy is not None:
        return derive_contribution(seed, seat), "server"
    return (NO_CONTRIBUTION, "nobody") if offered is None else (offered, "seat")


def no_order_root(state: GameState, order: Sequence[str]) -> str:
    """An empty root, of an order that nobody checks."""
    return ""


@lru_cache(maxsize=256)
def without_commitments(ruleset: Ruleset) -> Ruleset:
    """The ruleset without commitments to the orders of piles, for games that are tried or learned from; its shuffles stay."""
    return replace(ruleset, randomness=ruleset.randomness._replace(order_root=no_order_root))


SHARED_RANDOMNESS: Final = RandomnessPolicy(shuffle_with_key, compute_order_root)
