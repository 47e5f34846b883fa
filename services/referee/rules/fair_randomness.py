"""Where chance comes from: a seed that the house committed to, and a contribution of every seat.

docs/proof.md tells it byte by byte. What differs between the editions of the rules is a `Dealing`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Final

from schemas.codec import pack
from schemas.events import Contributor, GameCreated, SeedRevealed
from schemas.field_types import Seat
from schemas.hash_chain import vault_of
from schemas.rule_options import PARAMETERS
from services.referee.rules.ruleset import Dealing, Facts
from services.referee.rules.shuffle import luck_of, shuffled
from services.referee.rules.table import Table

LEAF_BYTES: Final = 16
NOTHING: Final = "00" * 32  # the contribution of a player who makes none
NODE: Final = b"ledgerline/node/1"
SALT: Final = b"ledgerline/card-salt/1"
LEAF: Final = b"ledgerline/card/1"

# -- the game's key ------------------------------------------------------------------------


def contribution_of(seed: str, seat: Seat) -> str:
    """What the house says for a seat: it follows from the seed, and tells nothing of it."""
    return sha256(b"ledgerline/contribution/1" + bytes.fromhex(seed) + bytes([seat])).hexdigest()


def key_of(table: Table) -> str:
    """What every shuffle of the game follows from: the seed, the rules, what every seat gave, and the
    game itself, unless its seed was named: then every game of that seed is dealt alike, as a tournament
    needs it."""
    assert table.seed is not None, "only who has the seed can make the key"
    told = sha256(b"ledgerline/key/1" + bytes.fromhex(table.seed) + bytes.fromhex(table.terms))
    for place in table.places:
        told.update(bytes.fromhex(place.contribution or NOTHING))
    if not table.given:
        told.update(table.game.encode())
    return told.hexdigest()


def terms_of(event: GameCreated) -> str:
    """What game it is, whoever plays it and whenever: its rules, resolved, in a digest."""
    figures = PARAMETERS.write(event.parameters)
    told = (event.ruleset, event.rules, event.board, event.board_digest, figures, len(event.seats))
    return sha256(b"ledgerline/rules/1" + pack(told)).hexdigest()


# -- what cards are committed to by ------------------------------------------------------------


def card_salt(vault: bytes, epoch: int, position: int) -> bytes:
    place = epoch.to_bytes(8, "big") + position.to_bytes(8, "big")
    return sha256(SALT + vault + place).digest()[:LEAF_BYTES]


def card_leaf(salt: bytes, name: str) -> bytes:
    """What is told of a card that lies face down."""
    return sha256(LEAF + salt + name.encode()).digest()[:LEAF_BYTES]


@lru_cache(maxsize=64)  # asked for when they are shuffled, and again when the entry is sealed
def card_leaves(vault: bytes, epoch: int, names: Sequence[str]) -> bytes:
    """The leaves of cards that lie one under the other, from the top. What `card_salt` and `card_leaf` say,
    written out: a game's shuffles have some 300 of them, and each call costs as much as a hash."""
    place, spelled = SALT + vault + epoch.to_bytes(8, "big"), {name: name.encode() for name in names}
    leaves = []
    for at, name in enumerate(names):
        salt = sha256(place + at.to_bytes(8, "big")).digest()[:LEAF_BYTES]
        leaves.append(sha256(LEAF + salt + spelled[name]).digest()[:LEAF_BYTES])
    return b"".join(leaves)


def merkle_root(leaves: bytes) -> bytes:
    """The root over leaves of LEAF_BYTES each; a last one without a neighbour goes up as it is."""
    row = [leaves[at : at + LEAF_BYTES] for at in range(0, len(leaves), LEAF_BYTES)]
    if len(row) < 2:
        return sha256(NODE + leaves).digest()
    while len(row) > 1:
        alone = row[-1:] if len(row) % 2 else []
        row = [sha256(NODE + row[at] + row[at + 1]).digest() for at in range(0, len(row) - 1, 2)] + alone
    return row[0]


# -- as it is today ----------------------------------------------------------------------------


def order_by_key(table: Table, row: Sequence[str]) -> tuple[str, ...]:
    return shuffled(row, table.key, table.epoch)


def root_of(table: Table, order: Sequence[str]) -> str:
    assert table.seed is not None, "only the referee shuffles"
    return merkle_root(card_leaves(vault_of(table.seed, table.game), table.epoch, tuple(order))).hex()


def everybodys_luck(seed: str, game: str, seat: Seat, policy: str | None) -> str:
    """A bot plays alike in every game of a named seed; what a person is told in one is worth nothing in
    another."""
    return luck_of(seed, seat) if policy else luck_of(seed, seat, game)


def whose(
    seed: str, given: bool, seat: Seat, policy: str | None, offered: str | None
) -> tuple[str, Contributor]:
    """A seat's contribution, and who made it."""
    if given:
        return contribution_of(seed, seat), "seed"
    if policy is not None:
        return contribution_of(seed, seat), "house"
    return (NOTHING, "nobody") if offered is None else (offered, "seat")


def reveal(table: Table) -> Facts:
    assert table.seed is not None, "only the referee ends games"
    yield SeedRevealed(table.seed)


BY_KEY: Final = Dealing(order_by_key, root_of, everybodys_luck, whose, reveal, sealed=True)

# -- as it was before version 3 of the rules -----------------------------------------------------


def order_by_seed(table: Table, row: Sequence[str]) -> tuple[str, ...]:
    assert table.seed is not None, "only the referee shuffles"
    return shuffled(row, table.seed, table.epoch)


def no_root(table: Table, order: Sequence[str]) -> None:
    return None


def bots_luck(seed: str, game: str, seat: Seat, policy: str | None) -> str | None:
    return luck_of(seed, seat) if policy else None


def nobodys(seed: str, given: bool, seat: Seat, policy: str | None, offered: str | None) -> tuple[None, None]:
    return None, None


def say_nothing(table: Table) -> Facts:
    yield from ()


BY_SEED: Final = Dealing(order_by_seed, no_root, bots_luck, nobodys, say_nothing, sealed=False)
