"""Bids: two seats bid for prizes, hidden and at the same time; rules.md has the rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Final

from schemas.contract import PUBLIC, CommandContract, EventContract, Private, command, event
from schemas.events import SeatScore
from schemas.field_types import HIDDEN, CardName, Seat
from schemas.game_options import GameOptions
from schemas.refusals import require
from services.referee.games.appliers import applies
from services.referee.games.found_games import Game
from services.referee.games.kit import DealUnseen, Pieces, answered, ask, plain_ruleset, rank, shuffle_deck
from services.referee.games.play_off import end_game
from services.referee.games.state import (
    ACTION,
    EventStream,
    GameState,
    Move,
    Seen,
    ShuffleFunction,
    TablePart,
)

BIDS_OF_SEAT: Final = tuple(str(number) for number in range(1, 14))
PRIZES: Final = tuple(f"prize-{number}" for number in range(1, 14))
OWN: Final = Private("seat", hides=("bid",))  # until both are shown


@dataclass(slots=True)
class Table:
    """The prizes that aren't turned up yet, those that lie there, and those that were taken."""

    deck: list[str | None] = field(default_factory=list)
    prizes: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Bidder:
    """The bids that a seat hasn't shown, the one that it has laid (HIDDEN from others), and what it took."""

    bids: list[str] = field(default_factory=lambda: [*BIDS_OF_SEAT])
    laid: list[str | None] = field(default_factory=list)
    points: int = 0


Bids = GameState[Table, Bidder, GameOptions]


@command(type="lay_bid", code="bids:1", sender="player", description="bid {bid}")
class LayBid(CommandContract):
    """Lay this bid, face down."""

    bid: CardName


@event(type="prize_turned", code="bids:1", visibility=PUBLIC, draws="card", sentence="{card} is next.")
class PrizeTurned(EventContract):
    card: CardName


@event(type="bid_laid", code="bids:2", visibility=OWN, sentence="{seat} lays {bid} face down.")
class BidLaid(EventContract):
    seat: Seat
    bid: CardName | None


@event(type="bid_shown", code="bids:3", visibility=PUBLIC, sentence="{seat} has bid {bid}.")
class BidShown(EventContract):
    seat: Seat
    bid: CardName


@event(type="prizes_taken", code="bids:4", visibility=PUBLIC, sentence="{seat} takes what lies there.")
class PrizesTaken(EventContract):
    seat: Seat


@applies(PrizeTurned)
def prize_turned(state: Bids, event: PrizeTurned) -> None:
    """The prize lies there, and both seats are asked."""
    state.own.deck.pop()
    state.own.prizes.append(event.card)
    ask(state, state.active_seats)


@applies(BidLaid)
def bid_laid(state: Bids, event: BidLaid) -> None:
    state.seats[event.seat].own.laid = [event.bid]
    answered(state, event.seat)


@applies(BidShown)
def bid_shown(state: Bids, event: BidShown) -> None:
    state.seats[event.seat].own.bids.remove(event.bid)
    state.seats[event.seat].own.laid = []


@applies(PrizesTaken)
def prizes_taken(state: Bids, event: PrizesTaken) -> None:
    state.seats[event.seat].own.points += sum(int(prize.split("-")[1]) for prize in state.own.prizes)
    state.own.taken += state.own.prizes
    state.own.prizes = []


def begin(state: Bids) -> EventStream:
    """PRIZE-1: the prizes are shuffled, and the first one is turned up."""
    yield from shuffle_deck(state, PRIZES)
    yield PrizeTurned(str(state.own.deck[-1]))


def offers(state: Bids, seat: Seat) -> Sequence[LayBid]:
    """A command for each bid that the seat has."""
    return [LayBid(bid) for bid in state.seats[seat].own.bids]


def lay(state: Bids, seat: Seat, command: LayBid) -> EventStream:
    """BID-1, BID-2: when both are laid, both are shown, and the higher one takes the prizes."""
    require(command.bid in state.seats[seat].own.bids, "BID-1", f"you have no bid {command.bid}")
    yield BidLaid(seat, command.bid)
    if state.pending_choices:
        return
    bids = [int(seat_state.own.laid[0] or 0) for seat_state in state.seats]
    for shown, bid in enumerate(bids):
        yield BidShown(shown, str(bid))
    if bids.count(max(bids)) == 1:
        yield PrizesTaken(bids.index(max(bids)))
    if state.own.deck:
        yield PrizeTurned(str(state.own.deck[-1]))
    else:
        yield from end_game(state, "all played")


def score(state: Bids) -> tuple[SeatScore, ...]:
    """SCORE-1: the prizes that each seat took."""
    return rank(state, [{"prizes": seat_state.own.points} for seat_state in state.seats])


def describe(state: Bids, viewer: Seat | None) -> Iterator[TablePart]:
    """What lies there, and what each seat has."""
    yield TablePart("prizes", cards=tuple(state.own.prizes))
    for seat, seat_state in enumerate(state.seats):
        yield TablePart("bids left", seat, cards=tuple(seat_state.own.bids))
        yield TablePart("bid laid", seat, cards=tuple(seat_state.own.laid))
        yield TablePart("points", seat, number=seat_state.own.points)


def deal_afresh(state: Bids, seen: Seen, shuffle: ShuffleFunction) -> Bids:
    """The prizes that weren't turned up, in any order; and any bid of a seat that has laid one unseen."""
    dealt = deal_prizes(state, seen, shuffle)
    for bidder in (seat_state.own for seat_state in dealt.seats):
        if HIDDEN in bidder.laid:
            bidder.laid = [*shuffle(bidder.bids)[:1]]
    return dealt


deal_prizes: Final = DealUnseen(PRIZES)
MOVES: Final = {ACTION: (Move(LayBid, offers, lay),)}
RULES: Final = plain_ruleset(
    "bids", GameOptions(seats_most=2), Pieces(Table, Bidder, describe, PRIZES), MOVES, begin, score
)
BIDS: Final = Game(
    "bids",
    (replace(RULES, deal_afresh=deal_afresh),),
    rules={"BID-1": "A seat lays one of the bids that it still has."},
    page=resources.files(__package__).joinpath("rules.md").read_text(encoding="utf-8"),
)
