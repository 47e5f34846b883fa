"""A whole game, played on a ledger in memory, and the key that signs it."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any, NamedTuple

import fakeredis

from services.archive import Signer, trusted_keys
from services.ledger import RedisLedger
from services.referee.games import fold
from services.referee.worker import Referee
from tests.conftest import PARTITIONS
from tests.referee.running_referee import GAME, Players, opening_commands, referee_at, submit

SIGNING_KEY = "7f" * 32
SIGNER = Signer(SIGNING_KEY)
TRUSTED = trusted_keys("", SIGNER)


class Played(NamedTuple):
    """A game that is over: its log, and the head after each entry."""

    game: str
    log: list[bytes]
    heads: list[bytes]


def play_out(ledger: RedisLedger, referee: Referee, game: str = GAME) -> None:
    """A short game of two bots, from its creation to its end."""
    submit(ledger, opening_commands(game, cars=5))
    players = Players(ledger, Random(3))
    while referee.step(0) + players.step():
        pass
    assert fold(ledger.read_entries(game)).result


@cache
def played() -> Played:
    client: Any = fakeredis.FakeRedis()
    ledger = RedisLedger(client, PARTITIONS)
    play_out(ledger, referee_at(ledger))
    heads = [entry.shown.head for entry in ledger.read_view(GAME, None)]
    log = ledger.read_entries(GAME)
    client.close()
    return Played(GAME, log, heads)
