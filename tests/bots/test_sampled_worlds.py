"""The policy searcher in a game that is no train game: worlds that its seat can't tell from its own, played out by chance."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from schemas.errors import InvalidInputError
from schemas.events import TurnStarted
from services.bots.searching import any_game
from services.bots.searching.any_game import ROLLOUTS, _Search, evaluate_commands
from services.bots.seat_random import SeatRandom
from services.bots.suggestions import evaluate_here
from services.referee.games import GameState, legal
from services.referee.games.state import ACTION, EventStream
from services.referee.games.tricks import DECK, PlayCard
from services.tournament.viewed_game import CoreGame, GameSetting

TRICKS = GameSetting("tricks")


def played(moves: int, seats: int = 3, seed: str = "worlds") -> CoreGame:
    """A game of chance after so many moves."""
    game = CoreGame(TRICKS, ("random",) * seats, seed)
    for _ in range(moves):
        game.play_move(min(game.state.pending_choices))
    return game


def seen_cards(view: GameState) -> list[str]:
    table, hands = view.own, [seat_state.own.cards for seat_state in view.seats]
    return [
        *table.taken,
        *(card for _, card in table.trick),
        *(card for hand in hands for card in hand if card),
    ]


@pytest.mark.parametrize("moves", [0, 1, 22, 55])
def test_a_world_has_what_the_seat_sees_and_deals_all_else_afresh(moves: int) -> None:
    game = played(moves)
    seat = min(game.state.pending_choices)
    view = game.view(seat)
    search = _Search(view, seat, 1, 20)
    worlds = [search.sample(Random(number)) for number in range(20)]
    hands = [[seat_state.own.cards for seat_state in world.seats] for world in worlds]
    for world, dealt in zip(worlds, hands, strict=True):
        assert sorted(seen_cards(world)) == sorted(DECK), "every card once"
        assert [len(hand) for hand in dealt] == [len(each.own.cards) for each in view.seats]
        assert dealt[seat] == game.state.seats[seat].own.cards
        assert legal(world, seat) == legal(game.state, seat)
    known = Counter(seen_cards(view))
    others = {card for dealt in hands for number, hand in enumerate(dealt) if number != seat for card in hand}
    assert others == {*DECK} - known.keys(), "each unseen card somewhere"
    assert None in view.seats[view.seats_after(seat)[0]].own.cards, "the view itself stays as it was"


@pytest.mark.long
def test_searcher_beats_random_at_a_table_of_three() -> None:
    won, games = 0.0, 36
    for number in range(games):
        seat, policies = number % 3, ["random"] * 3
        policies[seat] = "searcher"
        result = CoreGame(TRICKS, policies, f"m{number}").play_to_end().result
        assert result is not None
        winners = [score.seat for score in result.scores if score.place == 1]
        won += (seat in winners) / len(winners)
    assert won / games >= 0.6


def test_a_suggestion_has_the_values_of_every_legal_command() -> None:
    game = played(1)
    values = evaluate_here(game.view(1), 1, 7, None)
    assert sorted(map(str, (value.command for value in values))) == sorted(map(str, legal(game.state, 1)))
    assert all(value.lead is not None and not value.is_planners for value in values)
    assert values == evaluate_here(game.view(1), 1, 7, None)


def test_a_game_without_an_end_costs_no_more_than_the_moves_of_a_choice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view = played(0).view(0).copy()
    (move,) = view.ruleset.moves[ACTION]
    moves: list[PlayCard] = []

    def without_end(state: GameState, seat: int, command: PlayCard) -> EventStream:
        moves.append(command)
        yield TurnStarted(state.seats_after(seat)[0])

    view.ruleset = replace(view.ruleset, moves={ACTION: (replace(move, decide=without_end),)})
    monkeypatch.setattr(any_game, "MAX_MOVES", 2_000)
    values = evaluate_commands(view, 0, legal(view, 0), SeatRandom("00" * 32, 0), ROLLOUTS)
    assert all(value.rollouts == 1 for value in values) and len(values) == 20
    assert len(moves) == 20 + 2_000


def test_a_game_that_does_not_say_what_is_hidden_is_refused_with_a_reason() -> None:
    view = played(0).view(0).copy()
    view.ruleset = replace(view.ruleset, deal_afresh=None)
    with pytest.raises(InvalidInputError, match="nothing is searched in tricks: it doesn't say"):
        evaluate_commands(view, 0, legal(view, 0), SeatRandom("00" * 32, 0), ROLLOUTS)
