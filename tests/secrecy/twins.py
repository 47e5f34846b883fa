"""Another table that a viewer can't tell from the first, through a future that both share.

A twin differs in whatever the viewer can't place, but for what that future lays open to it: those cards
lie in the same places, who pays with cards holds them in both, and who can do nothing can't in either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from schemas.commands import ClaimRoute, Command, CommandEnvelope, KeepTickets, Leave
from schemas.events import (
    CardDrawn,
    CardsGiven,
    CommandRefused,
    DeckShuffled,
    Event,
    HandDealt,
    MarketCardTaken,
    MarketFilled,
    Passed,
    PassengerMoved,
    RouteClaimed,
    SeedRevealed,
    StationBuilt,
    TicketsKept,
    TicketsNamed,
    TicketsOffered,
    TicketsReturned,
    TicketsShown,
    TunnelRevealed,
)  # fmt: skip
from schemas.field_types import PASSENGER, Seat
from services.referee.rules import GameState, legal
from services.referee.rules.determinization import (
    ViewerKnowledge,
    determinize_cards,
    determinize_mixes,
    determinize_tickets,
)
from tests.rules.given import full_state

FROM_A_SHUFFLE = -1  # the place of a card that the deck gets only in this future


@dataclass
class Future:
    """What of a table a viewer will have seen when these events have happened."""

    table: GameState
    viewer: Seat | None
    deck: dict[int, str] = field(default_factory=dict)  # cards by their places in the deck, from the bottom
    hands: dict[Seat, Counter[str]] = field(default_factory=dict)  # cards that others hold, for they pay
    shuffles: bool = False  # the next ones have the same outcome
    tickets: bool = False
    mixes: bool = False
    seed: bool = False

    def __post_init__(self) -> None:
        self._places = list(range(len(self.table.deck)))
        self._drawn: dict[Seat, list[tuple[int, str]]] = {}  # by others, in this future
        self._owing: dict[Seat, Counter[str]] = {}

    def __hash__(self) -> int:
        return id(self)

    @property
    def key(self) -> object:
        """Two futures of one table with the same key have the same twins."""
        hands = tuple((seat, tuple(sorted(hand.items()))) for seat, hand in sorted(self.hands.items()))
        return tuple(sorted(self.deck)), hands, self.shuffles, self.tickets, self.mixes, self.seed

    def follow(self, event: Event) -> None:
        match event:
            case MarketFilled() | TunnelRevealed() | CardDrawn() | CardsGiven() | HandDealt():
                self._from_deck(event)
            case DeckShuffled():
                self._places[:0] = [FROM_A_SHUFFLE] * len(event.order)
            case MarketCardTaken() if event.seat != self.viewer:
                self._owing.setdefault(event.seat, Counter())[event.card] -= 1
            case RouteClaimed() | StationBuilt() if event.seat != self.viewer:
                self._pays(event.seat, Counter(event.cards))
            case PassengerMoved() if event.seat != self.viewer:
                self._pays(event.seat, Counter({PASSENGER: event.cards}))
            case Passed() if event.seat != self.viewer:
                self._holds(event.seat)
            case TicketsOffered() | TicketsShown() | TicketsReturned():
                self._tickets(event)
            case SeedRevealed():
                self.seed = self.shuffles = True

    def _from_deck(self, event: Any) -> None:
        """Cards leave the top. The viewer sees them, or they are another's to pay with."""
        names = (
            event.revealed
            if isinstance(event, TunnelRevealed)
            else (event.card,)
            if isinstance(event, CardDrawn)
            else event.cards
        )
        cards = [(self._places.pop(), str(card)) for card in names]
        if isinstance(event, MarketFilled | TunnelRevealed) or event.seat == self.viewer:
            self._keep(cards)
        else:
            self._drawn.setdefault(event.seat, []).extend(cards)
        if isinstance(event, TunnelRevealed) and event.seat != self.viewer:
            self._pays(event.seat, Counter(event.cards), for_good=False)

    def _keep(self, cards: Sequence[tuple[int, str]]) -> None:
        for place, card in cards:
            if place == FROM_A_SHUFFLE:
                self.shuffles = True
            else:
                self.deck[place] = card

    def _pays(self, seat: Seat, cards: Counter[str], *, for_good: bool = True) -> None:
        """What it drew until now is the same in every twin, and it holds what it needs besides."""
        owing = self._owing.setdefault(seat, Counter())
        drawn = self._drawn.pop(seat, [])
        self._keep(drawn)
        owing.subtract(card for _, card in drawn)
        owing.update(cards)
        self.hands[seat] = self.hands.get(seat, Counter()) | owing
        if not for_good:
            owing.subtract(cards)

    def _holds(self, seat: Seat) -> None:
        """Its whole hand is the same: there is nothing that it could have done with it."""
        self._pays(seat, Counter())
        hand = self.table.seats[seat].hand
        self.hands[seat] = Counter({str(card): count for card, count in hand.items() if count})

    def _tickets(self, event: TicketsOffered | TicketsShown | TicketsReturned) -> None:
        place = self.table.seats[event.seat]
        if isinstance(event, TicketsOffered):
            self.tickets |= event.seat == self.viewer
            self.shuffles |= event.seat == self.viewer
            self.mixes |= self.table.turn is None  # what was named is seen by what comes
        elif isinstance(event, TicketsShown):
            self.tickets |= event.seat != self.viewer
        else:  # of which decks they are is seen now
            left = self.table.turn is None and place.start_tickets_chosen and bool(place.offer)
            self.tickets |= left and event.seat != self.viewer


def future(table: GameState, viewer: Seat | None, events: Sequence[Event]) -> Future:
    """What lies open to the viewer after these events, which haven't happened to the table yet."""
    ahead = Future(table, viewer)
    for event in events:
        ahead.follow(event)
    return ahead


def twin(table: GameState, known: ViewerKnowledge, ahead: Future, rng: Random) -> GameState:
    """A table with that future which differs from this one in all that the viewer won't have seen."""
    other, knows = table.copy(), known.copy()
    for seat, hand in ahead.hands.items():
        knows.hands[seat] = knows.hand(seat) | hand
    other.deck = [card for place, card in enumerate(table.deck) if place not in ahead.deck]
    knows.removed_cards.update(ahead.deck.values())

    def shuffle(row: Sequence[Any]) -> Sequence[Any]:
        return rng.sample(row, len(row))

    determinize_cards(other, knows, shuffle)
    for place, card in sorted(ahead.deck.items()):
        other.deck.insert(place, card)
    if not ahead.tickets:
        determinize_tickets(other, knows, shuffle)
    if not ahead.mixes:
        determinize_mixes(other, known.viewer, shuffle)
    if not ahead.seed:
        _other_luck(other, known.viewer, rng)
    if not ahead.shuffles:
        _other_seed(other, rng)
    return other


def looks(table: GameState, viewer: Seat | None) -> dict[str, Any]:
    """All that there is on a table, with whatever lies face down to the viewer turned down and counted."""
    result = full_state(table)
    result.update(deck=len(table.deck), seed=None, shuffle_key=None)
    result["ticket_decks"] = {deck: len(row) for deck, row in table.ticket_decks.items()}
    for seat, place in enumerate(result["seats"]):
        if seat != viewer:
            hand, tickets, offer = sum(place["hand"].values()), len(place["tickets"]), len(place["offer"])
            place.update(hand=hand, tickets=tickets, offer=offer, seat_secret=None)
            place["requested_mix"] = place["requested_mix"] is None
    return result


def _other_luck(table: GameState, viewer: Seat | None, rng: Random) -> None:
    for seat, place in enumerate(table.seats):
        if seat != viewer and place.seat_secret:
            place.seat_secret = rng.randbytes(32).hex()


def _other_seed(table: GameState, rng: Random) -> None:
    table.seed = rng.randbytes(32).hex()
    table.shuffle_key = rng.randbytes(32).hex()


def alike(
    table: GameState, envelope: CommandEnvelope, events: Sequence[Event], ahead: Future, rng: Random
) -> CommandEnvelope:
    """An envelope of another seat's that says something else, and looks the same to the viewer."""
    seat, command = envelope.seat, envelope.command
    if seat is None or seat == ahead.viewer:
        return envelope
    if not events or isinstance(events[0], CommandRefused):
        return replace(envelope, command=ClaimRoute("nowhere-b", {"blue": rng.randrange(1, 5)}))
    free = not ahead.seed and not (ahead.mixes if isinstance(events[0], TicketsNamed) else ahead.tickets)
    if free and isinstance(events[0], TicketsNamed | TicketsKept) and not isinstance(command, Leave):
        same = [c for c in legal(table, seat) if _backs(table, seat, c) == _backs(table, seat, command)]
        return replace(envelope, command=rng.choice(same))
    return envelope


def _backs(table: GameState, seat: Seat, command: Command) -> list[str] | None:
    """Of which decks the tickets are that a command keeps; None where it keeps none."""
    if not isinstance(command, KeepTickets):
        return None
    offer = table.seats[seat].offer
    return sorted(table.board.tickets[str(offer[n])].deck for n in command.keep)
