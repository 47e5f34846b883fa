"""The table is laid: seats, shuffles, hands; or a whole position."""

from __future__ import annotations

from collections import Counter

from schemas.codec import Corrupt
from schemas.events import (
    ChoiceLaid,
    DeckKnown,
    DeckLaid,
    DeckShuffled,
    GameCreated,
    GameForked,
    GameStarted,
    HandDealt,
    HandLaid,
    MomentLaid,
    PlayResumed,
    PositionLaid,
    SeatTaken,
    SeedSealed,
    TicketsLaid,
    TicketsShuffled,
)  # fmt: skip
from services.referee.rules import board as boards
from services.referee.rules.appliers.playing import take_route
from services.referee.rules.fair_randomness import key_of, terms_of
from services.referee.rules.rulesets import EDITIONS
from services.referee.rules.table import Place, Table, Tunnel


def game_created(table: Table, event: GameCreated) -> None:
    figures = event.parameters
    table.game = event.game
    if (event.ruleset, event.rules) not in EDITIONS:
        raise Corrupt(f"game {event.game} is played by version {event.rules} of the rules {event.ruleset}")
    table.rules = EDITIONS[event.ruleset, event.rules]
    table.figures = figures
    board = boards.load(event.board) if event.board_form is None else boards.build(event.board_form)
    if board.digest != event.board_digest:
        raise Corrupt(f"game {event.game} was played on another edition of the board {event.board}")
    table.board = boards.with_pairs(board, figures.pair_tickets) if figures.pair_tickets else board
    table.terms = terms_of(event)
    table.created, table.opened, table.play_off = event.created, event.opened, event.play_off
    table.places = [Place(plan.kind, plan.name or "", plan.policy, figures) for plan in event.seats]
    table.order = tuple(range(len(event.seats)))
    table.closing = boards.parallels_close(figures, len(event.seats))
    table.open = {fare: dict.fromkeys(routes) for fare, routes in board.fares.items()}
    table.market = [None] * figures.market
    table.discards = dict(figures.cards.items())  # until they are shuffled
    table.tokens = boards.full_stacks(figures, board)


def seed_sealed(table: Table, event: SeedSealed) -> None:
    table.commitment, table.given, table.seed = event.commitment, bool(event.given), event.seed


def seat_taken(table: Table, event: SeatTaken) -> None:
    place = table.places[event.seat]
    place.name, place.policy, place.luck, place.taken = event.name, event.policy, event.luck, True
    place.age, place.contribution = event.age, event.contribution


def game_started(table: Table, event: GameStarted) -> None:
    table.started = True
    table.order = event.order
    table.refusals.clear()
    if table.seed is not None:  # nobody but the referee has it
        table.key = key_of(table)


def deck_shuffled(table: Table, event: DeckShuffled) -> None:
    table.deck[:0] = reversed(event.order)
    table.discards = dict.fromkeys(table.figures.cards, 0)
    table.epoch += 1


def tickets_shuffled(table: Table, event: TicketsShuffled) -> None:
    table.ticket_decks[event.deck] = list(reversed(event.order))
    table.epoch += 1


def hand_dealt(table: Table, event: HandDealt) -> None:
    hand = table.places[event.seat].hand
    for card in event.cards:
        table.deck.pop()
        hand[card] += 1


# -- a position in place of a deal -----------------------------------------------------


def position_laid(table: Table, event: PositionLaid) -> None:
    table.laid = event.turn
    table.board = boards.with_tickets(table.board, event.tickets)
    table.market = list(event.market)
    table.discards = dict.fromkeys(table.figures.cards, 0)
    table.discards.update(event.discards.items())
    for route, seat in event.owners.items():
        take_route(table, route, seat)
    for seat, place in enumerate(table.places):
        place.cars, place.points = event.cars[seat], event.points[seat]
        place.merchandise = event.merchandise[seat]
    for city, station in event.stations.items():
        table.stations[city] = station.seat
        table.places[station.seat].stations[city] = station.neighbour
    for city, seat in event.passengers.items():
        table.passengers[city] = seat
        table.places[seat].passengers -= 1
    table.tokens = {city: tuple(stack) for city, stack in event.tokens.items()}


def deck_laid(table: Table, event: DeckLaid) -> None:
    table.deck = list(reversed(event.order))


def tickets_laid(table: Table, event: TicketsLaid) -> None:
    table.ticket_decks[event.deck] = list(reversed(event.order))


def hand_laid(table: Table, event: HandLaid) -> None:
    place = table.places[event.seat]
    for card, count in Counter(event.cards).items():
        place.hand[card] += count
    place.tickets = list(event.tickets)


# -- a fork: more than a position can say ----------------------------------------------


def game_forked(table: Table, event: GameForked) -> None:
    table.forked = event.of, event.at


def moment_laid(table: Table, event: MomentLaid) -> None:
    """Nobody is waited for, and no time passes, until the game is started."""
    table.moment, table.order = (event.turn, event.awaits), event.order
    table.tunnel = Tunnel(*event.tunnel) if event.tunnel is not None else None
    table.ending, table.last, table.passed = event.ending, set(event.last), set(event.passed)
    for seat, place in enumerate(table.places):
        place.chosen, place.gone = event.chosen[seat], event.gone[seat]
        place.clock_ms, place.passengers = event.clocks[seat], event.passengers[seat]
        for card, count in event.shown[seat].items():
            place.hand[card] += count


def choice_laid(table: Table, event: ChoiceLaid) -> None:
    place = table.places[event.seat]
    place.offer, place.least = list(event.offer), event.least
    place.mix = (event.mix or {}) if event.named else None


def deck_known(table: Table, event: DeckKnown) -> None:
    """Told for who may know it: the deck has these tickets at these places anyway."""
    row = table.ticket_decks[event.deck]
    table.ticket_decks[event.deck] = [
        there if known is None else known for known, there in zip(reversed(event.order), row, strict=True)
    ]


def play_resumed(table: Table, event: PlayResumed) -> None:
    assert table.moment is not None, "a moment was laid"
    table.turn, awaits = table.moment
    for seat, choice, left_ms in awaits:
        table.awaits[seat] = choice
        table.places[seat].until = None if left_ms is None else table.at + left_ms
