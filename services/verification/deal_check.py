"""Whether the cards came as they had to: from the seed, the key and the piles (docs/proof.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from schemas.entries import Entry
from schemas.events import (
    CardDrawn,
    CardsGiven,
    DeckShuffled,
    Event,
    HandDealt,
    MarketFilled,
    SeatTaken,
    SeedSealed,
    TicketsOffered,
    TicketsShuffled,
    TunnelRevealed,
)  # fmt: skip
from services.referee.rules import Table, evolve
from services.referee.rules.evolve import elapse
from services.referee.rules.shuffle import commitment_of, in_order, seed_of

Dealt = Callable[[Table, Any, Entry], str]


def fold_dealt(table: Table, entry: Entry) -> str:
    """Take an entry on; what is wrong with its first card or secret that isn't as it had to be, given
    the table before it. Empty if nothing is."""
    why = ""
    elapse(table, entry.at)
    for event in entry.events:
        if not why and (check := CHECKS.get(event.__class__)):
            why = check(table, event, entry)
        evolve(table, event)
    return why


def _seed_sealed(table: Table, event: SeedSealed, entry: Entry) -> str:
    if event.seed is None or commitment_of(event.seed) != event.commitment:
        return "The seed isn't the one that was committed to."
    text = getattr(entry.command, "seed", None)
    if text is not None and seed_of(text) != event.seed:
        return "The seed isn't the one that was named."
    if table.rules.dealing.sealed and event.given != (text is not None):
        return "Whether the seed was named isn't told as it was."
    return ""


def _seat_taken(table: Table, event: SeatTaken, entry: Entry) -> str:
    seed, dealing = table.seed or "", table.rules.dealing
    if event.luck != dealing.luck(seed, table.game, event.seat, event.policy):
        return f"Seat {event.seat}'s luck doesn't follow from the seed."
    offered = getattr(entry.command, "contribution", None)
    if (event.contribution, event.by) != dealing.contribution(
        seed, table.given, event.seat, event.policy, offered
    ):
        return f"Seat {event.seat}'s contribution isn't the one that it gave, or has another origin."
    return ""


def _deck_shuffled(table: Table, event: DeckShuffled, entry: Entry) -> str:
    return _shuffled(table, in_order(table.discards.items()), event, "the deck")


def _tickets_shuffled(table: Table, event: TicketsShuffled, entry: Entry) -> str:
    there: Sequence[str | None] | None = table.ticket_decks.get(event.deck)
    if there is None:
        there = [ticket.id for ticket in table.board.tickets.values() if ticket.deck == event.deck]
    return _shuffled(table, sorted(ticket for ticket in there if ticket), event, f"the tickets {event.deck}")


def _shuffled(table: Table, row: Sequence[str], event: DeckShuffled | TicketsShuffled, what: str) -> str:
    dealing = table.rules.dealing
    if tuple(event.order) != dealing.order(table, row):
        return f"The order of {what} isn't the one that seed and contributions give."
    if event.root != dealing.root(table, dealing.order(table, row)):
        return f"The root over {what} isn't that of its cards."
    return ""


def _from_deck(cards: Sequence[str | None], table: Table) -> str:
    top = table.deck[: -len(cards) - 1 : -1]
    return "" if [*cards] == top else "A card that left the deck isn't the one that lay on top."


def _tickets_offered(table: Table, event: TicketsOffered, entry: Entry) -> str:
    decks = {name: list(row) for name, row in table.ticket_decks.items()}
    for deck, ticket in zip(event.decks, event.tickets, strict=True):
        if not decks.get(deck) or decks[deck].pop() != ticket:
            return "A ticket that was offered isn't the one that lay on top of its deck."
    return ""


CHECKS: Final[Mapping[type[Event], Dealt]] = {
    SeedSealed: _seed_sealed,
    SeatTaken: _seat_taken,
    DeckShuffled: _deck_shuffled,
    TicketsShuffled: _tickets_shuffled,
    HandDealt: lambda table, event, _: _from_deck(event.cards, table),
    CardsGiven: lambda table, event, _: _from_deck(event.cards, table),
    CardDrawn: lambda table, event, _: _from_deck((event.card,), table),
    MarketFilled: lambda table, event, _: _from_deck(event.cards, table),
    TunnelRevealed: lambda table, event, _: _from_deck(event.revealed, table),
    TicketsOffered: _tickets_offered,
}
