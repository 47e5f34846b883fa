"""A referee caches as many games as fit, and none of them differs from its log."""

from __future__ import annotations

from random import Random
from typing import Any

import fakeredis
import pytest

from schemas.commands import CommandEnvelope, Leave
from schemas.trains.commands import KeepTickets
from services.ledger import RedisLedger
from services.referee.game_cache import ENTRY_BYTES, CachedGame, GameCache
from services.referee.games import fold
from services.referee.games.proof.view_verifier import ViewVerifier
from services.referee.worker import Referee
from tests.captured_logs import captured_logs
from tests.golden.test_golden import FILES, read
from tests.referee.running_referee import (
    GAME,
    NEIGHBOUR_GAME,
    Clock,
    Players,
    dead_letter_reasons,
    entries,
    left_in_streams,
    opening_commands,
    partition_of,
    referee_at,
    submit,
    view_problems,
)
from tests.rules.given import full_state
from tests.stored_views import a_millisecond_later, change_entry

PLENTY = 1 << 30
TWO_GAMES_BYTES = 37 * 1_024
THIRD = "game-three"


# -- a referee with little room ----------------------------------------------------------------


def small_cache_referee(ledger: RedisLedger, max_bytes: int = TWO_GAMES_BYTES) -> Referee:
    """A referee with room for two unpacked games: of three, one is packed."""
    referee = referee_at(ledger, clock=Clock())
    referee.processor.game_cache = GameCache(ledger, max_bytes)
    return referee


def packed_games(referee: Referee) -> list[str]:
    return [
        game for game in (GAME, NEIGHBOUR_GAME, THIRD) if game in referee.processor.game_cache._packed.games
    ]


def play_games(ledger: RedisLedger, client: Any, referee: Referee, names: list[str]) -> list[list[bytes]]:
    """The logs of whole games side by side."""
    players = Players(ledger, Random(5))
    for name in names:
        submit(ledger, opening_commands(name, cars=6))
    while left_in_streams(client):
        referee.step(0)
        players.step()
    assert dead_letter_reasons(client) == []
    assert all(view_problems(ledger, name, 2) == [] for name in names)
    return [ledger.read_entries(name) for name in names]


@pytest.mark.long
@pytest.mark.parametrize("connection", ["fake"], indirect=True)
def test_P7_the_size_of_the_cache_changes_nothing(ledger: RedisLedger, client: Any) -> None:
    names, logs = [f"table-{number}" for number in range(5)], []
    for max_bytes in (PLENTY, TWO_GAMES_BYTES, 2 * TWO_GAMES_BYTES, 0):
        client.flushdb()
        fresh = RedisLedger(client, ledger.partitions)
        logs.append(play_games(fresh, client, small_cache_referee(fresh, max_bytes), names))
    assert all(fold(log).result for log in logs[0])
    assert logs[1:] == [logs[0]] * 3


@pytest.fixture
def crowded(ledger: RedisLedger) -> Referee:
    """A referee that has just opened three games, and had to pack the second."""
    referee = small_cache_referee(ledger)
    submit(ledger, opening_commands(NEIGHBOUR_GAME))
    referee.step(0)
    submit(ledger, [*opening_commands(), CommandEnvelope("keep", GAME, 0, KeepTickets((0, 1)))])
    referee.step(0)
    submit(ledger, opening_commands(THIRD))
    referee.step(0)
    referee.processor.game_cache.get(NEIGHBOUR_GAME)
    assert packed_games(referee) == [GAME]
    return referee


def test_P2_a_command_id_is_known_after_its_game_was_packed(
    ledger: RedisLedger, crowded: Referee, client: Any
) -> None:
    submit(ledger, [CommandEnvelope("keep", GAME, 0, KeepTickets((0, 1)))])
    crowded.step(0)
    cached_game = crowded.processor.game_cache.get(GAME)
    assert cached_game.length == 3
    assert [cached_game.has_answered(sender, "keep") for sender in (0, 1, None)] == [True, False, False]
    assert [entry.id for entry in entries(ledger)] == ["create", "start", "keep"]
    assert [name for name in left_in_streams(client) if name.endswith("commands")] == []


def test_P3_a_packed_game_that_is_behind_its_log_is_folded_anew(
    ledger: RedisLedger, other_ledger: RedisLedger, crowded: Referee
) -> None:
    submit(ledger, [CommandEnvelope("leave", GAME, 1, Leave())])
    referee_at(other_ledger, "rival").step(0)
    assert not crowded.processor.game_cache.is_current(GAME)
    assert full_state(crowded.processor.game_cache.get(GAME).state) == full_state(
        fold(ledger.read_entries(GAME))
    )
    assert crowded.processor.game_cache.is_current(GAME)


def test_P3_a_game_that_is_invalidated_is_not_left_packed(
    ledger: RedisLedger, other_ledger: RedisLedger, crowded: Referee
) -> None:
    submit(ledger, [CommandEnvelope("leave", GAME, 1, Leave())])
    referee_at(other_ledger, "rival").step(0)
    crowded.processor.game_cache.invalidate(GAME)
    assert crowded.processor.game_cache.get(GAME).length == 4


def test_P3_a_game_whose_log_was_replaced_by_another_branch_is_folded_anew(
    ledger: RedisLedger, crowded: Referee, client: Any
) -> None:
    """The branch has as many entries, and the last has the same bytes; the one before it is another."""
    known = {game: crowded.processor.game_cache.get(game).head for game in (GAME, NEIGHBOUR_GAME, THIRD)}
    assert all(ledger.head(game)[1] == head for game, head in known.items())
    for game in known:
        head = change_entry(client, partition_of(game), game, 1, a_millisecond_later)
        assert not crowded.processor.game_cache.is_current(game)
        assert crowded.processor.game_cache.get(game).head == head
        assert crowded.processor.game_cache.is_current(game)


def test_P3_a_command_that_was_decided_on_another_branch_is_decided_again(
    ledger: RedisLedger, client: Any
) -> None:
    """Both branches have two entries; the last is the same, to the byte."""
    lost, other = (
        RedisLedger(fakeredis.FakeRedis(), ledger.partitions),
        referee_at(ledger, "other", seed="aa" * 32),
    )
    referee = referee_at(lost)
    for each, here, at in ((lost, referee, "one"), (ledger, other, "two")):
        create, start = opening_commands()
        submit(each, [CommandEnvelope(f"create-{at}", GAME, None, create.command), start])
        here.step(0)
    assert lost.read_entries(GAME)[1] == ledger.read_entries(GAME)[1]
    assert lost.head(GAME)[0] == ledger.head(GAME)[0]
    assert lost.head(GAME)[1] != ledger.head(GAME)[1]
    referee.ledger = referee.processor.ledger = referee.processor.game_cache.ledger = ledger
    submit(ledger, [CommandEnvelope("keep", GAME, 0, KeepTickets((0, 1)))])
    referee.step(0)
    assert [entry.id for entry in entries(ledger)] == ["create-two", "start", "keep"]
    assert view_problems(ledger, GAME, 2) == []
    assert ledger.read_log(GAME).head == referee.processor.game_cache.get(GAME).head
    verifier = ViewVerifier(GAME, 0)
    for entry in ledger.read_view(GAME, 0):
        verifier.verify(entry)


def test_P7_every_cached_game_is_at_the_head_of_its_log(crowded: Referee) -> None:
    for game in (GAME, NEIGHBOUR_GAME, THIRD, GAME, THIRD, NEIGHBOUR_GAME):
        assert crowded.processor.game_cache.is_current(game)


def test_P8_a_state_that_can_not_be_packed_is_folded_anew(
    ledger: RedisLedger, crowded: Referee, client: Any
) -> None:
    broken: Any = crowded.processor.game_cache.get(THIRD).state
    broken.own.route_owners = {"route": lambda: None}
    for game in (NEIGHBOUR_GAME, NEIGHBOUR_GAME, GAME, GAME):
        crowded.processor.game_cache.get(game)
    assert THIRD not in crowded.processor.game_cache._unpacked.games
    assert THIRD not in packed_games(crowded)
    submit(ledger, [CommandEnvelope("leave", THIRD, 1, Leave())])
    crowded.step(0)
    assert full_state(crowded.processor.game_cache.get(THIRD).state) == full_state(
        fold(ledger.read_entries(THIRD))
    )
    assert dead_letter_reasons(client) == []


def test_P8_a_bug_in_packing_is_logged_once_with_its_game(crowded: Referee) -> None:
    with captured_logs() as lines:
        for _ in range(2):
            broken: Any = crowded.processor.game_cache.get(THIRD).state
            broken.own.route_owners = {"route": lambda: None}
            for game in (NEIGHBOUR_GAME, GAME):
                crowded.processor.game_cache.get(game)
    assert [(line["event"], line["game"]) for line in lines] == [("game can't be packed", THIRD)]


def test_P7_a_game_that_is_packed_and_restored_for_each_command_is_the_game_folded_anew(
    ledger: RedisLedger, crowded: Referee
) -> None:
    """Refusals are entries too, each with its id."""
    cache = crowded.processor.game_cache
    for number in range(4):
        submit(ledger, [CommandEnvelope(f"again-{number}", GAME, 0, KeepTickets((0, 1)))])
        crowded.step(0)
        for other in (NEIGHBOUR_GAME, THIRD):
            cache.get(other)
        assert GAME in packed_games(crowded)
        fresh, cached_game = CachedGame.from_log(ledger.read_log(GAME)), cache.get(GAME)
        assert full_state(cached_game.state) == full_state(fresh.state)
        assert beside_state(cached_game) == beside_state(fresh)


def beside_state(cached_game: CachedGame) -> tuple[object, ...]:
    """What a cached game knows besides its state."""
    ids, piles = cached_game.answered_ids[:], cached_game.pile_tracker.to_state()
    return cached_game.length, cached_game.head, ids, cached_game.last_private_sequences, piles


def test_P9_a_game_folded_from_its_log_shares_what_is_equal_with_the_others(
    ledger: RedisLedger, crowded: Referee
) -> None:
    cache = GameCache(ledger)
    cache.prefetch([GAME, NEIGHBOUR_GAME])
    one, two = (cache.get(game).state for game in (GAME, NEIGHBOUR_GAME))
    assert one.rule_options is two.rule_options
    assert all(map(same, one.own.open_routes.values(), two.own.open_routes.values()))


def same(one: object, other: object) -> bool:
    return one is other


def test_P8_a_state_that_an_error_left_broken_is_rolled_back(opened: Referee) -> None:
    cache = opened.processor.game_cache
    before = full_state(cache.get(GAME).state)
    with pytest.raises(ZeroDivisionError), cache.rollback_on_error(GAME):
        cache.get(GAME).state.own.deck.clear()
        cache.get(GAME).state.seats[0].own.hand.clear()
        raise ZeroDivisionError
    assert full_state(cache.get(GAME).state) == before
    with cache.rollback_on_error(GAME):
        cache.get(GAME).state.own.deck.clear()
    assert cache.get(GAME).state.own.deck == []


def test_P9_the_least_recently_used_game_is_packed(crowded: Referee) -> None:
    for game, packed in ((GAME, THIRD), (GAME, THIRD), (THIRD, NEIGHBOUR_GAME), (NEIGHBOUR_GAME, GAME)):
        crowded.processor.game_cache.get(game)
        assert packed_games(crowded) == [packed]


def test_P9_a_game_is_measured_anew_as_it_starts_and_grows(ledger: RedisLedger, opened: Referee) -> None:
    cache = opened.processor.game_cache
    cached_game, before = cache.get(GAME), cache.total_bytes()
    for number in range(500):  # refusals, say: each takes room for its id
        cached_game.record_entry(0, f"c{number}", ())
    assert cache.get(GAME) is cached_game
    assert cache.total_bytes() == before + 500 * ENTRY_BYTES
    assert before == cached_game.measure().own_bytes - 500 * ENTRY_BYTES


# -- games that aren't cached ----------------------------------------------------------------


def test_P9_a_game_that_does_not_exist_is_not_packed(ledger: RedisLedger) -> None:
    cache = GameCache(ledger, 0)
    for number in range(5):
        assert cache.get(f"no-game-{number}").length == CachedGame().length
    assert len(cache._packed.games) == 0


def test_P9_games_are_packed_only_when_there_is_no_room_for_unpacked_ones(
    ledger: RedisLedger, crowded: Referee
) -> None:
    roomy = small_cache_referee(ledger, PLENTY)
    for game in (GAME, NEIGHBOUR_GAME, THIRD):
        roomy.processor.game_cache.get(game)
    assert packed_games(roomy) == []
    assert len(roomy.processor.game_cache._unpacked.games) == 3


def test_P9_the_ids_of_answered_commands_are_kept_in_order_so_that_one_is_found_in_few_steps() -> None:
    answered = CachedGame()
    answered.apply_entries(read(FILES[0]).log[:1])  # one id
    asked = [(seat, f"c{n}") for n in range(500) for seat in (None, 0, 1)]
    for sender, id_ in asked[::2]:
        answered.record_entry(sender, id_, ())
    for game in (answered, answered.pack().unpack()):
        assert [*game.answered_ids] == sorted(game.answered_ids)
        assert len(game.answered_ids.tobytes()) == 8 * (1 + len(asked[::2]))
        assert [each for each in asked if game.has_answered(*each)] == asked[::2]
