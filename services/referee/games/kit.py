"""The kit of who writes a game: a ruleset with what most games have, and places by points.

docs/tutorials/your-own-game.md goes from an empty file to a game with friends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import chain
from typing import NamedTuple

from schemas.contract import Schema
from schemas.events import DeckShuffled, GameCreated, HandDealt, SeatScore
from schemas.field_types import CARD_NAME, HIDDEN, Seat
from schemas.game_options import GameOptions
from schemas.refusals import require
from schemas.registry import OfItsGame, OfItsKey
from services.referee.games.appliers import deadline_for
from services.referee.games.create_game import open_without_board
from services.referee.games.fair_randomness import SHARED_RANDOMNESS
from services.referee.games.play_off import end_game
from services.referee.games.shuffle import in_canonical_order
from services.referee.games.state import (
    ACTION,
    Choice,
    EventStream,
    GameState,
    Move,
    Ruleset,
    Seen,
    ShuffleFunction,
    TablePart,
    no_events,
)


class LayTable:
    """The applier of a game's creation: new own parts of table and seats. A class, so that it can be pickled."""

    def __init__(self, make_table: Callable[[], object], make_seat: Callable[[], object]) -> None:
        self.make_table, self.make_seat = make_table, make_seat

    def __call__(self, state: GameState, event: OfItsKey) -> None:
        """Lay the table."""
        state.own = self.make_table()
        for seat_state in state.seats:
            seat_state.own = self.make_seat()


class Pieces(NamedTuple):
    """What lies on a table. With its `cards` named, a card game is played by `searcher` too, and searched for leaks
    (`DealUnseen`)."""

    table: Callable[[], object]  # makes a new table's own part
    seat: Callable[[], object]  # makes a seat's
    describe: Callable[[OfItsGame, Seat | None], Iterable[TablePart]]  # what a viewer sees of both
    cards: Sequence[str] = ()


def plain_ruleset(
    name: str,
    rule_options: GameOptions,
    pieces: Pieces,
    moves: Mapping[Choice, tuple[Move, ...]],
    start: Callable[[OfItsGame], EventStream],
    score: Callable[[OfItsGame], tuple[SeatScore, ...]],
) -> Ruleset:
    """The first version of a ruleset without a board, in which a game ends when a seat withdraws. `start` gives the
    events from a full table to the first choices.

    A ruleset with another ending, or more, comes of this one by `dataclasses.replace`. Raises TypeError for a card
    whose name no event can hold."""
    for card in pieces.cards:
        if not re.fullmatch(CARD_NAME, card):
            raise TypeError(f"the card {card!r} of {name}: up to 30 small letters, digits and hyphens")
    return Ruleset(
        name=name,
        version=1,
        rule_options=rule_options,
        options_schema=Schema(type(rule_options), "options"),
        randomness=SHARED_RANDOMNESS,
        bot_policies=frozenset({"random", *(["searcher"] if pieces.cards else [])}),
        moves=moves,
        open_game=open_without_board,
        start=start,
        settle=no_events,
        go_on_without=end_without,
        show=no_events,
        score=score,
        own_appliers={
            GameCreated: LayTable(pieces.table, pieces.seat),
            DeckShuffled: deck_shuffled,
            HandDealt: hand_dealt,
        },
        parts=None,
        describe=pieces.describe,
        deal_afresh=DealUnseen(pieces.cards) if pieces.cards else None,
    )


# -- cards: a table has its `deck`, a list whose last card is its top, and a seat its `cards` -----------


def shuffle_deck(state: GameState, cards: Sequence[str]) -> EventStream:
    """The shuffle of these cards, which are the deck from then on. Names are like "clubs-7"."""
    randomness = state.ruleset.randomness
    order = randomness.shuffle(state, in_canonical_order(Counter(cards).items()))
    yield DeckShuffled(order, randomness.order_root(state, order))


def shuffle_and_deal(state: GameState, cards: Sequence[str], hand: int) -> EventStream:
    """The shuffle of these cards, then a hand of so many for each seat, in turn order. Refuses with GAME-6, before
    anything is dealt, where there are fewer: at the start, the game then hasn't started."""
    dealt = hand * len(state.turn_order)
    reason = f"{len(state.turn_order)} hands of {hand} need {dealt} cards, the deck has {len(cards)}"
    require(dealt <= len(cards), "GAME-6", reason)
    yield from shuffle_deck(state, cards)
    for seat in state.turn_order:
        yield from draw(state, seat, hand)


def draw(state: GameState, seat: Seat, cards: int = 1) -> EventStream:
    """The seat draws so many cards from the deck, which nobody else sees; what is left of it where it has fewer."""
    if state.own.deck:
        yield HandDealt(seat, tuple(state.own.deck[: -cards - 1 : -1]))


def deck_shuffled(state: GameState, event: DeckShuffled) -> None:
    """The deck lies there."""
    state.own.deck = list(reversed(event.order))


def hand_dealt(state: GameState, event: HandDealt) -> None:
    """The cards go from the deck into the hand."""
    del state.own.deck[-len(event.cards) :]
    hand = state.seats[event.seat].own
    hand.cards = sorted([*hand.cards, *event.cards], key=str)


def take_from_hand(hand: OfItsGame, card: str) -> None:
    """A card that is shown leaves the hand, in which a viewer may not have known it."""
    hand.cards.remove(card if card in hand.cards else HIDDEN)


class DealUnseen:
    """How a game of these cards is dealt afresh: each hidden card of the deck and the hands is one that the view names
    nowhere. So a table, or a seat, goes on naming the cards that were seen and are out of play."""

    def __init__(self, cards: Sequence[str]) -> None:
        self.cards = Counter(cards)

    def __call__(self, state: GameState, seen: Seen, shuffle: ShuffleFunction) -> GameState:
        """Deal afresh what the viewer can't see. Raises ValueError where the view names a card more often than there are."""
        dealt = state.copy()
        view = dealt if seen.view is state else seen.view.copy()
        dealt.own = view.own
        for seat_state, seat_view in zip(dealt.seats, view.seats, strict=True):
            seat_state.own = seat_view.own
        owns = [seat_state.own for seat_state in dealt.seats]
        named = Counter(texts_in([dealt.own, *owns]))
        for card, count in self.cards.items():
            if named[card] > count:
                raise ValueError(f"{card} is named {named[card]} times, the deck has {count}")
        unseen = shuffle(sorted((self.cards - named).elements()))
        rows = (dealt.own.deck, *(getattr(own, "cards", ()) for own in owns))
        places = [(row, place) for row in rows for place, card in enumerate(row) if card is HIDDEN]
        for (row, place), card in zip(places, unseen, strict=False):
            row[place] = card
        return dealt


def texts_in(value: object) -> Iterator[str]:
    """Every text of a game's own part, of a count of them as often as it counts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from [key] * item if isinstance(item, int) else chain(texts_in(key), texts_in(item))
    elif isinstance(value, list | tuple | set | frozenset):
        yield from chain.from_iterable(map(texts_in, value))
    elif is_dataclass(value):
        yield from texts_in([getattr(value, each.name) for each in fields(value)])


# -- who has to choose ----------------------------------------------------------------------------


def ask(state: GameState, seats: Iterable[Seat], choice: Choice = ACTION) -> None:
    """For an applier: these seats have to choose, at the same time, each until it has `answered`. Each one's time
    begins, or goes on where it is asked again in its turn; for seats that take turns, the event TurnStarted asks."""
    for seat in seats:
        seat_state = state.seats[seat]
        if state.turn != seat or seat not in state.pending_choices:
            seat_state.deadline_ms = deadline_for(state, seat_state)
        state.pending_choices[seat] = choice
    state.refusal_counts.clear()


def answered(state: GameState, seat: Seat) -> None:
    """For an applier: the seat has chosen, and waits for the others."""
    del state.pending_choices[seat]


# -- seats that withdraw, and scores ---------------------------------------------------------------


def end_without(state: GameState, seat: Seat) -> EventStream:
    """The game ends as soon as a seat has withdrawn, and is counted as it stands."""
    return () if state.result else end_game(state, "a seat withdrew")


def rank(state: GameState, parts: Sequence[Mapping[str, int]]) -> tuple[SeatScore, ...]:
    """The final scores from the named points of each seat, in seat order: the highest total is first, equal totals
    share a place, and seats that withdrew come after all others."""
    totals = [sum(each.values()) for each in parts]
    keys = [(state.seats[seat].exit_reason is None, total) for seat, total in enumerate(totals)]
    return tuple(
        SeatScore(seat, each, totals[seat], 1 + sum(key > keys[seat] for key in keys))
        for seat, each in enumerate(parts)
    )
