"""The same games as aggregates of the PyPI library `eventsourcing`, as its manual shows them:
one decorated method an event, saved by the application, rebuilt by its repository.

Lists stand for our tuples, as its JSON transcoder would need a slower detour for those. The
methods do about what ours do, and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

from schemas import events as ours
from schemas.trains import events as train_ours


class Game(Aggregate):
    @event("Created")
    def __init__(self, seats: int) -> None:
        self.hands: list[dict[str, int]] = [{} for _ in range(seats)]
        self.tickets: list[list[str]] = [[] for _ in range(seats)]
        self.points = [0] * seats
        self.cars = [45] * seats
        self.market: list[str | None] = [None] * 5
        self.owners: dict[str, int] = {}
        self.discards: dict[str, int] = {}
        self.deck: list[str] = []
        self.turn = -1
        self.offer: list[str] = []
        self.others = 0

    @event("DeckShuffled")
    def shuffle(self, order: list[str]) -> None:
        self.deck[:0] = reversed(order)

    @event("HandDealt")
    def deal(self, seat: int, cards: list[str]) -> None:
        for card in cards:
            self.hands[seat][card] = self.hands[seat].get(card, 0) + 1

    @event("CardDrawn")
    def draw(self, seat: int, card: str) -> None:
        self.deck.pop()
        self.hands[seat][card] = self.hands[seat].get(card, 0) + 1

    @event("MarketFilled")
    def fill(self, slots: list[int], cards: list[str]) -> None:
        for slot, card in zip(slots, cards, strict=True):
            self.deck.pop()
            self.market[slot] = card

    @event("MarketCardTaken")
    def take(self, seat: int, slot: int, card: str) -> None:
        self.market[slot] = None
        self.hands[seat][card] = self.hands[seat].get(card, 0) + 1

    @event("RouteClaimed")
    def claim(self, seat: int, route: str, cards: dict[str, int], points: int) -> None:
        for card, count in cards.items():
            self.hands[seat][card] -= count
            self.discards[card] = self.discards.get(card, 0) + count
        self.points[seat] += points
        self.owners[route] = seat

    @event("TicketsOffered")
    def offer_tickets(self, seat: int, decks: list[str], tickets: list[str], least: int) -> None:
        self.offer = list(tickets)

    @event("TicketsKept")
    def keep(self, seat: int, kept: list[str]) -> None:
        self.tickets[seat].extend(kept)

    @event("TurnStarted")
    def start_turn(self, seat: int) -> None:
        self.turn = seat

    @event("OtherRecorded")
    def record_other(self, kind: str) -> None:
        self.others += 1


class Peer:
    """Games of ours, saved event by event as aggregates."""

    def __init__(self, logs: Sequence[Sequence[ours.Event]]) -> None:
        self.application = Application[UUID]()
        assert self.application.repository.cache is None, "a cached aggregate isn't rebuilt"
        self.events = sum(map(len, logs))
        self.games = [self._save(log) for log in logs]

    def rebuild(self) -> None:
        for game in self.games:
            self.application.repository.get(game)

    def _save(self, log: Sequence[ours.Event]) -> UUID:
        created = log[0]
        assert isinstance(created, ours.GameCreated)
        game = Game(len(created.seats))
        for logged in log[1:]:
            record(game, logged)
        assert len(game.pending_events) == len(log), "an event was not recorded"
        self.application.save(game)
        return game.id


def record(game: Game, logged: ours.Event) -> None:
    """One event of ours as one of the aggregate's; the rare ones carry their name only."""
    match logged:
        case ours.DeckShuffled(order):
            game.shuffle([str(card) for card in order])
        case ours.HandDealt(seat, cards):
            game.deal(seat, [str(card) for card in cards])
        case train_ours.CardDrawn(seat, card):
            game.draw(seat, str(card))
        case train_ours.MarketFilled(slots, cards):
            game.fill(list(slots), list(cards))
        case train_ours.MarketCardTaken(seat, slot, card):
            game.take(seat, slot, card)
        case train_ours.RouteClaimed(seat, route, cards, points):
            game.claim(seat, route, dict(cards), points)
        case train_ours.TicketsOffered(seat, decks, tickets, least):
            game.offer_tickets(seat, list(decks), [str(ticket) for ticket in tickets], least)
        case train_ours.TicketsKept(seat, kept):
            game.keep(seat, [str(ticket) for ticket in kept])
        case ours.TurnStarted(seat):
            game.start_turn(seat)
        case _:
            game.record_other(logged.type)
