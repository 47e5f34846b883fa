"""What a viewer knows of the hidden cards, and the same game state with all other hidden cards dealt afresh.

The literature calls this determinization (Whitehouse, Powley and Cowling, "Determinization and
Information Set Monte Carlo Tree Search for the card game Dou Di Zhu", 2011). A fork of a running game
starts from such a state: the asker plays on with the cards that it has seen, and learns nothing of the
others. Two such states must be indistinguishable to the viewer as long as the same is done to both; the
gate in tests/secrecy checks that.

Known is what was seen where it is: cards that others took face up and still hold, or showed for a
tunnel, or paid and took back; tickets that the viewer itself put under a deck, until somebody draws
or shuffles them. What could only be inferred from several observations (which cards a reshuffle
brought back, who may have drawn a ticket since), and where in the deck a removed seat's hand went,
counts as unknown. It is dealt afresh too, so that nothing true is revealed by mistake.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice

from schemas.events import Event, HandDealt, MoveUndone, Passed, SeatCleared
from schemas.field_types import HIDDEN, Seat
from schemas.trains.events import (
    CardDrawn,
    CardsGiven,
    ChoiceLaid,
    DeckKnown,
    HandLaid,
    HandReturned,
    MarketCardTaken,
    MomentLaid,
    PassengerMoved,
    RouteClaimed,
    StationBuilt,
    TicketsLaid,
    TicketsOffered,
    TicketsReturned,
    TicketsShuffled,
    TunnelRevealed,
)
from schemas.trains.field_types import PASSENGER
from services.referee.games.shuffle import in_canonical_order
from services.referee.games.state import SeatState, Seen, ShuffleFunction
from services.referee.games.trains.moves.tickets import name_offers
from services.referee.games.trains.train_state import TrainGame
from services.referee.games.views import redact_for


class ViewerKnowledge:
    """The hidden cards that one viewer (None: a spectator) knows after the events that were applied."""

    __slots__ = ("decks", "hands", "located_tickets", "paid", "removed_cards", "viewer")

    def __init__(self, viewer: Seat | None) -> None:
        self.viewer = viewer
        self.hands: dict[Seat, Counter[str]] = {}  # known cards by seat; of the viewer's own seat all
        self.paid: Counter[str] = Counter()  # by the last move: whose taking back gives these cards back
        self.removed_cards: Counter[str] = Counter()  # known cards that left the game with a seat
        self.decks: dict[str, list[str | None]] = {}  # tickets by deck, the top last; None: not known
        self.located_tickets: set[str] = set()  # tickets whose place the viewer knows

    def apply(self, event: Event) -> None:
        """Apply an event. An unredacted one is redacted for the viewer first."""
        if (seen := redact_for(self.viewer, event)) is not None:
            self._learn_cards(seen)
            self._learn_tickets(seen)

    def _learn_cards(self, event: Event) -> None:
        """Of equal cards the known ones are paid first: it makes no difference which of them were seen."""
        match event:
            case HandDealt() | CardsGiven() | HandLaid():
                self.hand(event.seat).update(filter(None, event.cards))
            case CardDrawn() | MarketCardTaken():
                self.hand(event.seat).update(filter(None, (event.card,)))
            case RouteClaimed() | StationBuilt():
                self._pay(event.seat, Counter(event.cards))
            case PassengerMoved():
                self._pay(event.seat, Counter({PASSENGER: event.cards}))
            case Passed():
                self._pay(event.seat, Counter())
            case MoveUndone():
                self.hands[event.seat] = self.hand(event.seat) + self.paid
            case TunnelRevealed():
                self.hands[event.seat] = self.hand(event.seat) | Counter(event.cards)
            case HandReturned():
                self.hands[event.seat] = self.hand(event.seat) - Counter(filter(None, event.cards))
            case SeatCleared():
                self.removed_cards += self.hands.pop(event.seat, Counter())
            case MomentLaid():
                for seat, hand in enumerate(event.shown):
                    self.hand(seat).update(hand)

    def _learn_tickets(self, event: Event) -> None:
        """The places of top tickets that the viewer knew are forgotten once these are offered to another seat."""
        match event:
            case HandLaid():
                self.located_tickets.update(filter(None, event.tickets))
            case ChoiceLaid():
                self.located_tickets.update(filter(None, event.offer))
            case TicketsShuffled() | TicketsLaid():
                self.located_tickets.difference_update(filter(None, self.decks.get(event.deck, ())))
                self.decks[event.deck] = [HIDDEN] * len(event.order)
            case TicketsOffered():
                removed_tickets = [self.decks[deck].pop() for deck in event.decks]
                self.located_tickets.difference_update(filter(None, removed_tickets))
                self.located_tickets.update(filter(None, event.tickets))
            case TicketsReturned(to="top"):
                self.decks[event.deck].extend(reversed(event.tickets))
            case TicketsReturned(to="bottom" | "shuffled"):
                self.decks[event.deck][:0] = reversed(event.tickets)
            case DeckKnown():
                tickets = zip(reversed(event.order), self.decks[event.deck], strict=True)
                self.decks[event.deck] = [shown or current for shown, current in tickets]
                self.located_tickets.update(filter(None, event.order))

    def _pay(self, seat: Seat, cards: Counter[str]) -> None:
        self.hands[seat], self.paid = self.hand(seat) - cards, cards

    def hand(self, seat: Seat) -> Counter[str]:
        """The seat's known cards."""
        return self.hands.setdefault(seat, Counter())

    def copy(self) -> ViewerKnowledge:
        """A copy that shares no mutable part with this one."""
        duplicate = ViewerKnowledge(self.viewer)
        duplicate.hands = {seat: hand.copy() for seat, hand in self.hands.items()}
        duplicate.decks = {deck: tickets[:] for deck, tickets in self.decks.items()}
        duplicate.removed_cards, duplicate.paid = self.removed_cards.copy(), self.paid
        duplicate.located_tickets = self.located_tickets.copy()
        return duplicate


def collect_knowledge(viewer: Seat | None, events: Iterable[Event]) -> ViewerKnowledge:
    """Collect a viewer's knowledge from all events of a game, the first included."""
    knowledge = ViewerKnowledge(viewer)
    for event in events:
        knowledge.apply(event)
    return knowledge


def deal_afresh(state: TrainGame, seen: Seen, shuffle: ShuffleFunction) -> TrainGame:
    """`determinize`, by what the viewer has seen."""
    return determinize(state, collect_knowledge(seen.viewer, seen.events), shuffle)


def determinize(state: TrainGame, knowledge: ViewerKnowledge, shuffle: ShuffleFunction) -> TrainGame:
    """A copy of the state that looks the same to the viewer: all cards and tickets whose place it doesn't
    know are dealt afresh among the places that it can't see. A finished game is copied as it is.

    `shuffle` is the only randomness, and its arguments follow from what the viewer knows; so the result
    reveals nothing else. Seed and seat secrets are not changed: the caller replaces them."""
    result = state.copy()
    if not state.result:
        determinize_cards(result, knowledge, shuffle)
        determinize_tickets(result, knowledge, shuffle)
        determinize_mixes(result, knowledge.viewer, shuffle)
    return result


# -- the fresh deal ------------------------------------------------------------------------


def determinize_cards(state: TrainGame, knowledge: ViewerKnowledge, shuffle: ShuffleFunction) -> None:
    """Deals deck and others' hands from all cards of unknown place (some may have left the game)."""
    table = state.own
    hidden_count = len(table.deck) + sum(
        seat_state.own.cards - knowledge.hand(seat).total()
        for seat, seat_state in _other_seats(state, knowledge.viewer)
    )
    cards = Counter(state.rule_options.cards)
    unlocated: Counter[str | None] = Counter(cards)
    turned = table.tunnel.revealed if table.tunnel else ()
    for seen in (table.discards, table.market, turned, knowledge.removed_cards, *knowledge.hands.values()):
        unlocated.subtract(seen)
    del unlocated[HIDDEN]  # gaps of the market
    unlocated = +unlocated
    # a position may have more cards than the rules; then nobody knows of which kinds they are
    while unlocated.total() < hidden_count:
        unlocated += cards | Counter(dict.fromkeys(cards, 1))
    shuffled_cards = shuffle(in_canonical_order(unlocated.items()))
    for seat, seat_state in _other_seats(state, knowledge.viewer):
        known_cards = knowledge.hand(seat)
        count = seat_state.own.cards - known_cards.total()
        dealt, shuffled_cards = Counter(shuffled_cards[:count]) + known_cards, shuffled_cards[count:]
        seat_state.own.hand = {card: dealt[str(card)] for card in seat_state.own.hand}
        if table.untaken is not None and table.untaken[0] == seat:
            table.untaken = seat, tuple(islice(dealt.elements(), len(table.untaken[1])))
    table.deck = list(shuffled_cards[: len(table.deck)])


def determinize_tickets(state: TrainGame, knowledge: ViewerKnowledge, shuffle: ShuffleFunction) -> None:
    """Deals ticket decks, others' tickets and offers from all tickets of unknown place (some may have left
    the game). A ticket's deck is public, so every ticket is replaced by one of the same deck."""
    rows = [
        shuffled_tickets
        for _, seat_state in _other_seats(state, knowledge.viewer)
        for shuffled_tickets in (seat_state.own.tickets, seat_state.own.offer)
    ]
    table = state.own
    tickets = table.board.tickets
    held_decks = {tickets[str(name)].deck for shuffled_tickets in rows for name in shuffled_tickets}
    for deck in sorted(held_decks.union(table.ticket_decks)):
        shuffled_tickets = shuffle(
            sorted(name for name in tickets.keys() - knowledge.located_tickets if tickets[name].deck == deck)
        )
        stack = table.ticket_decks.get(deck, [])
        hidden_slots = [
            (stack, index) for index, name in enumerate(knowledge.decks.get(deck, ())) if name is None
        ]
        hidden_slots += [
            (slot_row, index)
            for slot_row in rows
            for index, name in enumerate(slot_row)
            if tickets[str(name)].deck == deck
        ]
        for (slot_row, index), ticket in zip(hidden_slots, shuffled_tickets, strict=False):
            slot_row[index] = ticket
    for _, seat_state in _other_seats(state, knowledge.viewer):
        if state.turn is None and seat_state.own.start_tickets_chosen and seat_state.own.offer:
            _reshuffle_kept_tickets(state, seat_state, shuffle)


def _reshuffle_kept_tickets(state: TrainGame, seat_state: SeatState, shuffle: ShuffleFunction) -> None:
    """Shuffles the decks of the seat's kept and returned tickets: they aren't public before the return."""
    decks: dict[str, list[str | None]] = {}
    for ticket in (*seat_state.own.tickets, *seat_state.own.offer):
        decks.setdefault(state.own.board.tickets[str(ticket)].deck, []).append(ticket)
    tickets = [decks[deck].pop() for deck in shuffle([deck for deck in sorted(decks) for _ in decks[deck]])]
    kept_count = len(seat_state.own.tickets)
    seat_state.own.tickets, seat_state.own.offer = tickets[:kept_count], tickets[kept_count:]


def determinize_mixes(state: TrainGame, viewer: Seat | None, shuffle: ShuffleFunction) -> None:
    """Replaces the hidden mixes that others have named by any mixes that they may name."""
    for seat, seat_state in _other_seats(state, viewer):
        if seat_state.own.requested_mix:
            seat_state.own.requested_mix = shuffle(name_offers(state, seat))[0].decks


def _other_seats(state: TrainGame, viewer: Seat | None) -> list[tuple[Seat, SeatState]]:
    return [(seat, seat_state) for seat, seat_state in enumerate(state.seats) if seat != viewer]
