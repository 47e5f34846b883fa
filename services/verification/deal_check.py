"""Whether the cards follow from the seed, the contributions and the piles (docs/reference/proof.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from schemas.events import DeckShuffled, Event, GameStarted, SeatFreed, SeatTaken, SeedSealed
from schemas.field_types import Seat
from schemas.registry import OfItsKey
from schemas.stored.entries import Entry
from services.referee.games import GameState, evolve
from services.referee.games.appliers import advance_clocks
from services.referee.games.fair_randomness import contribution_origin, derive_any_seat_secret
from services.referee.games.proof.pile_tracker import CardSlot, PileTracker
from services.referee.games.shuffle import commit_to_seed, in_canonical_order, seed_from_text

# By the class of a game's own state: the cards that the next shuffle of its deck takes, each with its count.
SHUFFLED_CARDS: Final[dict[type, Callable[[GameState], Mapping[OfItsKey, int]]]] = {}
CARDS_OF_PILES: Final[dict[type, str]] = {}  # what one of them is called, if not "A card"
DealCheck = Callable[[GameState, OfItsKey, Entry], str]


class DealChecker:
    """Applies the entries of one game, from the first on, and follows each card of a hidden pile by its place."""

    __slots__ = ("names", "pile_tracker", "state")

    def __init__(self) -> None:
        self.state: GameState = GameState()
        self.pile_tracker = PileTracker()
        self.names: dict[CardSlot, str | None] = {}  # of the cards that lie in hidden piles

    def apply(self, entry: Entry) -> str:
        """Apply the next entry. Returns a sentence about the first card or secret that doesn't follow from the entries
        before; empty if all do. Raises what damaged events may cause."""
        why = ""
        advance_clocks(self.state, entry.at)
        for event in entry.events:
            moved = self._follow_cards(event)
            if not why and (check := CHECKS.get(event.__class__)):
                why = check(self.state, event, entry)
            why = why or moved
            evolve(self.state, event)
        return why

    def _follow_cards(self, event: Event) -> str:
        change = self.pile_tracker.apply(event)
        if change is None:
            return ""
        self.names.update(zip(change.added, change.names, strict=False))
        if [self.names.pop(slot) for slot in change.removed] == [*change.names][: len(change.removed)]:
            return ""
        what = CARDS_OF_PILES.get(type(self.state.own), "A card")
        return f"{what} that left a pile isn't the one that lay on top."


def describe_deal_makers(entries: Iterable[Entry]) -> str:
    """Say who could have chosen a game's deal: who named its seed, or the server, alone or with the seat that
    contributed last, since it knows the seed and all before that."""
    givers: list[Seat] = []  # in the order in which they contributed
    for event in (event for entry in entries for event in entry.events):
        match event:
            case SeedSealed(given=True):
                return "Whoever named the seed knew the deal."
            case SeatFreed(seat=seat) if seat in givers:
                givers.remove(seat)
            case SeatTaken(by="seat", seat=seat):
                givers.append(seat)
            case GameStarted():
                break
    if not givers:
        return "No seat contributed to the deal: the server alone could have chosen it."
    contributed = "alone contributed" if len(givers) == 1 else "contributed last"
    return f"Seat {givers[-1]} {contributed} to the deal: with the server it could have chosen it."


def _check_seed(state: GameState, event: SeedSealed, entry: Entry) -> str:
    if event.seed is None or commit_to_seed(event.seed) != event.commitment:
        return "The seed isn't the one that was committed to."
    text = getattr(entry.command, "seed", None)
    if text is not None and seed_from_text(text) != event.seed:
        return "The seed isn't the one that was named."
    if event.given != (text is not None):
        return "Whether the seed was named isn't recorded as it was."
    return ""


def _check_seat(state: GameState, event: SeatTaken, entry: Entry) -> str:
    seed = state.seed or ""
    times_freed = state.seats[event.seat].times_freed
    if event.luck != derive_any_seat_secret(seed, state.game, event.seat, event.policy, times_freed):
        return f"Seat {event.seat}'s secret doesn't follow from the seed."
    offered = getattr(entry.command, "contribution", None)
    if (event.contribution, event.by) != contribution_origin(
        seed, state.seed_was_named, event.seat, event.policy, offered
    ):
        return f"Seat {event.seat}'s contribution isn't the one that it gave, or has another origin."
    return ""


def _check_deck_shuffle(state: GameState, event: DeckShuffled, entry: Entry) -> str:
    """Which cards a game shuffles, its verdicts say where no family says it; their order is checked here."""
    cards_of = SHUFFLED_CARDS.get(type(state.own))
    cards = Counter(event.order) if cards_of is None else cards_of(state)
    return check_shuffle(state, in_canonical_order(cards.items()), event, "the deck")


def check_shuffle(state: GameState, row: Sequence[str], event: OfItsKey, what: str) -> str:
    """Say how an event that shuffles this row isn't what seed and contributions give; empty if it is."""
    randomness = state.ruleset.randomness
    order = randomness.shuffle(state, row)
    if tuple(event.order) != order:
        return f"The order of {what} isn't the one that seed and contributions give."
    if event.root != randomness.order_root(state, order):
        return f"The root over {what} isn't that of its cards."
    return ""


CHECKS: Final[dict[type[Event], DealCheck]] = {  # a family adds its own
    SeedSealed: _check_seed,
    SeatTaken: _check_seat,
    DeckShuffled: _check_deck_shuffle,
}
