"""The rules of the train games, each in one sentence."""

from __future__ import annotations

from typing import Final

TRAIN_RULES: Final[dict[str, str]] = {
    "SETUP-2": "Starting tickets are chosen once, from what was offered.",
    "SETUP-3": "At least the least number of starting tickets is kept.",
    "SETUP-4": "Exactly so many destinations are kept, and a map has enough of them for all seats.",
    "TURN-4": "A seat that can act may not pass, unless it could only build a station.",
    "CARD-1": "A draw is two cards, each from the market or blind from the deck.",
    "CARD-2": "A face-up locomotive is a whole draw: it can't be the second card.",
    "CARD-4": "A card can be drawn only while deck and discard pile have one.",
    "ROUTE-1": "The route is on the board, nobody owns it, and it isn't closed.",
    "ROUTE-2": "As many cards as the route has spaces, of one colour that suits it, locomotives wild.",
    "ROUTE-3": "A seat pays with cards that it holds.",
    "ROUTE-4": "The seat has a train car for every space of the route.",
    "ROUTE-7": 'A "+4" locomotive is wild on long routes only, and a passenger card pays for none.',
    "DOUBLE-1": "One seat never owns two parallel routes.",
    "DOUBLE-2": "At a small table, parallel routes close when one of them is claimed.",
    "FERRY-1": "A ferry is paid with at least as many locomotives as it shows.",
    "TUNNEL-3": "A tunnel that asks for more is paid with exactly that, or declined.",
    "TICKET-1": "Of drawn tickets at least the least number is kept; with none left there is no draw.",
    "TICKET-3": "Where there are several decks of tickets, the draw names how many of each.",
    "STATION-1": "A city holds one station at most, and a seat builds no more than it has.",
    "STATION-2": "Each further station costs a card more, all of one colour, locomotives wild.",
    "STATION-3": "A station borrows a route from a neighbouring city.",
    "PASSENGER-1": "A passenger is placed with a claim, in a city of that route where none stands.",
    "PASSENGER-2": "A passenger moves along claimed routes, each once, paying a card for those of others.",
}
