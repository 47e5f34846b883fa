"""The deck and the market: reshuffles, gaps and flushes (CARD-4, MARKET-2); and turns: whose turn is next, when the last turns
begin, how a game ends (TURN-*, END-*)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from schemas.commands import Pass
from schemas.events import DeckShuffled, Passed, TurnStarted
from schemas.field_types import MAX_SEATS, Seat
from schemas.refusals import require
from schemas.trains.events import (
    DeckRecreated,
    LastTurnsBegan,
    MarketFilled,
    MarketFlushed,
    RevealedDiscarded,
    TicketsShown,
)
from services.referee.games.play_off import end_game
from services.referee.games.shuffle import in_canonical_order
from services.referee.games.state import EventStream, Move
from services.referee.games.trains.train_state import TrainGame


def has_cards_left(state: TrainGame) -> bool:
    """Whether a card can still be drawn blind, after a reshuffle if need be."""
    return bool(state.own.deck) or any(state.own.discards.values())


def ensure_deck(state: TrainGame, count: int) -> EventStream:
    """Rebuild the deck if it has fewer than `count` cards. It may still have fewer then."""
    if len(state.own.deck) < count and any(state.own.discards.values()):
        yield from state.ruleset.parts.rebuild_deck(state)


def fill_market(state: TrainGame) -> EventStream:
    """Fill every gap; flush while too many cards of a kind lie open, until flushes had the deck rebuilt `flush_most`
    times.

    Nothing is flushed unless a card was turned up. So a market that stayed as it was at the limit, or that
    a position began with, is not flushed before the next gap is filled (MARKET-2)."""
    epoch = None  # after the first gaps were filled: a reshuffle for these isn't one for a flush
    table = state.own
    while gaps := table.market.count(None):
        empty_slots = [table.market.index(None)]
        if gaps > 1:
            empty_slots = [slot for slot, card in enumerate(table.market) if card is None]
        if len(table.deck) < len(empty_slots):
            yield from ensure_deck(state, len(empty_slots))
            empty_slots = empty_slots[: len(table.deck)]  # it may still have fewer
            if not empty_slots:
                return
        top_cards = table.deck[: -len(empty_slots) - 1 : -1]
        yield _market_filled(tuple(empty_slots), tuple(top_cards))
        if epoch is None:
            epoch = state.epoch
        if not is_flush_due(state) or state.epoch - epoch >= state.rule_options.flush_most:
            return
        yield MarketFlushed()


def is_flush_due(state: TrainGame) -> bool:
    """Whether enough cards of one kind lie open for a flush (MARKET-2)."""
    for kind, count in state.rule_options.flush.items():  # noqa: SIM110 - a generator would cost more than all of it
        if state.own.market.count(kind) >= count:
            return True
    return False


# -- parts of rulesets: how the deck is rebuilt ------------------------------------------------


def shuffle_discards_under(state: TrainGame) -> EventStream:
    """The discards are shuffled and go under what is left of the deck."""
    order = state.ruleset.randomness.shuffle(state, in_canonical_order(state.own.discards.items()))
    yield DeckShuffled(order, state.ruleset.randomness.order_root(state, order))


def shuffle_all_together(state: TrainGame) -> EventStream:
    """The rest of the deck and the discards are shuffled together."""
    cards = Counter(state.own.discards)
    cards.update(state.own.deck)
    order = state.ruleset.randomness.shuffle(state, in_canonical_order(cards.items()))
    yield DeckRecreated(order, state.ruleset.randomness.order_root(state, order))


# Contracts never change, and most of these fill one slot: the same few are made once.
_market_filled: Final = lru_cache(maxsize=1_000)(MarketFilled)


def end_turn(state: TrainGame, seat: Seat) -> EventStream:
    """The seat's turn is over: the last turns begin if it has so few cars left (END-1), then the next turn."""
    seat_state = state.seats[seat]
    table = state.own
    is_last_round_due = (
        seat_state.own.cars <= state.rule_options.last_cars
        and not table.in_last_turns
        and seat_state.exit_reason is None
    )
    if is_last_round_due or table.tunnel is not None or None in table.market:
        return end_eventful_turn(state, seat, is_last_round_due=is_last_round_due)
    return next_turn(state, seat)


def end_eventful_turn(state: TrainGame, seat: Seat, *, is_last_round_due: bool) -> EventStream:
    """End a turn after which something happens: a market to fill, a tunnel to clear, or the last round."""
    yield from clean_up_turn(state)
    if is_last_round_due:
        others_only = state.rule_options.last_turns == "others"
        last_turn_seats = (s for s in state.seats_after(seat) if not (others_only and s == seat))
        yield LastTurnsBegan(tuple(s for s in last_turn_seats if state.seats[s].exit_reason is None))
    yield from next_turn(state, seat)


def clean_up_turn(state: TrainGame) -> EventStream:
    """The turned-up cards of a tunnel are discarded (TUNNEL-4); then gaps in the market that stayed open
    for want of cards are filled (CARD-4)."""
    if state.own.tunnel is not None:
        yield RevealedDiscarded()
    if None in state.own.market:
        yield from fill_market(state)


def next_turn(state: TrainGame, seat: Seat) -> EventStream:
    """The next seat that takes part begins its turn; without one the game is over."""
    for next_seat in state.seats_after(seat):
        if state.seats[next_seat].exit_reason is None and (
            not state.own.in_last_turns or next_seat in state.own.seats_with_last_turn
        ):
            return _TURN_STARTS[next_seat]
    if state.active_seats:
        return end_game(state, "last turns")
    all_out_of_time = all(seat_state.exit_reason == "out of time" for seat_state in state.seats)
    return end_game(state, "out of time" if all_out_of_time else "all gone")


def first_turn(state: TrainGame) -> EventStream:
    """The setup is complete: the first seat that takes part begins."""
    return next_turn(state, state.turn_order[-1])


def show_tickets(state: TrainGame) -> EventStream:
    """Tickets are turned up for all, but for those of removed seats."""
    for seat, seat_state in enumerate(state.seats):
        if seat_state.exit_reason != "removed":
            yield TicketsShown(seat, tuple(ticket for ticket in seat_state.own.tickets if ticket is not None))


def pass_offers(state: TrainGame, seat: Seat) -> Sequence[Pass]:
    """None: `legal` itself offers a pass where there is nothing that must be done (TURN-4)."""
    return ()


def pass_turn(state: TrainGame, seat: Seat, command: Pass) -> EventStream:
    """A pass; the game ends when all seats passed (END-3). Refuses with TURN-4 if there is more to do than to build a station."""
    moves = state.ruleset.moves[state.pending_choices[seat]]
    must_act = any(move.offers(state, seat) for move in moves if not move.is_optional)
    require(not must_act, "TURN-4", "there is something that you can do")
    yield Passed(seat)
    if state.own.seats_passed.issuperset(state.active_seats):
        yield from end_game(state, "all passed")
    else:
        yield from end_turn(state, seat)


_TURN_STARTS: Final = [(TurnStarted(seat),) for seat in range(MAX_SEATS)]

PASS = Move(Pass, pass_offers, pass_turn)
