"""What checks, explanations and disputes say of a train game: its shuffles, its state, its rules, and what a reason
names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from schemas.commands import Command
from schemas.contract import Json
from schemas.events import Event
from schemas.field_types import Seat
from schemas.stored.entries import Entry
from schemas.trains import commands as train_commands
from schemas.trains.commands import (
    BuildStation,
    ClaimRoute,
    DrawBlind,
    DrawMarket,
    MovePassenger,
    PayTunnel,
    RequestCards,
)
from schemas.trains.events import (
    CardDrawn,
    CardsGiven,
    DeckRecreated,
    MarketCardTaken,
    PassengerMoved,
    RequestUnmet,
    RouteClaimed,
    StationBuilt,
    TicketsKept,
    TicketsOffered,
    TicketsShuffled,
    TunnelDeclined,
    TunnelRevealed,
)
from schemas.trains.field_types import COLORS, LOCOMOTIVE, PASSENGER
from services.referee.games.shuffle import in_canonical_order
from services.referee.games.state import SeatState
from services.referee.games.trains.train_state import TrainGame, TrainState
from services.text.formatting import format_cards, pluralize
from services.text.trains import city_name, describe_route
from services.verification.deal_check import CARDS_OF_PILES, CHECKS, SHUFFLED_CARDS, check_shuffle
from services.verification.dispute_answers import OWN_ACTS, Act, OwnActs, words_of
from services.verification.explanation import RULES_BY_COMMAND, STATE_FORMS


def _discards(state: TrainGame) -> Mapping[str | None, int]:
    return state.own.discards


def _check_deck_recreated(state: TrainGame, event: DeckRecreated, entry: Entry) -> str:
    table = state.own
    cards = Counter(table.discards)
    cards.update(table.deck)
    return check_shuffle(state, in_canonical_order(cards.items()), event, "the deck")


def _check_ticket_shuffle(state: TrainGame, event: TicketsShuffled, entry: Entry) -> str:
    table = state.own
    remaining: Sequence[str | None] | None = table.ticket_decks.get(event.deck)
    if remaining is None:
        remaining = [ticket.id for ticket in table.board.tickets.values() if ticket.deck == event.deck]
    return check_shuffle(
        state, sorted(ticket for ticket in remaining if ticket), event, f"the tickets {event.deck}"
    )


CARDS_OF_PILES[TrainState] = "A card or a ticket"
SHUFFLED_CARDS[TrainState] = _discards
CHECKS[DeckRecreated] = _check_deck_recreated
CHECKS[TicketsShuffled] = _check_ticket_shuffle


HIDDEN_NAME: Final = "hidden"  # stands for a card face down where a name is needed
_PAYMENT_RULES: Final = ("ROUTE-1", "ROUTE-2", "ROUTE-3", "ROUTE-4")


def _state_json(state: TrainGame) -> Json:
    table = state.own
    return {
        "market": list(table.market),
        "deck": len(table.deck),
        "next": list(reversed(table.deck[-5:])),
        "discards": _card_counts(table.discards),
        "ticket_decks": {name: len(deck) for name, deck in table.ticket_decks.items()},
        "routes": dict(table.route_owners),
        "stations": dict(table.station_owners),
        "passengers": dict(table.passenger_owners),
        "seats": [_seat_json(seat, seat_state) for seat, seat_state in enumerate(state.seats)],
    }


def _card_counts(cards: Mapping[str | None, int]) -> dict[str, int]:
    """Cards by color, without those of count 0."""
    return {HIDDEN_NAME if card is None else card: n for card, n in cards.items() if n}


def _seat_json(seat: int, seat_state: SeatState) -> Json:
    return {
        "seat": seat,
        "name": seat_state.name,
        "points": seat_state.own.running_score,
        "cars": seat_state.own.cars,
        "cards": seat_state.own.cards,
        "hand": _card_counts(seat_state.own.hand),
        "tickets": list(seat_state.own.tickets),
        "offer": list(seat_state.own.offer),
        "stations": dict(seat_state.own.stations),
        "gone": seat_state.exit_reason,
    }


STATE_FORMS[TrainState] = _state_json
RULES_BY_COMMAND.update(
    {
        train_commands.DrawBlind: ("CARD-1", "CARD-4"),
        train_commands.DrawMarket: ("CARD-1", "CARD-2", "CARD-4"),
        train_commands.DrawTickets: ("TICKET-1", "TICKET-3"),
        train_commands.KeepTickets: ("SETUP-2", "SETUP-3", "SETUP-4", "TICKET-1"),
        train_commands.ClaimRoute: (
            *_PAYMENT_RULES,
            "ROUTE-7",
            "DOUBLE-1",
            "DOUBLE-2",
            "FERRY-1",
            "TUNNEL-1",
            "PASSENGER-1",
        ),
        train_commands.PayTunnel: ("TUNNEL-2", "TUNNEL-3"),
        train_commands.DeclineTunnel: ("TUNNEL-3", "TUNNEL-4"),
        train_commands.BuildStation: ("STATION-1", "STATION-2", "STATION-3"),
        train_commands.MovePassenger: ("PASSENGER-2",),
        train_commands.RequestCards: ("CARD-6",),
    }
)


_NUMBERS: Final = "one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
_KINDS: Final = {**{color: color for color in COLORS}, "locomotive": LOCOMOTIVE, "engine": LOCOMOTIVE}
_CARDS: Final = re.compile(
    rf"(?:\b(\d{{1,2}}|{'|'.join(_NUMBERS)}) )?\b({'|'.join(_KINDS)}|passenger card)s?\b"
    r"(?! (?:route|connection|track|line|tunnel|ferry))",
    re.IGNORECASE,
)


def _names_in(state: TrainGame, text: str) -> tuple[Mapping[str, int | None], Collection[str]]:
    cards: dict[str, int | None] = {}
    for count, kind in _CARDS.findall(text):
        number = int(count) if count.isdigit() else _NUMBERS.index(count.lower()) + 1 if count else None
        cards[_KINDS.get(kind.lower(), PASSENGER)] = number
    words = words_of(text)
    return cards, [city for city, name in state.own.board.cities.items() if words_of(name) in words]


def _tunnel_cards(state: TrainGame) -> Mapping[str, int] | None:
    """What was laid for a tunnel that is tried."""
    return None if state.own.tunnel is None else state.own.tunnel.cards


def _hold(state: TrainGame, seat: Seat, cards: Mapping[str, int]) -> None:
    hand: dict[str | None, int] = dict.fromkeys(state.rule_options.cards, 0)
    hand.update(cards)
    state.seats[seat].own.hand = hand


def _act_of(
    state: TrainGame, number: int, event: Event, tunnel_cards: Mapping[str, int] | None
) -> Act | None:
    match event:
        case RouteClaimed(route=route, cards=cards):
            paid: Command = ClaimRoute(route, cards)
            if tunnel_cards is not None:
                paid = PayTunnel(dict(Counter(cards) - Counter(tunnel_cards)))
            text = f"paid {format_cards(cards)} for {describe_route(state, route)}"
            return Act(number, event.seat, text, cards, _ends(state, route), paid, is_payment=True)
        case TunnelRevealed(route=route, cards=cards) if event.extra:
            text = f"laid {format_cards(cards)} for the tunnel {describe_route(state, route)}"
            tried = ClaimRoute(route, cards)
            return Act(number, event.seat, text, cards, _ends(state, route), tried, is_payment=True)
        case StationBuilt(city=city, cards=cards):
            text = f"paid {format_cards(cards)} for a station in {city_name(state, city)}"
            built = BuildStation(city, cards, event.neighbour)
            return Act(number, event.seat, text, cards, frozenset((city,)), built, is_payment=True)
        case PassengerMoved(city=city, cards=count):
            text = f"moved a passenger with {pluralize(count, 'passenger card')}"
            cities, moved = frozenset((city, *event.taken)), MovePassenger(city, event.path)
            paid_cards = {PASSENGER: count} if count else {}
            return Act(number, event.seat, text, paid_cards, cities, moved, is_payment=bool(count))
    return _unpaid_act(number, event)


def _unpaid_act(number: int, event: Event) -> Act | None:
    """An act that pays for nothing."""
    match event:
        case MarketCardTaken(card=card):
            taken = DrawMarket(event.slot)
            return Act(number, event.seat, f"took {card} face up", {card: 1}, command=taken)
        case CardDrawn():
            drawn = {} if event.card is None else {event.card: 1}
            return Act(number, event.seat, "drew a card blind", drawn, command=DrawBlind())
        case CardsGiven() | RequestUnmet():
            return Act(number, event.seat, "asked for cards", {}, command=RequestCards())
        case TicketsOffered():
            return Act(number, event.seat, f"was offered {pluralize(len(event.tickets), 'ticket')}", {})
        case TicketsKept():
            return Act(number, event.seat, f"kept {pluralize(len(event.kept), 'ticket')}", {})
        case TunnelDeclined():
            return Act(number, event.seat, "left a tunnel", {})
    return None


def _ends(state: TrainGame, route: str) -> frozenset[str]:
    cities = state.own.board.routes[route]
    return frozenset((cities.a, cities.b))


OWN_ACTS[TrainState] = OwnActs(
    names_in=_names_in,
    before=_tunnel_cards,
    act_of=_act_of,
    hold=_hold,
    paid_by={ClaimRoute: "ROUTE-2", PayTunnel: "TUNNEL-3", BuildStation: "STATION-2"},
    hidden_rule="ROUTE-3",
)
