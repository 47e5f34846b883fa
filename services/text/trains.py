"""Words of the train family: its commands, its events, and what a summary says of a game and its seats besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schemas.contract import Json
from schemas.field_types import Seat
from schemas.trains import commands as train_commands
from schemas.trains import events as train_events
from schemas.trains.events import TrainScore
from services.referee.games.state import SeatState
from services.referee.games.trains.board import Route, track_text
from services.referee.games.trains.train_state import TrainGame, TrainState
from services.text.formatting import format_cards, pluralize, seat_name
from services.text.sentences import DESCRIPTIONS, OWN_SUMMARIES, SENTENCES, TITLES, OwnSummary


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


def _counted_tickets(state: TrainGame, tickets: Sequence[str | None]) -> str:
    return pluralize(len(tickets), "ticket") + tickets_suffix(state, tickets)


def _mix(decks: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {deck}" for deck, n in decks.items())


def _ways(state: TrainGame, path: Sequence[str]) -> str:
    return ", ".join(describe_route(state, route) for route in path)


def _route_color(state: TrainGame, route: Route) -> str:
    color = f"{route.color} {route.kind}" if route.kind != "rail" else str(route.color)
    return color + track_text(state.own.board, route)


# -- commands ----------------------------------------------------------------------------


def _claim_title(state: TrainGame, command: train_commands.ClaimRoute) -> tuple[str, str]:
    route = state.own.board.routes[command.route]
    passenger_text = f", a passenger in {city_name(state, command.passenger)}" if command.passenger else ""
    title = f"claim {describe_route(state, command.route)} ({pluralize(route.length, 'space')}, {_route_color(state, route)})"
    return title, f"{format_cards(command.cards)}{passenger_text}"


def _draw_market(state: TrainGame, seat: Seat | None, command: train_commands.DrawMarket) -> str:
    if command.slot is None:
        return f"draw {command.color} from the market"
    market = state.own.market
    card = market[command.slot] if command.slot < len(market) else None
    return f"draw {card or 'nothing'} from the market, place {command.slot + 1}"


def _keep_tickets(state: TrainGame, seat: Seat | None, command: train_commands.KeepTickets) -> str:
    offer = state.seats[seat].own.offer if seat is not None else []
    kept = [offer[place] if place < len(offer) else None for place in command.keep]
    if kept and None not in kept:
        return f"keep tickets{tickets_suffix(state, kept)}"
    places = ", ".join(str(place + 1) for place in command.keep) or "none"
    return f"keep tickets {places} of the offer{tickets_suffix(state, kept)}"


def _claim_route(state: TrainGame, seat: Seat | None, command: train_commands.ClaimRoute) -> str:
    route = state.own.board.routes[command.route]
    passenger = f", with a passenger in {city_name(state, command.passenger)}" if command.passenger else ""
    return f"claim {describe_route(state, command.route)} ({route.length}, {_route_color(state, route)}) with {format_cards(command.cards)}{passenger}"


def _build_station(state: TrainGame, seat: Seat | None, command: train_commands.BuildStation) -> str:
    neighbour_text = f", for a route from {city_name(state, command.neighbour)}" if command.neighbour else ""
    return f"build a station in {city_name(state, command.city)} with {format_cards(command.cards)}{neighbour_text}"


DESCRIPTIONS.update(
    {
        train_commands.DrawBlind: "draw blind from the deck",
        train_commands.DeclineTunnel: "leave the tunnel",
        train_commands.RequestCards: "ask for the next cards of the deck",
        train_commands.DrawMarket: _draw_market,
        train_commands.DrawTickets: lambda state, seat, command: (
            f"draw tickets: {_mix(command.decks)}" if command.decks else "draw tickets"
        ),
        train_commands.KeepTickets: _keep_tickets,
        train_commands.ClaimRoute: _claim_route,
        train_commands.PayTunnel: lambda state, seat, command: (
            f"pay {format_cards(command.cards)} more for the tunnel"
        ),
        train_commands.BuildStation: _build_station,
        train_commands.MovePassenger: lambda state, seat, command: (
            f"move the passenger in {city_name(state, command.city)} over {_ways(state, command.path)}"
        ),
    }
)
TITLES.update(
    {
        train_commands.ClaimRoute: _claim_title,
        train_commands.BuildStation: lambda state, command: (
            f"build a station with {format_cards(command.cards)}",
            f"in {city_name(state, command.city)}",
        ),
        train_commands.MovePassenger: lambda state, command: (
            f"move the passenger in {city_name(state, command.city)}",
            f"over {_ways(state, command.path)}",
        ),
    }
)

# -- events ------------------------------------------------------------------------------


def _cards_given(state: TrainGame, event: train_events.CardsGiven) -> str:
    known = [card for card in event.cards if card is not None]
    suffix = f": {', '.join(known)}" if known else ""
    return f"{seat_name(state, event.seat)} asks for cards and gets {len(event.cards)}{suffix}."


def _route_claimed(state: TrainGame, event: train_events.RouteClaimed) -> str:
    length, scored = state.own.board.routes[event.route].length, f": +{event.points}" if event.points else ""
    cities = describe_route(state, event.route)
    return (
        f"{seat_name(state, event.seat)} claims {cities} ({length}) with {format_cards(event.cards)}{scored}."
    )


def _tunnel_revealed(state: TrainGame, event: train_events.TunnelRevealed) -> str:
    turned = ", ".join(event.revealed) or "no card"
    more = f"{pluralize(event.extra, 'card')} more" if event.extra else "nothing more"
    tried = f"{seat_name(state, event.seat)} tries the tunnel {describe_route(state, event.route)} with {format_cards(event.cards)}"
    return f"{tried}; turned up: {turned}; it asks for {more}."


def _station_built(state: TrainGame, event: train_events.StationBuilt) -> str:
    lent = f", to use a route from {city_name(state, event.neighbour)}" if event.neighbour else ""
    built = f"{seat_name(state, event.seat)} builds a station in {city_name(state, event.city)}"
    return f"{built} with {format_cards(event.cards)}{lent}."


def _passenger_moved(state: TrainGame, event: train_events.PassengerMoved) -> str:
    paid = f" with {pluralize(event.cards, 'passenger card')}" if event.cards else ""
    collected = ", ".join(city_name(state, name) for name in event.taken) or "no city"
    start = f"{seat_name(state, event.seat)}'s passenger leaves {city_name(state, event.city)}"
    return f"{start} over {pluralize(len(event.path), 'route')}{paid}, collecting in {collected}: +{event.points}."


SENTENCES.update(
    {
        train_events.PositionLaid: lambda state, event: (
            None if state.fork_origin else "The game starts from a position."
        ),
        train_events.TicketsNamed: lambda state, event: (
            f"{seat_name(state, event.seat)} "
            + (f"wants {_mix(event.decks)} tickets." if event.decks else "says which tickets it wants.")
        ),
        train_events.TicketsOffered: lambda state, event: (
            f"{seat_name(state, event.seat)} is offered {_counted_tickets(state, event.tickets)}."
        ),
        train_events.TicketsKept: lambda state, event: (
            f"{seat_name(state, event.seat)} keeps {_counted_tickets(state, event.kept)}."
        ),
        train_events.CardDrawn: "{seat} draws {card} blind.",
        train_events.MarketCardTaken: "{seat} takes {card}.",
        train_events.CardsGiven: _cards_given,
        train_events.RequestUnmet: "{seat} asks for cards, and there are too few.",
        train_events.HandReturned: lambda state, event: (
            f"{seat_name(state, event.seat)} leaves {pluralize(len(event.cards), 'card')} on top of the deck."
        ),
        train_events.RouteClaimed: _route_claimed,
        train_events.TunnelRevealed: _tunnel_revealed,
        train_events.TunnelDeclined: "{seat} leaves the tunnel.",
        train_events.StationBuilt: _station_built,
        train_events.PassengerPlaced: lambda state, event: (
            f"{seat_name(state, event.seat)} puts a passenger in {city_name(state, event.city)}."
        ),
        train_events.PassengerMoved: _passenger_moved,
        **dict.fromkeys(
            (
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
        ),
    }
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
