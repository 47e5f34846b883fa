"""What a referee remembers of its games: as much as fits, and never other than the log has it."""

from __future__ import annotations

from random import Random
from typing import Any

import fakeredis
import pytest

from schemas.commands import KeepTickets, Leave, Letter
from schemas.hash_chain import first_head
from services.ledger import RedisLedger, keys
from services.referee.game_cache import Sitting, Sittings
from services.referee.rules import fold
from services.referee.rules.proof.view_verifier import Witness
from services.referee.worker import Referee
from tests.referee.running_referee import (
    GAME,
    NEXT_DOOR,
    Clock,
    Players,
    complaints,
    dead,
    entries,
    left_over,
    opening,
    partition_of,
    referee_at,
    submit,
)
from tests.rules.given import everything

PLENTY = 1 << 30
THIRD = "game-three"


# -- a referee with little room ----------------------------------------------------------------


def forgetful(ledger: RedisLedger, frozen_bytes_most: int = PLENTY, at_hand_most: int = 1) -> Referee:
    """A referee with room for one game, and for one that passes: of three, one is frozen."""
    referee = referee_at(ledger, clock=Clock())
    referee.desk.sittings = Sittings(ledger, at_hand_most, frozen_bytes_most, 1)
    return referee


def frozen(referee: Referee) -> list[str]:
    return [game for game in (GAME, NEXT_DOOR, THIRD) if game in referee.desk.sittings._freezer]


def played(ledger: RedisLedger, client: Any, referee: Referee, names: list[str]) -> list[list[bytes]]:
    """The logs of whole games side by side."""
    players = Players(ledger, Random(5))
    for name in names:
        submit(ledger, opening(name, cars=6))
    while left_over(client):
        referee.step(0)
        players.step()
    assert dead(client) == []
    assert all(complaints(ledger, name, 2) == [] for name in names)
    return [ledger.history(name) for name in names]


@pytest.mark.parametrize("connection", ["fake"], indirect=True)
def test_P7_how_much_a_referee_remembers_changes_nothing(ledger: RedisLedger, client: Any) -> None:
    names, logs = [f"table-{number}" for number in range(5)], []
    for at_hand_most, frozen_bytes_most in ((100, 0), (1, PLENTY), (2, 200_000), (1, 0)):
        client.flushdb()
        fresh = RedisLedger(client, ledger.partitions)
        logs.append(played(fresh, client, forgetful(fresh, frozen_bytes_most, at_hand_most), names))
    assert all(fold(log).over for log in logs[0])
    assert logs[1:] == [logs[0]] * 3


@pytest.fixture
def crowded(ledger: RedisLedger) -> Referee:
    """A referee that has just opened three games, and had to freeze the second."""
    referee = forgetful(ledger)
    submit(ledger, opening(NEXT_DOOR))
    referee.step(0)
    submit(ledger, [*opening(), Letter("keep", GAME, 0, KeepTickets((0, 1)))])
    referee.step(0)
    submit(ledger, opening(THIRD))
    referee.step(0)
    referee.desk.sittings.of(NEXT_DOOR)
    assert frozen(referee) == [GAME]
    return referee


def test_P2_an_id_is_known_after_its_game_was_frozen(
    ledger: RedisLedger, crowded: Referee, client: Any
) -> None:
    submit(ledger, [Letter("keep", GAME, 0, KeepTickets((0, 1)))])
    crowded.step(0)
    sitting = crowded.desk.sittings.of(GAME)
    assert sitting.length == 3
    assert [sitting.has_answered(speaker, "keep") for speaker in (0, 1, None)] == [True, False, False]
    assert [entry.id for entry in entries(ledger)] == ["create", "start", "keep"]
    assert [name for name in left_over(client) if name.endswith("commands")] == []


def test_P3_a_frozen_game_that_the_log_left_behind_is_folded_anew(
    ledger: RedisLedger, other_ledger: RedisLedger, crowded: Referee
) -> None:
    submit(ledger, [Letter("leave", GAME, 1, Leave())])
    referee_at(other_ledger, "rival").step(0)
    assert not crowded.desk.sittings.in_step(GAME)
    assert everything(crowded.desk.sittings.of(GAME).table) == everything(fold(ledger.history(GAME)))
    assert crowded.desk.sittings.in_step(GAME)


def test_P3_a_game_that_is_to_be_forgotten_is_not_left_frozen(
    ledger: RedisLedger, other_ledger: RedisLedger, crowded: Referee
) -> None:
    submit(ledger, [Letter("leave", GAME, 1, Leave())])
    referee_at(other_ledger, "rival").step(0)
    crowded.desk.sittings.forget(GAME)
    assert crowded.desk.sittings.of(GAME).length == 4


def test_P3_a_game_that_another_branch_took_the_place_of_is_folded_anew(
    ledger: RedisLedger, crowded: Referee, client: Any
) -> None:
    """The branch has as many entries, and the last has the same bytes; the one before it is another."""
    known = {game: crowded.desk.sittings.of(game).head for game in (GAME, NEXT_DOOR, THIRD)}
    assert all(ledger.head(game)[1] == head for game, head in known.items())
    for game in known:
        name = keys.public(partition_of(game), game)
        *before, (last, fields) = client.xrange(name)
        client.delete(name)
        for id_, kept in (*before, (last, {**fields, b"h": first_head("another branch")})):
            client.xadd(name, kept, id_)
        assert not crowded.desk.sittings.in_step(game)
        assert crowded.desk.sittings.of(game).head == first_head("another branch")
        assert crowded.desk.sittings.in_step(game)


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
        create, start = opening()
        submit(each, [Letter(f"create-{at}", GAME, None, create.command), start])
        here.step(0)
    assert lost.history(GAME)[1] == ledger.history(GAME)[1]
    assert lost.head(GAME)[0] == ledger.head(GAME)[0]
    assert lost.head(GAME)[1] != ledger.head(GAME)[1]
    referee.ledger = referee.desk.ledger = referee.desk.sittings.ledger = ledger
    submit(ledger, [Letter("keep", GAME, 0, KeepTickets((0, 1)))])
    referee.step(0)
    assert [entry.id for entry in entries(ledger)] == ["create-two", "start", "keep"]
    assert complaints(ledger, GAME, 2) == []
    assert ledger.whole(GAME).head == referee.desk.sittings.of(GAME).head
    witness = Witness(GAME, 0)
    for entry in ledger.seen(GAME, 0):
        witness.see(entry)


def test_P7_every_game_that_is_remembered_is_in_step_with_its_log(crowded: Referee) -> None:
    for game in (GAME, NEXT_DOOR, THIRD, GAME, THIRD, NEXT_DOOR):
        assert crowded.desk.sittings.in_step(game)


def test_P8_a_table_that_can_not_be_frozen_is_folded_anew(
    ledger: RedisLedger, crowded: Referee, client: Any
) -> None:
    broken: Any = crowded.desk.sittings.of(THIRD).table
    broken.owners = object()
    for game in (NEXT_DOOR, NEXT_DOOR, GAME, GAME):
        crowded.desk.sittings.of(game)
    known = (crowded.desk.sittings._at_hand, crowded.desk.sittings._passing, frozen(crowded))
    assert not any(THIRD in held for held in known)
    submit(ledger, [Letter("leave", THIRD, 1, Leave())])
    crowded.step(0)
    assert everything(crowded.desk.sittings.of(THIRD).table) == everything(fold(ledger.history(THIRD)))
    assert dead(client) == []


def frozen_since(referee: Referee, game: str) -> int:
    """How many entries lie beside a frozen game."""
    for other in (NEXT_DOOR, NEXT_DOOR, THIRD, THIRD):  # asked for again, they take its place at hand
        referee.desk.sittings.of(other)
    return len(referee.desk.sittings._freezer._games[game].since)


def test_P7_a_frozen_game_with_entries_since_is_the_game_folded_anew(
    ledger: RedisLedger, crowded: Referee
) -> None:
    """Refusals are entries too, each with its id; a few lie beside what was frozen, then all is frozen anew."""
    seen = []
    for number in range(10):
        submit(ledger, [Letter(f"again-{number}", GAME, 0, KeepTickets((0, 1)))])
        crowded.step(0)
        seen.append(frozen_since(crowded, GAME))
        fresh = Sittings(ledger).of(GAME)
        sitting = crowded.desk.sittings.of(GAME)
        assert everything(sitting.table) == everything(fresh.table)
        assert (sitting.length, sitting.tail, sitting.answered, sitting.parts) == (
            fresh.length, fresh.tail, fresh.answered, fresh.parts
        )  # fmt: skip
        assert frozen_since(crowded, GAME) == seen[-1]
    assert seen == [1, 2, 3, 0, 1, 2, 3, 0, 1, 2]


def test_P7_a_game_with_two_entries_since_it_was_thawed_is_frozen_anew(
    ledger: RedisLedger, crowded: Referee
) -> None:
    submit(ledger, [Letter(f"again-{number}", GAME, 0, KeepTickets((0, 1))) for number in range(2)])
    crowded.step(0)
    assert frozen_since(crowded, GAME) == 0
    assert everything(crowded.desk.sittings.of(GAME).table) == everything(fold(ledger.history(GAME)))


def test_P8_a_table_that_was_broken_while_it_was_spared_is_as_it_was(opened: Referee) -> None:
    sittings = opened.desk.sittings
    before = everything(sittings.of(GAME).table)
    with pytest.raises(ZeroDivisionError), sittings.spared(GAME):
        sittings.of(GAME).table.deck.clear()
        sittings.of(GAME).table.places[0].hand.clear()
        raise ZeroDivisionError
    assert everything(sittings.of(GAME).table) == before
    with sittings.spared(GAME):
        sittings.of(GAME).table.deck.clear()
    assert sittings.of(GAME).table.deck == []


def test_P9_a_game_that_is_asked_for_again_while_it_passes_is_kept_at_hand(crowded: Referee) -> None:
    for game in (GAME, GAME, NEXT_DOOR, THIRD):
        crowded.desk.sittings.of(game)
    assert frozen(crowded) == [NEXT_DOOR]
    assert GAME in crowded.desk.sittings._at_hand


# -- games that aren't remembered ----------------------------------------------------------------


def test_P9_a_game_that_does_not_exist_is_not_frozen(ledger: RedisLedger) -> None:
    sittings = Sittings(ledger, 1, PLENTY, 1)
    for number in range(5):
        assert sittings.of(f"no-game-{number}").length == Sitting().length
    assert len(sittings._freezer) == 0


def test_P9_games_are_frozen_only_when_there_is_no_room_at_hand(
    ledger: RedisLedger, crowded: Referee
) -> None:
    roomy = forgetful(ledger, at_hand_most=3)
    for game in (GAME, NEXT_DOOR, THIRD):
        roomy.desk.sittings.of(game)
    assert frozen(roomy) == []
    assert len(roomy.desk.sittings._at_hand) == 3
