"""P4: a game of an earlier ruleset version, from before the hash chain, is played by that version to its end."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from schemas.codec import UNSEALED_FORMAT, unpack_entry
from schemas.commands import CommandEnvelope, CreateGame, SeatPlan
from schemas.entries import Entry
from schemas.events import CardDrawn
from schemas.field_types import Seat
from schemas.hash_chain import initial_head, next_head
from schemas.rows import unpack
from services.ledger import AppendRequest, DeliveredCommand, RedisLedger
from services.ledger.engine import keys
from services.referee.game_cache import CachedGame
from services.referee.rules import GameState, decide_envelope, fold
from services.referee.rules.proof.pile_tracker import PileTracker
from services.referee.rules.proof.sealing import ChainState, seal_entry
from services.referee.rules.proof.view_verifier import ViewVerifier
from services.referee.rules.rulesets import RULESET_VERSIONS
from tests.referee.running_referee import (
    FRESH,
    GAME,
    NOON,
    Players,
    dead_letter_reasons,
    left_in_streams,
    opening_commands,
    partition_of,
    referee_at,
    submit,
    view_problems,
)
from tests.rules.given import full_state

PUBLIC = keys.public_view(partition_of(GAME), GAME)


def create_by_version(ledger: RedisLedger, client: Any, ruleset: str, version: int) -> None:
    """Create a game of two bots as a referee of that version did."""
    plans = (SeatPlan("bot", "random"),) * 2
    create = CreateGame(plans, options={"cars": 8}, ruleset=ruleset)
    state, rulesets = GameState(), {ruleset: RULESET_VERSIONS[ruleset, version]}
    events = decide_envelope(
        state, CommandEnvelope("create", GAME, None, create), NOON, FRESH, rulesets=rulesets
    )
    entry = Entry(state.at_ms, "create", None, create, events)
    sealed = seal_entry(state, ChainState(0, initial_head(GAME), {}), PileTracker(), entry)
    taken = DeliveredCommand(partition_of(GAME), "", b"")
    request = AppendRequest(
        delivery=taken,
        game=GAME,
        expected_length=0,
        previous_head=b"",
        sender=None,
        command_id="create",
        command_digest="",
        at_ms=NOON,
        entry=sealed.entry,
        public=sealed.public,
        head=sealed.head,
        private_parts=sealed.private_parts,
        tasks=(),
        deadline_ms=None,
    )
    ledger.append([request])


def play_game(ledger: RedisLedger, client: Any, ruleset: str, version: int) -> list[bytes]:
    """The log of a whole game that was created by an earlier version, and played by today's referee."""
    create_by_version(ledger, client, ruleset, version)
    players, referee = Players(ledger, Random(version)), referee_at(ledger)
    submit(ledger, opening_commands()[1:])
    while left_in_streams(client):
        referee.step(0)
        players.step()
    return ledger.read_entries(GAME)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("ruleset", ["usa", "trains"])
@pytest.mark.parametrize("connection", ["fake"], indirect=True)
def test_P4_a_game_of_an_earlier_version_goes_on_without_commitments_and_with_heads(
    ledger: RedisLedger, client: Any, ruleset: str, version: int
) -> None:
    log = play_game(ledger, client, ruleset, version)
    assert dead_letter_reasons(client) == []
    assert fold(log).result
    assert view_problems(ledger, GAME, 2) == []
    assert {unpack(data)[0] for data in log} == {UNSEALED_FORMAT}
    assert {verified_head(ledger, viewer) for viewer in (0, 1, None)} == {recomputed_head(client)}
    assert ledger.head(GAME) == (len(log), recomputed_head(client))


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("connection", ["fake"], indirect=True)
def test_P4_a_game_of_an_earlier_version_is_restored_wherever_it_was_packed(
    ledger: RedisLedger, client: Any, version: int
) -> None:
    """The piles of such a game aren't tracked while it is played, nor when further entries are folded."""
    log = play_game(ledger, client, "usa", version)
    drawn = max(n for n, data in enumerate(log) if isinstance(unpack_entry(data).events[0], CardDrawn))
    cached_game = CachedGame()
    cached_game.apply_entries(log[:1])
    fold(log[1:drawn], cached_game.state)  # as a command processor does that decides them
    cached_game.apply_entries(log[drawn:])
    assert full_state(cached_game.state) == full_state(fold(log))


def verified_head(ledger: RedisLedger, viewer: Seat | None) -> bytes:
    """The head of a viewer who verifies what can be verified."""
    verifier = ViewVerifier(GAME, viewer)
    for entry in ledger.read_view(GAME, viewer, limit=10_000):
        verifier.verify(entry)
    return verifier.head


def recomputed_head(client: Any) -> bytes:
    """The head that follows from the stored public entries."""
    head = initial_head(GAME)
    for number, (_, fields) in enumerate(client.xrange(PUBLIC), 1):
        head = next_head(head, number, fields[b"p"])
    return head
