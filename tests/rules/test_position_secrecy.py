"""A game that starts from a position shows a viewer nothing of it that the viewer may not know (P5)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.commands import CommandEnvelope, CreateGame, SeatPlan, StartGame
from schemas.field_types import Seat
from schemas.trains.positions import Position, TicketGiven
from services.referee.games import GameState, decide_envelope
from services.referee.games.trains import board as boards
from tests.long_runs import long_after
from tests.rules.given import CREATED_AT_MS, SEED
from tests.rules.random_games import BOARDS_BY_RULESET, random_position, seat_counts
from tests.rules.test_properties import EVERY_TRAIN_RULESET, REPEATABLE
from tests.rules.test_secrecy import shown_to


@pytest.mark.parametrize("examples", long_after(1, (2, 4)))
@EVERY_TRAIN_RULESET
def test_a_position_shows_a_viewer_only_what_it_may_know(rules: str, examples: int) -> None:
    @settings(REPEATABLE, max_examples=examples)
    @given(st.integers(0, 2**32), st.sampled_from(BOARDS_BY_RULESET[rules]))
    def holds(chance: int, board: str) -> None:
        rng = Random(chance)
        seats = min(3, *seat_counts(board)[-1:])
        position = with_own_tickets(random_position(rng, board, seats), board, rng)
        for viewer in (None, *range(seats)):
            others = twin_position(position, board, viewer, rng)
            assert others != position
            assert shown_of_position(board, seats, others, viewer) == shown_of_position(
                board, seats, position, viewer
            )

    holds()


def shown_of_position(board: str, seats: int, position: Position, viewer: Seat | None) -> object:
    """What the viewer gets of a game that starts from the position, until the first turn."""
    plans = tuple(SeatPlan("bot", "random") for _ in range(seats))
    create = CreateGame(plans, board=board, seed="position", position=position)
    state, shown = GameState(), []
    for command in (create, StartGame()):
        envelope = CommandEnvelope(command.type, "laid", None, command)
        shown.append(shown_to(state, envelope, CREATED_AT_MS, viewer)[0])
        decide_envelope(state, envelope, CREATED_AT_MS, SEED)
    return shown


def with_own_tickets(position: Position, board: str, rng: Random) -> Position:
    """The position with more tickets, which the board doesn't have, in a hand and in a deck."""
    cities = [*boards.load_board(board).cities]
    in_hand, *in_deck = [TicketGiven((a, b), 99) for a, b in zip(cities[:6:2], cities[1:6:2], strict=True)]
    rows = [[*row] for row in position.tickets]
    rows[rng.randrange(len(rows))].append(in_hand)
    decks = {**(position.ticket_decks or {})}
    first = next(iter(decks))
    decks[first] = (*in_deck, *decks[first])
    return replace(position, tickets=tuple(map(tuple, rows)), ticket_decks=decks)


def twin_position(position: Position, board: str, viewer: Seat | None, rng: Random) -> Position:
    """The position with other cards and tickets where the viewer can't see them."""
    hidden = [seat for seat in range(len(position.hands)) if seat != viewer]
    hands = [dict(hand) for hand in position.hands]
    cards = [*(position.deck or ()), *(card for s in hidden for card in Counter(hands[s]).elements())]
    rng.shuffle(cards)
    for seat in hidden:
        count = sum(hands[seat].values())
        hands[seat], cards = dict(Counter(cards[:count])), cards[count:]
    decks = {deck: [*row] for deck, row in (position.ticket_decks or {}).items()}
    rows = [[*row] for row in position.tickets]
    deck, stack = next(iter(decks.items()))
    known = {(frozenset((t.a, t.b)), t.points): t.deck for t in boards.load_board(board).tickets.values()}
    for row in (rows[seat] for seat in hidden):
        for place, ticket in enumerate(row):
            if known.get((frozenset(ticket.between), ticket.points), deck) == deck:
                other = rng.randrange(len(stack))
                row[place], stack[other] = stack[other], ticket
    return replace(
        position,
        hands=tuple(hands),
        deck=tuple(cards),
        tickets=tuple(map(tuple, rows)),
        ticket_decks={name: tuple(row) for name, row in decks.items()},
    )
