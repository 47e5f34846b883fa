"""A position in the middle of a turn, or near the end: what it says of turns, checked, and laid as events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError, require
from schemas.trains.events import ChoiceLaid, MomentLaid
from schemas.trains.field_types import LOCOMOTIVE
from schemas.trains.positions import Position, TunnelGiven
from schemas.trains.rule_options import RuleOptions
from services.referee.games.state import ACTION, Choice, EventStream
from services.referee.games.trains.board import Board, Route, closes_parallels
from services.referee.games.trains.moves.tunnels import TUNNEL_KIND, extra_cost
from services.referee.games.trains.pending_choices import SECOND_CARD, TICKETS, TUNNEL
from services.referee.games.trains.train_state import TrainRuleset


def require_turn_state(
    ruleset: TrainRuleset, rule_options: RuleOptions, board: Board, seats: int, position: Position
) -> None:
    """Require that the turns of the position are possible. Raises CommandRefusedError (GAME-6), naming the wrong entry."""
    if not position.has_turn_state():
        return
    _require(position.turn is not None, "turn", "somebody's turn has begun where it says more of turns")
    _require_seats(seats, position)
    for seat, count in enumerate(position.passengers_left or ()):
        placed = [*(position.passengers or {}).values()].count(seat)
        reason = f"{count} and {placed} on the board, a seat has {rule_options.passengers}"
        _require(count + placed <= rule_options.passengers, f"passengers_left.{seat}", reason)
    choices = [name for name in ("second_card", "offer", "tunnel") if getattr(position, name)]
    _require(len(choices) < 2, ", ".join(choices), "a seat has one choice at a time")
    needed = pending_choice(position)
    _require(needed in ruleset.moves, ", ".join(choices), "these rules have no such choice")
    if position.offer is not None:
        _require(rule_options.draw_tickets, "offer", "no tickets are drawn in these rules")
        most = len(position.offer.tickets)
        _require(position.offer.least <= most, "offer.least", f"{position.offer.least} of {most} tickets")
    if position.second_card:
        _require(_has_second_card(position), "second_card", "there is no card that could be drawn")
    if position.tunnel is not None:
        _require_tunnel(ruleset, rule_options, board, seats, position, position.tunnel)


def pending_choice(position: Position) -> Choice:
    """Find the choice that the game waits for."""
    if position.second_card:
        return SECOND_CARD
    if position.offer is not None:
        return TICKETS
    return ACTION if position.tunnel is None else TUNNEL


def turn_state_events(
    rule_options: RuleOptions, board: Board, seats: int, position: Position, offered: Sequence[str]
) -> EventStream:
    """The events that lay the turns of a valid position, `offered` being the ids of its offer; none for a position whose
    turn is only beginning."""
    if position.turn is None or not position.has_turn_state():
        return
    tunnel = position.tunnel
    limits = [limit for limit in (rule_options.clock_ms, rule_options.move_ms) if limit is not None]
    yield MomentLaid(
        order=position.order or tuple(range(seats)),
        turn=position.turn,
        awaits=((position.turn, pending_choice(position), min(limits, default=None)),),
        tunnel=None
        if tunnel is None
        else (tunnel.route, tunnel.cards, tunnel.revealed, extra_cost(tunnel.cards, tunnel.revealed)),
        ending=position.last_turns is not None,
        last=tuple(sorted(position.last_turns or ())),
        passed=tuple(sorted(position.passed)),
        chosen=(True,) * seats,
        gone=(*position.gone, *(None,) * (seats - len(position.gone))),
        clocks=(rule_options.clock_ms or 0,) * seats,
        passengers=tuple(passengers_left(rule_options, seats, position)),
        shown=({},) * seats,
    )
    if position.offer is not None:
        yield ChoiceLaid(position.turn, tuple(offered), position.offer.least, False, None)


def passengers_left(rule_options: RuleOptions, seats: int, position: Position) -> list[int]:
    """Count by seat the passengers still to be placed: as given, else all that aren't on the board."""
    given = position.passengers_left or ()
    placed = [*(position.passengers or {}).values()] if rule_options.passengers else []
    return [
        given[seat] if seat < len(given) else rule_options.passengers - placed.count(seat)
        for seat in range(seats)
    ]


def _require(condition: object, field: str, reason: str) -> None:
    require(condition, "GAME-6", f"position.{field}: {reason}")


def _require_seats(seats: int, position: Position) -> None:
    rows: Mapping[str, Sequence[Seat]] = {
        "order": position.order or (),
        "last_turns": position.last_turns or (),
        "passed": position.passed,
    }
    for field, row in rows.items():
        for seat in row:
            _require(seat < seats, field, f"there is no seat {seat}")
        _require(len(set(row)) == len(row), field, "a seat is there twice")
    _require(position.order is None or len(position.order) == seats, "order", f"it has all {seats} seats")
    for name in ("gone", "passengers_left"):
        row_count = len(getattr(position, name) or ())
        _require(row_count <= seats, name, f"{row_count} rows for {seats} seats")
    gone = [seat for seat, reason in enumerate(position.gone) if reason is not None]
    _require(position.turn not in gone, f"gone.{position.turn}", "it is this seat's turn")
    for seat in position.last_turns or ():
        _require(seat not in gone, "last_turns", f"seat {seat} is gone")
        _require(seat != position.turn, "last_turns", f"seat {seat}'s turn has begun; name those after it")


def _has_second_card(position: Position) -> bool:
    """Whether a second card can be drawn (CARD-1, CARD-4)."""
    market = any(card not in (None, LOCOMOTIVE) for card in position.market or ())
    return market or position.deck is None or bool(position.deck) or any((position.discard or {}).values())


def _require_tunnel(
    ruleset: TrainRuleset,
    rule_options: RuleOptions,
    board: Board,
    seats: int,
    position: Position,
    tunnel: TunnelGiven,
) -> None:
    """The seat to act could have begun this tunnel, and has something to pay."""
    route, seat = board.routes.get(tunnel.route), position.turn or 0
    if route is None or route.kind != TUNNEL_KIND:
        raise CommandRefusedError("GAME-6", f"position.tunnel.route: there is no tunnel {tunnel.route}")
    _require_open(rule_options, seats, position, route)
    cars = position.cars[seat] if seat < len(position.cars) else rule_options.cars
    _require(
        cars >= route.length, "tunnel.route", f"{route.length} spaces, and seat {seat} has {cars} cars left"
    )
    hand = position.hands[seat] if seat < len(position.hands) else {}
    for card, count in tunnel.cards.items():
        _require(hand.get(card, 0) >= count, f"tunnel.cards.{card}", f"seat {seat} doesn't hold {count}")
    for card in tunnel.revealed:
        _require(card in rule_options.cards, f"tunnel.revealed.{card}", "these rules have no such card")
    most = rule_options.tunnel_cards
    _require(len(tunnel.revealed) <= most, "tunnel.revealed", f"{most} cards are turned up at most")
    _require(extra_cost(tunnel.cards, tunnel.revealed), "tunnel.revealed", "they ask for nothing more")
    try:
        for check_payment in ruleset.parts.payment_checks:
            check_payment(tunnel.cards, route, rule_options)
    except CommandRefusedError as error:
        raise CommandRefusedError("GAME-6", f"position.tunnel.cards: {error.reason} ({error.rule})") from None


def _require_open(rule_options: RuleOptions, seats: int, position: Position, route: Route) -> None:
    owners, seat = position.routes or {}, position.turn
    _require(route.id not in owners, "tunnel.route", "the route is claimed")
    for twin in route.parallels:
        is_open = rule_options.parallel_owned or owners.get(twin) != seat
        _require(is_open, "tunnel.route", f"seat {seat} owns its parallel {twin} (DOUBLE-1)")
        is_open = twin not in owners or not closes_parallels(rule_options, seats)
        _require(is_open, "tunnel.route", f"its parallel {twin} is claimed (DOUBLE-2)")
