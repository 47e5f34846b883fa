"""Tricks: three to five seats are dealt the whole deck, follow suit if they can, and the most tricks win.

The rules are in rules.md, beside this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Final

from schemas.contract import PUBLIC, CommandContract, EventContract, command, event
from schemas.events import SeatScore, TurnStarted
from schemas.field_types import CardName, Seat
from schemas.game_options import GameOptions
from schemas.refusals import require
from services.referee.games.appliers import applies
from services.referee.games.found_games import Game
from services.referee.games.kit import Pieces, plain_ruleset, rank, shuffle_and_deal, take_from_hand
from services.referee.games.play_off import end_game
from services.referee.games.state import ACTION, EventStream, GameState, Move, TablePart

SUITS: Final = ("clubs", "diamonds", "hearts", "spades")
DECK: Final = tuple(f"{suit}-{rank}" for suit in SUITS for rank in range(1, 16))  # 60: even for 3, 4 and 5


@dataclass(slots=True)
class Table:
    """The deck until it is dealt, the trick on the table (who played what, in order), and the cards of those taken."""

    deck: list[str | None] = field(default_factory=list)
    trick: list[tuple[Seat, str]] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Hand:
    """A seat's cards, HIDDEN where the viewer doesn't know them, and the tricks that it took."""

    cards: list[str | None] = field(default_factory=list)
    tricks: int = 0


Tricks = GameState[Table, Hand, GameOptions]


@command(type="play_card", code="tricks:1", sender="player", description="play {card}")
class PlayCard(CommandContract):
    """Play this card to the trick."""

    card: CardName


@event(
    type="card_played", code="tricks:1", visibility=PUBLIC, sentence="{seat} plays {card}.", in_move="begins"
)
class CardPlayed(EventContract):
    seat: Seat
    card: CardName


@event(
    type="trick_taken",
    code="tricks:2",
    visibility=PUBLIC,
    sentence="{seat} takes the trick.",
    in_move="follows",
)
class TrickTaken(EventContract):
    seat: Seat


@applies(CardPlayed)
def card_played(state: Tricks, event: CardPlayed) -> None:
    """The card goes from the hand, where it may be hidden, to the trick."""
    take_from_hand(state.seats[event.seat].own, event.card)
    state.own.trick.append((event.seat, event.card))


@applies(TrickTaken)
def trick_taken(state: Tricks, event: TrickTaken) -> None:
    """The trick is counted, and the table is empty."""
    state.seats[event.seat].own.tricks += 1
    state.own.taken += [card for _, card in state.own.trick]
    state.own.trick = []


def deal(state: Tricks) -> EventStream:
    """DEAL-1: the whole deck is dealt; the first seat leads."""
    yield from shuffle_and_deal(state, DECK, len(DECK) // len(state.seats))
    yield TurnStarted(state.turn_order[0])


def playable(state: Tricks, seat: Seat) -> list[str]:
    """FOLLOW-1: the cards of the suit that was led; without one of them, any."""
    cards = [card for card in state.seats[seat].own.cards if card is not None]
    led = state.own.trick[0][1].split("-")[0] if state.own.trick else ""
    return [card for card in cards if card.startswith(led)] or cards


def offers(state: Tricks, seat: Seat) -> Sequence[PlayCard]:
    """A command for each card that may be played."""
    return [PlayCard(card) for card in playable(state, seat)]


def play(state: Tricks, seat: Seat, command: PlayCard) -> EventStream:
    """HAND-1, FOLLOW-1, TRICK-1: the highest card of the suit that was led takes the trick, and its seat leads."""
    require(command.card in state.seats[seat].own.cards, "HAND-1", f"you hold no {command.card}")
    require(command.card in playable(state, seat), "FOLLOW-1", "you can follow suit, so you must")
    yield CardPlayed(seat, command.card)
    trick = state.own.trick
    if len(trick) < len(state.seats):
        yield TurnStarted(state.seats_after(seat)[0])
        return
    led = trick[0][1].split("-")[0]
    _, winner = max((int(card.split("-")[1]), by) for by, card in trick if card.split("-")[0] == led)
    yield TrickTaken(winner)
    if state.seats[winner].own.cards:
        yield TurnStarted(winner)
    else:
        yield from end_game(state, "all played")


def score(state: Tricks) -> tuple[SeatScore, ...]:
    """SCORE-1: a point for each trick."""
    return rank(state, [{"tricks": seat_state.own.tricks} for seat_state in state.seats])


def describe(state: Tricks, viewer: Seat | None) -> Iterator[TablePart]:
    """What lies on the table, and what each seat has."""
    yield TablePart("trick", cards=tuple(card for _, card in state.own.trick))
    for seat, seat_state in enumerate(state.seats):
        yield TablePart("played", seat, cards=tuple(card for by, card in state.own.trick if by == seat))
        yield TablePart("hand", seat, cards=tuple(seat_state.own.cards))
        yield TablePart("tricks", seat, number=seat_state.own.tricks)


MOVES: Final = {ACTION: (Move(PlayCard, offers, play),)}
OPTIONS: Final = GameOptions(seats_least=3, seats_most=5)
GAME: Final = Game(
    "tricks",
    (plain_ruleset("tricks", OPTIONS, Pieces(Table, Hand, describe, DECK), MOVES, deal, score),),
    rules={
        "HAND-1": "A seat plays a card that it holds.",
        "FOLLOW-1": "Who holds a card of the suit that was led plays one of them.",
    },
    page=resources.files(__package__).joinpath("rules.md").read_text(encoding="utf-8"),
)
