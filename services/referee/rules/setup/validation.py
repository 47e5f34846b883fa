"""Whether figures, board and seats suit each other: such a game can be dealt, played and scored."""

from __future__ import annotations

from collections import Counter
from typing import Final

from schemas.commands import BuildStation, Command, DrawMarket, DrawTickets, MovePassenger, PayTunnel
from schemas.field_types import LOCOMOTIVE, PASSENGER, PLUS_FOUR
from schemas.refusals import require
from schemas.rule_options import Parameters
from services.referee.rules.board import GRAY, Board
from services.referee.rules.moves.payment import plus_four_on_long_routes
from services.referee.rules.ruleset import Ruleset

OFFERED_MOST: Final = 10
CARDS_MOST: Final = 2_000
FERRY_KIND: Final = "ferry"
WHAT_FOR: Final[dict[str, type[Command]]] = {  # figures that mean nothing to rules without this command
    "market": DrawMarket,
    "draw_tickets": DrawTickets,
    "station_costs": BuildStation,
    "passengers": MovePassenger,
    "merchandise": MovePassenger,
    "tunnel_cards": PayTunnel,
}


def require_playable(ruleset: Ruleset, figures: Parameters, board: Board, seats: int) -> None:
    """Such a table can be played to its scores. Raises Refused, naming the option, or the entry
    of the board, that is at fault."""
    least, most = figures.seats_least, figures.seats_most
    require(least <= seats <= most, "GAME-6", f"seats: {seats}, these rules take {least} to {most}")
    for name, command in WHAT_FOR.items():
        needless = bool(getattr(figures, name)) and not ruleset.has(command)
        require(not needless, "GAME-6", f"options.{name}: the rules {ruleset.name} have no {command.type}")
    require_cards(ruleset, figures)
    require_routes(ruleset, figures, board)
    require_offers(figures)
    require_stacks(figures)


def require_cards(ruleset: Ruleset, figures: Parameters) -> None:
    """Not too many, and every kind is good for something."""
    cards = sum(figures.cards.values())
    require(cards <= CARDS_MOST, "GAME-6", f"options.cards: {cards} in all, {CARDS_MOST} at most")
    of_use = {
        PASSENGER: ruleset.has(MovePassenger),
        PLUS_FOUR: plus_four_on_long_routes in ruleset.payment,
    }
    for kind, use in of_use.items():
        what = f"options.cards: {kind} cards, which the rules {ruleset.name} have no use for"
        require(use or not figures.cards.get(kind), "GAME-6", what)


def require_dealable(ruleset: Ruleset, figures: Parameters, board: Board, seats: int) -> None:
    """There are cards and tickets enough for the start; a position needs no more than it names."""
    cards, dealt = sum(figures.cards.values()), seats * figures.hand + figures.market
    require(cards >= dealt, "GAME-6", f"options.cards: {cards} in all, {dealt} are dealt at the start")
    ruleset.tickets_suffice(figures, board, seats)


def require_stacks(figures: Parameters) -> None:
    """Merchandise lies with the highest token on top (MERCH-1)."""
    for colour, stack in figures.merchandise.items():
        highest_first = list(stack) == sorted(stack, reverse=True)
        require(highest_first, "GAME-6", f"options.merchandise.{colour}: name the highest token first")


def require_routes(ruleset: Ruleset, figures: Parameters, board: Board) -> None:
    """Every route is of a kind that the rules have, can be paid for, and scores."""
    for route in board.routes.values():
        kinds = f"{route.id} is a {route.kind}, which the rules {ruleset.name} don't have"
        require(route.kind in ruleset.kinds, "GAME-6", f"board: {kinds}")
        payable = route.color == GRAY or figures.cards.get(route.color)
        require(payable, "GAME-6", f"options.cards: no {route.color} card, which {route.id} asks for")
        what = f"board: {route.id} asks for locomotives, which the rules {ruleset.name} don't have"
        require(not route.locomotives or FERRY_KIND in ruleset.kinds, "GAME-6", what)
        enough = figures.cards.get(LOCOMOTIVE, 0) >= route.locomotives
        require(enough, "GAME-6", f"options.cards: {route.id} asks for {route.locomotives} locomotives")
        points = figures.route_points[route.length - 1 : route.length]
        what = f"options.route_points: nothing for length {route.length}, which {route.id} has"
        require(points and points[0] is not None, "GAME-6", what)


def require_offers(figures: Parameters) -> None:
    """What must be kept can be kept, and no draw leaves everything as it was."""
    start = require_offer(
        "start", figures.start_named or sum(figures.start_tickets.values()), figures.start_keep
    )
    most = figures.start_keep_most
    what = f"options.start_keep_most: {most} of {start}, and at least {figures.start_keep} are kept"
    require(most is None or figures.start_keep <= most, "GAME-6", what)
    drawn = require_offer("draw", figures.draw_named or sum(figures.draw_tickets.values()), figures.draw_keep)
    what = "options.draw_keep: 0 would let a seat draw tickets for ever and keep none"
    require(figures.draw_keep or not drawn, "GAME-6", what)


def require_offer(when: str, offered: int, keep: int) -> int:
    """How many tickets are offered at once; so many can be, and the least can be kept of them."""
    require(
        offered <= OFFERED_MOST,
        "GAME-6",
        f"options.{when}_tickets: {offered} at once, {OFFERED_MOST} at most",
    )
    require(keep <= offered, "GAME-6", f"options.{when}_keep: {keep} of {offered} offered tickets")
    return offered


# -- parts of rulesets: are there tickets enough -----------------------------------------------


def enough_for_all(figures: Parameters, board: Board, seats: int) -> None:
    """Every deck has what is offered of it at the start to all seats at the same time."""
    require_fixed_mix(figures)
    held = Counter(ticket.deck for ticket in board.tickets.values())
    for deck, count in figures.start_tickets.items():
        what = f"options.start_tickets: {seats} x {count} of {deck}, the board has {held[deck]}"
        require(held[deck] >= seats * count, "GAME-6", what)


def require_fixed_mix(figures: Parameters) -> None:
    for name in ("start_named", "draw_named"):
        require(not getattr(figures, name), "GAME-6", f"options.{name}: these rules deal a fixed mix")


def enough_for_mixes(figures: Parameters, board: Board, seats: int) -> None:
    """Whatever mix the seats name, no deck runs short at the start."""
    for name in ("start_named", "draw_named"):
        require(
            getattr(figures, name), "GAME-6", f"options.{name}: 0, but these rules let a seat name its mix"
        )
    require(figures.start_tickets, "GAME-6", "options.start_tickets: no deck that a seat could name")
    held = Counter(ticket.deck for ticket in board.tickets.values())
    for deck in figures.start_tickets:
        what = f"options.start_named: {seats} x {figures.start_named} of {deck}, the board has {held[deck]}"
        require(held[deck] >= seats * figures.start_named, "GAME-6", what)


def enough_in_turn(figures: Parameters, board: Board, seats: int) -> None:
    """Destinations for the last seat to choose from, after all others kept theirs (SETUP-4)."""
    require_fixed_mix(figures)
    gone = figures.start_return == "out"  # what is given back comes to nobody any more
    for deck, offered in figures.start_tickets.items():
        most = offered if gone or figures.start_keep_most is None else figures.start_keep_most
        kept = min(offered, most)
        needed = offered + (seats - 1) * kept
        held = sum(ticket.deck == deck for ticket in board.tickets.values())
        why = f"board: {held} destinations, {seats} seats need {needed}"
        require(held >= needed, "SETUP-4", why)
