"""What a referee remembers of its games: as much as fits, and never other than the log has it."""

from __future__ import annotations

from random import Random
from typing import Any

import fakeredis
import pytest

from schemas.commands import CommandEnvelope, KeepTickets, Leave
from schemas.hash_chain import initial_head
from services.ledger import RedisLedger, keys
from services.referee.game_cache import CachedGame, GameCache
from services.referee.rules import fold
from services.referee.rules.proof.view_verifier import ViewVerifier
from services.referee.worker import Referee
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

PLENTY = 1 << 30
THIRD = "game-three"


# -- a referee with little room ----------------------------------------------------------------


def forgetful(ledger: RedisLedger, frozen_bytes_most: int = PLENTY, at_hand_most: int = 1) -> Referee:
    """A referee with room for one game, and for one that passes: of three, one is frozen."""
    referee = referee_at(ledger, clock=Clock())
    referee.processor.game_cache = GameCache(ledger, at_hand_most, frozen_bytes_most, 1)
    return referee


def frozen(referee: Referee) -> list[str]:
    return [game for game in (GAME, NEIGHBOUR_GAME, THIRD) if game in referee.processor.game_cache._packed]


def played(ledger: RedisLedger, client: Any, referee: Referee, names: list[str]) -> list[list[bytes]]:
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


@pytest.mark.parametrize("connection", ["fake"], indirect=True)
def test_P7_how_much_a_referee_remembers_changes_nothing(ledger: RedisLedger, client: Any) -> None:
    names, logs = [f"table-{number}" for number in range(5)], []
    for at_hand_most, frozen_bytes_most in ((100, 0), (1, PLENTY), (2, 200_000), (1, 0)):
        client.flushdb()
        fresh = RedisLedger(client, ledger.partitions)
        logs.append(played(fresh, client, forgetful(fresh, frozen_bytes_most, at_hand_most), names))
    assert all(fold(log).result for log in logs[0])
    assert logs[1:] == [logs[0]] * 3


@pytest.fixture
def crowded(ledger: RedisLedger) -> Referee:
    """A referee that has just opened three games, and had to freeze the second."""
    referee = forgetful(ledger)
    submit(ledger, opening_commands(NEIGHBOUR_GAME))
    referee.step(0)
    submit(ledger, [*opening_commands(), CommandEnvelope("keep", GAME, 0, KeepTickets((0, 1)))])
    referee.step(0)
    submit(ledger, opening_commands(THIRD))
    referee.step(0)
    referee.processor.game_cache.get(NEIGHBOUR_GAME)
    assert frozen(referee) == [GAME]
    return referee


def test_P2_an_id_is_known_after_its_game_was_frozen(
    ledger: RedisLedger, crowded: Referee, client: Any
) -> None:
    submit(ledger, [CommandEnvelope("keep", GAME, 0, KeepTickets((0, 1)))])
    crowded.step(0)
    sitting = crowded.processor.game_cache.get(GAME)
    assert sitting.length == 3
    assert [sitting.has_answered(speaker, "keep") for speaker in (0, 1, None)] == [True, False, False]
    assert [entry.id for entry in entries(ledger)] == ["create", "start", "keep"]
    assert [name for name in left_in_streams(client) if name.endswith("commands")] == []


def test_P3_a_frozen_game_that_the_log_left_behind_is_folded_anew(
    ledger: RedisLedger, other_ledger: RedisLedger, crowded: Referee
) -> None:
    submit(ledger, [CommandEnvelope("leave", GAME, 1, Leave())])
    referee_at(other_ledger, "rival").step(0)
    assert not crowded.processor.game_cache.is_current(GAME)
    assert full_state(crowded.processor.game_cache.get(GAME).state) == full_state(
        fold(ledger.read_entries(GAME))
    )
    assert crowded.processor.game_cache.is_current(GAME)


def test_P3_a_game_that_is_to_be_forgotten_is_not_left_frozen(
    ledger: RedisLedger, other_ledger: RedisLedger, crowded: Referee
) -> None:
    submit(ledger, [CommandEnvelope("leave", GAME, 1, Leave())])
    referee_at(other_ledger, "rival").step(0)
    crowded.processor.game_cache.invalidate(GAME)
    assert crowded.processor.game_cache.get(GAME).length == 4


def test_P3_a_game_that_another_branch_took_the_place_of_is_folded_anew(
    ledger: RedisLedger, crowded: Referee, client: Any
) -> None:
    """The branch has as many entries, and the last has the same bytes; the one before it is another."""
    known = {game: crowded.processor.game_cache.get(game).head for game in (GAME, NEIGHBOUR_GAME, THIRD)}
    assert all(ledger.head(game)[1] == head for game, head in known.items())
    for game in known:
        name = keys.public_view(partition_of(game), game)
        *before, (last, fields) = client.xrange(name)
        client.delete(name)
        for id_, kept in (*before, (last, {**fields, b"h": initial_head("another branch")})):
            client.xadd(name, kept, id_)
        assert not crowded.processor.game_cache.is_current(game)
        assert crowded.processor.game_cache.get(game).head == initial_head("another branch")
        assert crowded.processor.game_cache.is_current(game)


def test_P3_a_verdict_that_was_decided_on_another_branch_is_decided_again(
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
    witness = ViewVerifier(GAME, 0)
    for entry in ledger.read_view(GAME, 0):
        witness.verify(entry)


def test_P7_every_game_that_is_remembered_is_in_step_with_its_log(crowded: Referee) -> None:
    for game in (GAME, NEIGHBOUR_GAME, THIRD, GAME, THIRD, NEIGHBOUR_GAME):
        assert crowded.processor.game_cache.is_current(game)


def test_P8_a_table_that_can_not_be_frozen_is_folded_anew(
    ledger: RedisLedger, crowded: Referee, client: Any
) -> None:
    broken: Any = crowded.processor.game_cache.get(THIRD).state
    broken.route_owners = object()
    for game in (NEIGHBOUR_GAME, NEIGHBOUR_GAME, GAME, GAME):
        crowded.processor.game_cache.get(game)
    known = (crowded.processor.game_cache._hot, crowded.processor.game_cache._probation, frozen(crowded))
    assert not any(THIRD in held for held in known)
    submit(ledger, [CommandEnvelope("leave", THIRD, 1, Leave())])
    crowded.step(0)
    assert full_state(crowded.processor.game_cache.get(THIRD).state) == full_state(
        fold(ledger.read_entries(THIRD))
    )
    assert dead_letter_reasons(client) == []


def frozen_since(referee: Referee, game: str) -> int:
    """How many entries lie beside a frozen game."""
    for other in (
        NEIGHBOUR_GAME,
        NEIGHBOUR_GAME,
        THIRD,
        THIRD,
    ):  # asked for again, they take its place at hand
        referee.processor.game_cache.get(other)
    return len(referee.processor.game_cache._packed._snapshots[game].tail)


def test_P7_a_frozen_game_with_entries_since_is_the_game_folded_anew(
    ledger: RedisLedger, crowded: Referee
) -> None:
    """Refusals are entries too, each with its id; a few lie beside what was frozen, then all is frozen anew."""
    seen = []
    for number in range(10):
        submit(ledger, [CommandEnvelope(f"again-{number}", GAME, 0, KeepTickets((0, 1)))])
        crowded.step(0)
        seen.append(frozen_since(crowded, GAME))
        fresh = GameCache(ledger).get(GAME)
        sitting = crowded.processor.game_cache.get(GAME)
        assert full_state(sitting.state) == full_state(fresh.state)
        assert (sitting.length, sitting.last_entry, sitting.command_digests, sitting.last_private_sequences) == (
            fresh.length, fresh.last_entry, fresh.command_digests, fresh.last_private_sequences
        )  # fmt: skip
        assert frozen_since(crowded, GAME) == seen[-1]
    assert seen == [1, 2, 3, 0, 1, 2, 3, 0, 1, 2]


def test_P7_a_game_with_two_entries_since_it_was_thawed_is_frozen_anew(
    ledger: RedisLedger, crowded: Referee
) -> None:
    submit(ledger, [CommandEnvelope(f"again-{number}", GAME, 0, KeepTickets((0, 1))) for number in range(2)])
    crowded.step(0)
    assert frozen_since(crowded, GAME) == 0
    assert full_state(crowded.processor.game_cache.get(GAME).state) == full_state(
        fold(ledger.read_entries(GAME))
    )


def test_P8_a_table_that_was_broken_while_it_was_spared_is_as_it_was(opened: Referee) -> None:
    sittings = opened.processor.game_cache
    before = full_state(sittings.get(GAME).state)
    with pytest.raises(ZeroDivisionError), sittings.rollback_on_error(GAME):
        sittings.get(GAME).state.deck.clear()
        sittings.get(GAME).state.seats[0].hand.clear()
        raise ZeroDivisionError
    assert full_state(sittings.get(GAME).state) == before
    with sittings.rollback_on_error(GAME):
        sittings.get(GAME).state.deck.clear()
    assert sittings.get(GAME).state.deck == []


def test_P9_a_game_that_is_asked_for_again_while_it_passes_is_kept_at_hand(crowded: Referee) -> None:
    for game in (GAME, GAME, NEIGHBOUR_GAME, THIRD):
        crowded.processor.game_cache.get(game)
    assert frozen(crowded) == [NEIGHBOUR_GAME]
    assert GAME in crowded.processor.game_cache._hot


# -- games that aren't remembered ----------------------------------------------------------------


def test_P9_a_game_that_does_not_exist_is_not_frozen(ledger: RedisLedger) -> None:
    sittings = GameCache(ledger, 1, PLENTY, 1)
    for number in range(5):
        assert sittings.get(f"no-game-{number}").length == CachedGame().length
    assert len(sittings._packed) == 0


def test_P9_games_are_frozen_only_when_there_is_no_room_at_hand(
    ledger: RedisLedger, crowded: Referee
) -> None:
    roomy = forgetful(ledger, at_hand_most=3)
    for game in (GAME, NEIGHBOUR_GAME, THIRD):
        roomy.processor.game_cache.get(game)
    assert frozen(roomy) == []
    assert len(roomy.processor.game_cache._hot) == 3
