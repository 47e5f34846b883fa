"""What a viewer can place of what lies face down, and the same table with all else dealt afresh.

A fork of a game that isn't over goes on from such a table: whoever asks for it plays on among the cards
that it has seen, and learns nothing of the others. And two such tables must look alike to the viewer
for as long as they do the same: that is what the gate in tests/secrecy asks.

Known is what was seen in its place: cards that others took face up and still hold, or showed beside a
tunnel; tickets that the viewer itself put under a deck, until somebody draws or shuffles them. What could
only be reckoned from several such facts (which cards a reshuffle brought back, who may have drawn
a ticket since) counts as unknown: it is dealt afresh too, so that nothing true is told by mistake.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from schemas.events import (
    CardDrawn,
    CardsGiven,
    ChoiceLaid,
    DeckKnown,
    Event,
    HandDealt,
    HandLaid,
    MarketCardTaken,
    MomentLaid,
    PassengerMoved,
    RouteClaimed,
    SeatCleared,
    StationBuilt,
    TicketsLaid,
    TicketsOffered,
    TicketsReturned,
    TicketsShuffled,
    TunnelRevealed,
)  # fmt: skip
from schemas.field_types import HIDDEN, PASSENGER, Seat
from services.referee.rules.moves.tickets import name_offers
from services.referee.rules.shuffle import in_order
from services.referee.rules.table import Place, Table
from services.referee.rules.views import seen_by

Shuffle: TypeAlias = Callable[[Sequence[Any]], Sequence[Any]]  # the same things in another order


class Known:
    """What one viewer (None: a spectator) can place, as of the events that it has followed."""

    __slots__ = ("decks", "hands", "out", "placed", "viewer")

    def __init__(self, viewer: Seat | None) -> None:
        self.viewer = viewer
        self.hands: dict[Seat, Counter[str]] = {}  # cards that a seat holds for certain, the viewer's all
        self.out: Counter[str] = Counter()  # cards that left the game with a seat
        self.decks: dict[str, list[str | None]] = {}  # tickets by deck, the top last; None: not known
        self.placed: set[str] = set()  # tickets that lie in no place that the viewer can't see

    def follow(self, event: Event) -> None:
        """Take on an event. Of one that is whole no more is read than the viewer may see."""
        if (follow := _FOLLOWS.get(event.__class__)) and (seen := seen_by(self.viewer, event)) is not None:
            follow(self, seen)

    def hand(self, seat: Seat) -> Counter[str]:
        """The seat's cards that are known."""
        return self.hands.setdefault(seat, Counter())

    def copy(self) -> Known:
        other = Known(self.viewer)
        other.hands = {seat: hand.copy() for seat, hand in self.hands.items()}
        other.decks = {deck: row[:] for deck, row in self.decks.items()}
        other.out, other.placed = self.out.copy(), self.placed.copy()
        return other


def known_by(viewer: Seat | None, events: Iterable[Event]) -> Known:
    """What the viewer can place after all these events of a game."""
    known = Known(viewer)
    for event in events:
        known.follow(event)
    return known


def redeal(table: Table, known: Known, shuffle: Shuffle) -> Table:
    """A table that looks to the viewer like this one: whatever it can't place is dealt afresh among the
    places that it can't see. `shuffle` is all the chance there is, and all that it is given follows from
    what the viewer knows; so the result tells no more. Seed and luck stay: they are the caller's matter."""
    other = table.branch()
    if not table.over:
        deal_cards(other, known, shuffle)
        deal_tickets(other, known, shuffle)
        name_mixes(other, known.viewer, shuffle)
    return other


# -- dealing afresh ------------------------------------------------------------------------


def deal_cards(table: Table, known: Known, shuffle: Shuffle) -> None:
    """Deck and others' hands, from all cards that the viewer can't place (some may be out of the game)."""
    spots = len(table.deck) + sum(
        place.cards - known.hand(seat).total() for seat, place in _others(table, known.viewer)
    )
    unplaced = +unplaced_cards(table, known)
    cards = Counter(table.figures.cards)
    while unplaced.total() < spots:  # a position has more cards than the rules: nobody knows of which kinds
        unplaced += cards | Counter(dict.fromkeys(cards, 1))
    row = shuffle(in_order(unplaced.items()))
    for seat, place in _others(table, known.viewer):
        held = known.hand(seat)
        count = place.cards - held.total()
        dealt, row = Counter(row[:count]) + held, row[count:]
        place.hand = {card: dealt[str(card)] for card in place.hand}
    table.deck = list(row[: len(table.deck)])


def unplaced_cards(table: Table, known: Known) -> Counter[str | None]:
    """The game's cards, without those that lie open or are known."""
    unplaced: Counter[str | None] = Counter(table.figures.cards)
    unplaced.subtract(table.discards)
    unplaced.subtract(table.market)
    unplaced.subtract(table.tunnel.revealed if table.tunnel else ())
    for cards in (known.out, *known.hands.values()):
        unplaced.subtract(cards)
    del unplaced[HIDDEN]  # gaps of the market
    return unplaced


def deal_tickets(table: Table, known: Known, shuffle: Shuffle) -> None:
    """Ticket decks, others' tickets and offers, from all tickets that the viewer can't place (some may be
    out of the game). Their backs tell of which deck they are."""
    rows = [row for _, place in _others(table, known.viewer) for row in (place.tickets, place.offer)]
    tickets = table.board.tickets
    held = {tickets[str(name)].deck for row in rows for name in row}
    for deck in sorted(held.union(table.ticket_decks)):
        row = shuffle(sorted(name for name in tickets.keys() - known.placed if tickets[name].deck == deck))
        stack = table.ticket_decks.get(deck, [])
        spots = [(stack, n) for n, name in enumerate(known.decks.get(deck, ())) if name is None]
        spots += [(r, n) for r in rows for n, name in enumerate(r) if tickets[str(name)].deck == deck]
        for (r, n), ticket in zip(spots, row, strict=False):
            r[n] = ticket
    for _, place in _others(table, known.viewer):
        if table.turn is None and place.chosen and place.offer:
            _choose_again(table, place, shuffle)


def _choose_again(table: Table, place: Place, shuffle: Shuffle) -> None:
    """Nobody has seen yet of which decks the tickets are that the seat will give back."""
    decks: dict[str, list[str | None]] = {}
    for ticket in (*place.tickets, *place.offer):
        decks.setdefault(table.board.tickets[str(ticket)].deck, []).append(ticket)
    row = [decks[deck].pop() for deck in shuffle([deck for deck in sorted(decks) for _ in decks[deck]])]
    kept = len(place.tickets)
    place.tickets, place.offer = row[:kept], row[kept:]


def name_mixes(table: Table, viewer: Seat | None, shuffle: Shuffle) -> None:
    """What others have named, and what wasn't dealt yet, is any mix that they may name."""
    for seat, place in _others(table, viewer):
        if place.mix:
            place.mix = shuffle(name_offers(table, seat))[0].decks


def _others(table: Table, viewer: Seat | None) -> list[tuple[Seat, Place]]:
    return [(seat, place) for seat, place in enumerate(table.places) if seat != viewer]


# -- what is seen, of the viewer's own and of others' -----------------------------------------


def _got(known: Known, event: HandDealt | CardsGiven | HandLaid) -> None:
    known.hand(event.seat).update(card for card in event.cards if card is not None)
    if isinstance(event, HandLaid):
        known.placed.update(ticket for ticket in event.tickets if ticket is not None)


def _drawn(known: Known, event: CardDrawn | MarketCardTaken) -> None:
    if event.card is not None:
        known.hand(event.seat)[event.card] += 1


def _paid(known: Known, event: RouteClaimed | StationBuilt) -> None:
    """Of equal cards those that are known go first: it makes no difference which of them lay open."""
    known.hands[event.seat] = known.hand(event.seat) - Counter(event.cards)


def _travelled(known: Known, event: PassengerMoved) -> None:
    known.hands[event.seat] = known.hand(event.seat) - Counter({PASSENGER: event.cards})


def _shown(known: Known, event: TunnelRevealed) -> None:
    known.hands[event.seat] = known.hand(event.seat) | Counter(event.cards)


def _cleared(known: Known, event: SeatCleared) -> None:
    known.out += known.hands.pop(event.seat, Counter())


def _tickets_lie(known: Known, event: TicketsShuffled | TicketsLaid) -> None:
    known.placed.difference_update(filter(None, known.decks.get(event.deck, ())))
    known.decks[event.deck] = [HIDDEN] * len(event.order)


def _offered(known: Known, event: TicketsOffered) -> None:
    """What the viewer knew of the top, it can't place any more once another seat has looked at it."""
    gone = [known.decks[deck].pop() for deck in event.decks]
    known.placed.difference_update(filter(None, gone))
    known.placed.update(filter(None, event.tickets))


def _returned(known: Known, event: TicketsReturned) -> None:
    row = known.decks[event.deck]
    if event.to == "top":
        row.extend(reversed(event.tickets))
    elif event.to != "out":
        row[:0] = reversed(event.tickets)


def _laid(known: Known, event: MomentLaid) -> None:
    for seat, hand in enumerate(event.shown):
        known.hand(seat).update(hand)


def _choice_laid(known: Known, event: ChoiceLaid) -> None:
    known.placed.update(filter(None, event.offer))


def _deck_known(known: Known, event: DeckKnown) -> None:
    row = known.decks[event.deck]
    known.decks[event.deck] = [told or there for told, there in zip(reversed(event.order), row, strict=True)]
    known.placed.update(filter(None, event.order))


_FOLLOWS: Final[Mapping[type[Event], Callable[[Known, Any], None]]] = {
    HandDealt: _got,
    CardsGiven: _got,
    HandLaid: _got,
    MomentLaid: _laid,
    ChoiceLaid: _choice_laid,
    DeckKnown: _deck_known,
    CardDrawn: _drawn,
    MarketCardTaken: _drawn,
    RouteClaimed: _paid,
    StationBuilt: _paid,
    PassengerMoved: _travelled,
    TunnelRevealed: _shown,
    SeatCleared: _cleared,
    TicketsShuffled: _tickets_lie,
    TicketsLaid: _tickets_lie,
    TicketsOffered: _offered,
    TicketsReturned: _returned,
}
