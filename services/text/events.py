"""A game in words: a sentence for each event.

Importing this module checks that every declared event has a sentence, or is listed as having none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias, TypeVar

from schemas import events
from schemas.contract import EVENT_REGISTRY, EventContract
from schemas.events import Event
from schemas.registry import HandlerTable, OfItsKey
from schemas.trains import events as train_events
from services.referee.games.trains.train_state import TrainGame
from services.text.formatting import (
    city_name,
    describe_route,
    fill_in,
    format_cards,
    pluralize,
    seat_name,
    tickets_suffix,
)

E = TypeVar("E", bound=EventContract)
EventText: TypeAlias = Callable[[TrainGame, OfItsKey], str | None]  # see `sentence`
SENTENCE_TABLE: Final[HandlerTable[EventContract, EventText]] = HandlerTable("sentence", EVENT_REGISTRY)

PLAIN: Final[Mapping[type[EventContract], str]] = {
    train_events.DeckRecreated: "What is left of the deck and the discards are shuffled together.",
    train_events.MarketFlushed: "The market is swept and laid anew.",
    train_events.LastTurnsBegan: "The last turns begin.",
}  # events whose sentence needs nothing of them


def event_sentence(state: TrainGame, event: Event) -> str | None:
    """One sentence about an event, given the state after it, as far as the viewer knows both; None for an
    event that people needn't read about."""
    describe = SENTENCES.get(type(event))
    if describe is not None:
        return describe(state, event)
    return fill_in(state, event.sentence, event) or PLAIN.get(type(event))


def sentence(
    cls: type[E],
) -> Callable[[Callable[[TrainGame, E], str | None]], Callable[[TrainGame, E], str | None]]:
    """The decorator of the function that writes these events' sentences."""
    return SENTENCE_TABLE(cls)


# -- the sentences -----------------------------------------------------------------------


@sentence(events.GameCreated)
def _game_created(state: TrainGame, event: events.GameCreated) -> str:
    play_off_note = f", game {event.play_off.number} of a play-off" if event.play_off else ""
    board = f" on {state.own.board.title}" if event.board else ""
    return f"The table is laid: {event.ruleset}{board}, {pluralize(len(event.seats), 'seat')}{play_off_note}."


@sentence(events.SeatTaken)
def _seat_taken(state: TrainGame, event: events.SeatTaken) -> str:
    return f"{state.seats[event.seat].name or 'Somebody'} sits down at seat {event.seat}."


@sentence(events.SeatFreed)
def _seat_freed(state: TrainGame, event: events.SeatFreed) -> str:
    return f"The host frees seat {event.seat}."


@sentence(events.GameStarted)
def _game_started(state: TrainGame, event: events.GameStarted) -> str:
    if not state.ruleset.is_laid(state):
        return "The cards are shuffled and dealt."
    return "The cards are dealt." if state.own.position_starter is None else "Play begins."


@sentence(train_events.PositionLaid)
def _position_laid(state: TrainGame, event: train_events.PositionLaid) -> str | None:
    return None if state.fork_origin else "The game starts from a position."


@sentence(events.GameForked)
def _game_forked(state: TrainGame, event: events.GameForked) -> str:
    viewer = "the public" if event.asker is None else f"seat {event.asker}"
    deal_note = f"what {viewer} couldn't see is dealt afresh" if event.afresh else "everything lies as it lay"
    return f"The game goes on from game {event.of} after entry {event.at}; {deal_note}."


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


@sentence(events.Passed)
def _passed(state: TrainGame, event: events.Passed) -> str:
    return f"{seat_name(state, event.seat)} passes."


@sentence(events.SeatGone)
def _seat_gone(state: TrainGame, event: events.SeatGone) -> str:
    return f"{seat_name(state, event.seat)} is out of the game: {event.why}."


@sentence(events.CommandRefused)
def _command_refused(state: TrainGame, event: events.CommandRefused) -> str:
    sender = "The server" if event.seat is None else seat_name(state, event.seat)
    return f"{sender} is refused: {event.rule}, {event.why}."


@sentence(events.PlayOffCalled)
def _play_off_called(state: TrainGame, event: events.PlayOffCalled) -> str:
    names = " and ".join(seat_name(state, seat) for seat in event.seats)
    return f"{names} share the first place: they play off in game {event.game}."


@sentence(events.PlayOffEnded)
def _play_off_ended(state: TrainGame, event: events.PlayOffEnded) -> str:
    winners = " and ".join(f"seat {seat}" for seat in event.winners)
    won = "won" if len(event.winners) == 1 else "are level"
    return f"The play-off of game {event.of} is over: {winners} of that game {won}."


@sentence(events.UndoAnswered)
def _undo_answered(state: TrainGame, event: events.UndoAnswered) -> str:
    return f"{seat_name(state, event.seat)} {'agrees' if event.agrees else 'does not agree'}."


@sentence(events.GameEnded)
def _game_ended(state: TrainGame, event: events.GameEnded) -> str:
    return f"The game is over: {event.reason}."


SENTENCE_TABLE.none_for(
    *PLAIN,
    *(cls for cls in EVENT_REGISTRY.classes if cls.sentence),
    events.AccessSet,
    events.SeatCleared,
    train_events.TicketsShown,
    events.SeedRevealed,
    events.SeedSealed,
    events.DeckShuffled,
    train_events.TicketsShuffled,
    events.HandDealt,
    train_events.DeckLaid,
    train_events.TicketsLaid,
    train_events.HandLaid,
    train_events.MomentLaid,
    train_events.ChoiceLaid,
    train_events.DeckKnown,
    events.PlayResumed,
    train_events.MarketFilled,
    train_events.TicketsReturned,
    train_events.MixAsked,
    events.TurnStarted,
    train_events.RevealedDiscarded,
)
SENTENCES: Final = SENTENCE_TABLE.complete()
