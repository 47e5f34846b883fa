"""Whether rule options, board and number of seats fit together, so that a game can be dealt, played and scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import comb, prod
from typing import Final

from schemas.commands import Command
from schemas.refusals import require
from schemas.stored.codec import MAX_ENVELOPE_BYTES
from schemas.stored.rows import pack
from schemas.trains.boards.form import BOARD_SCHEMA, BoardForm
from schemas.trains.boards.trains import COLORS as CONNECTION_COLORS
from schemas.trains.boards.trains import LENGTHS
from schemas.trains.commands import BuildStation, DrawMarket, DrawTickets, MovePassenger, PayTunnel
from schemas.trains.field_types import COLORS, LOCOMOTIVE, PASSENGER, PLUS_FOUR
from schemas.trains.rule_options import RuleOptions
from services.referee.games.trains.board import GRAY, Board, Route
from services.referee.games.trains.moves.payment import require_long_route_for_plus_four
from services.referee.games.trains.train_state import TrainRuleset

MAX_OFFERED_TICKETS: Final = 10
MAX_CARDS: Final = 2_000
FERRY_KIND: Final = "ferry"
# options that mean nothing to rules without this command
COMMAND_BY_OPTION: Final[dict[str, type[Command]]] = {
    "market": DrawMarket,
    "draw_tickets": DrawTickets,
    "station_costs": BuildStation,
    "passengers": MovePassenger,
    "merchandise": MovePassenger,
    "tunnel_cards": PayTunnel,
}


def require_playable(ruleset: TrainRuleset, rule_options: RuleOptions, board: Board, seats: int) -> None:
    """Such a game can be played to its final scores.

    Raises CommandRefusedError (GAME-6), which names the option or the part of the board at fault."""
    min_seats, max_seats = rule_options.seats_least, rule_options.seats_most
    require(
        min_seats <= seats <= max_seats,
        "GAME-6",
        f"seats: {seats}, these rules take {min_seats} to {max_seats}",
    )
    for name, command in COMMAND_BY_OPTION.items():
        is_unused = bool(getattr(rule_options, name)) and not ruleset.has_command(command)
        require(not is_unused, "GAME-6", f"options.{name}: the rules {ruleset.name} have no {command.type}")
    require_cards(ruleset, rule_options)
    ruleset.parts.require_board(rule_options, board)
    require_routes(ruleset, rule_options, board)
    require_offers(rule_options)
    for colour, stack in rule_options.merchandise.items():
        is_highest_first = list(stack) == sorted(stack, reverse=True)  # (MERCH-1)
        require(is_highest_first, "GAME-6", f"options.merchandise.{colour}: name the highest token first")


def require_cards(ruleset: TrainRuleset, rule_options: RuleOptions) -> None:
    """The cards aren't too many, and the rules have a use for every kind."""
    card_count = sum(rule_options.cards.values())
    require(card_count <= MAX_CARDS, "GAME-6", f"options.cards: {card_count} in all, {MAX_CARDS} at most")
    usable_kinds = {
        PASSENGER: ruleset.has_command(MovePassenger),
        PLUS_FOUR: require_long_route_for_plus_four in ruleset.parts.payment_checks,
    }
    for kind, is_usable in usable_kinds.items():
        reason = f"options.cards: {kind} cards, which the rules {ruleset.name} have no use for"
        require(is_usable or not rule_options.cards.get(kind), "GAME-6", reason)


def require_dealable(ruleset: TrainRuleset, rule_options: RuleOptions, board: Board, seats: int) -> None:
    """There are enough cards and tickets for the deal. (A position needs only what it names.)"""
    card_count = sum(rule_options.cards.values())
    dealt_count = seats * rule_options.hand + rule_options.market
    require(
        card_count >= dealt_count,
        "GAME-6",
        f"options.cards: {card_count} in all, {dealt_count} are dealt at the start",
    )
    ruleset.parts.require_enough_tickets(rule_options, board, seats)


def require_routes(ruleset: TrainRuleset, rule_options: RuleOptions, board: Board) -> None:
    """Every route is of a kind that the rules have, can be paid for, and has points."""
    for route in board.routes.values():
        reason = f"{route.id} is a {route.kind}, which the rules {ruleset.name} don't have"
        require(route.kind in ruleset.parts.route_kinds, "GAME-6", f"board: {reason}")
        is_payable = route.color == GRAY or rule_options.cards.get(route.color)
        require(is_payable, "GAME-6", f"options.cards: no {route.color} card, which {route.id} asks for")
        detail = f"board: {route.id} asks for locomotives, which the rules {ruleset.name} don't have"
        require(not route.locomotives or FERRY_KIND in ruleset.parts.route_kinds, "GAME-6", detail)
        has_enough = rule_options.cards.get(LOCOMOTIVE, 0) >= route.locomotives
        require(has_enough, "GAME-6", f"options.cards: {route.id} asks for {route.locomotives} locomotives")
        points = rule_options.route_points[route.length - 1 : route.length]
        detail = f"options.route_points: nothing for length {route.length}, which {route.id} has"
        require(points and points[0] is not None, "GAME-6", detail)


def require_offers(rule_options: RuleOptions) -> None:
    """Require that what must be kept is offered, and every draw keeps a ticket, so that draws come to an end."""
    start_offered = require_offer(
        "start", rule_options.start_named or sum(rule_options.start_tickets.values()), rule_options.start_keep
    )
    max_keep = rule_options.start_keep_most
    reason = f"options.start_keep_most: {max_keep} of {start_offered}, and at least {rule_options.start_keep} are kept"
    require(max_keep is None or rule_options.start_keep <= max_keep, "GAME-6", reason)
    draw_offered = require_offer(
        "draw", rule_options.draw_named or sum(rule_options.draw_tickets.values()), rule_options.draw_keep
    )
    reason = "options.draw_keep: 0 would let a seat draw tickets for ever and keep none"
    require(rule_options.draw_keep or not draw_offered, "GAME-6", reason)


def require_offer(phase: str, offered: int, keep: int) -> int:
    """`offered` again, if so many tickets can be offered at once and `keep` of them kept."""
    require(
        offered <= MAX_OFFERED_TICKETS,
        "GAME-6",
        f"options.{phase}_tickets: {offered} at once, {MAX_OFFERED_TICKETS} at most",
    )
    require(keep <= offered, "GAME-6", f"options.{phase}_keep: {keep} of {offered} offered tickets")
    return offered


# -- parts of rulesets: which boards can be played on ------------------------------------------


def require_connections(rule_options: RuleOptions, board: Board) -> None:
    """Every card and connection has one of the colours of connections, every connection one of the LENGTHS, and two cities are joined by
    one colour at most once."""
    colors, lengths = ", ".join(CONNECTION_COLORS), ", ".join(map(str, LENGTHS))
    for kind, count in rule_options.cards.items():
        reason = f"options.cards: {kind} cards; the colours of cards and connections are {colors}"
        require(kind in CONNECTION_COLORS or not count, "GAME-6", reason)
    joined: set[tuple[frozenset[str], str]] = set()
    for route in board.routes.values():
        ends_and_color = frozenset((route.a, route.b)), route.color
        reason = f"board: {route.id} is {route.color}; the colours of connections are {colors}"
        require(route.color in CONNECTION_COLORS, "GAME-6", reason)
        reason = f"board: {route.id} is {route.length} spaces long; connections have {lengths}"
        require(route.length in LENGTHS, "GAME-6", reason)
        reason = f"board: {route.id} joins two cities that another {route.color} connection joins already"
        require(ends_and_color not in joined, "GAME-6", reason)
        joined.add(ends_and_color)


# -- parts of rulesets: are there enough tickets -----------------------------------------------


def require_tickets_for_all(rule_options: RuleOptions, board: Board, seats: int) -> None:
    """Every deck has enough tickets to offer to all seats at the same time at the start."""
    require_fixed_mix(rule_options)
    deck_sizes = Counter(ticket.deck for ticket in board.tickets.values())
    for deck, count in rule_options.start_tickets.items():
        reason = f"options.start_tickets: {seats} x {count} of {deck}, the board has {deck_sizes[deck]}"
        require(deck_sizes[deck] >= seats * count, "GAME-6", reason)


def require_fixed_mix(rule_options: RuleOptions) -> None:
    """Refuses options with which seats would name a mix of tickets; these rules have none."""
    for name in ("start_named", "draw_named"):
        require(not getattr(rule_options, name), "GAME-6", f"options.{name}: these rules deal a fixed mix")


def require_tickets_for_mixes(rule_options: RuleOptions, board: Board, seats: int) -> None:
    """Every deck has enough tickets for the start, whatever mixes the seats name."""
    for name in ("start_named", "draw_named"):
        require(
            getattr(rule_options, name),
            "GAME-6",
            f"options.{name}: 0, but these rules let a seat name its mix",
        )
    require(rule_options.start_tickets, "GAME-6", "options.start_tickets: no deck that a seat could name")
    deck_sizes = Counter(ticket.deck for ticket in board.tickets.values())
    for deck in rule_options.start_tickets:
        reason = f"options.start_named: {seats} x {rule_options.start_named} of {deck}, the board has {deck_sizes[deck]}"
        require(deck_sizes[deck] >= seats * rule_options.start_named, "GAME-6", reason)


def require_tickets_in_turn(rule_options: RuleOptions, board: Board, seats: int) -> None:
    """Enough destinations for the last seat to choose from, after all others kept theirs (SETUP-4)."""
    require_fixed_mix(rule_options)
    returned_are_out = rule_options.start_return == "out"  # what is given back is offered to nobody again
    for deck, offered in rule_options.start_tickets.items():
        max_keep = (
            offered
            if returned_are_out or rule_options.start_keep_most is None
            else rule_options.start_keep_most
        )
        kept = min(offered, max_keep)
        needed = offered + (seats - 1) * kept
        deck_size = sum(ticket.deck == deck for ticket in board.tickets.values())
        reason = f"board: {deck_size} destinations, {seats} seats need {needed}"
        require(deck_size >= needed, "SETUP-4", reason)


# -- how much computation a game may cost its referee, which plays many games at once. Boards, options and positions come from
# users, and some searches grow very fast with them; their worst case follows from board and options alone. So a game that is
# too expensive is refused when it is created, and never in the middle of its play. -------------------------------------


MAX_ROUTES_PER_SEAT: Final = 52  # the search for the longest route grows with their number
MAX_PAIRED_CITIES: Final = 100  # every two of them are a ticket
MAX_PAYMENTS: Final = 100_000  # ways to pay, summed over all routes
MAX_STATION_LOANS: Final = 5_000  # combinations of what a seat's stations lend, or don't
RESERVED_OPTION_BYTES: Final = 8_192  # of an envelope, for everything but the board
MAX_TICKET_MIXES: Final = 300  # ways to name how many tickets of each deck
MAX_PASSENGER_WAYS: Final = 60  # passengers of a seat times routes at the busiest city


def require_within_limits(rule_options: RuleOptions, board: Board) -> None:
    """Refuses rule options that make a game on this board too expensive.

    Raises CommandRefusedError (GAME-6), which names the option that is too large."""
    routes = board.routes.values()
    _require_at_most(
        "cars", "routes in one hand", _max_routes_owned(routes, rule_options.cars), MAX_ROUTES_PER_SEAT
    )
    if rule_options.pair_tickets:
        paired_cities = len({city for route in routes for city in (route.a, route.b)})
        _require_at_most("pair_tickets", "cities in pairs", paired_cities, MAX_PAIRED_CITIES)
    _require_at_most("cards", "ways to pay for routes", _count_payments(rule_options, routes), MAX_PAYMENTS)
    for option in ("start", "draw"):
        deck_count, named = (
            len(getattr(rule_options, f"{option}_tickets")),
            getattr(rule_options, f"{option}_named"),
        )
        _require_at_most(
            f"{option}_tickets",
            "mixes to name",
            comb(named + deck_count - 1, named) if named else 1,
            MAX_TICKET_MIXES,
        )
    neighbour_counts = Counter(city for pair in {frozenset((r.a, r.b)) for r in routes} for city in pair)
    busiest = neighbour_counts.most_common(len(rule_options.station_costs))
    loan_choices = prod(1 + count for _, count in busiest)
    _require_at_most("station_costs", "choices of what stations lend", loan_choices, MAX_STATION_LOANS)
    max_degree = max(Counter(city for r in routes for city in (r.a, r.b)).values(), default=0)
    _require_at_most(
        "passengers", "ways out of one city", rule_options.passengers * max_degree, MAX_PASSENGER_WAYS
    )


def require_room_for_play_off(rule_options: RuleOptions, form: BoardForm) -> None:
    """A board that is given inline must fit, with all rule options, into the envelope that creates a
    play-off game: a play-off that is called must be possible.

    Raises CommandRefusedError (GAME-6) if the board is too large."""
    if rule_options.play_off:
        size = len(pack(BOARD_SCHEMA.write(form, exclude_defaults=True)))
        limit = MAX_ENVELOPE_BYTES - RESERVED_OPTION_BYTES
        reason = (
            f"board: has {size} bytes, {limit} at most where a first place is played off (options.play_off)"
        )
        require(size <= limit, "GAME-6", reason)


def _require_at_most(option: str, counted: str, count: int, limit: int) -> None:
    require(
        count <= limit, "GAME-6", f"options.{option}: up to {count} {counted} on this board, {limit} at most"
    )


def _max_routes_owned(routes: Iterable[Route], cars: int) -> int:
    """Count the routes that one seat can own: the shortest ones, while its cars last."""
    owned = 0
    for length in sorted(route.length for route in routes):
        cars -= length
        if cars < 0:
            break
        owned += 1
    return owned


def _count_payments(rule_options: RuleOptions, routes: Iterable[Route]) -> int:
    """Count the ways to pay for a hand that has every card, over all routes."""
    colour_count = sum(card in COLORS for card in rule_options.cards)
    ways = 0
    for route in routes:
        wild_choices = route.length + 1  # how many of the cards are locomotives
        if PLUS_FOUR in rule_options.cards:
            wild_choices = wild_choices * (wild_choices + 1) // 2
        ways += wild_choices * (colour_count if route.color == GRAY else 1)
    return ways
