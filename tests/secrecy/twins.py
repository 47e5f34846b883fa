"""Twins: another state that a viewer can't distinguish from the first, through a future that both share.

A twin differs in everything that the viewer can't locate, except what that future shows to it: those cards
lie in the same places, a seat that pays with cards holds them in both, and a seat that can do nothing can
do nothing in either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeAlias

from schemas.commands import Command, CommandEnvelope, Leave
from schemas.events import CommandRefused, DeckShuffled, Event, HandDealt, MoveUndone, Passed, SeedRevealed
from schemas.field_types import Seat
from schemas.trains.commands import ClaimRoute, KeepTickets
from schemas.trains.events import (
    CardDrawn,
    CardsGiven,
    DeckRecreated,
    HandReturned,
    MarketCardTaken,
    MarketFilled,
    PassengerMoved,
    RouteClaimed,
    StationBuilt,
    TicketsKept,
    TicketsNamed,
    TicketsOffered,
    TicketsReturned,
    TicketsShown,
    TunnelRevealed,
)
from schemas.trains.field_types import PASSENGER
from services.referee.games import GameState, legal
from services.referee.games.trains.determinization import (
    ViewerKnowledge,
    determinize_cards,
    determinize_mixes,
    determinize_tickets,
)
from services.referee.games.trains.train_state import TrainState
from tests.rules.given import full_state
from tests.secrecy import any_game

FROM_A_SHUFFLE = -1  # the place of a card that enters the deck only in this future
FROM_A_HAND = -2  # the place of a card that a removed seat gave back in this future


@dataclass
class Future:
    """What a viewer will have seen of a state after the events that follow."""

    state: GameState
    viewer: Seat | None
    deck: dict[int, str] = field(default_factory=dict)  # cards by their places in the deck, from the bottom
    hands: dict[Seat, Counter[str]] = field(default_factory=dict)  # cards that others must hold to pay
    shuffles: bool = False  # the next shuffles must have the same outcome
    tickets: bool = False
    mixes: bool = False
    seed: bool = False

    def __post_init__(self) -> None:
        self._places = list(range(len(self.state.own.deck)))
        self._shuffled_in: list[int] = []  # places of cards that were shuffled together with the discards
        self._drawn: dict[Seat, list[tuple[int, str]]] = {}  # by others, in this future
        self._owing: dict[Seat, Counter[str]] = {}
        self._paid: Counter[str] = Counter()  # by the last move
        if (undo := self.state.undo) is not None:
            before, left = (state.seats[undo.seat].own.hand for state in (undo.before, self.state))
            self._paid = Counter(before) - Counter(left)

    def __hash__(self) -> int:
        return id(self)

    @property
    def key(self) -> object:
        """Two futures of one state with the same key have the same twins."""
        hands = tuple((seat, tuple(sorted(hand.items()))) for seat, hand in sorted(self.hands.items()))
        return tuple(sorted(self.deck)), hands, self.shuffles, self.tickets, self.mixes, self.seed

    def follow(self, event: Event) -> None:
        match event:
            case MarketFilled() | TunnelRevealed() | CardDrawn() | CardsGiven() | HandDealt():
                self._from_deck(event)
            case DeckShuffled():
                self._places[:0] = [FROM_A_SHUFFLE] * len(event.order)
            case DeckRecreated():
                self._shuffled_in += [place for place in self._places if place >= 0]
                self._places = [FROM_A_SHUFFLE] * len(event.order)
            case HandReturned():
                if event.seat != self.viewer:
                    self._holds(event.seat)
                self._places += [FROM_A_HAND] * len(event.cards)
            case MarketCardTaken() if event.seat != self.viewer:
                self._owing.setdefault(event.seat, Counter())[event.card] -= 1
            case RouteClaimed() | StationBuilt() | PassengerMoved() | MoveUndone() if (
                event.seat != self.viewer
            ):
                self._moves(event)
            case Passed() if event.seat != self.viewer:
                self._holds(event.seat)
            case TicketsOffered() | TicketsShown() | TicketsReturned():
                self._tickets(event)
            case SeedRevealed():
                self.seed = self.shuffles = True

    def _moves(self, event: RouteClaimed | StationBuilt | PassengerMoved | MoveUndone) -> None:
        """The seat pays for its move, or has again what it paid."""
        if isinstance(event, MoveUndone):
            self._owing.setdefault(event.seat, Counter()).subtract(self._paid)
            self._paid = Counter()
        elif isinstance(event, PassengerMoved):
            self._pays(event.seat, Counter({PASSENGER: event.cards}))
        else:
            self._pays(event.seat, Counter(event.cards))

    def _from_deck(self, event: Any) -> None:
        """Cards leave the top of the deck: the viewer sees them, or another seat may pay with them later."""
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
                self.shuffles = True  # and so must be what was shuffled
                self.deck.update((old, str(self.state.own.deck[old])) for old in self._shuffled_in)
            elif place != FROM_A_HAND:
                self.deck[place] = card

    def _pays(self, seat: Seat, cards: Counter[str], *, for_good: bool = True) -> None:
        """What the seat drew so far is the same in every twin, and it also holds what else it pays with."""
        owing = self._owing.setdefault(seat, Counter())
        drawn = self._drawn.pop(seat, [])
        self._keep(drawn)
        owing.subtract(card for _, card in drawn)
        owing.update(cards)
        self.hands[seat] = self.hands.get(seat, Counter()) | owing
        self._paid = cards
        if not for_good:
            owing.subtract(cards)

    def _holds(self, seat: Seat) -> None:
        """The seat's whole hand is the same: a pass shows that no legal move was left."""
        self._pays(seat, Counter())
        hand = self.state.seats[seat].own.hand
        self.hands[seat] = Counter({str(card): count for card, count in hand.items() if count})

    def _tickets(self, event: TicketsOffered | TicketsShown | TicketsReturned) -> None:
        seat_state = self.state.seats[event.seat]
        if isinstance(event, TicketsOffered):
            self.tickets |= event.seat == self.viewer
            self.shuffles |= event.seat == self.viewer
            self.mixes |= self.state.turn is None  # the offer shows the mix that was named
        elif isinstance(event, TicketsShown):
            self.tickets |= event.seat != self.viewer
        else:  # shows of which decks they are
            left = (
                self.state.turn is None and seat_state.own.start_tickets_chosen and bool(seat_state.own.offer)
            )
            self.tickets |= left and event.seat != self.viewer


AnyFuture: TypeAlias = Future | any_game.Future
Knowledge: TypeAlias = ViewerKnowledge | any_game.Knowledge


def future(state: GameState, viewer: Seat | None, events: Sequence[Event]) -> Future:
    """What the viewer will have seen after these events, which aren't applied to the state yet."""
    ahead = Future(state, viewer)
    for event in events:
        ahead.follow(event)
    return ahead


def twin(state: GameState, known: Knowledge, ahead: AnyFuture, rng: Random) -> GameState:
    """A state with that future which differs from this one in all that the viewer won't have seen."""
    if isinstance(known, any_game.Knowledge):
        assert isinstance(ahead, any_game.Future)
        return any_game.twin(state, known, ahead, rng)
    assert isinstance(ahead, Future)
    other, twin_knowledge = state.copy(), known.copy()
    for seat, hand in ahead.hands.items():
        twin_knowledge.hands[seat] = twin_knowledge.hand(seat) | hand
    other.own.deck = [card for place, card in enumerate(state.own.deck) if place not in ahead.deck]
    twin_knowledge.removed_cards.update(ahead.deck.values())

    def shuffle(row: Sequence[Any]) -> Sequence[Any]:
        return rng.sample(row, len(row))

    determinize_cards(other, twin_knowledge, shuffle)
    for place, card in sorted(ahead.deck.items()):
        other.own.deck.insert(place, card)
    if not ahead.tickets:
        determinize_tickets(other, twin_knowledge, shuffle)
    if not ahead.mixes:
        determinize_mixes(other, known.viewer, shuffle)
    if not ahead.seed:
        _replace_seat_secrets(other, known.viewer, rng)
    if not ahead.shuffles:
        _replace_seed(other, rng)
    if state.undo is not None:
        other.undo = state.undo._replace(before=_before_its_move(other, state, known.viewer))
    return other


def _before_its_move(other: GameState, state: GameState, viewer: Seat | None) -> GameState:
    """What a twin's last move is taken back to: its mover has again what it paid, and nothing else that is hidden moved."""
    assert state.undo is not None
    dealt = state.undo.before.copy()
    dealt.seed, dealt.shuffle_key = other.seed, other.shuffle_key
    dealt.own.deck, dealt.own.ticket_decks = other.own.deck[:], {**other.own.ticket_decks}
    for seat, (now, then) in enumerate(zip(other.seats, dealt.seats, strict=True)):
        left = state.seats[seat].own.hand
        then.own.hand = {card: now.own.hand[card] + then.own.hand[card] - left[card] for card in left}
        then.own.tickets, then.own.offer = now.own.tickets[:], now.own.offer[:]
        then.seat_secret, then.own.requested_mix = now.seat_secret, now.own.requested_mix
        if seat != viewer and dealt.own.untaken and dealt.own.untaken[0] == seat:
            cards = [card for card, count in then.own.hand.items() for _ in range(count)]
            dealt.own.untaken = seat, tuple(cards[: len(dealt.own.untaken[1])])
    return dealt


def visible_state(state: GameState, viewer: Seat | None) -> dict[str, Any]:
    """The whole state, with everything hidden from the viewer replaced by its number."""
    if not isinstance(state.own, TrainState):
        return any_game.visible_state(state, viewer) | {"undo": visible_undo(state, viewer)}
    visible = full_state(state) | {"undo": visible_undo(state, viewer)}
    visible.update(deck=len(state.own.deck), seed=None, shuffle_key=None)
    if state.own.untaken and state.own.untaken[0] != viewer:
        visible["untaken"] = state.own.untaken[0], len(state.own.untaken[1])
    visible["ticket_decks"] = {deck: len(row) for deck, row in state.own.ticket_decks.items()}
    for seat, seat_json in enumerate(visible["seats"]):
        if seat != viewer:
            hand, tickets, offer = (
                sum(seat_json["hand"].values()),
                len(seat_json["tickets"]),
                len(seat_json["offer"]),
            )
            seat_json.update(hand=hand, tickets=tickets, offer=offer, seat_secret=None)
            seat_json["requested_mix"] = seat_json["requested_mix"] is None
    return visible


def visible_undo(state: GameState, viewer: Seat | None) -> object:
    undo = state.undo
    return undo and (undo.seat, visible_state(undo.before, viewer), undo.waiting)


def _replace_seat_secrets(state: GameState, viewer: Seat | None, rng: Random) -> None:
    for seat, seat_state in enumerate(state.seats):
        if seat != viewer and seat_state.seat_secret:
            seat_state.seat_secret = rng.randbytes(32).hex()


def _replace_seed(state: GameState, rng: Random) -> None:
    state.seed = rng.randbytes(32).hex()
    state.shuffle_key = rng.randbytes(32).hex()


def lookalike(
    state: GameState, envelope: CommandEnvelope, events: Sequence[Event], ahead: AnyFuture, rng: Random
) -> CommandEnvelope:
    """Another command of the same seat that looks the same to the viewer; the envelope itself where none does."""
    seat, command = envelope.seat, envelope.command
    if seat is None or seat == ahead.viewer:
        return envelope
    if not events or isinstance(events[0], CommandRefused):
        return replace(envelope, command=ClaimRoute("nowhere-b", {"blue": rng.randrange(1, 5)}))
    if isinstance(ahead, any_game.Future):
        return any_game.lookalike(state, envelope, events, ahead, rng)
    free = not ahead.seed and not (ahead.mixes if isinstance(events[0], TicketsNamed) else ahead.tickets)
    if free and isinstance(events[0], TicketsNamed | TicketsKept) and not isinstance(command, Leave):
        same = [
            c for c in legal(state, seat) if _kept_decks(state, seat, c) == _kept_decks(state, seat, command)
        ]
        return replace(envelope, command=rng.choice(same))
    return envelope


def _kept_decks(state: GameState, seat: Seat, command: Command) -> list[str] | None:
    """The decks of the tickets that a command keeps; None for a command that isn't `keep_tickets`."""
    if not isinstance(command, KeepTickets):
        return None
    offer = state.seats[seat].own.offer
    return sorted(state.own.board.tickets[str(offer[n])].deck for n in command.keep)
