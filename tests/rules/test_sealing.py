"""Every viewer can verify sealed entries, and nobody sees whose the hidden parts are."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.commands import PlayOff
from schemas.events import SeedRevealed
from schemas.stored.codec import read_private_part, read_public_rows
from schemas.stored.entries import Entry
from schemas.stored.hash_chain import initial_head, next_head
from services.referee.games import RULESETS, fold_events, split_by_visibility
from services.referee.games.proof.pile_tracker import PileTracker
from services.referee.games.proof.sealing import ChainState, seal_entry
from services.referee.games.state import GameState
from tests.long_runs import long_after
from tests.rules.random_games import RandomGame
from tests.rules.sealed_games import GAME, SEALED_GAMES, SealedGame, fixed_games, play_and_seal, verify_all

REPEATABLE = settings(derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
EVERY_RULESET = pytest.mark.parametrize("rules", RULESETS)


def require_believed(game: SealedGame) -> None:
    for viewer in game.viewers():
        verifier = verify_all(viewer, game.view_entries(viewer))
        assert (verifier.sequence, verifier.head) == (len(game.entries), game.sealed[-1].head)


@pytest.mark.parametrize("examples", long_after(1, (2, 5)))
@EVERY_RULESET
def test_P6_every_viewer_verifies_every_whole_game(rules: str, examples: int) -> None:
    @settings(REPEATABLE, max_examples=examples)
    @given(game=SEALED_GAMES[rules])
    def believed(game: SealedGame) -> None:
        require_believed(game)

    believed()


@EVERY_RULESET
def test_P6_every_viewer_verifies_games_from_positions_with_illegal_commands_and_strict_ones(
    rules: str,
) -> None:
    for game in fixed_games(rules):
        require_believed(game)


def test_P6_every_viewer_verifies_a_play_off() -> None:
    create_fields = {"play_off": PlayOff("before", 2, (0, 1), (1, 0))}
    require_believed(play_and_seal(RandomGame(Random(7), "europe", 2, create_fields=create_fields)))


@EVERY_RULESET
def test_P5_there_is_a_commitment_to_the_secret_and_one_to_each_part_with_rows_and_all_have_one_length(
    rules: str,
) -> None:
    for game in fixed_games(rules):
        for entry, sealed in zip(game.entries, game.sealed, strict=True):
            _, proofs = read_public_rows(sealed.public)
            owners = split_by_visibility(entry.events).private.keys()
            assert len(proofs.commitments) == 16 * (1 + len(owners))
            assert {seat for seat, part in sealed.private_parts if read_private_part(part).rows} == owners
            assert len(proofs.leaves) % 16 == len(proofs.openings) % 16 == 0


@EVERY_RULESET
def test_P6_the_head_is_made_of_all_public_entries_and_nothing_else(rules: str) -> None:
    for game in fixed_games(rules):
        head = initial_head(GAME)
        for number, sealed in enumerate(game.sealed, 1):
            head = next_head(head, number, sealed.public)
            assert sealed.head == head


def test_P6_the_entry_that_ends_a_game_reveals_its_seed_to_all() -> None:
    game = play_and_seal(RandomGame(Random(3), "usa", 2))
    revealed = [event for event in game.view_entries(None)[-1].events if isinstance(event, SeedRevealed)]
    assert revealed == [SeedRevealed(game.state.seed or "")]
    assert not any(isinstance(e, SeedRevealed) for entry in game.entries[:-1] for e in entry.events)


@settings(REPEATABLE, max_examples=10)
@given(st.integers(1, 30))
def test_P5_another_seed_changes_every_commitment(number: int) -> None:
    """A commitment can't be guessed from its content: the salt comes from the seed."""
    game = next(fixed_games("usa"))
    entry, state = game.entries[number], GameState()
    for before in game.entries[: number + 1]:
        fold_events(state, before.at, before.events)
    kept = sealed_by(state, number, entry)
    state.seed = "77" * 32
    assert sealed_by(state, number, entry)[:16] != kept[:16]


def sealed_by(state: GameState, number: int, entry: Entry) -> bytes:
    piles = PileTracker()
    piles.runs = {name: [(0, 0, 999)] for name in ("", *state.own.ticket_decks)}
    _, proofs = read_public_rows(seal_entry(state, ChainState(number, b"", {}), piles, entry).public)
    return proofs.commitments
