"""Before the play: laying the table, sitting down, starting (SETUP-1)."""

from __future__ import annotations

from typing import Any

from schemas.commands import CreateGame, SeatPlan, StartGame, TakeSeat
from schemas.contract import Malformed
from schemas.events import GameCreated, GameStarted, SeatTaken, SeedSealed
from schemas.parameters import PARAMETERS, Parameters
from schemas.refusals import Refused, require
from schemas.words import Seat
from services.referee.rules import board as boards
from services.referee.rules.board import Board
from services.referee.rules.moves.market import shuffle_deck
from services.referee.rules.ruleset import Facts, Ruleset
from services.referee.rules.shuffle import commitment_of, luck_of, seed_of
from services.referee.rules.table import Table


def create_game(ruleset: Ruleset, game: str, command: CreateGame, now: int, fresh_seed: str) -> Facts:
    """Lay a table: resolve every figure, seal the seed, seat the bots."""
    figures = resolved(ruleset, command.options or {})
    try:
        board = boards.load(command.board or ruleset.board)
    except Malformed as error:
        raise Refused("GAME-6", str(error)) from None
    require_playable(figures, board, len(command.seats))
    require_seat_plans(command.seats)
    yield GameCreated(
        game, ruleset.name, ruleset.version, board.id, board.digest, figures, command.seats, now
    )
    seed = seed_of(command.seed) if command.seed is not None else fresh_seed
    yield SeedSealed(commitment_of(seed), seed)
    for seat, plan in enumerate(command.seats):
        if plan.kind == "bot":
            name = plan.name or f"{plan.policy} {seat + 1}"
            yield SeatTaken(seat, name, plan.policy, luck_of(seed, seat))


def resolved(ruleset: Ruleset, options: Any) -> Parameters:
    """The ruleset's figures with what this game sets otherwise."""
    if not options:
        return ruleset.figures
    usual = PARAMETERS.write(ruleset.figures)
    try:
        return PARAMETERS.read({**usual, **options})
    except Malformed as error:
        raise Refused("GAME-6", f"options: {error}") from None


def require_playable(figures: Parameters, board: Board, seats: int) -> None:
    """Figures, board and seats fit each other: such a game can be dealt and scored."""
    least, most = figures.seats_least, figures.seats_most
    require(least <= seats <= most, "GAME-6", f"seats: {seats}, these rules take {least} to {most}")
    cards, dealt = sum(figures.cards.values()), seats * figures.hand + figures.market
    require(cards >= dealt, "GAME-6", f"options.cards: {cards} in all, {dealt} are dealt at the start")
    for route in board.routes.values():
        points = figures.route_points[route.length - 1 : route.length]
        if not points or points[0] is None:
            what = f"options.route_points: nothing for length {route.length}, which {route.id} has"
            raise Refused("GAME-6", what)
    held = dict.fromkeys((*figures.start_tickets, *figures.draw_tickets), 0)
    for ticket in board.tickets.values():
        if ticket.deck in held:
            held[ticket.deck] += 1
    for deck, count in figures.start_tickets.items():
        what = f"options.start_tickets: {seats} x {count} of {deck}, the board has {held[deck]}"
        require(held[deck] >= seats * count, "GAME-6", what)
    offered = sum(figures.start_tickets.values())
    what = f"options.start_keep: {figures.start_keep} of {offered} offered tickets"
    require(figures.start_keep <= offered <= 10, "GAME-6", what)
    offered = sum(figures.draw_tickets.values())
    what = f"options.draw_keep: {figures.draw_keep} of {offered} offered tickets"
    require(figures.draw_keep <= offered <= 10, "GAME-6", what)
    what = "options.draw_keep: 0 would let a seat draw tickets for ever and keep none"
    require(figures.draw_keep or not offered, "GAME-6", what)


def require_seat_plans(plans: tuple[SeatPlan, ...]) -> None:
    for seat, plan in enumerate(plans):
        fits = (plan.kind == "bot") == (plan.policy is not None)
        require(fits, "GAME-6", f"seats.{seat}.policy: a bot has one, a person has none")


def take_seat(table: Table, seat: Seat | None, command: TakeSeat) -> Facts:
    free = [s for s, place in enumerate(table.places) if not place.taken]
    require(free, "GAME-4", "every seat is taken")
    wanted = free[0] if command.seat is None else command.seat
    require(wanted in free, "GAME-4", f"seat {wanted} isn't free; free are {free}")
    taken = any(place.taken and place.name == command.name for place in table.places)
    require(not taken, "GAME-4", f"somebody at this table is called {command.name} already")
    yield SeatTaken(wanted, command.name, None, None)


def start_game(table: Table, seat: Seat | None, command: StartGame) -> Facts:
    require(not table.started, "GAME-5", "the game has started")
    free = [s for s, place in enumerate(table.places) if not place.taken]
    require(not free, "GAME-5", f"nobody sits at {', '.join(f'seat {s}' for s in free)}")
    yield GameStarted()
    yield from shuffle_deck(table)
    yield from table.rules.setup(table)
