"""A list of games is read to its end, page by page, whatever comes or goes meanwhile."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.engine.partitions import MistypedKeyLog
from services.ledger.engine.queries import run
from services.ledger.log.game_indexes import GameIds, GamePlace, list_games
from tests.conftest import PARTITIONS
from tests.ledger_contract.given import NOON, append_request


def add(client: Any, games: dict[str, int]) -> None:
    """Games that were created at these times, as append_entry.lua lists them."""
    for game, at_ms in games.items():
        client.zadd(keys.games(keys.partition_of(game, PARTITIONS)), {game: at_ms})


def page(client: Any, limit: int, after: GamePlace | None = None) -> GameIds:
    query = list_games(PARTITIONS, limit, MistypedKeyLog(), listed_only=True, after=after)
    return run(client, query)


def read_all(client: Any, limit: int) -> list[str]:
    found, after = list[str](), None
    for _ in count():
        games, _, after = page(client, limit, after)
        found += games
        assert len(games) == limit or after is None
        if after is None:
            return found
    raise AssertionError


def test_a_game_keeps_its_place_while_it_is_played(ledger: RedisLedger, client: Any) -> None:
    ledger.append([append_request(is_listed=True)])
    ledger.append([append_request(expected=1, id_="c2", is_listed=True)])
    [(_, score)] = client.zrange(keys.games(ledger.partition_of("game-one")), 0, -1, withscores=True)
    assert score == NOON


@pytest.mark.parametrize("limit", [1, 7, 200, 1_000])
@pytest.mark.parametrize(
    "moments", [1, 3, 400], ids=["all in one millisecond", "in three", "each in its own"]
)
def test_every_game_is_on_one_page(client: Any, limit: int, moments: int) -> None:
    games = {f"game-{number}": NOON + number % moments for number in range(400 if limit > 1 else 60)}
    add(client, games)
    found = read_all(client, limit)
    assert sorted(found) == sorted(games)
    assert [games[game] for game in found] == sorted(games.values(), reverse=True)


def test_all_games_of_one_partition_are_found(client: Any) -> None:
    games = [f"game-{number}" for number in range(4_000)]
    alone = {game: NOON + len(game) for game in games if keys.partition_of(game, PARTITIONS) == 0}
    add(client, alone)
    assert sorted(read_all(client, 50)) == sorted(alone)


def test_games_that_come_and_go_meanwhile_move_no_other(client: Any) -> None:
    games = {f"game-{number}": NOON + number // 3 for number in range(90)}
    add(client, games)
    first = page(client, 20)
    assert first.next_after is not None
    add(client, {"newer": NOON + 1_000})
    for gone in (first.games[-1], "game-1"):
        client.zrem(keys.games(keys.partition_of(gone, PARTITIONS)), gone)
    rest = list[str]()
    after: GamePlace | None = first.next_after
    while after is not None:
        games_, _, after = page(client, 20, after)
        rest += games_
    assert sorted([*first.games, *rest]) == sorted(games.keys() - {"game-1"})


def test_a_page_reads_few_games_of_each_partition(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    add(client, {f"game-{number}": NOON + number for number in range(1_000)})
    read = 0
    query = list_games(PARTITIONS, 50, MistypedKeyLog(), listed_only=True)
    commands = next(query)
    try:
        while True:
            pipe = client.pipeline(transaction=False)
            for each in commands:
                pipe.execute_command(*each.arguments, **each.options)
            replies = pipe.execute()
            read += sum(map(len, replies))
            commands = query.send(replies)
    except StopIteration as ended:
        assert len(ended.value.games) == 50
    assert read <= 8 * 50
