"""Which committed place every card of a hidden pile has, as cards come and go.

A pile is told by runs of places, the top first: `(epoch, first, end)`. The referee follows it to
know which card a salt belongs to, a viewer to know which leaf a card must have; both by the same
events, since how many cards move is public. docs/proof.md numbers the epochs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from schemas.events import (
    CardDrawn,
    CardsGiven,
    DeckLaid,
    DeckShuffled,
    Event,
    HandDealt,
    MarketFilled,
    TicketsLaid,
    TicketsOffered,
    TicketsReturned,
    TicketsShuffled,
    TunnelRevealed,
)  # fmt: skip

CARDS: Final = ""  # the pile of cards; a pile of tickets has its deck's name
LAID: Final = 1 << 32  # the first epoch of piles that a position lays
RETURNED: Final = 1 << 33  # and that of tickets which come back

Place: TypeAlias = tuple[int, int]  # epoch, position
Run: TypeAlias = tuple[int, int, int]
Names: TypeAlias = Sequence[str | None]


class Moved(NamedTuple):
    """Cards that one event put into a pile or took from it, and who is told their salts."""

    laid: Sequence[Place]
    turned: Sequence[Place]
    names: Names  # of the one or the other; None for a card face down
    told: int | None  # this seat; None for everybody
    hidden: bool = False  # nobody is told


class Piles:
    """Every hidden pile of one game. Plain values, so that it can be frozen."""

    __slots__ = ("laid", "returned", "runs", "shuffles")

    def __init__(self) -> None:
        self.shuffles = self.laid = self.returned = 0
        self.runs: dict[str, list[Run]] = {}

    @classmethod
    def of(cls, state: Any) -> Piles:
        """The piles that `state` was taken from."""
        piles = cls.__new__(cls)
        piles.shuffles, piles.laid, piles.returned, piles.runs = state
        return piles

    def state(self) -> tuple[int, int, int, dict[str, list[Run]]]:
        return self.shuffles, self.laid, self.returned, self.runs

    def follow(self, event: Event) -> Moved | None:
        """Take on an event; what it moved, if it moved anything into a pile or from one."""
        follow = FOLLOWS.get(event.__class__)
        return follow(self, event) if follow else None

    # -- in and out ------------------------------------------------------------------------

    def put(self, pile: str, epoch: int, count: int, *, on_top: bool = False) -> list[Place]:
        """Lay so many cards under a pile, or on it."""
        runs = self.runs.setdefault(pile, [])
        if count:
            runs.insert(0 if on_top else len(runs), (epoch, 0, count))
        return [(epoch, position) for position in range(count)]

    def take(self, pile: str, count: int) -> list[Place]:
        """Take so many from the top."""
        runs = self.runs[pile]
        taken: list[Place] = []
        while len(taken) < count:
            epoch, first, end = runs.pop(0)
            cut = min(end, first + count - len(taken))
            taken += [(epoch, position) for position in range(first, cut)]
            if cut < end:
                runs.insert(0, (epoch, cut, end))
        return taken

    def next_shuffle(self) -> int:
        self.shuffles += 1
        return self.shuffles - 1

    def next_laid(self) -> int:
        self.laid += 1
        return LAID + self.laid - 1


def _deck_shuffled(piles: Piles, event: DeckShuffled) -> Moved:
    laid = piles.put(CARDS, piles.next_shuffle(), len(event.order))
    return Moved(laid, (), event.order, None, hidden=True)


def _tickets_shuffled(piles: Piles, event: TicketsShuffled) -> Moved:
    piles.runs[event.deck] = []
    laid = piles.put(event.deck, piles.next_shuffle(), len(event.order))
    return Moved(laid, (), event.order, None, hidden=True)


def _deck_laid(piles: Piles, event: DeckLaid) -> Moved:
    piles.runs[CARDS] = []
    return Moved(piles.put(CARDS, piles.next_laid(), len(event.order)), (), event.order, None, hidden=True)


def _tickets_laid(piles: Piles, event: TicketsLaid) -> Moved:
    piles.runs[event.deck] = []
    laid = piles.put(event.deck, piles.next_laid(), len(event.order))
    return Moved(laid, (), event.order, None, hidden=True)


def _cards_dealt(piles: Piles, event: HandDealt | CardsGiven) -> Moved:
    return Moved((), piles.take(CARDS, len(event.cards)), event.cards, event.seat)


def _card_drawn(piles: Piles, event: CardDrawn) -> Moved:
    return Moved((), piles.take(CARDS, 1), (event.card,), event.seat)


def _market_filled(piles: Piles, event: MarketFilled) -> Moved:
    return Moved((), piles.take(CARDS, len(event.cards)), event.cards, None)


def _tunnel_revealed(piles: Piles, event: TunnelRevealed) -> Moved:
    return Moved((), piles.take(CARDS, len(event.revealed)), event.revealed, None)


def _tickets_offered(piles: Piles, event: TicketsOffered) -> Moved:
    turned = [place for deck in event.decks for place in piles.take(deck, 1)]
    return Moved((), turned, event.tickets, event.seat)


def _tickets_returned(piles: Piles, event: TicketsReturned) -> Moved | None:
    """Those that are shuffled in get their places by the shuffle that follows."""
    if event.to not in ("bottom", "top"):
        return None
    piles.returned += 1
    epoch = RETURNED + piles.returned - 1
    laid = piles.put(event.deck, epoch, len(event.tickets), on_top=event.to == "top")
    return Moved(laid, (), event.tickets, event.seat)


FOLLOWS: Final[Mapping[type[Event], Callable[[Piles, Any], Moved | None]]] = {
    DeckShuffled: _deck_shuffled,
    TicketsShuffled: _tickets_shuffled,
    DeckLaid: _deck_laid,
    TicketsLaid: _tickets_laid,
    HandDealt: _cards_dealt,
    CardsGiven: _cards_dealt,
    CardDrawn: _card_drawn,
    MarketFilled: _market_filled,
    TunnelRevealed: _tunnel_revealed,
    TicketsOffered: _tickets_offered,
    TicketsReturned: _tickets_returned,
}
