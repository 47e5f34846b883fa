"""Words of the train family: its commands, its events, and what a summary says of a game and its seats besides."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.contract import Json
from schemas.field_types import Seat
from schemas.trains import commands as train_commands
from schemas.trains import events as train_events
from schemas.trains.events import TrainScore
from services.referee.games.state import SeatState
from services.referee.games.trains.board import Route, track_text
from services.referee.games.trains.train_state import TrainGame, TrainState
from services.text.commands import describes, titles
from services.text.events import SENTENCE_TABLE, sentence
from services.text.formatting import format_cards, pluralize, seat_name
from services.text.game_summary import OWN_SUMMARIES, OwnSummary


def city_name(state: TrainGame, city_id: str) -> str:
    """A city as the board spells it."""
    return state.own.board.cities[city_id]


def describe_route(state: TrainGame, route_id: str) -> str:
    """A route by its two cities."""
    route = state.own.board.routes[route_id]
    return f"{city_name(state, route.a)} - {city_name(state, route.b)}"


def tickets_suffix(state: TrainGame, tickets: Sequence[str | None]) -> str:
    """The tickets' cities, where the viewer may know them."""
    known = [state.own.board.tickets[ticket] for ticket in tickets if ticket is not None]
    if not known:
        return ""
    return ": " + ", ".join(f"{city_name(state, t.a)} - {city_name(state, t.b)} ({t.points})" for t in known)


@titles(train_commands.ClaimRoute)
def _claim_title(state: TrainGame, command: train_commands.ClaimRoute) -> tuple[str, str]:
    route = state.own.board.routes[command.route]
    passenger_text = f", a passenger in {city_name(state, command.passenger)}" if command.passenger else ""
    title = f"claim {describe_route(state, command.route)} ({pluralize(route.length, 'space')}, {_route_color(state, route)})"
    return title, f"{format_cards(command.cards)}{passenger_text}"


@titles(train_commands.BuildStation)
def _station_title(state: TrainGame, command: train_commands.BuildStation) -> tuple[str, str]:
    return f"build a station with {format_cards(command.cards)}", f"in {city_name(state, command.city)}"


@titles(train_commands.MovePassenger)
def _journey_title(state: TrainGame, command: train_commands.MovePassenger) -> tuple[str, str]:
    way = ", ".join(describe_route(state, route) for route in command.path)
    return f"move the passenger in {city_name(state, command.city)}", f"over {way}"


def _route_color(state: TrainGame, route: Route) -> str:
    color = f"{route.color} {route.kind}" if route.kind != "rail" else str(route.color)
    return color + track_text(state.own.board, route)


@describes(train_commands.DrawBlind)
def _draw_blind(state: TrainGame, seat: Seat | None, command: train_commands.DrawBlind) -> str:
    return "draw blind from the deck"


@describes(train_commands.DeclineTunnel)
def _decline_tunnel(state: TrainGame, seat: Seat | None, command: train_commands.DeclineTunnel) -> str:
    return "leave the tunnel"


@describes(train_commands.RequestCards)
def _request_cards(state: TrainGame, seat: Seat | None, command: train_commands.RequestCards) -> str:
    return "ask for the next cards of the deck"


@describes(train_commands.DrawMarket)
def _draw_market(state: TrainGame, seat: Seat | None, command: train_commands.DrawMarket) -> str:
    if command.slot is None:
        return f"draw {command.color} from the market"
    table = state.own
    card = table.market[command.slot] if command.slot < len(table.market) else None
    return f"draw {card or 'nothing'} from the market, place {command.slot + 1}"


@describes(train_commands.DrawTickets)
def _draw_tickets(state: TrainGame, seat: Seat | None, command: train_commands.DrawTickets) -> str:
    if not command.decks:
        return "draw tickets"
    return f"draw tickets: {', '.join(f'{n} {deck}' for deck, n in command.decks.items())}"


@describes(train_commands.KeepTickets)
def _keep_tickets(state: TrainGame, seat: Seat | None, command: train_commands.KeepTickets) -> str:
    offer = state.seats[seat].own.offer if seat is not None else []
    kept = [offer[place] if place < len(offer) else None for place in command.keep]
    if kept and None not in kept:
        return f"keep tickets{tickets_suffix(state, kept)}"
    places = ", ".join(str(place + 1) for place in command.keep) or "none"
    return f"keep tickets {places} of the offer{tickets_suffix(state, kept)}"


@describes(train_commands.ClaimRoute)
def _claim_route(state: TrainGame, seat: Seat | None, command: train_commands.ClaimRoute) -> str:
    route = state.own.board.routes[command.route]
    passenger_text = (
        f", with a passenger in {city_name(state, command.passenger)}" if command.passenger else ""
    )
    return f"claim {describe_route(state, command.route)} ({route.length}, {_route_color(state, route)}) with {format_cards(command.cards)}{passenger_text}"


@describes(train_commands.PayTunnel)
def _pay_tunnel(state: TrainGame, seat: Seat | None, command: train_commands.PayTunnel) -> str:
    return f"pay {format_cards(command.cards)} more for the tunnel"


@describes(train_commands.BuildStation)
def _build_station(state: TrainGame, seat: Seat | None, command: train_commands.BuildStation) -> str:
    neighbour_text = f", for a route from {city_name(state, command.neighbour)}" if command.neighbour else ""
    return f"build a station in {city_name(state, command.city)} with {format_cards(command.cards)}{neighbour_text}"


@describes(train_commands.MovePassenger)
def _move_passenger(state: TrainGame, seat: Seat | None, command: train_commands.MovePassenger) -> str:
    way = ", ".join(describe_route(state, route) for route in command.path)
    return f"move the passenger in {city_name(state, command.city)} over {way}"


@sentence(train_events.PositionLaid)
def _position_laid(state: TrainGame, event: train_events.PositionLaid) -> str | None:
    return None if state.fork_origin else "The game starts from a position."


@sentence(train_events.TicketsNamed)
def _tickets_named(state: TrainGame, event: train_events.TicketsNamed) -> str:
    if not event.decks:
        return f"{seat_name(state, event.seat)} says which tickets it wants."
    return f"{seat_name(state, event.seat)} wants {', '.join(f'{n} {deck}' for deck, n in event.decks.items())} tickets."


@sentence(train_events.TicketsOffered)
def _tickets_offered(state: TrainGame, event: train_events.TicketsOffered) -> str:
    return f"{seat_name(state, event.seat)} is offered {pluralize(len(event.tickets), 'ticket')}{tickets_suffix(state, event.tickets)}."


@sentence(train_events.TicketsKept)
def _tickets_kept(state: TrainGame, event: train_events.TicketsKept) -> str:
    return f"{seat_name(state, event.seat)} keeps {pluralize(len(event.kept), 'ticket')}{tickets_suffix(state, event.kept)}."


@sentence(train_events.CardDrawn)
def _card_drawn(state: TrainGame, event: train_events.CardDrawn) -> str:
    return f"{seat_name(state, event.seat)} draws {event.card or 'a card'} blind."


@sentence(train_events.MarketCardTaken)
def _market_card_taken(state: TrainGame, event: train_events.MarketCardTaken) -> str:
    return f"{seat_name(state, event.seat)} takes {event.card}."


@sentence(train_events.CardsGiven)
def _cards_given(state: TrainGame, event: train_events.CardsGiven) -> str:
    known = [card for card in event.cards if card is not None]
    suffix = f": {', '.join(known)}" if known else ""
    return f"{seat_name(state, event.seat)} asks for cards and gets {len(event.cards)}{suffix}."


@sentence(train_events.RequestUnmet)
def _request_unmet(state: TrainGame, event: train_events.RequestUnmet) -> str:
    return f"{seat_name(state, event.seat)} asks for cards, and there are too few."


@sentence(train_events.HandReturned)
def _hand_returned(state: TrainGame, event: train_events.HandReturned) -> str:
    return f"{seat_name(state, event.seat)} leaves {pluralize(len(event.cards), 'card')} on top of the deck."


@sentence(train_events.RouteClaimed)
def _route_claimed(state: TrainGame, event: train_events.RouteClaimed) -> str:
    length, scored = state.own.board.routes[event.route].length, f": +{event.points}" if event.points else ""
    cities = describe_route(state, event.route)
    return (
        f"{seat_name(state, event.seat)} claims {cities} ({length}) with {format_cards(event.cards)}{scored}."
    )


@sentence(train_events.TunnelRevealed)
def _tunnel_revealed(state: TrainGame, event: train_events.TunnelRevealed) -> str:
    turned = ", ".join(event.revealed) or "no card"
    more = f"{pluralize(event.extra, 'card')} more" if event.extra else "nothing more"
    tried = f"{seat_name(state, event.seat)} tries the tunnel {describe_route(state, event.route)} with {format_cards(event.cards)}"
    return f"{tried}; turned up: {turned}; it asks for {more}."


@sentence(train_events.TunnelDeclined)
def _tunnel_declined(state: TrainGame, event: train_events.TunnelDeclined) -> str:
    return f"{seat_name(state, event.seat)} leaves the tunnel."


@sentence(train_events.StationBuilt)
def _station_built(state: TrainGame, event: train_events.StationBuilt) -> str:
    lent = f", to use a route from {city_name(state, event.neighbour)}" if event.neighbour else ""
    built = f"{seat_name(state, event.seat)} builds a station in {city_name(state, event.city)}"
    return f"{built} with {format_cards(event.cards)}{lent}."


@sentence(train_events.PassengerPlaced)
def _passenger_placed(state: TrainGame, event: train_events.PassengerPlaced) -> str:
    return f"{seat_name(state, event.seat)} puts a passenger in {city_name(state, event.city)}."


@sentence(train_events.PassengerMoved)
def _passenger_moved(state: TrainGame, event: train_events.PassengerMoved) -> str:
    paid = f" with {pluralize(event.cards, 'passenger card')}" if event.cards else ""
    collected = ", ".join(city_name(state, name) for name in event.taken) or "no city"
    start = f"{seat_name(state, event.seat)}'s passenger leaves {city_name(state, event.city)}"
    return f"{start} over {pluralize(len(event.path), 'route')}{paid}, collecting in {collected}: +{event.points}."


SENTENCE_TABLE.none_for(
    train_events.TicketsShown,
    train_events.TicketsShuffled,
    train_events.DeckLaid,
    train_events.TicketsLaid,
    train_events.HandLaid,
    train_events.MomentLaid,
    train_events.ChoiceLaid,
    train_events.DeckKnown,
    train_events.MarketFilled,
    train_events.TicketsReturned,
    train_events.MixAsked,
    train_events.RevealedDiscarded,
)


def _board(state: TrainGame) -> Json:
    return {"board": state.own.board.id}


def _seat(score: TrainScore, seat_state: SeatState) -> Json:
    return {
        "routes": score.routes,
        "tickets": score.tickets,
        "made": list(score.made),
        "missed": list(score.missed),
        "lent": list(score.lent),
        "longest": score.longest,
        "bonus": score.bonus,
        "most": score.most,
        "stations": score.stations,
        "merchandise": score.merchandise,
        "cars": seat_state.own.cars,
        "cards": seat_state.own.cards,
    }


OWN_SUMMARIES[TrainState] = OwnSummary(_board, _seat)
